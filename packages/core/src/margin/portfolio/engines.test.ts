import { describe, expect, it } from 'vitest';
import { dollars } from '../../testing/market.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import { WHOLE_MOVE } from './risk-legs.js';
import type { Revaluation, RiskLeg } from './risk-legs.js';
import { riskParametersOn } from './risk-parameters.js';
import { simpleRequirementOf } from './simple.js';
import { spanRequirementOf } from './span.js';
import type { FutureLeg } from './span.js';
import { timsRequirementOf } from './tims.js';

const parameters = riskParametersOn(TradingDate.of('2026-01-05'));

interface OptionTerms {
  readonly right: 'CALL' | 'PUT';
  readonly strike: number;
  readonly underlying: number;
}
const terms = new WeakMap<RiskLeg, OptionTerms>();

const stock = (symbol: string, quantity: number, price: string, more: Partial<RiskLeg> = {}): RiskLeg => ({
  kind: 'STOCK',
  symbol,
  underlying: symbol,
  underlyingClass: 'EQUITY',
  quantity: Quantity.of(quantity),
  multiplier: 1,
  price: Price.of(price),
  leverageFactor: 1,
  ...more,
});

function option(
  underlying: string,
  quantity: number,
  right: 'CALL' | 'PUT',
  strike: number,
  price: string,
  at: number,
): RiskLeg {
  const leg: RiskLeg = {
    ...stock(underlying, quantity, price),
    kind: 'OPTION',
    symbol: `${underlying} ${strike} ${right}`,
    multiplier: 100,
  };
  terms.set(leg, { right, strike, underlying: at });
  return leg;
}

/** Valued at its intrinsic value. */
const intrinsic: Revaluation = (leg, move) => {
  const { right, strike, underlying } = terms.get(leg)!;
  const moved = underlying * (1 + move / WHOLE_MOVE);
  return Price.ofUnits(Math.round(Math.max(0, right === 'CALL' ? moved - strike : strike - moved) * 1e8));
};

function normal(x: number): number {
  // Abramowitz and Stegun 26.2.17: good to 7.5e-8.
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x >= 0 ? 1 - tail : tail;
}

const YEARS = 46 / 365;
const RATE = 0.04;

function blackScholes({ right, strike, underlying }: OptionTerms, volatility: number): number {
  const root = volatility * Math.sqrt(YEARS);
  const d1 = (Math.log(underlying / strike) + (RATE + (volatility * volatility) / 2) * YEARS) / root;
  const sign = right === 'CALL' ? 1 : -1;
  const discounted = strike * Math.exp(-RATE * YEARS);
  return sign * (underlying * normal(sign * d1) - discounted * normal(sign * (d1 - root)));
}

/** Black and Scholes at the volatility of the mark, 46 days to go at 4 %. */
const model: Revaluation = (leg, move) => {
  const now = terms.get(leg)!;
  let [low, high] = [0.01, 5];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (blackScholes(now, middle) < leg.price / 1e8) low = middle;
    else high = middle;
  }
  const moved = { ...now, underlying: now.underlying * (1 + move / WHOLE_MOVE) };
  return Price.ofUnits(Math.round(blackScholes(moved, low) * 1e8));
};

