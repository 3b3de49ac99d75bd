import type { AssetClass } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';

/** Shares or contracts acquired (or sold short) together. Closed first in, first out (D56). */
export interface Lot {
  readonly lotId: number;
  /** Negative in a short position. */
  quantity: Quantity;
  /** What was paid for a long lot; what was received for a short one; of a future its notional at entry, which nobody paid. Never negative. Without commissions. */
  cost: Money;
  /** Of a future: its notional at the last daily settlement, or at entry since: what its variation counts from (D95). */
  marked?: Money;
  readonly openedAt: Instant;
}

/** What a portfolio holds of one instrument. `settled + pending = Σ lots`. */
export interface Position {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  /** Of an option: the symbol of what it is on. */
  readonly underlying?: string;
  /** Delivered. Contracts are at once: only their cash settles later. */
  settled: Quantity;
  /** Bought (positive) or sold (negative) and not delivered yet. */
  pending: Quantity;
  readonly lots: Lot[];
  /** Of an option: contracts that are not to be exercised when it expires; absent = none (D86). */
  doNotExercise?: Quantity;
  /** Of a future: what closing contracts has made since the last daily settlement, whole cents; pending until the next. */
  variation?: Money;
  /** Of a future: the price of the last daily settlement that it was held over. */
  settlementPrice?: Price;
  /** Of a future: when that was. */
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
  /** What of it is in the books: nothing of a future, whose cost nobody paid. Negative = short. */
  booked: (position: Position): Money =>
    position.assetClass === 'FUTURE'
      ? Money.zero
      : Money.ofUnits((Position.held(position) < 0 ? -1 : 1) * Position.costBasis(position)),
  /** Cost of the open lots; for a short position the proceeds. Never negative. */
  costBasis: (position: Position): Money =>
    position.lots.reduce((sum, lot) => Money.add(sum, lot.cost), Money.zero),
} as const;

/** What an execution takes from one lot. */
export interface LotClosing {
  readonly lotId: number;
  /** Positive. */
  readonly quantity: Quantity;
  readonly cost: Money;
  /** Of a future: what its variation counted from. */
  readonly marked?: Money;
}

/**
 * The lots that closing `quantity` (positive) takes, oldest first. The cost of a part of a lot is its share by
 * quantity, rounded half up to the unit of money; the rest stays with the lot, so that nothing is lost.
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

/** Takes from the oldest lots what these closings say. Throws where they are not the oldest. */
export function takeFromLots(lots: Lot[], closings: readonly LotClosing[]): void {
  for (const { lotId, quantity, cost, marked } of closings) {
    const lot = lots[0];
    if (lot?.lotId !== lotId) throw new RangeError('lots are not closed in order');
    lot.quantity = Quantity.ofUnits(lot.quantity < 0 ? lot.quantity + quantity : lot.quantity - quantity);
    lot.cost = Money.subtract(lot.cost, cost);
    if (lot.marked !== undefined) lot.marked = Money.subtract(lot.marked, marked ?? Money.zero);
    if (lot.quantity === 0) lots.shift();
  }
}
