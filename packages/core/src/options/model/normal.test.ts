import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../testing/fingerprint.js';
import { precise, preciseCumulative, preciseDensity, preciseExp, unitsOff } from '../../testing/precise.js';
import { uniform } from '../../values/seeded.js';
import { exp } from './exponential.js';
import { cumulative, density, quantile, quantileFromHalf, tailRatio } from './normal.js';

const between = (count: number, from: number, to: number): number[] =>
  Array.from({ length: count }, (_, i) => from + (to - from) * uniform(2, 1, i));

const worst = (xs: readonly number[], of: (x: number) => number): number => Math.max(...xs.map(of));

describe('the normal distribution', () => {
  it.each([
    ['the middle', -1, 1],
    ['where options are', -6, 8],
    ['the far tail, to its last digits', -37.5, -6],
  ])('is right to a few last places: %s', (_where, from, to) => {
    expect(worst(between(80, from, to), (x) => unitsOff(cumulative(x), preciseCumulative(x)))).toBeLessThan(
      6,
    );
  });

  it('has a density to match', () => {
    expect(worst(between(80, -37, 37), (x) => unitsOff(density(x), preciseDensity(x)))).toBeLessThan(3);
  });

  it('ends at 0 and 1', () => {
    expect([cumulative(-40), cumulative(0), cumulative(9), cumulative(40)]).toEqual([0, 0.5, 1, 1]);
    expect([density(100), density(-100)]).toEqual([0, 0]);
  });

  it('leaves a ratio of tail and bell that never gets too small for a number', () => {
    const expected = (x: number) =>
      precise(preciseCumulative(-x)).times(preciseExp(precise(x).pow(2).div(2)));
    expect(worst(between(60, 0, 60), (x) => unitsOff(tailRatio(x), expected(x)))).toBeLessThan(6);
    expect(tailRatio(1e8)).toBeCloseTo(0.3989422804014327e-8, 22);
  });
});

describe('its inverse', () => {
  /** A wrong x gives a wrong probability; the density says how much. */
  const off = (probability: number): number => {
    const x = quantile(probability);
    const error = preciseCumulative(x).minus(precise(probability)).div(preciseDensity(x));
    return error.div(precise(x)).abs().toNumber();
  };

  it.each([
    ['the middle', 0.01, 0.99, (x: number) => x],
    ['the tail', -600, -3, exp],
  ])('is right to about the last place: %s', (_where, from, to, of) => {
    expect(worst(between(60, from, to).map(of), off)).toBeLessThan(2e-15);
  });

  it('is infinite at the ends and nothing beyond', () => {
    expect([0, 0.5, 1, -0.1, 1.1, NaN].map(quantile)).toEqual([-Infinity, 0, Infinity, NaN, NaN, NaN]);
  });

  it('keeps the digits of arguments just above a half', () => {
    expect(quantileFromHalf(1e-30) / (1e-30 * Math.sqrt(2 * Math.PI))).toBeCloseTo(1, 14);
    expect(quantileFromHalf(0.45)).toBe(quantile(0.95));
  });
});

it('gives the same bits on every machine', () => {
  const results = between(2000, -38, 10).flatMap((x) => [cumulative(x), density(x), quantile(exp(x - 10))]);
  expect(fingerprint(results)).toBe(3694318756);
});
