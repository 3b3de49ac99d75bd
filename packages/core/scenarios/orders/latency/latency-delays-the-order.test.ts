import { describe, expect, it } from 'vitest';
import { latencyMs } from '../../../src/matching/latency.js';
import { TestMarket } from '../../../src/testing/market.js';

const custom = (ms: number) => ({ more: { latencyProfile: 'CUSTOM' as const, latencyMs: ms } });

describe('CUSTOM is exact', () => {
  it('the order reaches the market that many milliseconds after its acceptance, and is matched with the quote of that moment', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), { quantity: 10, ...custom(250) });
    expect(market.waitingFor(order)).toBe('order to reach the market');
    market.advanceMs(249);
    market.quote('AAPL', '100.90', '101.00');
    expect(market.order(order).status).toBe('PENDING');
    market.advanceMs(1);
    expect(market.fills(order)).toEqual(['10 @ 101']);
    expect(market.executions(order)[0]?.explanation.latencyMs).toBe(250);
    expect((market.order(order).executedAt ?? 0) - (market.order(order).marketAt ?? 0)).toBe(0);
  });

  it('0 is no delay', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    expect(market.fills(market.place(market.openPortfolio(), custom(0)))).toEqual(['10 @ 100']);
  });

  it('is 100 ms by default (D154)', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const order = market.place(market.openPortfolio(), {
      quantity: 10,
      more: { latencyProfile: 'CUSTOM' },
    });
    market.advanceMs(99);
    expect(market.order(order).status).toBe('PENDING');
    market.advanceMs(1);
    expect(market.fills(order)).toEqual(['10 @ 100']);
  });

  it('the reservation follows the quote at arrival', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ cash: 1100 });
    const order = market.place(portfolio, { quantity: 10, ...custom(250) });
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(10_500_000);
    market.quote('AAPL', '104.90', '105.00');
    market.advanceMs(250);
    // 10 × 105.00 × 1.05 = 1,102.50, more than the available 1,100.00.
    expect(market.statuses(order)).toEqual(['PENDING', 'RESERVING', 'REJECTED']);
  });

  it('a stop that rests after its latency explains the latency, not the wait', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
    const order = market.place(market.openPortfolio(), { type: 'STOP', stop: '101.00', ...custom(30) });
    market.advanceMs(60_000);
    market.quote('AAPL', '100.90', '101.10', { last: '101.00' });
    expect(market.executions(order)[0]?.explanation.latencyMs).toBe(30);
  });
});

describe('the named profiles', () => {
  const draws = (profile: 'RETAIL' | 'INSTITUTIONAL' | 'COLOCATED', seed = 7): number[] =>
    Array.from({ length: 2001 }, (_, draw) => latencyMs(profile, undefined, seed, draw));
  const median = (values: number[]): number => values.sort((a, b) => a - b)[1000] ?? 0;

  it.each([
    ['RETAIL', 150],
    ['INSTITUTIONAL', 20],
    ['COLOCATED', 1],
  ] as const)('%s has a median of %d ms', (profile, expected) => {
    const middle = median(draws(profile));
    expect(middle).toBeGreaterThanOrEqual(expected * 0.95);
    expect(middle).toBeLessThanOrEqual(Math.ceil(expected * 1.05));
  });

  it('whole milliseconds, at least one, within 0.45 and 4 times the median', () => {
    for (const ms of draws('RETAIL')) {
      expect(Number.isInteger(ms)).toBe(true);
      expect(ms).toBeGreaterThanOrEqual(67);
      expect(ms).toBeLessThanOrEqual(600);
    }
  });

  it('the same seed draws the same, another seed others', () => {
    expect(draws('RETAIL')).toEqual(draws('RETAIL'));
    expect(draws('RETAIL', 8)).not.toEqual(draws('RETAIL'));
  });

  it('delay the order by a random draw', () => {
    const arrivalOf = (seed: number): number => {
      const market = new TestMarket({ seed });
      market.quote('AAPL', '99.90', '100.00');
      const order = market.place(market.openPortfolio(), { more: { latencyProfile: 'RETAIL' } });
      market.advanceMs(600);
      return (market.order(order).executedAt ?? 0) - market.now + 600;
    };
    expect(arrivalOf(1)).toBe(arrivalOf(1));
    expect(arrivalOf(1)).toBeGreaterThan(60);
    expect(new Set([1, 2, 3, 4].map(arrivalOf)).size).toBeGreaterThan(1);
  });
});
