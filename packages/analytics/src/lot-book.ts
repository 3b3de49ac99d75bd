/** Lots of a portfolio, opened and closed by its events; the method determines which are closed first. */
import type {
  AssetClass,
  BookEvent,
  ClosedBy,
  Converted,
  Discarded,
  OpenedBy,
  Restated,
  Traded,
} from './book-event.js';
import { type LotNode, SymbolLots } from './symbol-lots.js';
import { moneyUnits, quantityUnits, shareOf, wholeShareOf } from './units.js';

/** Order in which lots are closed: the oldest first, the newest first, or the highest cost per unit first (of equal ones the oldest). */
export type LotMethod = 'FIFO' | 'LIFO' | 'HIFO';

/** Open remainder of a lot. Amounts in units of `units.ts`. */
export interface OpenLot {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  readonly multiplier: number;
  readonly isSection1256: boolean;
  readonly side: 'LONG' | 'SHORT';
  readonly epoch: number;
  readonly key: string;
  readonly orderId: string | undefined;
  readonly openedBy: OpenedBy;
  readonly openedAt: number;
  /** New York date on which it was acquired, or sold short. */
  readonly openedDate: string;
  /** Quantity at the opening, before splits. */
  readonly openedQuantity: number;
  readonly quantity: number;
  /** Value of the opening, charges aside: cost of a long, proceeds of a short. */
  readonly cost: number;
  readonly commission: number;
  readonly fees: number;
  /** Date that the holding period counts from: that of the opening, earlier if a wash sale adds to it. */
  readonly holdingFrom: string;
  /** Disallowed losses that are part of its basis. */
  readonly disallowed: number;
  /** True when it replaces shares that were sold at a loss: each replaces once. */
  readonly isReplacement: boolean;
}

/** A lot, or a part of one, that was closed. */
export interface ClosedPiece {
  /** The part: its quantity, cost and charges are those of the piece; `openedQuantity` likewise. */
  readonly lot: OpenLot;
  readonly key: string;
  readonly orderId: string | undefined;
  readonly closedBy: ClosedBy;
  readonly closedAt: number;
  readonly closedDate: string;
  readonly settlementDate: string;
  /** Value of the closing, charges aside: proceeds of a long, cost of a short. Without a price: the cost. */
  readonly value: number;
  readonly commission: number;
  readonly fees: number;
  /** True if it was closed without a price: contracts became shares, or a reset closed it without a mark. */
  readonly isUnpriced: boolean;
}

interface Closing extends Pick<ClosedPiece, 'key' | 'orderId' | 'closedBy' | 'closedAt' | 'closedDate'> {
  readonly settlementDate: string;
  /** All of it, spread over the pieces by quantity; undefined = each piece at its cost. */
  readonly value: number | undefined;
  readonly commission: number;
  readonly fees: number;
}

export class LotBook {
  readonly #method: LotMethod;
  readonly #lots = new Map<string, SymbolLots>();

  /** `open`: lots of a book to continue, in the order that `open` gave. */
  constructor(method: LotMethod = 'FIFO', open: Iterable<OpenLot> = []) {
    this.#method = method;
    for (const lot of open) this.#add(lot);
  }

