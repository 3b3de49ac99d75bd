import { exp } from './exponential.js';
import type { Conditions, DiscountedDividend } from './conditions.js';
import type { OptionType } from './option-terms.js';

/*
 * Times at which exercise can pay, and the strike at which a tree may exchange the escrowed spot at each of its steps.
 */

/** Trees have an odd number of steps, at most this. */
export const MOST_STEPS = 501;

/** Exercise strikes for the escrowed spot, by step. */
export interface ExerciseStrikes {
  /** The strike less the dividends to come: the exercise strike at that step. */
  readonly strikes: Float64Array;
  /** Exercise strikes for an ex-date in the next interval, decided at its end. */
  readonly strikesAfter: Float64Array;
  /** Position of the ex-date in the interval after it, from 0 to 1; −1 = there is none. */
  readonly exAt: Float64Array;
  /** The step before the first ex-date; −1 = there is none. */
  readonly earliest: number;
}

/** Exercise strikes of the latest tree of a size, with their inputs: trees of one option mostly differ in volatility only. */
class LatestStrikes implements ExerciseStrikes {
  readonly strikes: Float64Array;
  readonly strikesAfter: Float64Array;
  readonly exAt: Float64Array;
  earliest = -1;
  private readonly steps: number;
  private readonly payouts: LatestPayouts;
  private sign = 0;
  private strike = 0;
  private conditions: Conditions | undefined;

  constructor(steps: number) {
    this.steps = steps;
    this.payouts = new LatestPayouts(steps);
    this.strikes = new Float64Array(steps + 1);
    this.strikesAfter = new Float64Array(steps + 1);
    this.exAt = new Float64Array(steps + 1);
  }

  of(sign: number, strike: number, conditions: Conditions, times: ExerciseTimes): this {
    if (this.conditions === conditions && this.strike === strike && this.sign === sign) return this;
    this.earliest = setExercise(this, this.payouts, sign, strike, conditions, times, this.steps);
    this.conditions = conditions;
    this.strike = strike;
    this.sign = sign;
    return this;
  }
}

/** Growth and dividends by the steps of the latest tree of a size. Options of one expiration share them, at any price of the underlying. */
class LatestPayouts {
  /** Growth of 1.00 from now. */
  readonly growths: Float64Array;
  /** Dividends that go ex after a step, as of the step. */
  readonly toCome: Float64Array;
  private readonly steps: number;
  private years = 0;
  private rate = 0;
  private dividends: readonly DiscountedDividend[] | undefined;

  constructor(steps: number) {
    this.steps = steps;
    this.growths = new Float64Array(steps + 1);
    this.toCome = new Float64Array(steps + 1);
  }

  of({ years, rate, dividends }: Conditions): this {
    if (this.dividends === dividends && this.years === years && this.rate === rate) return this;
    const step = years / this.steps;
    setGrowths(this.growths, exp(rate * step), this.steps);
    setToCome(this.toCome, this.growths, dividends, this.steps, step);
    this.years = years;
    this.rate = rate;
    this.dividends = dividends;
    return this;
  }
}

/** By the number of steps. */
const latest = new Map<number, LatestStrikes>();

/** Exercise strikes of a tree with this number of steps. The result is valid until the next call for this size. */
export function exerciseStrikes(
  sign: number,
  strike: number,
  conditions: Conditions,
  times: ExerciseTimes,
  steps: number,
): ExerciseStrikes {
  let ofSize = latest.get(steps);
  if (ofSize === undefined) latest.set(steps, (ofSize = new LatestStrikes(steps)));
  return ofSize.of(sign, strike, conditions, times);
}

/** Times at which early exercise can be optimal: at any time, only just before (a call) and just after (a put) an ex-date, or never. */
export type ExerciseTimes = 'ANY' | 'EX_DATES' | 'NEVER';

/** With positive rates a call is worth more alive except for dividends, with negative ones a put is. */
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

/** A call held over an ex-date earns interest on the strike until the next one, at the cost of the dividend. */
const paysToExercise = (strike: number, { amount, discount }: DiscountedDividend, next: number): boolean =>
  amount * discount > strike * (discount - next);

/**
 * Sets the exercise strikes of the escrowed spot. An ex-date falls between two steps: a decision at the one before
 * it binds for the date, a decision at the one after counts as made on it. Strike and dividends carry interest for that time,
 * so only the information at the decision differs; the tree weighs the two.
 *
 * Returns the step before the first ex-date; −1 = there is none.
 */
function setExercise(
  { strikes: exercise, strikesAfter: exerciseAfter, exAt }: Omit<ExerciseStrikes, 'earliest'>,
  payouts: LatestPayouts,
  sign: number,
  strike: number,
  conditions: Conditions,
  times: ExerciseTimes,
  steps: number,
): number {
  const { dividends, years, discount: discountAtExpiry } = conditions;
  exAt.fill(-1);
  let earliest = -1;
  if (times !== 'ANY') exercise.fill(sign * Infinity);
  else if (dividends.length === 0) exercise.fill(strike);
  if (dividends.length === 0) return earliest;
  const step = years / steps;
  const { growths, toCome: afterStep } = payouts.of(conditions);
  if (times === 'ANY') for (let i = 0; i <= steps; i++) exercise[i] = strike - (afterStep[i] as number);
  /** Present value of the dividends after the current one. */
  let toCome = 0;
  for (let index = dividends.length - 1; index >= 0; index--) {
    const { years: at, amount, discount } = dividends[index] as DiscountedDividend;
    const before = toCome + amount * discount;
    const next = dividends[index + 1]?.discount ?? discountAtExpiry;
    if (times === 'EX_DATES' && !paysToExercise(strike, dividends[index] as DiscountedDividend, next)) {
      toCome = before;
      continue;
    }
    // A call is exercised before the dividend goes ex, a put after.
    const worth = strike * discount - (sign > 0 ? before : toCome);
    toCome = before;
    const place = at / step;
    const i = Math.min(Math.floor(place), steps - 1);
    const early = worth * (growths[i] as number);
    if (sign * (early - (exercise[i] as number)) < 0) exercise[i] = early;
    const late = worth * (growths[i + 1] as number);
    if ((exAt[i] as number) < 0 || sign * (late - (exerciseAfter[i] as number)) < 0) exerciseAfter[i] = late;
    // At expiration the decision is made with hindsight.
    exAt[i] = i === steps - 1 ? 0 : place - i;
    earliest = i;
  }
  return earliest;
}

function setGrowths(growths: Float64Array, growth: number, steps: number): void {
  let grown = 1;
  for (let i = 0; i <= steps; i++) {
    growths[i] = grown;
    grown *= growth;
  }
}

function setToCome(
  afterStep: Float64Array,
  growths: Float64Array,
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
    afterStep[i] = toCome * (growths[i] as number);
  }
}
