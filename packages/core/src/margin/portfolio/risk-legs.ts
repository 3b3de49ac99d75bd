import type { UnderlyingClass } from '../../instruments/option.js';
import { Money } from '../../values/money.js';
import type { Price } from '../../values/price.js';
import type { Quantity } from '../../values/quantity.js';
import { multiplyDivide, multiplyTwiceDivide } from '../../values/scaled.js';

/** A position as portfolio margin looks at it: what it is on, and what a point of its price is worth. */
export interface RiskLeg {
  readonly kind: 'STOCK' | 'OPTION' | 'FUTURE';
  readonly symbol: string;
  /** Of stock its own symbol, of a future its root. */
  readonly underlying: string;
  readonly underlyingClass: UnderlyingClass;
  /** Negative = short. */
  readonly quantity: Quantity;
  /** Dollars per point of price; 1 for stock. */
  readonly multiplier: number;
  /** The mark. */
  readonly price: Price;
  /** Of the stock or of the underlying of an option; negative for a fund that moves against its index. */
  readonly leverageFactor: number;
}

/** A move in 150,000ths: fifths and thirds of a hundredth of a percent are whole. */
export type Move = number;
export const WHOLE_MOVE = 150_000;
export const moveOf = (bps: number, numerator: number, denominator: number): Move =>
  (bps * 15 * numerator) / denominator;

/**
 * What an option is worth per share where its underlying has moved by so much; nothing else moves. With no move, what the model
 * makes of it now: the anchor that gains and losses are counted from (D115). Rounded to 10^-8 (D71).
 */
export type Revaluation = (leg: RiskLeg, move: Move) => Price;

/** One point of a risk array. */
export interface RiskPoint {
  readonly underlying: string;
  /** Of the class, as a share of its price. */
  readonly priceMove: number;
  readonly pnl: Money;
}

/** What is margined as one, and every point it was tried at (D106). */
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

/** How far an instrument goes with its class: its factor times as far, but never below nothing. */
export const legMove = (move: Move, { leverageFactor }: RiskLeg): Move =>
  Math.max(0 - WHOLE_MOVE, Math.round(move * leverageFactor));

/** What a position gains or loses where its class moves. */
export function gainOf(leg: RiskLeg, move: Move, revalue: Revaluation): number {
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
  const change = revalue(leg, own) - revalue(leg, 0);
  return multiplyTwiceDivide(change, leg.quantity, Math.round(leg.multiplier * 1e6), 1e16, 'half-up');
}

/** 37.50 for a contract of a hundred, of a long no more than its value (D115). */
export function minimumOf({ kind, price, quantity, multiplier }: RiskLeg, dollarsPerPoint: number): number {
  if (kind !== 'OPTION') return 0;
  const contracts = Math.abs(quantity);
  const factor = Math.round(multiplier * 1e6);
  const charge = multiplyTwiceDivide(Math.round(dollarsPerPoint * 1e8), contracts, factor, 1e16, 'half-up');
  const value = multiplyTwiceDivide(price, contracts, factor, 1e16, 'half-up');
  return quantity > 0 ? Math.min(charge, value) : charge;
}
