import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

describe('a market order fills at the touch it finds', () => {
  it('a purchase at the ask', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const order = market.place(market.openPortfolio(), { quantity: 10 });
    expect(market.fills(order)).toEqual(['10 @ 187.5']);
    expect(market.executions(order)[0]).toMatchObject({ liquidity: 'TAKER', explanation: { rule: 'TOUCH' } });
  });

  it('a sale at the bid', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 10 });
    expect(market.fills(sale)).toEqual(['10 @ 187.4']);
  });

  it('at the precision of the quote, finer than the tick', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.4012', '187.5034');
    const order = market.place(market.openPortfolio(), { quantity: 10 });
    expect(market.fills(order)).toEqual(['10 @ 187.5034']);
  });

  it('a fraction of a share', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', '187.50');
    const portfolio = market.openPortfolio();
    const order = market.place(portfolio, { quantity: '0.123456' });
    expect(market.fills(order)).toEqual(['0.123456 @ 187.5']);
    // 0.123456 × 187.50 = 23.148: 23.15 in whole cents.
    expect(market.portfolio(portfolio).balances.SETTLED_CASH).toBe(1_000_000_000 - 231_500);
  });
});

describe('a market order without a quote', () => {
  it('waits and reports it', () => {
    const market = new TestMarket();
    const order = market.place(market.openPortfolio(), { quantity: 10 });
    expect(market.order(order).status).toBe('ACTIVE');
    expect(market.waitingFor(order)).toBe('no quote');
    market.quote('AAPL', '187.40', '187.50');
    expect(market.fills(order)).toEqual(['10 @ 187.5']);
  });

  it('has its whole cost, with the collar, checked at the first quote', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ cash: 1000 });
    const order = market.place(portfolio, { quantity: 10 });
    // 10 × 96.00 × 1.05 = 1,008.00: more than available, though the fill would be 960.00 and one share is displayed.
    market.quote('AAPL', '95.90', '96.00', { askSize: 1 });
    expect(market.fills(order)).toEqual([]);
    expect(market.order(order)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS' },
    });
  });

  it('sets its funds aside at the first quote', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ cash: 1000 });
    const order = market.place(portfolio, { quantity: 10 });
    market.quote('AAPL', '94.90', '95.00', { askSize: 4 });
    expect(market.fills(order)).toEqual(['4 @ 95']);
    // 10 × 95.00 × 1.05 = 997.50 reserved; six tenths of it remain.
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(5_985_000);
  });

  it('with an empty side waits for that side', () => {
    const market = new TestMarket();
    market.quote('AAPL', '187.40', undefined, { last: '187.45' });
    const order = market.place(market.openPortfolio(), { quantity: 10 });
    expect(market.waitingFor(order)).toBe('no ask');
    market.quote('AAPL', '187.40', '187.50');
    expect(market.fills(order)).toEqual(['10 @ 187.5']);
  });
});
