import { hasSameOthers } from '../instruments/option.js';
import type { OptionContract } from '../instruments/option.js';
import { Price } from '../values/price.js';
import { greatestCommonDivisor } from '../values/scaled.js';
import { isOpening, sideOf } from './order.js';
import type { PositionIntent } from './order.js';

/*
 * Structure of multi-leg orders (D75–D77): checks of the order alone, not of the positions.
 */

export type Strategy =
  | 'VERTICAL_SPREAD'
  | 'IRON_CONDOR'
  | 'BUTTERFLY'
  | 'CALENDAR_SPREAD'
  | 'STRADDLE'
  | 'STRANGLE'
  /** Any legs on one underlying, some of which may close while others open (D269, D270). */
  | 'CUSTOM';

/** True for a strategy without a fixed shape (D270). */
export const isCustom = (strategy: string | undefined): boolean => strategy === 'CUSTOM';

/** A leg with its contract. */
export interface Leg {
  readonly contract: OptionContract;
  readonly positionIntent: PositionIntent;
  /** Whole contracts. */
  readonly quantity: number;
}

/** Number of units of an order, and contracts of each leg per unit. */
export interface Units {
  readonly units: number;
  readonly ratios: readonly number[];
}

/**
 * The units of an order (D75). Without a quantity: the greatest common divisor of the legs' quantities. With one, the legs are the ratio or
 * the totals. `undefined` if the quantity fits neither.
 */
export function unitsOf(legs: readonly number[], quantity?: number): Units | undefined {
  const common = legs.reduce(greatestCommonDivisor, 0);
  if (common === 0 || (quantity !== undefined && common !== 1 && common !== quantity)) return undefined;
  return { units: quantity ?? common, ratios: legs.map((leg) => leg / common) };
}

/** Strategies that may roll: one leg closes and the other opens. */
const MAY_ROLL: ReadonlySet<Strategy> = new Set<Strategy>(['VERTICAL_SPREAD', 'CALENDAR_SPREAD']);

/** Problems between the intents of an order and its legs (D76). A market order may be either side. */
export function intentProblems(order: {
  readonly strategy: Strategy;
  readonly positionIntent: PositionIntent;
  readonly limitPrice?: Price | undefined;
  readonly legs: readonly Pick<Leg, 'positionIntent'>[];
}): string[] {
  const { strategy, positionIntent, limitPrice, legs } = order;
  let opening = 0;
  for (const leg of legs) if (isOpening(leg.positionIntent)) opening++;
  const isWhole = opening === 0 || opening === legs.length;
  if (!isWhole && !isCustom(strategy) && !(MAY_ROLL.has(strategy) && opening === 1))
    return ['legs must all open or all close'];
  const agrees =
    isOpening(positionIntent) === opening > 0 &&
    !(sideOf(positionIntent) === 'BUY' && limitPrice !== undefined && limitPrice < 0);
  return agrees ? [] : ['positionIntent must agree with the legs and limitPrice'];
}

/** Net limit of an order, a debit positive: a sale's limit is a credit regardless of its sign (D76). */
export const netLimitOf = (positionIntent: PositionIntent, limitPrice: Price): Price =>
  sideOf(positionIntent) === 'BUY' ? limitPrice : Price.ofUnits(0 - Math.abs(limitPrice));

/** All problems with the legs of a strategy (D77). The number of legs is checked elsewhere. */
export function structureProblems(strategy: Strategy, legs: readonly Leg[]): string[] {
  const problems: string[] = [];
  const must = (holds: boolean, what: string): void => {
    if (!holds) problems.push(`legs ${what}`);
  };
  const [first] = legs;
  must(first !== undefined && legs.every((leg) => isOfOne(leg, first)), 'must be of one underlying');
  const expirations = different(legs.map(({ contract }) => contract.expiration));
  if (isCustom(strategy)) mustBeWithinRatios(legs, must);
  else if (strategy === 'CALENDAR_SPREAD') must(expirations === 2, 'must have two expirations');
  else must(expirations === 1, 'must have one expiration');
  if (strategy !== 'CUSTOM') SHAPES[strategy](legs, must);
  return problems;
}

/** True when both legs have one underlying. A different multiplier or deliverable counts as another underlying. */
const isOfOne = ({ contract: a }: Leg, { contract: b }: Leg): boolean =>
  a.underlying === b.underlying &&
  a.multiplier === b.multiplier &&
  a.deliverable === b.deliverable &&
  (a.inLieu ?? 0) === (b.inLieu ?? 0) &&
  (a.cash ?? 0) === (b.cash ?? 0) &&
  hasSameOthers(a, b);

/** Number of distinct values in a short list. */
function different(values: readonly unknown[]): number {
  let count = 0;
  for (let index = 0; index < values.length; index++) if (values.indexOf(values[index]) === index) count++;
  return count;
}

