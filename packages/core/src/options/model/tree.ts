import { exp, log } from './exponential.js';
import type { Conditions, DiscountedDividend } from './conditions.js';
import type { OptionType } from './option-terms.js';

/*
 * The binomial tree of D. Leisen and M. Reimer ("Binomial Models for Option Valuation", Applied Mathematical Finance 3, 1996) on the
 * spot without its dividends, for options that may be exercised early. The exercise value counts the dividends still to come (D71).
 *
 * A move is *inward* where it takes the option into the money (up for a call) and *outward* otherwise; node k of a step has made k
 * moves outward, so that calls and puts are one. What comes out is the *premium* of early exercise, the tree's value less the
 * tree's value of the European option: much of the error of the tree is in both.
 *
 * The arrays are the workplace of one tree after the other; nothing is kept from one call to the next.
 */

/** Trees have an odd number of steps, at most this. */
export const MOST_STEPS = 2001;

const values = new Float64Array(MOST_STEPS + 2);
/** Spot of node k, divided by the power of the inward factor that its step has. */
const spots = new Float64Array(MOST_STEPS + 2);
/** By step: the strike, less the dividends to come, at which the escrowed spot can be exchanged there. */
const exercise = new Float64Array(MOST_STEPS + 2);
/** By step: the same for an ex-date in the interval after it, decided at its end. */
const exerciseAfter = new Float64Array(MOST_STEPS + 2);
/** By step: what 1.00 of now has grown to. */
const growths = new Float64Array(MOST_STEPS + 2);
/** By step: where in the interval after it the ex-date lies, from 0 to 1; 0 = there is none. */
const exAt = new Float64Array(MOST_STEPS + 2);

/** Premium of early exercise at the root and the five nodes of the first two steps, from inward to outward. */
export interface Premiums {
  root: number;
  readonly first: [number, number];
  readonly second: [number, number, number];
  /** Factors of the spot of a move inward and outward. */
  inward: number;
  outward: number;
  /** Exercise is worth more at once than later. */
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

/** Whether early exercise can pay at any time, or only just before (a call) and just after (a put) an ex-date, or never. */
export type ExerciseTimes = 'ANY' | 'EX_DATES' | 'NEVER';

/** With positive rates a call is worth more alive but for a dividend, with negative ones a put is. */
export function exerciseTimes(
  optionType: OptionType,
  strike: number,
  { rate, dividends, discount }: Conditions,
): ExerciseTimes {
  if (optionType === 'PUT') return rate > 0 ? 'ANY' : 'NEVER';
  if (rate < 0) return 'ANY';
  const pays = dividends.some((one, index) =>
    paysToExercise(strike, one, dividends[index + 1]?.discount ?? discount),
  );
  return pays ? 'EX_DATES' : 'NEVER';
}

/** Whoever does not exercise a call before an ex-date earns interest on the strike until the next, at the price of the dividend. */
const paysToExercise = (strike: number, { amount, discount }: DiscountedDividend, next: number): boolean =>
  amount * discount > strike * (discount - next);

/** Farther from the money than this many standard deviations the tree is not centred on the strike. */
const FARTHEST_CENTRE = 5;

/** The smaller of the two probabilities of a move that Peizer and Pratt's second inversion finds for `steps` steps. */
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
  const centre = log(escrowed / (strike * discount)) / deviation - 0.5 * deviation;
  const d2 = Math.max(-FARTHEST_CENTRE, Math.min(FARTHEST_CENTRE, centre));
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
  /** The outermost node that is worth something. */
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
  const earliest = setExercise(sign, strike, conditions, times, steps);

