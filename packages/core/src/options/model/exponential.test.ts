import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../testing/fingerprint.js';
import { preciseExp, preciseLog, unitsOff } from '../../testing/precise.js';
import { uniform } from '../../values/seeded.js';
import { exp, log } from './exponential.js';

const between = (count: number, from: number, to: number): number[] =>
  Array.from({ length: count }, (_, i) => from + (to - from) * uniform(1, 1, i));

const worst = (xs: readonly number[], of: (x: number) => number): number => Math.max(...xs.map(of));

describe('exp', () => {
  it.each([
    ['the whole range', -708, 709.7],
    ['where options are', -5, 5],
    ['around 0', -1e-3, 1e-3],
    ['next to nothing', -1e-12, 1e-12],
  ])('is right to the last place: %s', (_where, from, to) => {
    expect(worst(between(400, from, to), (x) => unitsOff(exp(x), preciseExp(x)))).toBeLessThan(1);
  });

  it('goes gently to 0 and beyond all numbers', () => {
    expect(worst(between(100, -745, -708.5), (x) => unitsOff(exp(x), preciseExp(x)))).toBeLessThanOrEqual(1);
    expect([exp(0), exp(-0), exp(-746), exp(-Infinity), exp(710), exp(Infinity), exp(NaN)]).toEqual([
      1,
      1,
      0,
      0,
      Infinity,
      Infinity,
      NaN,
    ]);
    expect(exp(709.782712893384)).toBeGreaterThan(1.79e308);
    expect(exp(-745.1332191019411)).toBe(5e-324);
  });

  it('never falls', () => {
    const xs = between(20_000, -20, 20).sort((a, b) => a - b);
    const values = xs.map(exp);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
  });
});

describe('log', () => {
  it.each([
    ['a wide range', 0, 1000],
    ['around 1', 0.7, 1.5],
    ['next to 1', 1 - 1e-9, 1 + 1e-9],
  ])('is right to the last place: %s', (_where, from, to) => {
    expect(worst(between(400, from, to), (x) => unitsOff(log(x), preciseLog(x)))).toBeLessThan(1);
  });

  it('accepts the smallest and the largest numbers', () => {
    const xs = [5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e300, Number.MAX_VALUE];
    expect(worst(xs, (x) => unitsOff(log(x), preciseLog(x)))).toBeLessThan(1);
    expect([log(1), log(0), log(-1), log(Infinity), log(NaN)]).toEqual([0, -Infinity, NaN, Infinity, NaN]);
  });
});

it('gives the same bits on every machine', () => {
  const results = between(2000, -700, 700).flatMap((x) => [exp(x), log(Math.abs(x))]);
  expect(fingerprint(results)).toBe(2647861897);
});