describe('TIMS (D115)', () => {
  it('stock alone: 15 % either way, a fund with a factor that many times', () => {
    const of = (leg: RiskLeg): number => dollars(timsRequirementOf([leg], parameters, intrinsic).requirement);
    expect(of(stock('KO', 100, '60'))).toBe(900);
    expect(of(stock('KO', -100, '60'))).toBe(900);
    expect(of(stock('SOXL', 100, '60', { leverageFactor: 3 }))).toBe(2700);
    expect(of(stock('SPY', 100, '600'))).toBe(4800);
    expect(of(stock('SPY', -100, '600'))).toBe(3600);
    expect(of(stock('UPRO', 100, '100', { leverageFactor: 3 }))).toBe(2400);
    // No fund falls below 0.
    expect(of(stock('TEN', -100, '60', { leverageFactor: -10 }))).toBe(9000);
    expect(of(stock('TEN', 100, '60', { leverageFactor: 10 }))).toBe(6000);
  });

  it('nets a class in full, classes of a product group at 90 %, and nothing else', () => {
    const of = (...legs: RiskLeg[]): number =>
      dollars(timsRequirementOf(legs, parameters, intrinsic).requirement);
    expect(of(stock('SPY', 100, '600'), stock('IVV', -100, '600'))).toBe(0);
    // 8 % of 60,000 lost, 90 % of 8 % of 60,000 gained.
    expect(of(stock('SPY', 100, '600'), stock('DIA', -100, '600'))).toBe(480);
    expect(of(stock('SPY', 100, '600'), stock('QQQ', -100, '600'))).toBe(4800 + 6000);
    expect(of(stock('KO', 100, '60'), stock('PEP', -100, '60'))).toBe(1800);
    expect(of(stock('SPY', 300, '100'), stock('UPRO', -100, '100', { leverageFactor: 3 }))).toBe(0);
  });

  it('requires 37.50 for a contract, at most the value of a long one', () => {
    const of = (...legs: RiskLeg[]): number =>
      dollars(timsRequirementOf(legs, parameters, intrinsic).requirement);
    expect(of(option('KO', -2, 'CALL', 100, '0.05', 60))).toBe(75);
    expect(of(option('KO', 2, 'CALL', 100, '0.05', 60))).toBe(10);
    expect(of(option('KO', 2, 'CALL', 100, '5.00', 60))).toBe(75);
  });

  it('TIMS: lists every valuation point, and none for an empty portfolio', () => {
    const { groups } = timsRequirementOf([stock('SPY', 100, '600')], parameters, intrinsic);
    expect(groups).toHaveLength(1);
    expect(groups[0]!.points.map(({ priceMove, pnl }) => [priceMove, dollars(pnl)])).toEqual([
      [-0.08, -4800],
      [-0.064, -3840],
      [-0.048, -2880],
      [-0.032, -1920],
      [-0.016, -960],
      [0.012, 720],
      [0.024, 1440],
      [0.036, 2160],
      [0.048, 2880],
      [0.06, 3600],
    ]);
    expect(timsRequirementOf([], parameters, intrinsic)).toEqual({ requirement: 0, groups: [] });
  });

  /**
   * Column portfolio margin of the Cboe's sheet (studylib.net/doc/11615061); expiry, rate and dividends are not printed.
   */
  it.each<[string, RiskLeg[], number]>([
    ['short call on an index', [option('SPX', -100, 'CALL', 1460, '21.66', 1451.19)], 654_514],
    ['short put on an index', [option('SPX', -100, 'PUT', 1460, '22.55', 1451.19)], 948_203],
    [
      'fund and short calls on its index',
      [stock('SPY', 100_000, '145.30'), option('SPX', -100, 'CALL', 1460, '21.66', 1451.19)],
      948_342,
    ],
    [
      'fund and long puts on its index',
      [stock('SPY', 100_000, '145.30'), option('SPX', 100, 'PUT', 1450, '18.72', 1451.19)],
      272_402,
    ],
    ['short call', [option('IBM', -100, 'CALL', 100, '1.68', 97.73)], 115_429],
    [
      'covered call',
      [stock('IBM', 10_000, '97.73'), option('IBM', -100, 'CALL', 100, '1.68', 97.73)],
      129_804,
    ],
  ])("comes near the Cboe's sheet: %s", (_name, legs, printed) => {
    const requirement = dollars(timsRequirementOf(legs, parameters, model).requirement);
    expect(Math.abs(requirement / printed - 1)).toBeLessThan(0.03);
  });

  // The cause is unknown (see the page on portfolio margin).
  it.each<[string, RiskLeg[], number, number]>([
    ['short put', [option('IBM', -100, 'PUT', 100, '3.18', 97.73)], 137_527, 0.037],
    [
      'protective put',
      [stock('IBM', 10_000, '97.73'), option('IBM', 100, 'PUT', 95, '1.02', 97.73)],
      37_538,
      0.119,
    ],
  ])("misses the Cboe's sheet: %s", (_name, legs, printed, by) => {
    const requirement = dollars(timsRequirementOf(legs, parameters, model).requirement);
    expect(Math.abs(requirement / printed - 1)).toBeCloseTo(by, 3);
  });
});

