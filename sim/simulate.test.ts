import { describe, expect, it } from 'vitest';
import { simulate } from './simulate.js';

describe('A seeded run of the whole system', { timeout: 60_000 }, () => {
  for (const feed of ['synthetic', 'push'] as const) {
    it(`keeps its books, verifies and recovers (${feed})`, async () => {
      const report = await simulate({ seed: 103, days: 2, feed });
      expect(report.problems).toEqual([]);
      expect(report.counts.executions).toBeGreaterThan(50);
      expect(report.counts.refused).toBeGreaterThan(10);
    });
  }

  it('ends in the same state for the same seed, and in another state for another seed', async () => {
    const run = async (seed: number): Promise<string> =>
      (await simulate({ seed, days: 1, feed: 'push', portfolios: 6, actionsPerDay: 80 })).stateHash;
    const first = await run(11);
    expect(await run(11)).toBe(first);
    expect(await run(12)).not.toBe(first);
  });
});
