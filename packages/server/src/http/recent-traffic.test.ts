import { describe, expect, it } from 'vitest';
import { RecentTraffic } from './recent-traffic.js';

describe('RecentTraffic', () => {
  it('has rates and percentiles of the last minute, within ten percent', () => {
    const traffic = new RecentTraffic(0);
    // 100 requests a second for a minute: 1 to 100 ms.
    for (let second = 0; second < 60; second++)
      for (let ms = 1; ms <= 100; ms++) traffic.count(second * 1000 + ms, ms === 100 ? 503 : 200, ms);
    const figures = traffic.figures(60_000);
    expect(figures.requests).toBe(100);
    expect(figures.failures).toBe(1);
    expect(figures.p50Ms).toBeGreaterThanOrEqual(50);
    expect(figures.p50Ms).toBeLessThanOrEqual(55.01);
    expect(figures.p99Ms).toBeGreaterThanOrEqual(99);
    expect(figures.p99Ms).toBeLessThanOrEqual(108.91);
  });

  it('forgets what is older than a minute, and divides by the time since the start', () => {
    const traffic = new RecentTraffic(100_000);
    traffic.count(100_500, 200, 0.01);
    traffic.count(100_600, 200, 1e9);
    expect(traffic.figures(102_000)).toMatchObject({ requests: 1, p50Ms: 0.1 });
    expect(traffic.figures(101_000).p99Ms).toBeGreaterThan(5000);
    expect(traffic.figures(160_000)).toEqual({
      requests: 0,
      failures: 0,
      p50Ms: undefined,
      p99Ms: undefined,
    });
  });
});
