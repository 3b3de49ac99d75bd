import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';

/** A market with one quote. The explanation of an open order names the actual reason (D136). */
function at(bid: string, ask: string, more: Parameters<TestMarket['quote']>[3] = {}) {
  const market = new TestMarket();
  market.quote('AAPL', bid, ask, more);
  return { market, portfolio: market.openPortfolio() };
}

describe('a displayed size that is used up', () => {
  it('by others, on either side', () => {
    const { market, portfolio } = at('10.40', '10.50', { bidSize: 5, askSize: 10 });
    market.place(portfolio, { quantity: 10 });
    const purchase = market.place(portfolio, { quantity: 10 });
    expect(market.waitingFor(purchase)).toBe('size at ask 10.50');
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 5 });
    const sale = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 5 });
    expect(market.waitingFor(sale)).toBe('size at bid 10.40');
  });

  it('by a part of the order itself', () => {
    const { market, portfolio } = at('10.40', '10.50', { askSize: 4 });
    const order = market.place(portfolio, { quantity: 10 });
    expect(market.waitingFor(order)).toBe('size at ask 10.50');
  });

  it('at the limit of an order that rests there: nothing has to trade through it', () => {
    const { market, portfolio } = at('10.50', '10.60');
    const order = market.place(portfolio, { limit: '10.50', quantity: 10 });
    expect(market.waitingFor(order)).toBe('ask 10.60 above limit 10.50');
    market.quote('AAPL', '10.40', '10.50', { askSize: 4 });
    expect(market.fills(order)).toEqual(['4 @ 10.5']);
    expect(market.waitingFor(order)).toBe('size at ask 10.50');
  });

  it('behind the modeled book of a depth order too', () => {
    const market = new TestMarket();
    market.quote('AAPL', '10.40', '10.50', { askSize: 4 });
    const order = market.place(market.openPortfolio({ fillModel: 'depth' }), {
      limit: '10.50',
      quantity: 10,
    });
    expect(market.fills(order)).toEqual(['4 @ 10.5']);
    expect(market.waitingFor(order)).toBe('size at ask 10.50');
  });
});

describe('the queue before it', () => {
  it('by price, by tier, by time; who is first waits for size alone', () => {
    const { market, portfolio } = at('10.40', '10.50', { askSize: 0 });
    const basic = market.place(portfolio, { limit: '10.50' }, { ...market.by, tier: 'BASIC' });
    expect(market.waitingFor(basic)).toBe('size at ask 10.50');
    const pro = market.place(portfolio, { limit: '10.50' });
    expect(market.waitingFor(pro)).toBe('size at ask 10.50');
    expect(market.waitingFor(basic)).toBe('size at ask 10.50, after the queue before it');
    const better = market.place(portfolio, { limit: '10.51' });
    expect(market.waitingFor(better)).toBe('size at ask 10.50');
    expect(market.waitingFor(pro)).toBe('size at ask 10.50, after the queue before it');
    market.cancel(better);
    expect(market.waitingFor(pro)).toBe('size at ask 10.50');
  });

  it('queue ahead: excludes orders the market has not reached', () => {
    const { market, portfolio } = at('10.40', '10.50', { askSize: 0 });
    market.place(portfolio, { type: 'STOP', stop: '10.80' });
    market.place(portfolio, { limit: '10.45' });
    const order = market.place(portfolio, { limit: '10.50' });
    expect(market.waitingFor(order)).toBe('size at ask 10.50');
  });

  it('orders that work in other hours are not in the queue', () => {
    const market = new TestMarket({ hour: 10 });
    market.quote('AAPL', '10.40', '10.50', { askSize: 0 });
    const portfolio = market.openPortfolio();
    market.place(portfolio, { limit: '10.60', tif: 'GTC' });
    market.advanceTo('2026-01-05', 17, 0);
    market.quote('AAPL', '10.40', '10.50', { askSize: 0 });
    const order = market.place(portfolio, { limit: '10.50', session: 'EXTENDED' });
    expect(market.waitingFor(order)).toBe('size at ask 10.50');
  });
});

describe('under strict', () => {
  it('a resting limit waits for the market to go through it, then for size', () => {
    const market = new TestMarket();
    market.quote('AAPL', '10.50', '10.60');
    const portfolio = market.openPortfolio({ fillModel: 'strict' });
    const order = market.place(portfolio, { limit: '10.50', quantity: 10 });
    market.quote('AAPL', '10.40', '10.50', { askSize: 4 });
    expect(market.fills(order)).toEqual([]);
    expect(market.waitingFor(order)).toBe('market to trade through limit 10.50');
    market.quote('AAPL', '10.40', '10.49', { askSize: 4 });
    expect(market.fills(order)).toEqual(['4 @ 10.5']);
    expect(market.waitingFor(order)).toBe('size at ask 10.49');
  });

  it('a marketable order waits for size', () => {
    const market = new TestMarket();
    market.quote('AAPL', '10.40', '10.50', { askSize: 4 });
    const order = market.place(market.openPortfolio({ fillModel: 'strict' }), {
      limit: '10.50',
      quantity: 10,
    });
    expect(market.fills(order)).toEqual(['4 @ 10.5']);
    expect(market.waitingFor(order)).toBe('size at ask 10.50');
  });
});

describe('a trigger', () => {
  it('explains the obstacle after the trigger', () => {
    const { market, portfolio } = at('10.40', '10.50', { last: '10.45' });
    const stop = market.place(portfolio, { type: 'STOP_LIMIT', stop: '10.80', limit: '10.90' });
    expect(market.waitingFor(stop)).toBe('last 10.45 below stop 10.80');
    market.quote('AAPL', '10.90', '11.00', { last: '10.95' });
    expect(market.waitingFor(stop)).toBe('ask 11.00 above limit 10.90');
    market.quote('AAPL', '10.80', '10.90', { last: '10.85', askSize: 3 });
    expect(market.waitingFor(stop)).toBe('size at ask 10.90');
  });

  it('uses bid or ask without a last price, and reports a missing side', () => {
    const market = new TestMarket();
    market.quote('AAPL', '10.40', undefined);
    const stop = market.place(market.openPortfolio(), { type: 'STOP', stop: '10.80' });
    expect(market.waitingFor(stop)).toBe('no ask');
    market.quote('AAPL', '10.40', '10.50');
    expect(market.waitingFor(stop)).toBe('ask 10.50 below stop 10.80');
  });
});

describe('data', () => {
  it('missing or stale data takes precedence over its prices', () => {
    const market = new TestMarket({ rules: { quoteMaxAgeMs: 60_000 } });
    const portfolio = market.openPortfolio();
    const order = market.place(portfolio, { limit: '10.50' });
    expect(market.waitingFor(order)).toBe('no quote');
    market.quote('AAPL', '10.50', '10.60');
    market.advanceMs(60_001);
    expect(market.waitingFor(order)).toBe('no data since 2026-01-05T10:00:00-05:00');
    market.advanceTo('2026-01-05', 17, 0);
    expect(market.waitingFor(order)).toBeUndefined();
  });

  it('waitingFor names the next open after the hours of the order', () => {
    const { market, portfolio } = at('10.50', '10.60');
    const order = market.place(portfolio, { limit: '10.50', tif: 'GTC' });
    market.advanceTo('2026-01-05', 17, 0);
    market.quote('AAPL', '10.40', '10.50');
    expect(market.waitingFor(order)).toBe('market opens 2026-01-06T09:30:00-05:00');
  });
});
