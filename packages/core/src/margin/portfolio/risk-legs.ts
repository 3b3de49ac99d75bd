import type { UnderlyingClass } from '../../instruments/option.js';
import { Money } from '../../values/money.js';
import type { Price } from '../../values/price.js';
import type { Quantity } from '../../values/quantity.js';
import { multiplyDivide, multiplyTwiceDivide } from '../../values/scaled.js';

/** A position as portfolio margin sees it: its underlying, and its dollars per point of price. */
export interface RiskLeg {
  readonly kind: 'STOCK' | 'OPTION' | 'FUTURE';
  readonly symbol: string;
  /** For stock its own symbol, for a future its root. */
  readonly underlying: string;
  readonly underlyingClass: UnderlyingClass;
  /** Negative = short. */
  readonly quantity: Quantity;
  /** Dollars per point of price; 1 for stock. */
  readonly multiplier: number;
  /** The mark. */
  readonly price: Price;
  /** Leverage factor of the stock or of an option's underlying; negative for an inverse fund. */
  readonly leverageFactor: number;
  /** True for a contract that delivers shares of other symbols too, which move by themselves. */
  readonly hasOthers?: true | undefined;
}

/** A move in 150,000ths: fifths and thirds of a hundredth of a percent are whole. */
export type Move = number;
export const WHOLE_MOVE = 150_000;
export const moveOf = (bps: number, numerator: number, denominator: number): Move =>
  (bps * 15 * numerator) / denominator;

/**
 * Model value of an option per share after a move of its underlying alone. With no move it is the current model
 * value, the base of gains and losses (D115). Rounded to 10^-8 (D71).
 */
export type Revaluation = (leg: RiskLeg, move: Move, ofClass?: ClassMove) => Price;

/** Move of a class, from which those of other shares that a contract delivers follow. */
export interface ClassMove {
  readonly move: Move;
  /** True when these move in the other direction. */
  readonly isOpposed: boolean;
}

/**
 * Gains of positions of one class at a point. Other shares that a contract delivers move by their own class's range, all with the class or
 * all against it, whichever is worse: one class is no hedge of another.
 */
export function gainsOf(
  legs: readonly RiskLeg[],
  gain: (leg: RiskLeg, isOpposed: boolean) => number,
): number {
  const together = legs.reduce((sum, leg) => sum + gain(leg, false), 0);
  if (!legs.some(({ hasOthers }) => hasOthers === true)) return together;
  const opposed = legs.reduce((sum, leg) => sum + gain(leg, true), 0);
  return Math.min(together, opposed);
}

/** One point of a risk array. */
export interface RiskPoint {
  readonly underlying: string;
  /** Move of the class, as a share of its price. */
  readonly priceMove: number;
  readonly pnl: Money;
}

/** Positions that are margined as one, and every scenario that was evaluated (D106). */
export interface RiskGroup {
  readonly name: string;
  readonly legs: readonly { readonly symbol: string; readonly quantity: Quantity }[];
  readonly requirement: Money;
  readonly points: readonly RiskPoint[];
}

export interface RiskRequirement {
  readonly requirement: Money;
  readonly groups: readonly RiskGroup[];
}

/** Move of an instrument with its class: times its leverage factor, but never to a negative price. */
export const legMove = (move: Move, { leverageFactor }: RiskLeg): Move =>
  Math.max(0 - WHOLE_MOVE, Math.round(move * leverageFactor));

/** Gain or loss of a position after a move of its class. */
export function gainOf(leg: RiskLeg, move: Move, revalue: Revaluation, isOpposed = false): number {
  const own = legMove(move, leg);
  if (leg.kind !== 'OPTION') {
    const value = Money.ofUnits(multiplyDivide(leg.price, leg.quantity, 1e10, 'half-up'));
    return multiplyDivide(
      multiplyTwiceDivide(value, Math.round(leg.multiplier * 1e6), 1, 1e6, 'half-up'),
      own,
      WHOLE_MOVE,
      'half-up',
    );
  }
  const moved = leg.hasOthers === true ? revalue(leg, own, { move, isOpposed }) : revalue(leg, own);
  const change = moved - revalue(leg, 0);
  const multiplier = Math.round(leg.multiplier * 1e6);
  // Whole contracts of whole multipliers: the same quotient in smaller numbers.
  if (leg.quantity % 1e6 === 0 && multiplier % 1e6 === 0)
    return multiplyTwiceDivide(change, leg.quantity / 1e6, multiplier / 1e6, 1e4, 'half-up');
  return multiplyTwiceDivide(change, leg.quantity, multiplier, 1e16, 'half-up');
}

/** $37.50 for a contract of 100 shares, for a long one at most its value (D115). */
export function minimumOf({ kind, price, quantity, multiplier }: RiskLeg, dollarsPerPoint: number): number {
  if (kind !== 'OPTION') return 0;
  const contracts = Math.abs(quantity);
  const factor = Math.round(multiplier * 1e6);
  const charge = multiplyTwiceDivide(Math.round(dollarsPerPoint * 1e8), contracts, factor, 1e16, 'half-up');
  const value = multiplyTwiceDivide(price, contracts, factor, 1e16, 'half-up');
  return quantity > 0 ? Math.min(charge, value) : charge;
}
