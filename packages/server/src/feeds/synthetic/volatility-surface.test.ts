import { describe, expect, it } from 'vitest';
import { strikeVolatility, termVolatility } from './volatility-surface.js';

const FORWARD = 100;
const YEARS = [0.0005, 0.003, 0.02, 0.08, 0.25, 0.5, 1, 2, 2.6];

/** Remaining variance until `years`, at a distance from the forward. */
function varianceAt(logStrike: number, usual: number, nervousness: number, years: number): number {
  const atTheMoney = termVolatility(usual, nervousness, years);
  const volatility = strikeVolatility(FORWARD * Math.exp(logStrike), FORWARD, atTheMoney, years);
  return volatility * volatility * years;
}

describe.each([0.06, 0.19, 0.5, 1.3])('Volatility surface at a usual volatility of %s', (usual) => {
  it.each([0.4, 1, 2.5])('nervousness %s: prices no butterfly below zero', (nervousness) => {
    // Durrleman's condition: the density of the underlying is positive (Gatheral and Jacquier, 2014).
    for (const years of YEARS) {
      const deviation = termVolatility(usual, nervousness, years) * Math.sqrt(years);
      const step = deviation * 1e-3;
      for (let d = -30; d <= 30; d += 0.25) {
        const k = d * deviation;
        const [below, here, above] = [k - step, k, k + step].map((one) =>
          varianceAt(one, usual, nervousness, years),
        ) as [number, number, number];
        const slope = (above - below) / (2 * step);
        const bend = (above - 2 * here + below) / (step * step);
        const density =
          (1 - (k * slope) / (2 * here)) ** 2 - (slope * slope * (1 / here + 0.25)) / 4 + bend / 2;
        expect(density).toBeGreaterThan(0.5);
      }
    }
  });

  it.each([0.4, 1, 2.5])('nervousness %s: total variance increases with the expiration', (nervousness) => {
    for (let k = -2; k <= 2; k += 0.05) {
      const variances = YEARS.map((years) => varianceAt(k, usual, nervousness, years));
      expect(variances).toEqual([...variances].sort((a, b) => a - b));
    }
  });
});

it('strikeVolatility: is higher for low strikes than for high ones', () => {
  const at = (strike: number): number => strikeVolatility(strike, FORWARD, 0.2, 0.25);
  expect(at(FORWARD)).toBe(0.2);
  expect(at(80)).toBeGreaterThan(at(90));
  expect(at(90)).toBeGreaterThan(0.2);
  expect(at(110)).toBeLessThan(0.2);
});
