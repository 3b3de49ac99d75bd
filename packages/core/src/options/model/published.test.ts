import { describe, expect, it } from 'vitest';
import { conditionsAt } from './conditions.js';
import { impliedVolatility } from './implied-volatility.js';
import type { OptionTerms } from './option-terms.js';
import { optionGreeks, optionValue } from './valuation.js';

/*
 * Published figures, to their printed digits. The other tests in this folder use references of our own.
 */

const terms = (
  style: OptionTerms['style'],
  optionType: OptionTerms['optionType'],
  strike: number,
): OptionTerms => ({
  style,
  optionType,
  strike,
});

const dividend = (months: number, amount: number) => ({ years: months / 12, amount });

describe('J. C. Hull, Options, Futures, and Other Derivatives', () => {
  it('Black–Scholes: S 42, K 40, r 10 %, σ 20 %, six months', () => {
    const conditions = conditionsAt(42, 0.5, 0.1);
    expect(optionValue(terms('EUROPEAN', 'CALL', 40), conditions, 0.2)).toBeCloseTo(4.76, 2);
    expect(optionValue(terms('EUROPEAN', 'PUT', 40), conditions, 0.2)).toBeCloseTo(0.81, 2);
  });

  it('a European call with dividends of 0.50 in two and five months', () => {
    const conditions = conditionsAt(40, 0.5, 0.09, [dividend(2, 0.5), dividend(5, 0.5)]);
    expect(conditions.escrowed).toBeCloseTo(40 - 0.9742, 3);
    expect(optionValue(terms('EUROPEAN', 'CALL', 40), conditions, 0.3)).toBeCloseTo(3.67, 2);
  });

  it('implied volatility: a call of 1.875 on 21 at 20, r 10 %, three months, has 23.5 %', () => {
    const volatility = impliedVolatility(terms('EUROPEAN', 'CALL', 20), conditionsAt(21, 0.25, 0.1), 1.875);
    expect(volatility).toBeCloseTo(0.235, 3);
  });

  it('the Greeks of a call: S 49, K 50, r 5 %, σ 20 %, twenty weeks', () => {
    const greeks = optionGreeks(terms('EUROPEAN', 'CALL', 50), conditionsAt(49, 0.3846, 0.05), 0.2);
    expect(greeks.value).toBeCloseTo(2.4, 2);
    expect(greeks.delta).toBeCloseTo(0.522, 3);
    expect(greeks.gamma).toBeCloseTo(0.066, 3);
    expect(greeks.theta * 365).toBeCloseTo(-4.31, 2);
    expect(greeks.vega * 100).toBeCloseTo(12.1, 1);
  });

  it('an American put: S 50, K 50, r 10 %, σ 40 %, five months; 4.283 by 500 steps of a plain tree', () => {
    const value = optionValue(terms('AMERICAN', 'PUT', 50), conditionsAt(50, 5 / 12, 0.1), 0.4);
    expect(Math.abs(value - 4.283)).toBeLessThan(0.0015);
  });

  it('an American put with a dividend of 2.06 in 3½ months, S 52; 4.214 by 100 steps of a plain tree', () => {
    const conditions = conditionsAt(52, 5 / 12, 0.1, [dividend(3.5, 2.06)]);
    expect(Math.abs(optionValue(terms('AMERICAN', 'PUT', 50), conditions, 0.4) - 4.214)).toBeLessThan(0.01);
  });
});

