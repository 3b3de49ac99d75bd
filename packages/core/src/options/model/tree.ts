import { exp, log } from './exponential.js';
import type { Conditions } from './conditions.js';
import { exerciseStrikes, MOST_STEPS } from './exercise-strikes.js';
import type { ExerciseStrikes, ExerciseTimes } from './exercise-strikes.js';
import type { OptionType } from './option-terms.js';

/*
 * The binomial tree of D. Leisen and M. Reimer ("Binomial Models for Option Valuation", Applied Mathematical Finance 3, 1996) on the
 * spot without its dividends, for options that may be exercised early. The exercise value includes future dividends (D71).
 *
 * A move is *inward* if it moves the option into the money (up for a call) and *outward* otherwise; node k of a step has made k
 * moves outward, so that calls and puts are one. The result is the *premium* of early exercise, the tree's value less the tree's
 * value of the European option: much of the error of the tree is in both.
 *
 * The arrays are the workspace of one tree after the other; no values are kept between calls.
 */

const values = new Float64Array(MOST_STEPS + 2);
/** Values after decisions at the end of an interval with an ex-date. */
const later = new Float64Array(MOST_STEPS + 2);
/** Spot of node k, divided by the power of the inward factor that its step has. */
const spots = new Float64Array(MOST_STEPS + 2);
/** Premium of early exercise at the root and the five nodes of the first two steps, from inward to outward. */
export interface Premiums {
  root: number;
  readonly first: [number, number];
  readonly second: [number, number, number];
  /** Factors of the spot of a move inward and outward. */
  inward: number;
  outward: number;
  /** True when immediate exercise is worth more. */
  isExercised: boolean;
}

export const emptyPremiums = (): Premiums => ({
  root: 0,
  first: [0, 0],
  second: [0, 0, 0],
  inward: 1,
  outward: 1,
  isExercised: false,
});

/** Standard deviations from the money beyond which the tree is not centered on the strike. */
const FARTHEST_CENTER = 5;

/** The smaller of the two probabilities of a move by Peizer and Pratt's second inversion for `steps` steps. */
function smallerProbability(deviations: number, steps: number): number {
  const scaled = deviations / (steps + 1 / 3 + 0.1 / (steps + 1));
  const left = exp(-scaled * scaled * (steps + 1 / 6));
  return (0.5 * left) / (1 + Math.sqrt(1 - left));
}

