/** Round trips (D187): the result of each opening order that a closing order ended. */
import type { AssetClass, BookEvent, ClosedBy, OpenedBy } from './book-event.js';
import { type ClosedPiece, LotBook, type OpenLot } from './lot-book.js';
import { type ColumnKind, Rows, type StoredRows, Texts } from './rows.js';
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

/** Sums of the pieces of one round trip. Amounts in units of `units.ts`, instants in ms. */
interface Gathered {
  readonly epoch: number;
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly side: 'LONG' | 'SHORT';
  readonly multiplier: number;
  readonly openedBy: OpenedBy;
  readonly closedBy: ClosedBy;
  readonly openKey: string;
  readonly closeKey: string;
  readonly openOrderId?: string | undefined;
  readonly closeOrderId?: string | undefined;
  /** 1 = closed without a price. */
  readonly isUnpriced: number;
  readonly quantity: number;
  readonly opened: number;
  readonly cost: number;
  readonly value: number;
  readonly commissions: number;
  readonly fees: number;
  readonly openedAt: number;
  readonly closedAt: number;
}

type OutcomeNumber =
  | 'multiplier'
  | 'isUnpriced'
  | 'quantity'
  | 'cost'
  | 'value'
  | 'commissions'
  | 'fees'
  | 'openedAt'
  | 'closedAt';

const GATHERED: Readonly<Record<keyof Gathered, ColumnKind>> = {
  epoch: 'number',
  symbol: 'text',
  assetClass: 'text',
  side: 'text',
  multiplier: 'number',
  openedBy: 'text',
  closedBy: 'text',
  openKey: 'text',
  closeKey: 'text',
  openOrderId: 'text',
  closeOrderId: 'text',
  isUnpriced: 'number',
  quantity: 'number',
  opened: 'number',
  cost: 'number',
  value: 'number',
  commissions: 'number',
  fees: 'number',
  openedAt: 'number',
  closedAt: 'number',
};

/** A book as it can be stored. Its texts are in the `Texts` that it was made with. */
export interface StoredRoundTrips extends StoredRows {
  readonly lots: readonly OpenLot[];
}

/** The figures of a trip that statistics are made of. */
export interface TripOutcome extends Pick<RoundTrip, 'netPnl' | 'holding'> {
  readonly exitPrice?: number | undefined;
}

/** Computes the round trips of a portfolio, first in, first out, event by event: further events can follow at any time. */
export class RoundTripBook {
  readonly #texts: Texts;
  readonly #book: LotBook;
  readonly #gathered: Rows<Gathered>;
  /** Places of trips by the numbers of their keys; built with the first closing. */
  #places: Map<string, number> | undefined;

  /** `stored`: a book to continue. */
  constructor(texts = new Texts(), stored?: StoredRoundTrips) {
    this.#texts = texts;
    this.#book = new LotBook('FIFO', stored?.lots);
    this.#gathered = new Rows(GATHERED, texts, stored);
  }

  apply(event: BookEvent): void {
    for (const piece of this.#book.apply(event)) {
      const { lot } = piece;
      const key = this.#keyOf(lot.key, piece.key, lot.symbol, lot.side);
      this.#places ??= this.#placesByKey();
      const place = this.#places.get(key);
      if (place === undefined) {
        this.#places.set(key, this.#gathered.length);
        this.#gathered.add(gatheredOf(piece));
      } else gather(this.#gathered, place, piece);
    }
  }

  /** Number of round trips. */
  get length(): number {
    return this.#gathered.length;
  }

  /** Places of the trips that are wanted by the time of their last piece, ms since 1970, and their epoch. */
  places(isWanted: (closedAt: number, epoch: number) => boolean): number[] {
    const closedAt = this.#gathered.column('closedAt');
    const epoch = this.#gathered.column('epoch');
    const found: number[] = [];
    for (let place = 0; place < this.length; place += 1)
      if (isWanted(closedAt[place] ?? 0, epoch[place] ?? 0)) found.push(place);
    return found;
  }

  /** The trip at a place, counted from 0 in order of their first closing. */
  at(index: number): RoundTrip {
    return tripOf(String(index + 1), this.#gathered.at(index));
  }

  /** The outcomes of the trips at these places. */
  outcomes(places: readonly number[]): readonly TripOutcome[] {
    const rows = this.#gathered;
    const long = this.#texts.codeOf('LONG');
    const side = rows.column('side');
    const multiplier = rows.column('multiplier');
    const isUnpriced = rows.column('isUnpriced');
    const quantity = rows.column('quantity');
    const cost = rows.column('cost');
    const value = rows.column('value');
    const commissions = rows.column('commissions');
    const fees = rows.column('fees');
    const openedAt = rows.column('openedAt');
    const closedAt = rows.column('closedAt');
    return places.map((place) =>
      outcomeOf({
        side: side[place] === long ? 'LONG' : 'SHORT',
        multiplier: multiplier[place] ?? 0,
        isUnpriced: isUnpriced[place] ?? 0,
        quantity: quantity[place] ?? 0,
        cost: cost[place] ?? 0,
        value: value[place] ?? 0,
        commissions: commissions[place] ?? 0,
        fees: fees[place] ?? 0,
        openedAt: openedAt[place] ?? 0,
        closedAt: closedAt[place] ?? 0,
      }),
    );
  }

  /** In order of their first closing. */
  *trips(): Generator<RoundTrip, void, undefined> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }

  open(): readonly OpenLot[] {
    return this.#book.open();
  }

  /** The state from which another book continues. */
  stored(): StoredRoundTrips {
    return { lots: this.open(), ...this.#gathered.stored() };
  }

  #keyOf(openKey: string, closeKey: string, symbol: string, side: string): string {
    const texts = this.#texts;
    return `${texts.codeOf(openKey)} ${texts.codeOf(closeKey)} ${texts.codeOf(symbol)} ${texts.codeOf(side)}`;
  }

  #placesByKey(): Map<string, number> {
    const rows = this.#gathered;
    const openKey = rows.column('openKey');
    const closeKey = rows.column('closeKey');
    const symbol = rows.column('symbol');
    const side = rows.column('side');
    const places = new Map<string, number>();
    for (let place = 0; place < rows.length; place += 1)
      places.set([openKey[place], closeKey[place], symbol[place], side[place]].join(' '), place);
    return places;
  }
}