describe('SIMPLE (D116)', () => {
  const of = (...legs: RiskLeg[]): number =>
    dollars(simpleRequirementOf(legs, parameters, intrinsic).requirement);

  it('margins each underlying separately, at 15 %, 10 % or 20 %', () => {
    expect(of(stock('KO', 100, '60'))).toBe(900);
    expect(of(stock('SPY', 100, '600', { underlyingClass: 'BROAD_INDEX' }))).toBe(6000);
    expect(of(stock('SPY', 100, '600'), stock('IVV', -100, '600'))).toBe(18_000);
    expect(of(option('VIX', -1, 'CALL', 20, '2', 20))).toBe(400);
    expect(of(option('KO', -2, 'CALL', 100, '0.05', 60))).toBe(75);
  });

  it('shows seven points', () => {
    const { groups } = simpleRequirementOf([stock('KO', 100, '60')], parameters, intrinsic);
    expect(groups[0]!.points.map(({ priceMove, pnl }) => [priceMove, dollars(pnl)])).toEqual([
      [-0.15, -900],
      [-0.1, -600],
      [-0.05, -300],
      [0, 0],
      [0.05, 300],
      [0.1, 600],
      [0.15, 900],
    ]);
  });
});

describe('SPAN (D117)', () => {
  const month = (
    symbol: string,
    quantity: number,
    date: string,
    maintenance: number,
    spread?: number,
  ): FutureLeg => ({
    symbol,
    root: symbol.slice(0, 2),
    lastTradeDate: TradingDate.of(date),
    quantity: Quantity.of(quantity),
    maintenance: Money.ofDollars(maintenance),
    ...(spread === undefined ? {} : { spreadMargin: Money.ofDollars(spread) }),
  });
  const of = (...futures: FutureLeg[]): number[] => {
    const { maintenance, initial } = spanRequirementOf([], futures, parameters, intrinsicAt);
    return [dollars(maintenance), dollars(initial)];
  };
  const intrinsicAt = (leg: RiskLeg, { move }: { move: number }): Price => intrinsic(leg, move);

  it('outrights require maintenance, and a tenth more initially', () => {
    expect(of(month('ESH6', 2, '2026-03-20', 18_000))).toEqual([36_000, 39_600]);
    expect(of(month('ESH6', -2, '2026-03-20', 18_000))).toEqual([36_000, 39_600]);
    expect(of(month('ESH6', 1, '2026-03-20', 18_000), month('NQH6', -1, '2026-03-20', 30_000))).toEqual([
      48_000, 52_800,
    ]);
  });

  it('months scan together, and each pair adds its spread margin, earliest with earliest', () => {
    expect(of(month('ESH6', 1, '2026-03-20', 18_000), month('ESM6', -1, '2026-06-18', 18_000))).toEqual([
      3600, 3960,
    ]);
    expect(
      of(month('ESH6', 1, '2026-03-20', 18_000, 500), month('ESM6', -1, '2026-06-18', 18_000, 700)),
    ).toEqual([500, 550]);
    // One pair, and one more short: 19,000 scanned plus 20 % of 19,000.
    expect(of(month('ESM6', -2, '2026-06-18', 19_000), month('ESH6', 1, '2026-03-20', 18_000))).toEqual([
      20_000 + 3800,
      26_180,
    ]);
  });

  it('stock and options of an underlying: 15 % or 8 %, sixteen scenarios, 37.50 for a short contract', () => {
    const one = (...legs: RiskLeg[]): number =>
      dollars(spanRequirementOf(legs, [], parameters, intrinsicAt).maintenance);
    expect(one(stock('KO', 100, '60'))).toBe(900);
    expect(one(stock('SPY', 100, '600', { underlyingClass: 'BROAD_INDEX' }))).toBe(4800);
    expect(one(option('KO', -2, 'CALL', 100, '0.05', 60))).toBe(75);
    expect(one(option('KO', 2, 'CALL', 100, '0.05', 60))).toBe(0);
    // Three times the range, with a third of the loss: 0.33 × (60 × 1.45 − 70) × 100
    expect(one(option('KO', -1, 'CALL', 70, '0.05', 60))).toBe(561);
    const { groups } = spanRequirementOf([stock('KO', 100, '60')], [], parameters, intrinsicAt);
    expect(groups[0]!.points).toHaveLength(16);
    expect(groups[0]!.points.slice(-2).map(({ priceMove, pnl }) => [priceMove, dollars(pnl)])).toEqual([
      [0.45, 891],
      [-0.45, -891],
    ]);
    // A quarter of the volatility up, then down, and at the extremes none.
    expect(groups[0]!.points.map(({ volatilityMove }) => volatilityMove)).toEqual([
      ...Array.from({ length: 14 }, (_, i) => (i % 2 === 0 ? 0.25 : -0.25)),
      0,
      0,
    ]);
  });
});
