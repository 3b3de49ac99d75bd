/** Round trips (D187): the result of each opening order that a closing order ended. */
import type { AssetClass, BookEvent, ClosedBy, OpenedBy } from './book-event.js';
import { type ClosedPiece, LotBook, type OpenLot } from './lot-book.js';
import { dollars, quantityOf } from './units.js';

export interface RoundTrip {
  readonly tradeId: string;
  readonly epoch: number;
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly side: 'LONG' | 'SHORT';
  /** In units at the closing, after splits in between. */
  readonly quantity: number;
  /** Quantity at the opening; absent if unchanged. */
  readonly openedQuantity?: number;
  /** Milliseconds since 1970, of the first piece. */
  readonly openedAt: number;
  /** Close of the last piece. */
  readonly closedAt: number;
  /** Average by quantity, dollars a unit. */
  readonly entryPrice: number;
  /** Absent when contracts became shares, and when a reset had no mark. */
  readonly exitPrice?: number;
  /** Dollars, before charges. */
  readonly grossPnl: number;
  readonly commissions: number;
  readonly fees: number;
  readonly netPnl: number;
  /** Net profit over the value of the opening; absent when that is 0. */
  readonly return?: number;
  /** Seconds. */
  readonly holding: number;
  readonly openOrderId?: string;
  readonly closeOrderId?: string;
  readonly openedBy: OpenedBy;
  readonly closedBy: ClosedBy;
}

export interface RoundTrips {
  /** In order of their first closing. */
  readonly trips: readonly RoundTrip[];
  readonly open: readonly OpenLot[];
}

/** Sums of the pieces of one round trip, in units of `units.ts`. */
interface Gathered {
  readonly first: ClosedPiece;
  quantity: number;
  opened: number;
  cost: number;
  value: number;
  commissions: number;
  fees: number;
  openedAt: number;
  closedAt: number;
  /** Market value until another piece changes it. */
  trip: RoundTrip | undefined;
}

/** Computes the round trips of a portfolio, first in, first out, event by event: further events can follow at any time. */
export class RoundTripBook {
  readonly #book = new LotBook('FIFO');
  readonly #gathered: Gathered[] = [];
  readonly #byKey = new Map<string, Gathered>();

  apply(event: BookEvent): void {
    for (const piece of this.#book.apply(event)) {
      const { lot } = piece;
      const key = `${lot.key}\n${piece.key}\n${lot.symbol}\n${lot.side}`;
      let sums = this.#byKey.get(key);
      if (sums === undefined) {
        sums = begun(piece);
        this.#byKey.set(key, sums);
        this.#gathered.push(sums);
      }
      gather(sums, piece);
    }
  }

  /** In order of their first closing. */
  *trips(): Generator<RoundTrip, void, undefined> {
    for (const [index, sums] of this.#gathered.entries())
      yield (sums.trip ??= tripOf(String(index + 1), sums));
  }

  open(): readonly OpenLot[] {
    return this.#book.open();
  }
}

const begun = (first: ClosedPiece): Gathered => ({
  first,
  quantity: 0,
  opened: 0,
  cost: 0,
  value: 0,
  commissions: 0,
  fees: 0,
  openedAt: first.lot.openedAt,
  closedAt: first.closedAt,
  trip: undefined,
});

function gather(sums: Gathered, piece: ClosedPiece): void {
  const { lot } = piece;
  sums.quantity += lot.quantity;
  sums.opened += lot.openedQuantity;
  sums.cost += lot.cost;
  sums.value += piece.value;
  sums.commissions += lot.commission + piece.commission;
  sums.fees += lot.fees + piece.fees;
  sums.openedAt = Math.min(sums.openedAt, lot.openedAt);
  sums.closedAt = Math.max(sums.closedAt, piece.closedAt);
  sums.trip = undefined;
}

/** Computes the round trips of a portfolio, first in, first out. */
export function roundTripsOf(events: Iterable<BookEvent>): RoundTrips {
  const book = new RoundTripBook();
  for (const event of events) book.apply(event);
  return { trips: [...book.trips()], open: book.open() };
}

function tripOf(tradeId: string, sums: Gathered): RoundTrip {
  const { first, quantity, opened, cost, value, openedAt, closedAt } = sums;
  const { lot, isUnpriced } = first;
  const { symbol, assetClass, side, multiplier, epoch, openedBy } = lot;
  const gross = side === 'LONG' ? value - cost : cost - value;
  const net = gross - sums.commissions - sums.fees;
  const priceOf = (amount: number): number => dollars(amount) / quantityOf(quantity) / multiplier;
  return {
    tradeId,
    epoch,
    symbol,
    assetClass,
    side,
    quantity: quantityOf(quantity),
    ...(opened !== quantity && { openedQuantity: quantityOf(opened) }),
    openedAt,
    closedAt,
    entryPrice: priceOf(cost),
    ...(!isUnpriced && { exitPrice: priceOf(value) }),
    grossPnl: dollars(gross),
    commissions: dollars(sums.commissions),
    fees: dollars(sums.fees),
    netPnl: dollars(net),
    ...(cost !== 0 && { return: net / cost }),
    holding: (closedAt - openedAt) / 1000,
    ...(lot.orderId !== undefined && { openOrderId: lot.orderId }),
    ...(first.orderId !== undefined && { closeOrderId: first.orderId }),
    openedBy,
    closedBy: first.closedBy,
  };
}
