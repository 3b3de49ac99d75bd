import { Money } from '../../values/money.js';
import type { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide, multiplyTwiceDivide } from '../../values/scaled.js';
import type { TradingDate } from '../../values/trading-date.js';
import { gainsOf, legMove, minimumOf, moveOf, WHOLE_MOVE } from './risk-legs.js';
import type { ClassMove, Move, RiskLeg, RiskPoint } from './risk-legs.js';
import type { RiskParameters } from './risk-parameters.js';

/** One held delivery month. */
export interface FutureLeg {
  readonly symbol: string;
  /** The combined commodity: its months scan together. */
  readonly root: string;
  readonly lastTradeDate: TradingDate;
  /** Negative = short. */
  readonly quantity: Quantity;
  /** The exchange's maintenance per contract: the price scan range times the multiplier. */
  readonly maintenance: Money;
  /** Spread margin of a pair of this month and another; absent = a fifth of the larger maintenance (D94). */
  readonly spreadMargin?: Money;
}

/** Shift of a scenario: price, volatility, and the passing of days. */
export interface Shift {
  readonly move: Move;
  /** Relative change of the volatility, in hundredths of a percent: 2500 = a quarter more. */
  readonly volatilityBps: number;
  readonly tradingDays: number;
  /** For contracts that deliver other shares too. */
  readonly ofClass?: ClassMove;
}

/** Model value of an option per share after a shift, rounded to 10^-8; without a shift the current model value. */
export type ShiftedValue = (leg: RiskLeg, shift: Shift) => Price;

interface SpanPoint extends RiskPoint {
  readonly volatilityMove: number;
}

/** A combined commodity: futures of one root, or stock and options of one underlying. */
export interface SpanGroup {
  readonly name: string;
  readonly legs: readonly { readonly symbol: string; readonly quantity: Quantity }[];
  readonly maintenance: Money;
  readonly initial: Money;
  /** Spread charges of pairs of months, in addition to the scanned risk. */
  readonly spreads: Money;
  readonly points: readonly SpanPoint[];
}

export interface SpanRequirement {
  readonly maintenance: Money;
  readonly initial: Money;
  readonly groups: readonly SpanGroup[];
}

/** Scan ranges of stock and options. */
const SPAN_RANGE = { stock: 1500, broadIndex: 800 };
const VOLATILITY_BPS = 2500;
const INITIAL_BPS = 11_000;
const SPREAD_BPS = 2000;
/** Extreme moves: three times the range, with a third of the loss applied (D117). */
const EXTREME = 3;
const EXTREME_BPS = 3300;
const STILL: Shift = { move: 0, volatilityBps: 0, tradingDays: 0 };

interface Scenario {
  /** Thirds of the price scan range. */
  readonly thirds: number;
  readonly volatilityBps: number;
  /** The part of the loss that applies. */
  readonly weightBps: number;
}

/** SPAN's sixteen (D117): no move, thirds up and down with volatility up and down, and two extremes. */
const SCENARIOS: readonly Scenario[] = [
  ...[0, 1, -1, 2, -2, 3, -3].flatMap((thirds) =>
    [VOLATILITY_BPS, 0 - VOLATILITY_BPS].map((volatilityBps) => ({
      thirds,
      volatilityBps,
      weightBps: 10_000,
    })),
  ),
  { thirds: 3 * EXTREME, volatilityBps: 0, weightBps: EXTREME_BPS },
  { thirds: -3 * EXTREME, volatilityBps: 0, weightBps: EXTREME_BPS },
];

/**
 * Portfolio margin by SPAN (D117). Futures of a root scan together, and each pair of months, earliest with earliest, adds its
 * spread margin; no credit between commodities. Stock and options of an underlying scan together over 15 % (broad index 8 %),
 * with a quarter more and less volatility and one day passed, and require at least $37.50 per short contract.
 */
export function spanRequirementOf(
  legs: readonly RiskLeg[],
  futures: readonly FutureLeg[],
  parameters: RiskParameters,
  valueOf: ShiftedValue,
): SpanRequirement {
  const groups = [
    ...by(futures, ({ root }) => root).map(([root, months]) => commodityOf(root, months)),
    ...by(legs, ({ underlying }) => underlying).map(([name, mine]) =>
      securitiesOf(name, mine, parameters, valueOf),
    ),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  const sum = (of: (group: SpanGroup) => Money): Money =>
    groups.reduce((total, group) => Money.add(total, of(group)), Money.zero);
  return { maintenance: sum((group) => group.maintenance), initial: sum((group) => group.initial), groups };
}

function by<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const known = groups.get(keyOf(item));
    if (known === undefined) groups.set(keyOf(item), [item]);
    else known.push(item);
  }
  return [...groups];
}

