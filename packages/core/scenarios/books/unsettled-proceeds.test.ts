import { expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';

it('a CASH portfolio may sell shares bought today, but their proceeds buy nothing before they settle (D52)', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ cash: 10_000 });
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { quantity: 100, limit: '100.00' });
  market.quote('AAPL', '110.00', '110.00');
  market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 100 });
  expect(dollars(market.value(portfolio).pendingCash)).toBe(11_000);
  expect(market.submit(portfolio, { quantity: 1, limit: '110.00' })).toEqual({
    code: 'INSUFFICIENT_FUNDS',
    availableCash: Money.zero,
    requiredAmount: Money.ofDollars(110),
  });
  expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(0);

  market.advanceTo('2026-01-06', 10);
  expect(dollars(market.value(portfolio).settledCash)).toBe(11_000);
  market.place(portfolio, { quantity: 100, limit: '110.00' });
  expect(dollars(market.value(portfolio).settledCash)).toBe(0);
});

it('a MARGIN portfolio trades on unsettled proceeds', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { quantity: 200, limit: '100.00' });
  market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 200 });
  // Equity is 10,000 again without positions: buying power is twice that.
  expect(dollars(market.value(portfolio).overnightBuyingPower)).toBe(20_000);
  market.place(portfolio, { quantity: 200, limit: '100.00' });
});