const gatheredOf = ({ lot, ...piece }: ClosedPiece): Gathered => ({
  epoch: lot.epoch,
  symbol: lot.symbol,
  assetClass: lot.assetClass,
  side: lot.side,
  multiplier: lot.multiplier,
  openedBy: lot.openedBy,
  closedBy: piece.closedBy,
  openKey: lot.key,
  closeKey: piece.key,
  openOrderId: lot.orderId,
  closeOrderId: piece.orderId,
  isUnpriced: piece.isUnpriced ? 1 : 0,
  quantity: lot.quantity,
  opened: lot.openedQuantity,
  cost: lot.cost,
  value: piece.value,
  commissions: lot.commission + piece.commission,
  fees: lot.fees + piece.fees,
  openedAt: lot.openedAt,
  closedAt: piece.closedAt,
});

/** Adds a piece to the trip at a place. */
function gather(rows: Rows<Gathered>, place: number, { lot, ...piece }: ClosedPiece): void {
  const sums = rows.at(place);
  rows.set(place, 'quantity', sums.quantity + lot.quantity);
  rows.set(place, 'opened', sums.opened + lot.openedQuantity);
  rows.set(place, 'cost', sums.cost + lot.cost);
  rows.set(place, 'value', sums.value + piece.value);
  rows.set(place, 'commissions', sums.commissions + (lot.commission + piece.commission));
  rows.set(place, 'fees', sums.fees + (lot.fees + piece.fees));
  rows.set(place, 'openedAt', Math.min(sums.openedAt, lot.openedAt));
  rows.set(place, 'closedAt', Math.max(sums.closedAt, piece.closedAt));
}

/** Computes the round trips of a portfolio, first in, first out. */
export function roundTripsOf(events: Iterable<BookEvent>): RoundTrips {
  const book = new RoundTripBook();
  for (const event of events) book.apply(event);
  return { trips: [...book.trips()], open: book.open() };
}

const grossOf = ({ side, value, cost }: Pick<Gathered, 'side' | 'value' | 'cost'>): number =>
  side === 'LONG' ? value - cost : cost - value;

/** Dollars a unit. */
const priceOf = (
  amount: number,
  { quantity, multiplier }: Pick<Gathered, 'quantity' | 'multiplier'>,
): number => dollars(amount) / quantityOf(quantity) / multiplier;

function outcomeOf(sums: Pick<Gathered, OutcomeNumber | 'side'>): TripOutcome {
  const { value, commissions, fees, openedAt, closedAt } = sums;
  return {
    exitPrice: sums.isUnpriced === 0 ? priceOf(value, sums) : undefined,
    netPnl: dollars(grossOf(sums) - commissions - fees),
    holding: (closedAt - openedAt) / 1000,
  };
}

function tripOf(tradeId: string, sums: Gathered): RoundTrip {
  const { quantity, opened, cost, openedAt, closedAt, commissions, fees } = sums;
  const gross = grossOf(sums);
  const { exitPrice, netPnl, holding } = outcomeOf(sums);
  return {
    tradeId,
    epoch: sums.epoch,
    symbol: sums.symbol,
    assetClass: sums.assetClass,
    side: sums.side,
    quantity: quantityOf(quantity),
    ...(opened !== quantity && { openedQuantity: quantityOf(opened) }),
    openedAt,
    closedAt,
    entryPrice: priceOf(cost, sums),
    grossPnl: dollars(gross),
    commissions: dollars(commissions),
    fees: dollars(fees),
    netPnl,
    holding,
    ...(exitPrice !== undefined && { exitPrice }),
    ...(cost !== 0 && { return: (gross - commissions - fees) / cost }),
    ...(sums.openOrderId !== undefined && { openOrderId: sums.openOrderId }),
    ...(sums.closeOrderId !== undefined && { closeOrderId: sums.closeOrderId }),
    openedBy: sums.openedBy,
    closedBy: sums.closedBy,
  };
}
