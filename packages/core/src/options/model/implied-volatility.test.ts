import { describe, expect, it } from 'vitest';
import { precise, preciseNormalized, preciseVolatility } from '../../testing/precise.js';
import { uniform } from '../../values/seeded.js';
import { conditionsAt } from './conditions.js';
import { normalizedVolatility } from './european-volatility.js';
import { HIGHEST_VOLATILITY, impliedVolatility, LOWEST_VOLATILITY } from './implied-volatility.js';
import { normalizedValue, normalizedVega } from './normalized.js';
import type { OptionTerms } from './option-terms.js';
import { optionGreeks, optionValue } from './valuation.js';

const draw = (counter: number, stream: number, from: number, to: number): number =>
  from + (to - from) * uniform(72, stream, counter);

describe('the volatility of a European option', () => {
  /** Relative error, less that of the last place of the value itself. */
  function off(x: number, s: number): { value: number; volatility: number } {
    const value = normalizedValue(x, s);
    const found = normalizedVolatility(x, value);
    const expected = preciseVolatility(x, value, found);
    const unsure = (value * 2.3e-16) / (normalizedVega(x, s) * s);
    const error = precise(found).div(expected).minus(1).abs().toNumber();
    const reference = preciseNormalized(x, s);
    return {
      value: precise(value).div(reference).minus(1).abs().toNumber(),
      volatility: Math.max(0, error - unsure),
    };
  }

  it.each([
    ['at and near the money', -7, -2, -4, 0.5],
    ['as options are', -3, 0, -3, 0.5],
    ['in the deep wings', -1, 3, -3, 2],
    ['next to the money, next to expiry', -18, -8, -8, -3],
  ])('is right to 1e-12: %s', (_where, fromX, toX, fromS, toS) => {
    const cases = Array.from({ length: 12 }, (_, i) => ({
      x: -Math.exp(draw(i, 1, fromX, toX)),
      s: Math.exp(draw(i, 2, fromS, toS)),
    })).filter(({ x, s }) => {
      const value = normalizedValue(x, s);
      return value > 1e-290 && value < Math.exp(x / 2) * (1 - 1e-8);
    });
    expect(cases.length).toBeGreaterThan(5);
    const errors = cases.map(({ x, s }) => off(x, s));
    expect(Math.max(...errors.map(({ volatility }) => volatility))).toBeLessThan(1e-12);
    expect(Math.max(...errors.map(({ value }) => value))).toBeLessThan(2e-13);
  });

  it('exactly at the money too', () => {
    for (const s of [1e-6, 0.01, 0.3, 2, 5])
      expect(normalizedVolatility(0, normalizedValue(0, s)) / s).toBeCloseTo(1, 13);
  });

  it('is 0 for a price of 0 and unbounded from the maximum value on', () => {
    expect(normalizedVolatility(-0.1, 0)).toBe(0);
    expect(normalizedVolatility(-0.1, -1)).toBe(0);
    expect(normalizedVolatility(-0.1, NaN)).toBe(0);
    expect(normalizedVolatility(-0.1, Math.exp(-0.05))).toBe(Infinity);
  });
});

const ALL: readonly OptionTerms[] = (['AMERICAN', 'EUROPEAN'] as const).flatMap((style) =>
  (['CALL', 'PUT'] as const).flatMap((optionType) =>
    [60, 80, 95, 100, 105, 125, 160].map((strike) => ({ style, optionType, strike })),
  ),
);

const CONDITIONS = [0.01, 0.1, 0.5, 1.7].flatMap((years) => [
  conditionsAt(100, years, 0.04),
  conditionsAt(
    100,
    years,
    0.04,
    [0.005, 0.2, 0.45, 0.7, 1.2].map((at) => ({ years: at, amount: 0.8 })),
  ),
  conditionsAt(100, years, -0.01, [{ years: 0.005, amount: 1 }]),
]);

it('the implied volatility of a model value is the volatility of the model', () => {
  let compared = 0;
  for (const conditions of CONDITIONS) {
    for (const terms of ALL) {
      for (const volatility of [0.05, 0.2, 0.6, 2]) {
        const { value, vega } = optionGreeks(terms, conditions, volatility);
        // Without time value the volatility has no effect; the error of trees is a small part of a cent.
        if (vega < 0.003) continue;
        compared++;
        const found = impliedVolatility(terms, conditions, value);
        expect(Math.abs(found - volatility), JSON.stringify([terms, conditions, volatility])).toBeLessThan(
          1e-7,
        );
      }
    }
  }
  expect(compared).toBeGreaterThan(500);
});

describe('prices that no volatility explains (D71)', () => {
  it.each(ALL)('$style $optionType $strike', (terms) => {
    for (const conditions of CONDITIONS) {
      const [least, most] = [LOWEST_VOLATILITY, HIGHEST_VOLATILITY].map((one) =>
        optionValue(terms, conditions, one),
      );
      // Within the error of trees any volatility with this value is correct.
      for (const price of [0, least! / 2, least! - 0.001, -1]) {
        expect(impliedVolatility(terms, conditions, price)).toBe(LOWEST_VOLATILITY);
      }
      for (const price of [most! + 0.01, most! + 1, 1e6]) {
        expect(impliedVolatility(terms, conditions, price)).toBe(HIGHEST_VOLATILITY);
      }
    }
  });
});