  /** Lots that are open, by symbol in order of their first lot, oldest first. */
  open(): readonly OpenLot[] {
    return [...this.#lots.values()].flatMap((lots) => [...lots]);
  }

  /** Open lots of a symbol, which change with the book; undefined if there are none. */
  lotsOf(symbol: string): SymbolLots | undefined {
    return this.#lots.get(symbol);
  }

  /** Applies an event and returns the pieces that it closed. */
  apply(event: BookEvent): readonly ClosedPiece[] {
    switch (event.type) {
      case 'TRADED':
        return this.#trade(event);
      case 'CONVERTED':
        return this.#convert(event);
      case 'RESTATED':
        this.#restate(event);
        return [];
      case 'DISCARDED':
        return this.#discard(event);
    }
  }

  /** Changes the open lots of a symbol one by one, such as marking them to market at the end of a tax year. */
  replace(symbol: string, change: (lot: OpenLot) => OpenLot): void {
    const before = this.#lots.get(symbol);
    if (before === undefined) return;
    const lots = new SymbolLots();
    for (const lot of before) lots.add(change(lot));
    this.#lots.set(symbol, lots);
  }

  #trade(event: Traded): readonly ClosedPiece[] {
    const { symbol, side, key, at, date, orderId, by } = event;
    const quantity = quantityUnits(event.quantity);
    const value = moneyUnits(event.value);
    const commission = moneyUnits(event.commission);
    const fees = moneyUnits(event.fees);
    const closing = Math.min(quantity, this.#heldAgainst(symbol, side));
    const part = (amount: number): number => shareOf(amount, closing, quantity);
    const pieces =
      closing === 0
        ? []
        : this.#close(symbol, closing, {
            key,
            orderId,
            closedBy: by as ClosedBy,
            closedAt: at,
            closedDate: date,
            settlementDate: event.settlementDate ?? date,
            value: part(value),
            commission: part(commission),
            fees: part(fees),
          });
    const opened = quantity - closing;
    if (opened > 0) {
      const rest = (amount: number): number => (closing === 0 ? amount : amount - part(amount));
      // Field by field: most of the time of a long history is spent here.
      this.#add({
        symbol,
        assetClass: event.assetClass,
        multiplier: event.multiplier,
        isSection1256: event.isSection1256 ?? false,
        side: side === 'BUY' ? 'LONG' : 'SHORT',
        epoch: event.epoch,
        key,
        orderId,
        openedBy: by as OpenedBy,
        openedAt: at,
        openedDate: event.acquiredDate ?? date,
        openedQuantity: opened,
        quantity: opened,
        cost: rest(value),
        commission: rest(commission),
        fees: rest(fees),
        holdingFrom: event.acquiredDate ?? date,
        disallowed: 0,
        isReplacement: false,
      });
    }
    return pieces;
  }

  #convert(event: Converted): readonly ClosedPiece[] {
    const { symbol, key, at, date, by, shares } = event;
    const contracts = this.#close(symbol, quantityUnits(event.quantity), {
      key,
      orderId: undefined,
      closedBy: by,
      closedAt: at,
      closedDate: date,
      settlementDate: date,
      value: undefined,
      commission: moneyUnits(event.commission),
      fees: moneyUnits(event.fees),
    });
    const premium = contracts.reduce(
      (total, { lot }) =>
        total + (lot.side === 'LONG' ? lot.cost + lot.disallowed : lot.disallowed - lot.cost),
      0,
    );
    const cash = moneyUnits(shares.cash);
    // The premium of a long option raises the cost of its shares, or lowers their proceeds; that of a short option the other way round.
    // Disallowed losses in the basis of the option go with it. A premium beyond the strike makes the amount negative.
    const value = shares.side === 'BUY' ? cash + premium : cash - premium;
    const moved = this.#trade({
      type: 'TRADED',
      at,
      date,
      epoch: event.epoch,
      key,
      symbol: shares.symbol,
      assetClass: 'EQUITY',
      multiplier: 1,
      by,
      side: shares.side,
      quantity: shares.quantity,
      price: value / 10_000 / shares.quantity,
      value: value / 10_000,
      commission: 0,
      fees: 0,
      ...(shares.settlementDate !== undefined && { settlementDate: shares.settlementDate }),
    });
    return [...contracts, ...moved];
  }

  #restate({ symbol, numerator, denominator, to = symbol, multiplier }: Restated): void {
    const lots = this.#lots.get(symbol);
    if (lots === undefined) return;
    this.#lots.delete(symbol);
    // By the running total, so that the lots add up to the restated position.
    let before = 0;
    let given = 0;
    for (const lot of lots) {
      before += lot.quantity;
      const until = wholeShareOf(before, numerator, denominator);
      this.#add({ ...lot, symbol: to, multiplier: multiplier ?? lot.multiplier, quantity: until - given });
      given = until;
    }
  }

  /** Closes all lots at their marks; without a price if the mark is not known. */
  #discard({ key, at, date, values = {} }: Discarded): readonly ClosedPiece[] {
    return [...this.#lots].flatMap(([symbol, { quantity }]) => {
      const value = values[symbol];
      return this.#close(symbol, quantity, {
        key,
        orderId: undefined,
        closedBy: 'RESET',
        closedAt: at,
        closedDate: date,
        settlementDate: date,
        value: value === undefined ? undefined : moneyUnits(value),
        commission: 0,
        fees: 0,
      });
    });
  }

  #add(lot: OpenLot): void {
    let lots = this.#lots.get(lot.symbol);
    if (lots === undefined) this.#lots.set(lot.symbol, (lots = new SymbolLots()));
    lots.add(lot);
  }

  /** Units of the position that a trade of this side closes. */
  #heldAgainst(symbol: string, side: 'BUY' | 'SELL'): number {
    const lots = this.#lots.get(symbol);
    return lots?.first?.lot.side === (side === 'BUY' ? 'SHORT' : 'LONG') ? lots.quantity : 0;
  }

  #close(symbol: string, quantity: number, closing: Closing): readonly ClosedPiece[] {
    const lots = this.#lots.get(symbol);
    const pieces: ClosedPiece[] = [];
    if (lots === undefined) return pieces;
    let left = quantity;
    let { value, commission, fees } = closing;
    while (left > 0) {
      // The fraction remains from the last lot, as in the books.
      const node = closing.closedBy === 'CASH_IN_LIEU' ? lots.last : this.#nextOf(lots);
      if (node === undefined) break;
      const { lot } = node;
      const taken = Math.min(left, lot.quantity);
      const piece = taken === lot.quantity ? lot : partOf(lot, taken);
      const share = (amount: number): number => shareOf(amount, taken, left);
      pieces.push({
        key: closing.key,
        orderId: closing.orderId,
        closedBy: closing.closedBy,
        closedAt: closing.closedAt,
        closedDate: closing.closedDate,
        settlementDate: closing.settlementDate,
        lot: piece,
        value: value === undefined ? piece.cost : share(value),
        commission: share(commission),
        fees: share(fees),
        isUnpriced: value === undefined,
      });
      if (value !== undefined) value -= share(value);
      commission -= share(commission);
      fees -= share(fees);
      left -= taken;
      if (taken < lot.quantity) lots.revise(node, without(lot, piece));
      else lots.remove(node);
    }
    if (lots.first === undefined) this.#lots.delete(symbol);
    return pieces;
  }

  #nextOf(lots: SymbolLots): LotNode | undefined {
    switch (this.#method) {
      case 'FIFO':
        return lots.first;
      case 'LIFO':
        return lots.last;
      case 'HIFO':
        return lots.dearest;
    }
  }
}

/** A part of a lot, with its share of cost and charges. */
export function partOf(lot: OpenLot, quantity: number): OpenLot {
  const share = (amount: number): number => shareOf(amount, quantity, lot.quantity);
  return {
    ...lot,
    quantity,
    openedQuantity: share(lot.openedQuantity),
    cost: share(lot.cost),
    commission: share(lot.commission),
    fees: share(lot.fees),
    disallowed: share(lot.disallowed),
  };
}

/** Remainder of a lot without a part. */
export const without = (lot: OpenLot, part: OpenLot): OpenLot => ({
  ...lot,
  quantity: lot.quantity - part.quantity,
  openedQuantity: lot.openedQuantity - part.openedQuantity,
  cost: lot.cost - part.cost,
  commission: lot.commission - part.commission,
  fees: lot.fees - part.fees,
  disallowed: lot.disallowed - part.disallowed,
});
