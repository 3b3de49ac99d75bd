import { describe, expect, it } from 'vitest';
import { causesOf, extremesOf } from './comparison-causes.ts';

describe('Causes of a comparison', () => {
  const base = { totalEquity: 100_000, commissions: 0, regulatoryFees: 0, interest: 12.5, borrowFees: 0 };

  it('are dollars by cause, the largest first, whose sum is the difference', () => {
    const row = {
      totalEquity: 99_950.25,
      difference: -49.75,
      commissions: 34.65,
      regulatoryFees: 1.1,
      interest: 10,
      borrowFees: 0,
    };
    const causes = causesOf(row, base);
    expect(causes).toEqual([
      { cause: 'commissions', amount: -34.65 },
      { cause: 'orders and prices', amount: -16.5 },
      { cause: 'interest', amount: 2.5 },
      { cause: 'fees', amount: -1.1 },
    ]);
    expect(causes.reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(-49.75, 10);
  });

  it('are none for the base, for an equal row, and for a row without figures', () => {
    expect(causesOf(base, base)).toEqual([]);
    expect(causesOf({ ...base, difference: 0 }, base)).toEqual([]);
    expect(causesOf({}, base)).toEqual([]);
  });

  it('the best and the worst rows are marked, ties together, and none while all are equal', () => {
    const row = (name: string, totalEquity?: number) => ({
      name,
      ...(totalEquity !== undefined && { totalEquity }),
    });
    expect(extremesOf([row('a', 1), row('b', 3), row('c', 3), row('d')])).toEqual({
      best: new Set(['b', 'c']),
      worst: new Set(['a']),
    });
    expect(extremesOf([row('a', 1), row('b', 1)]).best.size).toBe(0);
    expect(extremesOf([]).worst.size).toBe(0);
  });
});
