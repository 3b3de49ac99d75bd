/** Values of options before expiration, for charts: Black–Scholes without interest, from the prices of the chain. Money is decided on the server. */
import type { Leg } from '@sandpit/protocol';
import { optionNamed } from '../option-legs.ts';

const YEAR_MS = 365 * 86_400_000;
const MULTIPLIER = 100;

/** Cumulative normal distribution, absolute error below 1e-7 (Abramowitz and Stegun 26.2.17). */
export function normal(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail =
    0.3989422804014327 *
    Math.exp((-x * x) / 2) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x > 0 ? 1 - tail : tail;
}

/** Value per share of an option `years` before its expiration. */
export function optionValue(
  isCall: boolean,
  at: number,
  strike: number,
  volatility: number,
  years: number,
): number {
  const intrinsic = Math.max(0, isCall ? at - strike : strike - at);
  const spread = volatility * Math.sqrt(Math.max(0, years));
  if (spread < 1e-6 || at <= 0) return intrinsic;
  const d1 = Math.log(at / strike) / spread + spread / 2;
  const call = at * normal(d1) - strike * normal(d1 - spread);
  return isCall ? call : call - at + strike;
}

/** The volatility that a price implies; undefined when the price is not above the intrinsic value. */
export function impliedVolatility(
  isCall: boolean,
  at: number,
  strike: number,
  years: number,
  value: number,
): number | undefined {
  let low = 0.005;
  let high = 5;
  if (years <= 0 || value <= optionValue(isCall, at, strike, low, years)) return undefined;
  if (value >= optionValue(isCall, at, strike, high, years)) return undefined;
  for (let step = 0; step < 40; step += 1) {
    const middle = (low + high) / 2;
    if (optionValue(isCall, at, strike, middle, years) < value) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** A leg with the data needed to value it. */
export interface ValuedLeg {
  /** Contracts in a unit; negative = sold. */
  readonly count: number;
  readonly isCall: boolean;
  readonly strike: number;
  /** Close of its last day, ms. */
  readonly expiresAtMs: number;
  /** A year, as a fraction. */
  readonly volatility: number;
}

/** 16:00 in New York, about: an hour more or less is not seen in a picture of days. */
export const expirationMs = (date: string): number => Date.parse(`${date}T21:00:00Z`);

/** Legs ready to be valued; `middleOf` gives the middle of a contract's market, `volatilityOf` the chain's implied volatility. */
export function valuedLegs(
  legs: readonly Leg[],
  underlyingPrice: number,
  nowMs: number,
  middleOf: (symbol: string) => number | undefined,
  volatilityOf: (symbol: string) => number | undefined,
): readonly ValuedLeg[] {
  return legs.flatMap(({ optionSymbol, positionIntent, quantity }) => {
    const option = optionNamed(optionSymbol);
    if (option === undefined) return [];
    const isCall = option.optionType === 'CALL';
    const expiresAtMs = expirationMs(option.expiration);
    const years = (expiresAtMs - nowMs) / YEAR_MS;
    const middle = middleOf(optionSymbol);
    const implied =
      middle === undefined
        ? undefined
        : impliedVolatility(isCall, underlyingPrice, option.strike, years, middle);
    return [
      {
        count: (positionIntent.startsWith('B') ? 1 : -1) * quantity,
        isCall,
        strike: option.strike,
        expiresAtMs,
        volatility: implied ?? volatilityOf(optionSymbol) ?? 0.3,
      },
    ];
  });
}

/** Profit of one unit in dollars, at a price of the underlying and an instant, with all volatilities times `factor`; `cost` a share was paid. */
export function profitAt(
  legs: readonly ValuedLeg[],
  cost: number,
  at: number,
  atMs: number,
  factor = 1,
): number {
  const worth = legs.reduce(
    (sum, leg) =>
      sum +
      leg.count *
        optionValue(leg.isCall, at, leg.strike, leg.volatility * factor, (leg.expiresAtMs - atMs) / YEAR_MS),
    0,
  );
  return (worth - cost) * MULTIPLIER;
}

/** Zero crossings of a curve, between its points. */
export function breakevens(
  points: readonly { readonly at: number; readonly value: number }[],
): readonly number[] {
  return points.flatMap(({ at, value }, index) => {
    const next = points[index + 1];
    if (next === undefined || value < 0 === next.value < 0) return [];
    return [at + ((next.at - at) * value) / (value - next.value)];
  });
}

/** Chance of a profit at an instant: the underlying spreads log-normally around its price with this volatility, without drift. */
export function probabilityOfProfit(
  points: readonly { readonly at: number; readonly value: number }[],
  underlyingPrice: number,
  volatility: number,
  years: number,
): number | undefined {
  const spread = volatility * Math.sqrt(years);
  const [first] = points;
  if (!(spread > 0) || first === undefined) return undefined;
  const below = (at: number): number => normal(Math.log(at / underlyingPrice) / spread + spread / 2);
  const edges = [0, ...breakevens(points).map(below), 1];
  let isProfit = first.value > 0;
  let sum = 0;
  for (let index = 1; index < edges.length; index += 1) {
    if (isProfit) sum += (edges[index] ?? 0) - (edges[index - 1] ?? 0);
    isProfit = !isProfit;
  }
  return sum;
}
