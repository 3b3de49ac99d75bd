import { americanValue, certainValue, roughAmericanValue } from './american.js';
import type { Conditions } from './conditions.js';
import { europeanSensitivities, europeanValue } from './european.js';
import { normalizedVolatility } from './european-volatility.js';
import { exerciseTimes } from './exercise-strikes.js';
import { log } from './exponential.js';
import type { OptionType, OptionTerms } from './option-terms.js';

/** Bounds of implied volatilities (D71). */
export const LOWEST_VOLATILITY = 0.01;
export const HIGHEST_VOLATILITY = 5;

const NEAR_LOWEST = 0.03;
const NEAR_HIGHEST = 4;
const MOST_TRIALS = 60;
/** Dollars per share. Smaller differences disappear in prices, which count in 10⁻⁸. */
const NEAR_ENOUGH = 1e-9;
/** Relative to the price. */
const ROUGHLY_NEAR = 1e-5;
const SMALLEST_INTERVAL = 1e-13;
/** Safety factor: trees are less smooth than the method assumes. */
const SURELY = 100;

/**
 * The volatility at which the model has this value, in dollars per share (D71). Prices that no volatility from 1 % to 500 % explains
 * get the nearer bound: below the exercise value 1 %, above the underlying 500 %.
 */
export function impliedVolatility(
  { optionType, style, strike }: OptionTerms,
  conditions: Conditions,
  price: number,
): number {
  const european = held(europeanVolatility(optionType, strike, conditions, price));
  if (style === 'EUROPEAN' || exerciseTimes(optionType, strike, conditions) === 'NEVER') return european;
  if (price <= certainValue(optionType, strike, conditions)) return LOWEST_VOLATILITY;
  const found = americanVolatility(optionType, strike, conditions, price, european);
  // The error of trees can hide that a bound would have sufficed.
  if (found < NEAR_LOWEST && americanValue(optionType, strike, conditions, LOWEST_VOLATILITY) >= price)
    return LOWEST_VOLATILITY;
  if (found > NEAR_HIGHEST && americanValue(optionType, strike, conditions, HIGHEST_VOLATILITY) <= price)
    return HIGHEST_VOLATILITY;
  return found;
}

/**
 * True if a volatility explains a price: it is at least `margin` above the model's value at the lowest one, and at most its value at the
 * highest one (D252). Both in dollars per share.
 */
export function hasVolatility(
  { optionType, style, strike }: OptionTerms,
  conditions: Conditions,
  price: number,
  margin: number,
): boolean {
  const valueAt = style === 'EUROPEAN' ? europeanValue : americanValue;
  const { spot, escrowed, discount, years } = conditions;
  const forward = optionType === 'CALL' ? escrowed - strike * discount : strike * discount - escrowed;
  const certain = style === 'EUROPEAN' ? 0 : certainValue(optionType, strike, conditions);
  // A value grows with the volatility by at most 0.4 of the price for a year of 1.00. This spares most options two trees.
  const leastAtMost =
    Math.max(forward, certain, 0) + 0.5 * LOWEST_VOLATILITY * Math.max(spot, strike) * Math.sqrt(years);
  return (
    (price >= leastAtMost + margin ||
      price >= valueAt(optionType, strike, conditions, LOWEST_VOLATILITY) + margin) &&
    // An American option is worth at least as much as a European one.
    (price <= europeanValue(optionType, strike, conditions, HIGHEST_VOLATILITY) ||
      price <= valueAt(optionType, strike, conditions, HIGHEST_VOLATILITY))
  );
}

const held = (volatility: number): number =>
  Math.max(LOWEST_VOLATILITY, Math.min(HIGHEST_VOLATILITY, volatility));

/** Unbounded: 0 up to the intrinsic value of the forward, Infinity if no volatility suffices. */
function europeanVolatility(
  optionType: OptionType,
  strike: number,
  { escrowed, discount, years }: Conditions,
  price: number,
): number {
  const due = strike * discount;
  const inside = optionType === 'CALL' ? escrowed - due : due - escrowed;
  // The value of the option out of the money at the same strike, by put–call parity.
  const outside = price - Math.max(inside, 0);
  const x = log(escrowed / due);
  return normalizedVolatility(x < 0 ? x : -x, outside / Math.sqrt(escrowed * due)) / Math.sqrt(years);
}

/**
 * The search begins at the European volatility, where the American option is worth at least as much, and uses small trees
 * first: their result is a step or two from that of the large ones.
 */
function americanVolatility(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  price: number,
  start: number,
): number {
  const { vega } = europeanSensitivities(optionType, strike, conditions, start);
  const rough = secant(
    (volatility) => roughAmericanValue(optionType, strike, conditions, volatility) - price,
    start,
    vega,
    ROUGHLY_NEAR * price,
  );
  const isInside = rough.root > LOWEST_VOLATILITY && rough.root < HIGHEST_VOLATILITY;
  return secant(
    (volatility) => americanValue(optionType, strike, conditions, volatility) - price,
    // Near a bound the small trees may have no root although the large ones do.
    isInside ? rough.root : start,
    isInside ? rough.slope : vega,
    NEAR_ENOUGH,
  ).root;
}

interface Found {
  readonly root: number;
  /** Slope of the function at the root, as far as it is known. */
  readonly slope: number;
}

/**
 * The root of a function that rises with the volatility, by the secant method between two bounds that close in; the bound itself
 * if there is none. A first step along `slope`.
 */
function secant(excess: (volatility: number) => number, start: number, slope: number, near: number): Found {
  let low = LOWEST_VOLATILITY;
  let high = HIGHEST_VOLATILITY;
  // True when the bounds have been evaluated.
  let isLowKnown = false;
  let isHighKnown = false;
  let steepness = slope;
  /** Part of the error that the latest step has left. */
  let part = 1;
  let last = start;
  let atLast = excess(last);
  for (let trial = 0; trial < MOST_TRIALS; trial++) {
    if (Math.abs(atLast) <= near) break;
    const width = high - low;
    if (atLast > 0) {
      high = last;
      isHighKnown = true;
    } else {
      low = last;
      isLowKnown = true;
    }
    if (high - low <= SMALLEST_INTERVAL) break;
    const along = last - atLast / steepness;
    let next = along;
    // A slowly moving bound, or a flat tree, gives no direction.
    const isSlow = trial > 5 && high - low > 0.5 * width;
    if (isSlow || !(next > low && next < high)) {
      if (isLowKnown && isHighKnown) next = 0.5 * (low + high);
      else next = isLowKnown ? high : low;
    }
    // Each step leaves a smaller part of the error than the one before: the result of this one need not be evaluated.
    const isLast = next === along && Math.abs(atLast * part) * SURELY <= near;
    if (isLast) return { root: next, slope: steepness };
    const atNext = excess(next);
    if (next === LOWEST_VOLATILITY && atNext >= 0) return { root: next, slope: steepness };
    if (next === HIGHEST_VOLATILITY && atNext <= 0) return { root: next, slope: steepness };
    const secantSlope = (atNext - atLast) / (next - last);
    if (secantSlope > 0) steepness = secantSlope;
    part = secantSlope > 0 ? atNext / atLast : 1;
    last = next;
    atLast = atNext;
  }
  return { root: last, slope: steepness };
}