/** Builds the tree of `steps` (odd) steps and leaves its premiums in `out`. */
export function growTree(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
  times: ExerciseTimes,
  steps: number,
  out: Premiums,
): void {
  const { escrowed, years, rate, discount } = conditions;
  const sign = optionType === 'CALL' ? 1 : -1;
  const deviation = volatility * Math.sqrt(years);
  const center = log(escrowed / (strike * discount)) / deviation - 0.5 * deviation;
  const d2 = Math.max(-FARTHEST_CENTER, Math.min(FARTHEST_CENTER, center));
  const d1 = d2 + deviation;
  const small2 = smallerProbability(d2, steps);
  const small1 = smallerProbability(d1, steps);
  // Inward is up for a call: the probability of d2 for it, and the one of d1 with the spot as the measure.
  const isLikely2 = d2 * sign > 0;
  const isLikely1 = d1 * sign > 0;
  const growth = exp((rate * years) / steps);
  const inwardChance = isLikely2 ? 1 - small2 : small2;
  const outwardChance = isLikely2 ? small2 : 1 - small2;
  const inward = (growth * (isLikely1 ? 1 - small1 : small1)) / inwardChance;
  const outward = (growth * (isLikely1 ? small1 : 1 - small1)) / outwardChance;
  const inwardWeight = inwardChance / growth;
  const outwardWeight = outwardChance / growth;

  let power = 1;
  for (let i = 0; i < steps; i++) power *= inward;
  const ratio = outward / inward;
  let spot = escrowed;
  /** The outermost node with a positive value. */
  let outermost = -1;
  for (let k = 0; k <= steps; k++) {
    spots[k] = spot;
    const payoff = sign * (power * spot - strike);
    values[k] = payoff > 0 ? payoff : 0;
    if (payoff > 0) outermost = k;
    spot *= ratio;
  }
  values[steps + 1] = 0;
  sumTo(european, steps, outermost, inwardWeight, outwardWeight);
  const known = exerciseStrikes(sign, strike, conditions, times, steps);
  const { strikes: exercise, exAt, earliest } = known;

  // Going back in time the nodes of one number move outward, unless there is hardly any volatility: the worthless stay so.
  const stayWorthless = sign * (inward - 1) > 0;
  const isAnyTime = times === 'ANY';
  const back = 1 / inward;
  /** The outermost node that is exercised; those farther in are too, and their values are not kept. */
  let edge = -1;
  for (let i = steps - 1; i >= 0; i--) {
    const powerAfter = power;
    power *= back;
    if (!stayWorthless || outermost > i) outermost = i;
    if ((exAt[i] as number) >= 0) {
      recall(edge, sign, powerAfter, exercise[i + 1] as number);
      // Puts beyond the outermost node stay worthless before the dividend; calls beyond it may be exercised for it.
      const last = sign < 0 ? outermost : i;
      outermost = rollOverExDate(
        i,
        known,
        last,
        sign * power,
        sign * powerAfter,
        sign,
        inwardWeight,
        outwardWeight,
        !isAnyTime,
      );
      edge = -1;
    } else if (isAnyTime) {
      edge = rollWithExercise(
        outermost,
        edge,
        sign * power,
        sign * (exercise[i] as number),
        inwardWeight,
        outwardWeight,
      );
    } else {
      roll(values, 0, outermost, inwardWeight, outwardWeight);
    }
    if (i === earliest && !isAnyTime && i > 2) {
      sumTo(american, i, outermost, inwardWeight, outwardWeight);
      break;
    }
    if (i <= 2) {
      recall(edge, sign, power, exercise[i] as number);
      keep(american, i);
    }
  }
  out.root = premiumAt(ROOT);
  for (let k = 0; k < 2; k++) out.first[k as 0] = premiumAt(FIRST + k);
  for (let k = 0; k < 3; k++) out.second[k as 0] = premiumAt(SECOND + k);
  out.inward = inward;
  out.outward = outward;
  out.isExercised = edge >= 0;
}

/** Six nodes: the root, two of the first step and three of the second. */
const ROOT = 0;
const FIRST = 1;
const SECOND = 3;
const american = new Float64Array(6);
const european = new Float64Array(6);

const premiumAt = (node: number): number => (american[node] as number) - (european[node] as number);

/** 1 / k */
const INVERSES = Float64Array.from({ length: MOST_STEPS + 2 }, (_, k) => 1 / k);

/** Keeps the nodes of a step whose values are in `values`, the second or an earlier one. */
function keep(nodes: Float64Array, step: number): void {
  const first = step === 2 ? SECOND : step === 1 ? FIRST : ROOT;
  for (let k = 0; k <= step; k++) nodes[first + k] = values[k] as number;
}

/**
 * The six nodes if no early exercise is possible: `values` of a step, of which those beyond `outermost` are 0, summed by their
 * probabilities.
 */
function sumTo(
  nodes: Float64Array,
  step: number,
  outermost: number,
  inwardWeight: number,
  outwardWeight: number,
): void {
  const moves = step - 2;
  const ratio = outwardWeight / inwardWeight;
  let weight = 1;
  for (let i = 0; i < moves; i++) weight *= inwardWeight;
  let inner = 0;
  let middle = 0;
  let outer = 0;
  const last = outermost < moves ? outermost : moves;
  for (let k = 0; k <= last; k++) {
    inner += weight * (values[k] as number);
    middle += weight * (values[k + 1] as number);
    outer += weight * (values[k + 2] as number);
    weight *= ratio * (moves - k) * (INVERSES[k + 1] as number);
  }
  nodes[SECOND] = inner;
  nodes[SECOND + 1] = middle;
  nodes[SECOND + 2] = outer;
  const near = inwardWeight * inner + outwardWeight * middle;
  const far = inwardWeight * middle + outwardWeight * outer;
  nodes[FIRST] = near;
  nodes[FIRST + 1] = far;
  nodes[ROOT] = inwardWeight * near + outwardWeight * far;
}

