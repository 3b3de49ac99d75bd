import { describe, expect, it } from 'vitest';
import { tQuantile } from './student-t.js';

// NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2; the last two from R's qt(0.975, n).
const TABLE: readonly (readonly [degreesOfFreedom: number, t: number])[] = [
  [1, 12.706],
  [2, 4.303],
  [3, 3.182],
  [4, 2.776],
  [5, 2.571],
  [9, 2.262],
  [10, 2.228],
  [19, 2.093],
  [29, 2.045],
  [30, 2.042],
  [60, 2.0],
  [99, 1.984],
  [199, 1.972],
  [999, 1.962],
];

describe('tQuantile', () => {
  it.each(TABLE)('has the value of the printed table for %i degrees of freedom', (degreesOfFreedom, t) => {
    expect(tQuantile(0.95, degreesOfFreedom)).toBeCloseTo(t, 3);
  });

  it('is exact where the distribution has a simple inverse', () => {
    // ν = 1: tan(π · 0.95 / 2). ν = 2: t = p · √(2 / (1 − p²)).
    expect(tQuantile(0.95, 1)).toBeCloseTo(Math.tan((Math.PI * 0.95) / 2), 9);
    expect(tQuantile(0.95, 2)).toBeCloseTo(0.95 * Math.sqrt(2 / (1 - 0.95 ** 2)), 12);
  });

  it('has other levels of confidence', () => {
    expect(tQuantile(0.9, 9)).toBeCloseTo(1.833, 3);
    expect(tQuantile(0.99, 9)).toBeCloseTo(3.25, 3);
  });

  it('is not a number without degrees of freedom', () => {
    expect(tQuantile(0.95, 0)).toBeNaN();
    expect(tQuantile(0.95, 2.5)).toBeNaN();
  });
});
