import type { Conditions } from './conditions.js';
import { europeanSensitivities, europeanValue, thetaOf } from './european.js';
import type { Sensitivities } from './european.js';
import type { OptionType } from './option-terms.js';
import { emptyPremiums, exerciseTimes, growTree } from './tree.js';
import type { ExerciseTimes, Premiums } from './tree.js';

/*
 * American options: the European value, and the premium of early exercise from trees (D71). What a tree gets wrong falls with the
 * number of its steps where exercise can pay at any time, so that two trees tell the limit. At ex-dates alone it does not, and
 * one tree is better than two.
 */

/** Steps of the two trees. */
interface Sizes {
  readonly small: number;
  readonly large: number;
}

const SIZES: Sizes = { small: 51, large: 101 };
/** For what need not be exact. */
const ROUGH_SIZES: Sizes = { small: 21, large: 43 };
/** Wide enough to even out which nodes an edge of exercise falls between. */
const VOLATILITY_SHIFT = 0.02;

const smaller = emptyPremiums();
const larger = emptyPremiums();

/** The value of an American option in dollars per share; never below the European one or what exercise brings. */
export function americanValue(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
): number {
  return valueBySizes(optionType, strike, conditions, volatility, SIZES);
}

/** About a fifth of the work, and good to a cent or two for a strike of 100. */
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
  const atOnce = exercised(optionType, strike, conditions);
  return larger.isExercised ? atOnce : Math.max(european + premium, atOnce);
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
  const atOnce = exercised(optionType, strike, conditions);
  if (larger.isExercised || european.value + premium <= atOnce) {
    // Exercised at once it is the difference of two amounts.
    return { value: Math.max(atOnce, 0), delta: optionType === 'CALL' ? 1 : -1, gamma: 0, theta: 0, vega: 0 };
  }
  const value = european.value + premium;
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
  return { value, delta, gamma, theta, vega };
}

const exercised = (optionType: OptionType, strike: number, { spot }: Conditions): number =>
  optionType === 'CALL' ? spot - strike : strike - spot;

/** The premium at the root; leaves the trees it is from in `smaller` and `larger`. */
function premiumOf(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
  times: ExerciseTimes,
  sizes: Sizes,
): number {
  growTree(optionType, strike, conditions, volatility, times, sizes.large, larger);
  if (times === 'ANY') growTree(optionType, strike, conditions, volatility, times, sizes.small, smaller);
  const premium = limitOf(times, sizes, smaller.root, larger.root);
  return premium > 0 ? premium : 0;
}

/** What an infinite tree would say. */
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
