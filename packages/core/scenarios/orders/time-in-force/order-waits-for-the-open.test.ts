import { describe, expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';

describe('an order that comes while the market is closed waits for the open', () => {
  it.each([
    ['on a Monday before the open', '2026-01-05', 8, '2026-01-05T09:30:00-05:00'],
    ['on a Monday after the close', '2026-01-05', 16, '2026-01-06T09:30:00-05:00'],
    ['on a Friday after the close', '2026-01-09', 17, '2026-01-12T09:30:00-05:00'],
    ['on a Saturday', '2026-01-10', 12, '2026-01-12T09:30:00-05:00'],
    ['over a holiday Monday', '2026-01-16', 17, '2026-01-20T09:30:00-05:00'],
    ['over the change to daylight time', '2026-03-06', 17, '2026-03-09T09:30:00-04:00'],
    ['over the change back', '2026-10-30', 17, '2026-11-02T09:30:00-05:00'],
    ['after an early close', '2026-11-27', 14, '2026-11-30T09:30:00-05:00'],
  ])('%s', (_when, date, hour, opens) => {
    const market = new TestMarket({ date, hour });
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), { quantity: 10 });
    expect(market.statuses(order)).toEqual(['PENDING', 'PENDING_MARKET_OPEN']);
    expect(market.waitingFor(order)).toBe(`market opens ${opens}`);
    market.advanceMs((market.order(order).releaseAt ?? 0) - market.now - 1);
    expect(market.order(order).status).toBe('PENDING_MARKET_OPEN');
    market.advanceMs(1);
    expect(market.time(market.now)).toBe(opens);
    expect(market.waitingFor(order)).toBe('no quote in this session yet');
    market.quote('AAPL', '99.90', '100.00');
    expect(market.statuses(order)).toEqual([
      'PENDING',
      'PENDING_MARKET_OPEN',
      'RESERVING',
      'ACTIVE',
      'FILLED',
    ]);
    expect(market.time(market.order(order).executedAt)).toBe(opens);
  });

  it('orders that wait together fill in order of arrival', () => {
    const market = new TestMarket({ hour: 8 });
    market.quote('AAPL', '99.90', '100.00', { askSize: 15 });
    const first = market.place(market.openPortfolio(), { quantity: 10 });
    const second = market.place(market.openPortfolio(), { quantity: 10 });
    market.advanceTo('2026-01-05', 9, 30);
    market.quote('AAPL', '99.90', '100.00', { askSize: 15 });
    expect(market.fills(first)).toEqual(['10 @ 100']);
    expect(market.fills(second)).toEqual(['5 @ 100']);
  });

  it('the reservation of a waiting order is recomputed at the open and rises with the market', () => {
    const market = new TestMarket({ hour: 8 });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    // 10 × 100.00 × 1.05
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(10_500_000);
    market.quote('AAPL', '119.90', '120.00');
    market.advanceTo('2026-01-05', 9, 30);
    market.quote('AAPL', '119.90', '120.00', { askSize: 5 });
    // 10 × 120.00 × 1.05 = 1,260.00; half of it is left after five shares.
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(6_300_000);
  });

  it('a waiting order is rejected at the open if the funds are no longer available', () => {
    const market = new TestMarket({ hour: 8 });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ cash: 1100 });
    const order = market.place(portfolio, { quantity: 10 });
    market.quote('AAPL', '119.90', '120.00');
    market.advanceTo('2026-01-05', 9, 30);
    expect(market.statuses(order)).toEqual(['PENDING', 'PENDING_MARKET_OPEN', 'RESERVING', 'REJECTED']);
    expect(market.order(order).rejectReason).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: Money.ofDollars(1100),
      // 10 × 120 and the collar of 5 %.
      requiredAmount: Money.ofDollars(1260),
    });
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(0);
  });

  it('the time it waited is not its latency', () => {
    const market = new TestMarket({ hour: 8 });
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), {});
    market.advanceTo('2026-01-05', 9, 30);
    market.quote('AAPL', '99.90', '100.00');
    expect(market.executions(order)[0]?.explanation.latencyMs).toBe(0);
  });
});