const named = ({ symbol, quantity }: { readonly symbol: string; readonly quantity: Quantity }) => ({
  symbol,
  quantity,
});

export function commodityOf(root: string, months: readonly FutureLeg[]): SpanGroup {
  const points = SCENARIOS.map(({ thirds, volatilityBps, weightBps }): SpanPoint => {
    // Futures do not depend on volatility.
    const gain = months.reduce(
      (sum, { quantity, maintenance }) =>
        sum + multiplyTwiceDivide(maintenance, quantity, thirds, 3e6, 'half-up'),
      0,
    );
    return {
      underlying: root,
      priceMove: thirds / 3,
      volatilityMove: volatilityBps / 10_000,
      pnl: Money.ofUnits(multiplyDivide(gain, weightBps, 10_000, 'half-up')),
    };
  });
  const spreads = spreadCharge(months);
  const maintenance = Money.add(worstOf(points), spreads);
  return {
    name: root,
    legs: months.map(named),
    maintenance,
    initial: Money.scale(maintenance, INITIAL_BPS, 10_000),
    spreads,
    points,
  };
}

/** Long and short months, paired earliest with earliest. */
function spreadCharge(months: readonly FutureLeg[]): Money {
  const sorted = months.toSorted((a, b) => (a.lastTradeDate < b.lastTradeDate ? -1 : 1));
  const open = (sign: 1 | -1) =>
    sorted
      .filter(({ quantity }) => quantity * sign > 0)
      .map((month) => ({ month, left: Quantity.abs(month.quantity) }));
  const longs = open(1);
  const shorts = open(-1);
  let charge = Money.zero;
  let [i, k] = [0, 0];
  for (;;) {
    const long = longs[i];
    const short = shorts[k];
    if (long === undefined || short === undefined) return charge;
    const pairs = Quantity.min(long.left, short.left);
    const larger = Money.max(long.month.maintenance, short.month.maintenance);
    const given = long.month.spreadMargin ?? short.month.spreadMargin;
    const each = given ?? Money.scale(larger, SPREAD_BPS, 10_000);
    charge = Money.add(charge, Money.ofUnits(multiplyDivide(each, pairs, 1e6, 'half-up')));
    long.left = Quantity.subtract(long.left, pairs);
    short.left = Quantity.subtract(short.left, pairs);
    if (long.left === 0) i++;
    if (short.left === 0) k++;
  }
}

/** The scan range of stock or an index, and of the options on it. */
export const spanRange = (isBroad: boolean): number => (isBroad ? SPAN_RANGE.broadIndex : SPAN_RANGE.stock);

export function securitiesOf(
  underlying: string,
  legs: readonly RiskLeg[],
  { minimumPerPoint }: RiskParameters,
  valueOf: ShiftedValue,
): SpanGroup {
  const isBroad = legs.some(({ underlyingClass }) => underlyingClass === 'BROAD_INDEX');
  const range = spanRange(isBroad);
  const points = SCENARIOS.map(({ thirds, volatilityBps, weightBps }): SpanPoint => {
    const move = moveOf(range, thirds, 3);
    const gain = gainsOf(legs, (leg, isOpposed) => gainOf(leg, { move, isOpposed }, volatilityBps, valueOf));
    return {
      underlying,
      priceMove: move / WHOLE_MOVE,
      volatilityMove: volatilityBps / 10_000,
      pnl: Money.ofUnits(multiplyDivide(gain, weightBps, 10_000, 'half-up')),
    };
  });
  const least = legs.reduce((sum, leg) => sum + (leg.quantity < 0 ? minimumOf(leg, minimumPerPoint) : 0), 0);
  const maintenance = Money.max(worstOf(points), Money.ofUnits(least));
  return {
    name: underlying,
    legs: legs.map(named),
    maintenance,
    initial: maintenance,
    spreads: Money.zero,
    points,
  };
}

const worstOf = (points: readonly SpanPoint[]): Money =>
  points.reduce((worst, { pnl }) => Money.max(worst, Money.negate(pnl)), Money.zero);

function gainOf(leg: RiskLeg, ofClass: ClassMove, volatilityBps: number, valueOf: ShiftedValue): number {
  const own = legMove(ofClass.move, leg);
  const factor = Math.round(leg.multiplier * 1e6);
  if (leg.kind === 'OPTION') {
    const shifted = valueOf(leg, {
      move: own,
      volatilityBps,
      tradingDays: 1,
      ...(leg.hasOthers === true && { ofClass }),
    });
    return multiplyTwiceDivide(shifted - valueOf(leg, STILL), leg.quantity, factor, 1e16, 'half-up');
  }
  const value = multiplyTwiceDivide(leg.price, leg.quantity, factor, 1e16, 'half-up');
  return multiplyDivide(value, own, WHOLE_MOVE, 'half-up');
}
