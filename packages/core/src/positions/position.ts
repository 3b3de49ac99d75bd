import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';

/** Shares acquired (or sold short) together. Closed first in, first out (D56). */
export interface Lot {
  readonly lotId: number;
  /** Negative in a short position. */
  quantity: Quantity;
  /** What was paid for a long lot; what was received for a short one. Never negative. Without commissions. */
  cost: Money;
  readonly openedAt: Instant;
}

/** What a portfolio holds of one instrument. `settled + pending = Σ lots`. */
export interface Position {
  readonly symbol: string;
  /** Delivered. */
  settled: Quantity;
  /** Bought (positive) or sold (negative) and not delivered yet. */
  pending: Quantity;
  readonly lots: Lot[];
}

export const Position = {
  open: (symbol: string): Position => ({
    symbol,
    settled: Quantity.zero,
    pending: Quantity.zero,
    lots: [],
  }),
  /** Negative = short. */
  held: (position: Position): Quantity => Quantity.add(position.settled, position.pending),
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
    const cost = taken === size ? lot.cost : Money.scale(lot.cost, taken, size);
    closings.push({ lotId: lot.lotId, quantity: Quantity.ofUnits(taken), cost });
    left -= taken;
  }
  if (left > 0) throw new RangeError(`closing more of ${position.symbol} than is held`);
  return closings;
}
