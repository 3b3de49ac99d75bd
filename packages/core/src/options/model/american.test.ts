import { describe, expect, it } from 'vitest';
import { slowAmerican, slowCallWithDividend, slowEuropean } from '../../testing/slow-options.js';
import type { SlowCase } from '../../testing/slow-options.js';
import { fingerprint } from '../../testing/fingerprint.js';
import { uniform } from '../../values/seeded.js';
import { conditionsAt } from './conditions.js';
import type { OptionTerms } from './option-terms.js';
import { optionGreeks, optionValue } from './valuation.js';

const draw = (counter: number, stream: number, from: number, to: number): number =>
  from + (to - from) * uniform(71, stream, counter);

/** Three days to two years, σ 10 % to 80 %, up to two deviations from the money, dividends every three months. */
function caseOf(index: number, isCall: boolean, hasDividends: boolean): SlowCase {
  const years = draw(index, 1, 3 / 365, 2) * draw(index, 2, 0.1, 1);
  const volatility = draw(index, 3, 0.1, 0.8);
  const amount = [0.3, 0.7, 1.5, 3][index % 4]!;
  const first = draw(index, 4, 0, Math.min(0.25, years));
  const dividends = Array.from({ length: 8 }, (_, k) => [first + k / 4, amount] as const);
  return {
    isCall,
    spot: 100,
    strike: 100 * Math.exp(draw(index, 5, -2, 2) * volatility * Math.sqrt(years)),
    years,
    rate: [0.01, 0.04, 0.04, 0.08][(index >> 2) % 4]!,
    volatility,
    dividends: hasDividends ? dividends.filter(([at]) => at < years) : [],
  };
}

const termsOf = ({ isCall, strike }: SlowCase, style: OptionTerms['style']): OptionTerms => ({
  optionType: isCall ? 'CALL' : 'PUT',
  style,
  strike,
});

const conditionsFor = ({ spot, years, rate, dividends }: SlowCase) =>
  conditionsAt(
    spot,
    years,
    rate,
    dividends.map(([at, amount]) => ({ years: at, amount })),
  );

const valueOf = (one: SlowCase, style: OptionTerms['style'] = 'AMERICAN'): number =>
  optionValue(termsOf(one, style), conditionsFor(one), one.volatility);

describe.each([
  ['puts', false, false],
  ['puts with dividends', false, true],
  ['calls with dividends', true, true],
])('American %s', (_kind, isCall, hasDividends) => {
  it('differ from a tree of 2,001 steps by 0.002 per 100 of strike on average, 0.025 at most', () => {
    const errors = Array.from({ length: 24 }, (_, index) => {
      const one = caseOf(index, isCall, hasDividends);
      return ((valueOf(one) - slowAmerican(one)) / one.strike) * 100;
    });
    expect(meanOf(errors)).toBeLessThan(0.002);
    expect(Math.max(...errors.map(Math.abs))).toBeLessThan(0.025);
  });

  /** Errors of Greeks against differences of a tree of 801 steps; gamma and vega relative to their values at the money. */
  const greeksOff = () => {
    const off = { delta: [] as number[], gamma: [] as number[], vega: [] as number[] };
    for (let index = 100; index < 112; index++) {
      const one = caseOf(index, isCall, hasDividends);
      const deviation = one.spot * one.volatility * Math.sqrt(one.years);
      const slow = (change: Partial<SlowCase>): number => slowAmerican({ ...one, ...change }, 801);
      const move = 0.1 * deviation;
      const [below, here, above] = [-move, 0, move].map((by) => slow({ spot: one.spot + by })) as Triple;
      const shift = 0.05 * one.volatility;
      const [quiet, wild] = [-shift, shift].map((by) => slow({ volatility: one.volatility + by })) as Triple;
      const greeks = optionGreeks(termsOf(one, 'AMERICAN'), conditionsFor(one), one.volatility);
      off.delta.push(greeks.delta - (above - below) / (2 * move));
      off.gamma.push((greeks.gamma - (above - 2 * here + below) / (move * move)) * deviation);
      off.vega.push(
        (greeks.vega * 100 - (wild - quiet) / (2 * shift)) / (0.4 * one.spot * Math.sqrt(one.years)),
      );
    }
    return off;
  };

  it('change by their delta and vega', () => {
    const off = greeksOff();
    expect(meanOf(off.delta)).toBeLessThan(0.005);
    expect(meanOf(off.vega)).toBeLessThan(0.01);
  });

  if (isCall)
    it('miss the gamma of one call in twelve, close to its exercise before a dividend, by a fifth', () => {
      const errors = greeksOff()
        .gamma.map(Math.abs)
        .sort((a, b) => b - a);
      expect(errors[0]).toBeCloseTo(0.224, 2);
      expect(meanOf(errors.slice(1))).toBeLessThan(0.05);
    });
  else
    it('have a gamma equal to finite differences', () => {
      expect(meanOf(greeksOff().gamma)).toBeLessThan(0.05);
    });
});