type Must = (holds: boolean, what: string) => void;

const SHAPES: Readonly<Record<Exclude<Strategy, 'CUSTOM'>, (legs: readonly Leg[], must: Must) => void>> = {
  VERTICAL_SPREAD(legs, must) {
    must(different(typesOf(legs)) === 1, 'must be of one optionType');
    must(different(strikesOf(legs)) === 2, 'must have different strikes');
    must(different(sidesOf(legs)) === 2, 'must buy one and sell one');
    mustBeEven(legs, must);
  },
  CALENDAR_SPREAD(legs, must) {
    must(different(typesOf(legs)) === 1, 'must be of one optionType');
    must(different(sidesOf(legs)) === 2, 'must buy one and sell one');
    mustBeEven(legs, must);
  },
  STRADDLE(legs, must) {
    must(different(typesOf(legs)) === 2, 'must be a call and a put');
    must(different(strikesOf(legs)) === 1, 'must have the same strike');
    must(different(sidesOf(legs)) === 1, 'must be on the same side');
    mustBeEven(legs, must);
  },
  STRANGLE(legs, must) {
    const [put, call] = byTypeAndStrike(legs);
    must(different(typesOf(legs)) === 2, 'must be a call and a put');
    must(different(strikesOf(legs)) === 2, 'must have different strikes');
    if (put?.contract.optionType === 'PUT' && call?.contract.optionType === 'CALL') {
      must(put.contract.strike <= call.contract.strike, 'must be a put below a call');
    }
    must(different(sidesOf(legs)) === 1, 'must be on the same side');
    mustBeEven(legs, must);
  },
  BUTTERFLY(legs, must) {
    const [low, middle, high] = byTypeAndStrike(legs);
    must(different(typesOf(legs)) === 1, 'must be of one optionType');
    must(different(strikesOf(legs)) === 3, 'must have different strikes');
    if (low === undefined || middle === undefined || high === undefined) return;
    must(sideOfLeg(low) === sideOfLeg(high), 'must be on the same side');
    must(sideOfLeg(middle) !== sideOfLeg(low), 'must buy one and sell one');
    must(ratioOf([low, middle, high]) === '1:2:1', 'must be in the ratio 1:2:1');
  },
  IRON_CONDOR(legs, must) {
    const [lowPut, highPut, lowCall, highCall] = byTypeAndStrike(legs);
    if (!lowPut || !highPut || !lowCall || !highCall) return;
    const isTwoBelowTwo =
      highPut.contract.optionType === 'PUT' &&
      lowCall.contract.optionType === 'CALL' &&
      lowPut.contract.strike < highPut.contract.strike &&
      highPut.contract.strike <= lowCall.contract.strike &&
      lowCall.contract.strike < highCall.contract.strike;
    must(isTwoBelowTwo, 'must be two puts below two calls');
    const isPaired = sideOfLeg(lowPut) !== sideOfLeg(highPut) && sideOfLeg(lowCall) !== sideOfLeg(highCall);
    must(isPaired, 'must buy one and sell one');
    must(!isPaired || sideOfLeg(highPut) === sideOfLeg(lowCall), 'must be on the same side');
    mustBeEven(legs, must);
  },
};

const mustBeEven = (legs: readonly Leg[], must: Must): void => {
  if (legs.some(({ quantity }) => quantity !== legs[0]?.quantity))
    must(false, `must be in the ratio ${legs.map(() => 1).join(':')}`);
};

/** Largest ratio of two legs of a CUSTOM order (D270). */
const LARGEST_RATIO = 3;

const mustBeWithinRatios = (legs: readonly Leg[], must: Must): void => {
  const counts = legs.map(({ quantity }) => quantity);
  must(Math.max(...counts) <= LARGEST_RATIO * Math.min(...counts), 'must be in ratios between 1:3 and 3:1');
};

const ratioOf = (legs: readonly Leg[]): string | undefined =>
  unitsOf(legs.map(({ quantity }) => quantity))?.ratios.join(':');

const typesOf = (legs: readonly Leg[]): OptionContract['optionType'][] =>
  legs.map(({ contract }) => contract.optionType);
const strikesOf = (legs: readonly Leg[]): Price[] => legs.map(({ contract }) => contract.strike);
const sideOfLeg = (leg: Leg): 'BUY' | 'SELL' => sideOf(leg.positionIntent);
const sidesOf = (legs: readonly Leg[]): ('BUY' | 'SELL')[] => legs.map(sideOfLeg);

/** Puts before calls, each by strike. */
const byTypeAndStrike = (legs: readonly Leg[]): Leg[] =>
  [...legs].sort(
    (a, b) =>
      Number(a.contract.optionType === 'CALL') - Number(b.contract.optionType === 'CALL') ||
      a.contract.strike - b.contract.strike,
  );
