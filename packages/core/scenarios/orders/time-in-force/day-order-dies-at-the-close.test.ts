import { describe, expect, it } from 'vitest';
import { calendarById } from '../../../src/calendar/calendars.js';
import { TestMarket } from '../../../src/testing/market.js';

function resting(market: TestMarket, session: 'REGULAR' | 'EXTENDED' = 'REGULAR'): string {
  market.quote('AAPL', '99.90', '100.00');
  return market.place(market.openPortfolio(), { limit: '90.00', session });
}

function endOf(market: TestMarket, order: string): string | undefined {
  expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED', reserved: 0 });
  return market.time(market.order(order).canceledAt);
}

describe('a DAY order dies at the close of its session', () => {
  it('16:00 on an ordinary day, and not a moment earlier', () => {
    const market = new TestMarket();
    const order = resting(market);
    market.advanceTo('2026-01-05', 15, 59);
    expect(market.order(order).status).toBe('ACTIVE');
    market.advanceTo('2026-01-05', 16, 0);
    expect(endOf(market, order)).toBe('2026-01-05T16:00:00-05:00');
  });

  it('20:00 for one that works in extended hours', () => {
    const market = new TestMarket();
    const order = resting(market, 'EXTENDED');
    market.advanceTo('2026-01-05', 19, 59);
    expect(market.order(order).status).toBe('ACTIVE');
    market.advanceTo('2026-01-05', 20, 0);
    expect(endOf(market, order)).toBe('2026-01-05T20:00:00-05:00');
  });

  it('at the early close (13:00, 17:00) of the day after Thanksgiving', () => {
    const market = new TestMarket({ date: '2026-11-27' });
    const regular = resting(market);
    const extended = resting(market, 'EXTENDED');
    market.advanceTo('2026-11-27', 23, 0);
    expect(endOf(market, regular)).toBe('2026-11-27T13:00:00-05:00');
    expect(endOf(market, extended)).toBe('2026-11-27T17:00:00-05:00');
  });

  it('one that waited for the open, at the close of that session', () => {
    const market = new TestMarket({ hour: 18 });
    const order = resting(market);
    market.advanceTo('2026-01-07', 12, 0);
    expect(endOf(market, order)).toBe('2026-01-06T16:00:00-05:00');
  });

  it('at midnight New York if the market is always open', () => {
    const market = new TestMarket({ rules: { calendar: calendarById('always-open') } });
    const order = resting(market);
    market.advanceTo('2026-01-06', 12, 0);
    expect(endOf(market, order)).toBe('2026-01-06T00:00:00-05:00');
  });
});

it('fills of an expired order stay', () => {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00', { askSize: 3 });
  const portfolio = market.openPortfolio();
  const order = market.place(portfolio, { limit: '100.00', quantity: 10 });
  market.advanceTo('2026-01-05', 16, 0);
  expect(market.order(order)).toMatchObject({
    status: 'CANCELED',
    cancelReason: 'EXPIRED',
    filledQuantity: 3_000_000,
  });
  expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(0);
});
