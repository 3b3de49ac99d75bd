import { americanValue, roughAmericanValue } from './american.js';
import type { Conditions } from './conditions.js';
import { europeanSensitivities } from './european.js';
import { normalisedVolatility } from './european-volatility.js';
import { log } from './exponential.js';
import type { OptionType, OptionTerms } from './option-terms.js';
import { exerciseTimes } from './tree.js';

/** Implied volatilities are held between these two (D71). */
export const LOWEST_VOLATILITY = 0.01;
export const HIGHEST_VOLATILITY = 5;

const MOST_TRIALS = 60;
/** Dollars per share. Less cannot be told from a price, which counts in 10⁻⁸. */
const NEAR_ENOUGH = 1e-9;
/** Of the price. */
const ROUGHLY_NEAR = 1e-5;
const SMALLEST_INTERVAL = 1e-13;

/**
 * The volatility at which the model has this value, in dollars per share (D71). Prices that no volatility from 1 % to 500 % explains
 * have the nearer of the two: below what exercise brings 1 %, above the underlying 500 %.
 */
export function impliedVolatility(
  { optionType, style, strike }: OptionTerms,
  conditions: Conditions,
  price: number,
): number {
  const european = held(europeanVolatility(optionType, strike, conditions, price));
  if (style === 'EUROPEAN' || exerciseTimes(optionType, strike, conditions) === 'NEVER') return european;
  const atOnce = optionType === 'CALL' ? conditions.spot - strike : strike - conditions.spot;
  if (price <= atOnce) return LOWEST_VOLATILITY;
  return americanVolatility(optionType, strike, conditions, price, european);
}

const held = (volatility: number): number =>
  Math.max(LOWEST_VOLATILITY, Math.min(HIGHEST_VOLATILITY, volatility));

/** Not held: 0 up to the intrinsic value of the forward, Infinity from where no volatility is enough. */
export function europeanVolatility(
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
  return normalisedVolatility(x < 0 ? x : -x, outside / Math.sqrt(escrowed * due)) / Math.sqrt(years);
}

/**
 * The search begins at the European volatility, where the American option is worth at least as much, and goes on small trees
 * first: what they find is a step or two from what the large ones do.
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
    // Near a bound the small trees may have none where the large ones do.
    isInside ? rough.root : start,
    isInside ? rough.slope : vega,
    NEAR_ENOUGH,
  ).root;
}

interface Found {
  readonly root: number;
  /** Of the function there, as far as it is known. */
  readonly slope: number;
}

/**
 * The root of a function that rises with the volatility, by the secant method between two bounds that close in; the bound itself
 * where there is none. A first step along `slope`.
 */
function secant(excess: (volatility: number) => number, start: number, slope: number, near: number): Found {
  let low = LOWEST_VOLATILITY;
  let high = HIGHEST_VOLATILITY;
  // Whether the bounds have been looked at.
  let isLowKnown = false;
  let isHighKnown = false;
  let steepness = slope;
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
    let next = last - atLast / steepness;
    // A bound that hardly moves, or a tree that is flat, is no guide.
    const isSlow = trial > 5 && high - low > 0.5 * width;
    if (isSlow || !(next > low && next < high)) {
      if (isLowKnown && isHighKnown) next = 0.5 * (low + high);
      else next = isLowKnown ? high : low;
    }
    const atNext = excess(next);
    if (next === LOWEST_VOLATILITY && atNext >= 0) return { root: next, slope: steepness };
    if (next === HIGHEST_VOLATILITY && atNext <= 0) return { root: next, slope: steepness };
    const secantSlope = (atNext - atLast) / (next - last);
    if (secantSlope > 0) steepness = secantSlope;
    last = next;
    atLast = atNext;
  }
  return { root: last, slope: steepness };
}
