import type { AssetClass } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';

/**
 * Shares or contracts acquired (or sold short) together. Closed first in, first out (D56). A lot is replaced, never changed: copies of a
 * state share it.
 */
export interface Lot {
  readonly lotId: number;
  /** Negative in a short position. */
  readonly quantity: Quantity;
  /**
   * Amount paid for a long lot or received for a short one; for a future its notional at entry, which is not paid. Never negative. Without
   * commissions.
   */
  readonly cost: Money;
  /** Futures only: notional at the last daily settlement, or at a later entry. Base of the variation (D95). */
  readonly marked?: Money;
  readonly openedAt: Instant;
}

/** A portfolio's position in one instrument. `settled + pending = Σ lots`. */
export interface Position {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  /** Options only: symbol of the underlying. */
  readonly underlying?: string;
  /** Delivered. Contracts are delivered at once: only their cash settles later. */
  settled: Quantity;
  /** Bought (positive) or sold (negative) and not delivered yet. */
  pending: Quantity;
  readonly lots: Lot[];
  /** Options only: contracts that are not to be exercised at expiration; absent = none (D86). */
  doNotExercise?: Quantity;
  /** Futures only: profit of closed contracts since the last daily settlement, whole cents; pending until the next. */
  variation?: Money;
  /** Time of the last of these closings. */
  closedAt?: Instant;
  /** Futures only: price of the last daily settlement while it was held. */
  settlementPrice?: Price;
  /** Futures only: time of that settlement. */
  settledAt?: Instant;
}

export const Position = {
  open: (symbol: string, assetClass: AssetClass, underlying?: string): Position => ({
    symbol,
    assetClass,
    ...(underlying !== undefined && { underlying }),
    settled: Quantity.zero,
    pending: Quantity.zero,
    lots: [],
  }),
  /** Negative = short. */
  held: (position: Position): Quantity => Quantity.add(position.settled, position.pending),
  /** Booked cost: 0 for a future, whose notional is not paid. Negative = short. */
  booked: (position: Position): Money =>
    position.assetClass === 'FUTURE'
      ? Money.zero
      : Money.ofUnits((Position.held(position) < 0 ? -1 : 1) * Position.costBasis(position)),
  /** Cost of the open lots; for a short position the proceeds. Never negative. */
  costBasis: (position: Position): Money =>
    position.lots.reduce((sum, lot) => Money.add(sum, lot.cost), Money.zero),
} as const;

/** The part of one lot that an execution closes. */
export interface LotClosing {
  readonly lotId: number;
  /** Positive. */
  readonly quantity: Quantity;
  readonly cost: Money;
  /** Futures only: base of its variation. */
  readonly marked?: Money;
}

/**
 * The lots, oldest first, that closing `quantity` (positive) uses. The cost of a part of a lot is its share by
 * quantity, rounded half up to the unit of money; the rest stays with the lot, so that no amount is lost.
 */
export function closeFirstInFirstOut(position: Position, quantity: Quantity): LotClosing[] {
  const closings: LotClosing[] = [];
  let left: number = quantity;
  for (const lot of position.lots) {
    if (left <= 0) break;
    const size = Math.abs(lot.quantity);
    const taken = Math.min(size, left);
    const part = (whole: Money): Money => (taken === size ? whole : Money.scale(whole, taken, size));
    const closing = { lotId: lot.lotId, quantity: Quantity.ofUnits(taken), cost: part(lot.cost) };
    closings.push(lot.marked === undefined ? closing : { ...closing, marked: part(lot.marked) });
    left -= taken;
  }
  if (left > 0) throw new RangeError(`closing more of ${position.symbol} than is held`);
  return closings;
}

/** Removes these closings from the oldest lots. Throws if they do not match the oldest lots. */
export function takeFromLots(lots: Lot[], closings: readonly LotClosing[]): void {
  for (const { lotId, quantity, cost, marked } of closings) {
    const lot = lots[0];
    if (lot?.lotId !== lotId) throw new RangeError('lots are not closed in order');
    const left = Quantity.ofUnits(lot.quantity < 0 ? lot.quantity + quantity : lot.quantity - quantity);
    if (left === 0) lots.shift();
    else
      lots[0] = {
        ...lot,
        quantity: left,
        cost: Money.subtract(lot.cost, cost),
        ...(lot.marked !== undefined && { marked: Money.subtract(lot.marked, marked ?? Money.zero) }),
      };
  }
}
