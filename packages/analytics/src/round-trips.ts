/** Round trips (D187): what each opening order made when a closing order ended it. */
import type { AssetClass, BookEvent, ClosedBy, OpenedBy } from './book-event.js';
import { type ClosedPiece, LotBook, type OpenLot } from './lot-book.js';
import { dollars, quantityOf } from './units.js';

export interface RoundTrip {
  readonly tradeId: string;
  readonly epoch: number;
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly side: 'LONG' | 'SHORT';
  /** In units of the closing: splits in between are counted. */
  readonly quantity: number;
  /** As it was opened; absent where nothing changed it. */
  readonly openedQuantity?: number;
  /** Milliseconds since 1970, of the first piece. */
  readonly openedAt: number;
  /** Of the last piece. */
  readonly closedAt: number;
  /** Average by quantity, dollars a unit. */
  readonly entryPrice: number;
  /** Absent where contracts became shares, and where a reset took the position away. */
  readonly exitPrice?: number;
  /** Dollars, before charges. */
  readonly grossPnl: number;
  readonly commissions: number;
  readonly fees: number;
  readonly netPnl: number;
  /** Net profit over the value of the opening; absent where that is 0. */
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

/** Works out the round trips of a portfolio, first in, first out, event by event: whoever has many can pause in between. */
export class RoundTripBook {
  readonly #book = new LotBook('FIFO');
  readonly #groups = new Map<string, ClosedPiece[]>();

  apply(event: BookEvent): void {
    for (const piece of this.#book.apply(event)) {
      const key = `${piece.lot.key}\n${piece.key}\n${piece.lot.symbol}\n${piece.lot.side}`;
      const group = this.#groups.get(key);
      if (group === undefined) this.#groups.set(key, [piece]);
      else group.push(piece);
    }
  }

  /** In order of their first closing. */
  *trips(): Generator<RoundTrip, void, undefined> {
    let number = 0;
    for (const pieces of this.#groups.values()) yield tripOf(String((number += 1)), pieces);
  }

  open(): readonly OpenLot[] {
    return this.#book.open();
  }
}

/** Works out the round trips of a portfolio, first in, first out. */
export function roundTripsOf(events: Iterable<BookEvent>): RoundTrips {
  const book = new RoundTripBook();
  for (const event of events) book.apply(event);
  return { trips: [...book.trips()], open: book.open() };
}

function tripOf(tradeId: string, pieces: readonly ClosedPiece[]): RoundTrip {
  const [first] = pieces;
  if (first === undefined) throw new RangeError('a round trip has at least one piece');
  const total = (amountOf: (piece: ClosedPiece) => number): number =>
    pieces.reduce((sum, piece) => sum + amountOf(piece), 0);
  const { lot, isUnpriced } = first;
  const { symbol, assetClass, side, multiplier, epoch, openedBy } = lot;
  const quantity = total((piece) => piece.lot.quantity);
  const opened = total((piece) => piece.lot.openedQuantity);
  const cost = total((piece) => piece.lot.cost);
  const value = total((piece) => piece.value);
  const gross = side === 'LONG' ? value - cost : cost - value;
  const commissions = total((piece) => piece.lot.commission + piece.commission);
  const fees = total((piece) => piece.lot.fees + piece.fees);
  const net = gross - commissions - fees;
  const priceOf = (amount: number): number => dollars(amount) / quantityOf(quantity) / multiplier;
  const openedAt = Math.min(...pieces.map((piece) => piece.lot.openedAt));
  const closedAt = Math.max(...pieces.map((piece) => piece.closedAt));
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
    commissions: dollars(commissions),
    fees: dollars(fees),
    netPnl: dollars(net),
    ...(cost !== 0 && { return: net / cost }),
    holding: (closedAt - openedAt) / 1000,
    ...(lot.orderId !== undefined && { openOrderId: lot.orderId }),
    ...(first.orderId !== undefined && { closeOrderId: first.orderId }),
    openedBy,
    closedBy: first.closedBy,
  };
}