  // Going back in time the nodes of one number move outward, unless there is hardly any volatility: the worthless stay so.
  const stayWorthless = sign * (inward - 1) > 0;
  const isAnyTime = times === 'ANY';
  const back = 1 / inward;
  /** The outermost node that is exercised; of those farther in, which are too, the values are not kept. */
  let edge = -1;
  for (let i = steps - 1; i >= 0; i--) {
    const powerAfter = power;
    power *= back;
    if (!stayWorthless || outermost > i) outermost = i;
    if ((exAt[i] as number) >= 0) {
      recall(edge, sign, powerAfter, exercise[i + 1] as number);
      outermost = rollOverExDate(i, sign, power, powerAfter, inwardWeight, outwardWeight);
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
      roll(0, outermost, inwardWeight, outwardWeight);
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

/** Notes the nodes of the step whose `values` are, the second or an earlier one. */
function keep(nodes: Float64Array, step: number): void {
  const first = step === 2 ? SECOND : step === 1 ? FIRST : ROOT;
  for (let k = 0; k <= step; k++) nodes[first + k] = values[k] as number;
}

/**
 * The six nodes where nothing can be exercised on the way: `values` of a step, of which those beyond `outermost` are 0, summed by their
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

/**
 * Fills in at what strikes the escrowed spot can be exchanged. An ex-date falls between two steps: who decides at the one before
 * it is bound to exercise on the date, who decides at the one after has done so. The strike earns or costs interest for that time and
 * the dividends do too, so that it changes nothing but what is known when deciding; `rollOverExDate` weighs the two.
 */
function setExercise(
  sign: number,
  strike: number,
  { dividends, rate, years, discount: discountAtExpiry }: Conditions,
  times: ExerciseTimes,
  steps: number,
): number {
  exAt.fill(-1, 0, steps + 1);
  exercise.fill(times === 'ANY' ? strike : sign * Infinity, 0, steps + 1);
  let earliest = -1;
  if (dividends.length === 0) return earliest;
  const step = years / steps;
  growSteps(exp(rate * step), steps);
  if (times === 'ANY') setExerciseAnyTime(strike, dividends, steps, step);
  /** Present value of the dividends after the one at hand. */
  let toCome = 0;
  for (let index = dividends.length - 1; index >= 0; index--) {
    const { years: at, amount, discount } = dividends[index] as DiscountedDividend;
    const before = toCome + amount * discount;
    const next = dividends[index + 1]?.discount ?? discountAtExpiry;
    if (times === 'EX_DATES' && !paysToExercise(strike, dividends[index] as DiscountedDividend, next)) {
      toCome = before;
      continue;
    }
    // A call is exercised before the dividend is gone, a put after.
    const worth = strike * discount - (sign > 0 ? before : toCome);
    toCome = before;
    const place = at / step;
    const i = Math.min(Math.floor(place), steps - 1);
    const early = worth * (growths[i] as number);
    if (sign * (early - (exercise[i] as number)) < 0) exercise[i] = early;
    const late = worth * (growths[i + 1] as number);
    if ((exAt[i] as number) < 0 || sign * (late - (exerciseAfter[i] as number)) < 0) exerciseAfter[i] = late;
    // Who decides at expiry decides with hindsight.
    exAt[i] = i === steps - 1 ? 0 : place - i;
    earliest = i;
  }
  return earliest;
}

function growSteps(growth: number, steps: number): void {
  let grown = 1;
  for (let i = 0; i <= steps; i++) {
    growths[i] = grown;
    grown *= growth;
  }
}

/** At each step the strike less the dividends that go ex after it. */
function setExerciseAnyTime(
  strike: number,
  dividends: readonly DiscountedDividend[],
  steps: number,
  step: number,
): void {
  let toCome = 0;
  let index = dividends.length - 1;
  for (let i = steps; i >= 0; i--) {
    const at = i * step;
    for (; index >= 0; index--) {
      const { years, amount, discount } = dividends[index] as DiscountedDividend;
      if (years <= at) break;
      toCome += amount * discount;
    }
    exercise[i] = strike - toCome * (growths[i] as number);
  }
}

/** Stores what nodes are worth that are farther in than an edge of exercise. */
function recall(edge: number, sign: number, power: number, at: number): void {
  for (let k = 0; k < edge; k++) values[k] = sign * (power * (spots[k] as number) - at);
}

/** A step back in time of the nodes `from` to `to`. */
function roll(from: number, to: number, inwardWeight: number, outwardWeight: number): void {
  let near = values[from] as number;
  for (let k = from; k <= to; k++) {
    const far = values[k + 1] as number;
    values[k] = inwardWeight * near + outwardWeight * far;
    near = far;
  }
}

/**
 * A step back in time where exercise at `at` can pay at once; returns the new edge. A node both of whose successors are exercised is so
 * too: who waits loses interest. The gain of exercising falls outward, so that the first node that is kept ends the search.
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
  roll(k, outermost, inwardWeight, outwardWeight);
  return k - 1;
}

/** A step back in time over an ex-date, for all nodes; returns the outermost that is worth something. */
function rollOverExDate(
  i: number,
  sign: number,
  power: number,
  powerAfter: number,
  inwardWeight: number,
  outwardWeight: number,
): number {
  const share = exAt[i] as number;
  const at = sign * (exercise[i] as number);
  const atAfter = sign * (share > 0 ? (exerciseAfter[i] as number) : sign * Infinity);
  const signedPower = sign * power;
  const signedPowerAfter = sign * powerAfter;
  let outermost = -1;
  let near = values[0] as number;
  /** What a node of the step behind is worth to who may exercise there. */
  let nearLater = Math.max(near, signedPowerAfter * (spots[0] as number) - atAfter);
  for (let k = 0; k <= i; k++) {
    const far = values[k + 1] as number;
    const alive = inwardWeight * near + outwardWeight * far;
    const dead = signedPower * (spots[k] as number) - at;
    let value = dead > alive ? dead : alive;
    if (share > 0) {
      const deadLater = signedPowerAfter * (spots[k + 1] as number) - atAfter;
      const farLater = deadLater > far ? deadLater : far;
      value += share * (inwardWeight * nearLater + outwardWeight * farLater - value);
      nearLater = farLater;
    }
    near = far;
    values[k] = value;
    if (value > 0) outermost = k;
  }
  return outermost;
}