type Triple = [number, number, number];

/** Root of the mean square. */
const meanOf = (errors: readonly number[]): number =>
  Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);

it('the value of a call with one dividend equals the integral over its ex-date', () => {
  for (const [years, at, amount, strike, volatility] of [
    [1 / 3, 0.25, 4, 82, 0.3],
    [0.5, 0.45, 1, 70, 0.2],
    [1, 0.1, 5, 75, 0.4],
    [0.05, 0.04, 0.8, 80, 0.25],
  ] as const) {
    const one: SlowCase = {
      isCall: true,
      spot: 80,
      strike,
      years,
      rate: 0.06,
      volatility,
      dividends: [[at, amount]],
    };
    expect(Math.abs(valueOf(one) - slowCallWithDividend(one))).toBeLessThan(0.006);
  }
});

it('the value of European options equals the integral of their payoff', () => {
  for (let index = 0; index < 40; index++) {
    const one = caseOf(index, index % 2 === 0, index % 3 !== 0);
    expect(valueOf(one, 'EUROPEAN')).toBeCloseTo(slowEuropean(one), 3);
  }
});

it('calls without a dividend are European, and so are puts without a rate (D71)', () => {
  for (let index = 0; index < 20; index++) {
    const call = caseOf(index, true, false);
    const put = { ...caseOf(index, false, true), rate: 0 };
    for (const one of [call, put]) expect(valueOf(one)).toBe(valueOf(one, 'EUROPEAN'));
  }
});

it('a dividend that the interest on the strike outweighs leaves a call European', () => {
  const one: SlowCase = {
    ...caseOf(1, true, false),
    years: 1,
    rate: 0.05,
    strike: 100,
    dividends: [[0.2, 2]],
  };
  expect(valueOf(one)).toBe(valueOf(one, 'EUROPEAN'));
  expect(slowAmerican(one, 401)).toBeCloseTo(valueOf(one), 2);
});

it('exercised at once a put is the difference of two amounts, and nothing moves it but the stock', () => {
  const one: SlowCase = { ...caseOf(1, false, false), strike: 200, volatility: 0.2, years: 0.5, rate: 0.05 };
  expect(optionGreeks(termsOf(one, 'AMERICAN'), conditionsFor(one), 0.2)).toEqual({
    value: 100,
    delta: -1,
    gamma: 0,
    theta: 0,
    vega: 0,
    rho: 0,
  });
});

it('deep in the money a put waits for the dividend', () => {
  const one: SlowCase = {
    ...caseOf(1, false, false),
    strike: 200,
    volatility: 0.2,
    years: 0.5,
    rate: 0.05,
    dividends: [[0.1, 3]],
  };
  expect(valueOf(one)).toBeCloseTo(200 * Math.exp(-0.05 * 0.1) - (100 - 3 * Math.exp(-0.05 * 0.1)), 2);
});

it('gives the same bits on every machine', () => {
  const results = Array.from({ length: 60 }, (_, index) => {
    const one = caseOf(index, index % 2 === 0, index % 3 !== 0);
    return optionGreeks(termsOf(one, 'AMERICAN'), conditionsFor(one), one.volatility);
  });
  expect(fingerprint(results.flatMap(({ rho: _, ...others }) => Object.values<number>(others)))).toBe(
    1839520536,
  );
  expect(fingerprint(results.map(({ rho }) => rho))).toBe(174121927);
});
