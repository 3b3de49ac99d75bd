import { atRate } from './conditions.js';
import type { Conditions } from './conditions.js';
import { europeanSensitivities, europeanValue, thetaOf } from './european.js';
import type { Sensitivities } from './european.js';
import type { OptionType } from './option-terms.js';
import { exerciseTimes } from './exercise-strikes.js';
import type { ExerciseTimes } from './exercise-strikes.js';
import { emptyPremiums, growTree } from './tree.js';
import type { Premiums } from './tree.js';

/*
 * American options: the European value, and the premium of early exercise from trees (D71). The error of a tree falls with the
 * number of its steps if exercise can pay at any time, so two trees give the limit. At ex-dates alone it does not, and
 * one tree is better than two.
 */

/** Numbers of steps with two trees and with one tree. */
interface Sizes {
  readonly small: number;
  readonly large: number;
  readonly alone: number;
}

const SIZES: Sizes = { small: 51, large: 101, alone: 101 };
/** Sizes for lower precision. */
const ROUGH_SIZES: Sizes = { small: 15, large: 31, alone: 43 };
/** Wide enough to even out which nodes an edge of exercise falls between. */
const VOLATILITY_SHIFT = 0.1;
const RATE_SHIFT = 0.005;

const smaller = emptyPremiums();
const larger = emptyPremiums();

/** The value of an American option in dollars per share; never below the European one or the gain from exercise on a known date. */
export function americanValue(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
): number {
  return valueBySizes(optionType, strike, conditions, volatility, SIZES);
}

/** A fifth of the work, with an error of a cent or two for a strike of 100. */
export function roughAmericanValue(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
): number {
  return valueBySizes(optionType, strike, conditions, volatility, ROUGH_SIZES);
}

function valueBySizes(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
  sizes: Sizes,
): number {
  const european = europeanValue(optionType, strike, conditions, volatility);
  const times = exerciseTimes(optionType, strike, conditions);
  if (times === 'NEVER') return european;
  const premium = premiumOf(optionType, strike, conditions, volatility, times, sizes);
  const certain = certainValue(optionType, strike, conditions);
  return larger.isExercised ? certain : Math.max(european + premium, certain);
}

export function americanSensitivities(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
): Sensitivities {
  const european = europeanSensitivities(optionType, strike, conditions, volatility);
  const times = exerciseTimes(optionType, strike, conditions);
  if (times === 'NEVER') return european;
  const premium = premiumOf(optionType, strike, conditions, volatility, times, SIZES);
  const certain = certainValue(optionType, strike, conditions);
  if (larger.isExercised) {
    // Exercised at once, it is the difference of two amounts.
    return { value: certain, delta: optionType === 'CALL' ? 1 : -1, gamma: 0, theta: 0, vega: 0, rho: 0 };
  }
  const value = Math.max(european.value + premium, certain);
  const { escrowed } = conditions;
  const delta = european.delta + limitOf(times, SIZES, deltaOf(smaller, escrowed), deltaOf(larger, escrowed));
  const gamma = Math.max(
    european.gamma + limitOf(times, SIZES, gammaOf(smaller, escrowed), gammaOf(larger, escrowed)),
    0,
  );
  const theta = thetaOf(conditions, volatility, value, delta, gamma);
  const shift = volatility * VOLATILITY_SHIFT;
  const above = premiumOf(optionType, strike, conditions, volatility + shift, times, ROUGH_SIZES);
  const below = premiumOf(optionType, strike, conditions, volatility - shift, times, ROUGH_SIZES);
  const vega = Math.max(european.vega + (above - below) / (2 * shift), 0);
  const [lower, higher] = [-RATE_SHIFT, RATE_SHIFT].map((change) => {
    const changed = atRate(conditions, conditions.rate + change);
    const own = exerciseTimes(optionType, strike, changed);
    return own === 'NEVER' ? 0 : premiumOf(optionType, strike, changed, volatility, own, ROUGH_SIZES);
  }) as [number, number];
  const rho = european.rho + (higher - lower) / (2 * RATE_SHIFT);
  return { value, delta, gamma, theta, vega, rho };
}

/** Gain from the best exercise date that is known in advance: at once, or at an ex-date. Below 0 if it costs. */
export function certainValue(
  optionType: OptionType,
  strike: number,
  { spot, dividends }: Conditions,
): number {
  const sign = optionType === 'CALL' ? 1 : -1;
  let best = sign * (spot - strike);
  let gone = 0;
  for (const { amount, discount } of dividends) {
    const worth = amount * discount;
    // A call is exercised before the dividend goes ex, a put after.
    const value = sign * (spot - gone - (sign > 0 ? 0 : worth) - strike * discount);
    if (value > best) best = value;
    gone += worth;
  }
  return best;
}

/** The premium at the root; leaves its trees in `smaller` and `larger`. */
function premiumOf(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
  times: ExerciseTimes,
  sizes: Sizes,
): number {
  const isAnyTime = times === 'ANY';
  const steps = isAnyTime ? sizes.large : sizes.alone;
  growTree(optionType, strike, conditions, volatility, times, steps, larger);
  if (isAnyTime) growTree(optionType, strike, conditions, volatility, times, sizes.small, smaller);
  const premium = limitOf(times, sizes, smaller.root, larger.root);
  return premium > 0 ? premium : 0;
}

/** Limit of infinitely many steps. */
function limitOf(times: ExerciseTimes, { small, large }: Sizes, ofSmall: number, ofLarge: number): number {
  return times === 'ANY' ? ofLarge + ((ofLarge - ofSmall) * small) / (large - small) : ofLarge;
}

function deltaOf({ first, inward, outward }: Premiums, spot: number): number {
  return (first[1] - first[0]) / (spot * (outward - inward));
}

function gammaOf({ second, inward, outward }: Premiums, spot: number): number {
  const inner = spot * inward * inward;
  const middle = spot * inward * outward;
  const outer = spot * outward * outward;
  const slopeOut = (second[2] - second[1]) / (outer - middle);
  const slopeIn = (second[1] - second[0]) / (middle - inner);
  return (2 * (slopeOut - slopeIn)) / (outer - inner);
}