describe('E. G. Haug, The Complete Guide to Option Pricing Formulas', () => {
  it('Black–Scholes: S 60, K 65, r 8 %, σ 30 %, three months', () => {
    expect(optionValue(terms('EUROPEAN', 'CALL', 65), conditionsAt(60, 0.25, 0.08), 0.3)).toBeCloseTo(
      2.1334,
      4,
    );
  });

  it('Black 76: F 19, K 19, r 10 %, σ 28 %, nine months; call and put alike', () => {
    const conditions = conditionsAt(19 * Math.exp(-0.1 * 0.75), 0.75, 0.1);
    expect(optionValue(terms('EUROPEAN', 'CALL', 19), conditions, 0.28)).toBeCloseTo(1.7011, 4);
    expect(optionValue(terms('EUROPEAN', 'PUT', 19), conditions, 0.28)).toBeCloseTo(1.7011, 4);
  });

  it('a European call with two dividends of 2: S 100, K 90, r 10 %, σ 25 %, nine months', () => {
    const conditions = conditionsAt(100, 0.75, 0.1, [dividend(3, 2), dividend(6, 2)]);
    expect(optionValue(terms('EUROPEAN', 'CALL', 90), conditions, 0.25)).toBeCloseTo(15.6465, 4);
  });

  it('Roll, Geske and Whaley: a call on 80 at 82 with a dividend of 4 a month before it ends', () => {
    const conditions = conditionsAt(80, 1 / 3, 0.06, [{ years: 0.25, amount: 4 }]);
    expect(optionValue(terms('EUROPEAN', 'CALL', 82), conditions, 0.3)).toBeCloseTo(3.5107, 4);
    expect(Math.abs(optionValue(terms('AMERICAN', 'CALL', 82), conditions, 0.3) - 4.386)).toBeLessThan(0.005);
  });
});

/** S 40, r 4.88 %; by volatility and months 1, 4 and 7. */
describe('R. Geske and H. E. Johnson, The American Put Option Valued Analytically (Journal of Finance 39, 1984), Table I', () => {
  it.each([
    [0.2, 35, [0.0062, 0.2, 0.4328]],
    [0.2, 40, [0.8522, 1.5798, 1.9904]],
    [0.2, 45, [5, 5.0883, 5.267]],
    [0.3, 35, [0.0774, 0.6975, 1.2198]],
    [0.3, 40, [1.3099, 2.4825, 3.1696]],
    [0.3, 45, [5.0597, 5.7056, 6.2436]],
    [0.4, 35, [0.2466, 1.346, 2.1549]],
    [0.4, 40, [1.7681, 3.3874, 4.3526]],
    [0.4, 45, [5.2868, 6.5099, 7.383]],
  ])('σ %d, K %d', (volatility, strike, expected) => {
    const values = [0.0833, 0.3333, 0.5833].map((years) =>
      optionValue(terms('AMERICAN', 'PUT', strike), conditionsAt(40, years, 0.0488), volatility),
    );
    for (const [index, value] of values.entries())
      expect(Math.abs(value - expected[index]!)).toBeLessThan(0.001);
  });
});

/** K 40, r 6 %. Their finite differences allow exercise fifty times a year, so that the true value is a little higher. */
describe('F. A. Longstaff and E. S. Schwartz, Valuing American Options by Simulation (Review of Financial Studies 14, 2001), Table 1', () => {
  it.each([
    [36, 0.2, 4.478, 4.84],
    [36, 0.4, 7.101, 8.508],
    [38, 0.2, 3.25, 3.745],
    [38, 0.4, 6.148, 7.67],
    [40, 0.2, 2.314, 2.885],
    [40, 0.4, 5.312, 6.92],
    [42, 0.2, 1.617, 2.212],
    [42, 0.4, 4.582, 6.248],
    [44, 0.2, 1.11, 1.69],
    [44, 0.4, 3.948, 5.647],
  ])('S %d, σ %d', (spot, volatility, oneYear, twoYears) => {
    for (const [years, expected] of [
      [1, oneYear],
      [2, twoYears],
    ] as const) {
      const value = optionValue(terms('AMERICAN', 'PUT', 40), conditionsAt(spot, years, 0.06), volatility);
      expect(value - expected).toBeGreaterThan(-0.002);
      expect(value - expected).toBeLessThan(0.012);
    }
  });
});
