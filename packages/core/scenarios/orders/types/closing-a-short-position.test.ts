import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

it('BUY_TO_CLOSE buys back a short position at the ask', () => {
  const market = new TestMarket();
  market.quote('AAPL', '100.00', '100.10');
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  const short = market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 10 });
  expect(market.fills(short)).toEqual(['10 @ 100']);
  market.quote('AAPL', '95.00', '95.10');
  const cover = market.place(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 10 });
  expect(market.fills(cover)).toEqual(['10 @ 95.1']);
  // Sold at 100.00, bought at 95.10: 49.00 gained, a credit in the books.
  expect(market.portfolio(portfolio).balances.REALIZED_PNL).toBe(-490_000);
});

it('BUY_TO_CLOSE is limited to the short quantity less open closing orders', () => {
  const market = new TestMarket();
  market.quote('AAPL', '100.00', '100.10');
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: 10 });
  market.place(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 7, limit: '90.00' });
  expect(market.submit(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 4 })).toEqual({
    code: 'INSUFFICIENT_POSITION',
    availableQuantity: 3_000_000,
    requiredQuantity: 4_000_000,
  });
  expect(market.submit(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 3 })).toBeTypeOf('string');
});

it('a long position is not closed by buying', () => {
  const market = new TestMarket();
  market.quote('AAPL', '100.00', '100.10');
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  market.place(portfolio, { quantity: 10 });
  expect(market.submit(portfolio, { intent: 'BUY_TO_CLOSE', quantity: 1 })).toMatchObject({
    code: 'INSUFFICIENT_POSITION',
    availableQuantity: 0,
  });
});