/** Stores the exercise values of nodes farther in than an edge of exercise. */
function recall(edge: number, sign: number, power: number, at: number): void {
  for (let k = 0; k < edge; k++) values[k] = sign * (power * (spots[k] as number) - at);
}

/** A step back in time of the nodes `from` to `to`. */
function roll(
  nodes: Float64Array,
  from: number,
  to: number,
  inwardWeight: number,
  outwardWeight: number,
): void {
  let near = nodes[from] as number;
  for (let k = from; k <= to; k++) {
    const far = nodes[k + 1] as number;
    nodes[k] = inwardWeight * near + outwardWeight * far;
    near = far;
  }
}

/**
 * A step back in time if exercise at `at` can pay at once; returns the new edge. A node with two exercised successors is exercised
 * too: waiting loses interest. The gain of exercising falls outward, so the first node that is kept ends the search.
 */
function rollWithExercise(
  outermost: number,
  edge: number,
  signedPower: number,
  signedAt: number,
  inwardWeight: number,
  outwardWeight: number,
): number {
  let k = edge > 0 ? edge : 0;
  if (k > 0) values[k - 1] = signedPower * (spots[k - 1] as number) - signedAt;
  for (; k <= outermost; k++) {
    const alive = inwardWeight * (values[k] as number) + outwardWeight * (values[k + 1] as number);
    const dead = signedPower * (spots[k] as number) - signedAt;
    if (dead < alive) break;
    values[k] = dead;
  }
  roll(values, k, outermost, inwardWeight, outwardWeight);
  return k - 1;
}

/** A step back in time over an ex-date, for the nodes up to `last`; returns the outermost with a positive value. */
function rollOverExDate(
  i: number,
  { strikes: exercise, strikesAfter: exerciseAfter, exAt }: ExerciseStrikes,
  last: number,
  signedPower: number,
  signedPowerAfter: number,
  sign: number,
  inwardWeight: number,
  outwardWeight: number,
  isOnlyAtExDates: boolean,
): number {
  const share = exAt[i] as number;
  if (share > 0) {
    for (let k = 0; k <= last + 1; k++) later[k] = values[k] as number;
    const signedAt = sign * (exerciseAfter[i] as number);
    exerciseAll(later, last + 1, signedPowerAfter, signedAt, isOnlyAtExDates);
    roll(later, 0, last, inwardWeight, outwardWeight);
  }
  roll(values, 0, last, inwardWeight, outwardWeight);
  exerciseAll(values, last, signedPower, sign * (exercise[i] as number), isOnlyAtExDates);
  if (share > 0) {
    for (let k = 0; k <= last; k++) {
      const value = values[k] as number;
      values[k] = value + share * ((later[k] as number) - value);
    }
  }
  let outermost = last;
  while (outermost >= 0 && values[outermost] === 0) outermost--;
  return outermost;
}

/**
 * Exercises the nodes of a step, up to `last`, at which exercise is worth more. The value bends at the exercise boundary, which lies
 * between two nodes; the error of a sum over nodes depends on the position of the boundary. By Euler and Maclaurin's formula, with θ the
 * part of the way and κ the change of slope per node, that is κ (θ(1 − θ)/2 − 1/12); the two nodes subtract it. If exercise can pay at any
 * time, two trees are more accurate without this correction.
 */
function exerciseAll(
  nodes: Float64Array,
  last: number,
  signedPower: number,
  signedAt: number,
  isOnlyAtExDates: boolean,
): void {
  let gain = 0;
  for (let k = 0; k <= last; k++) {
    const alive = nodes[k] as number;
    const dead = signedPower * (spots[k] as number) - signedAt;
    if (dead < alive) {
      if (k === 0 || !isOnlyAtExDates) return;
      const loss = alive - dead;
      const bend = gain + loss;
      const outward = gain / bend;
      const off = bend * (0.5 * outward * (1 - outward) - 1 / 12);
      nodes[k - 1] = (nodes[k - 1] as number) - off * (1 - outward);
      nodes[k] = alive - off * outward;
      return;
    }
    gain = dead - alive;
    nodes[k] = dead;
  }
}
