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
import { moneyUnits, quantityUnits, shareOf, wholeCentsOf, wholeShareOf } from './units.js';

/**
 * Order in which lots are closed: the oldest first, the newest first, or the one with the smallest gain per unit first (of equal ones the
 * oldest): the highest basis of longs, the lowest proceeds of shorts.
 */
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
  /** The purchase or short sale that it belongs to, for wash sales. */
  readonly transaction: string;
  /** Number of the event that opened it; 0 where events have none. */
  readonly openedIn: number;
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
  /** Number of the event that closed it. */
  readonly closedIn: number;
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

interface Closing extends Pick<
  ClosedPiece,
  'key' | 'orderId' | 'closedBy' | 'closedAt' | 'closedDate' | 'settlementDate'
> {
  /** All of it, spread over the pieces by quantity; undefined = each piece at its cost. */
  readonly value: number | undefined;
  readonly commission: number;
  readonly fees: number;
  /** Disallowed losses that come with it, as part of the basis. */
  readonly disallowed?: number;
}

/** A purchase or sale, in units. */
interface Trade extends Pick<
  Traded,
  | 'symbol'
  | 'assetClass'
  | 'multiplier'
  | 'isSection1256'
  | 'side'
  | 'epoch'
  | 'key'
  | 'at'
  | 'date'
  | 'orderId'
  | 'by'
  | 'settlementDate'
  | 'acquiredDate'
> {
  readonly transaction: string;
  /** Key of the lot that it opens. */
  readonly openKey: string;
  readonly quantity: number;
  readonly value: number;
  readonly commission: number;
  readonly fees: number;
  /** Disallowed losses that come with it, as part of the basis. */
  readonly disallowed: number;
}

export class LotBook {
  readonly #method: LotMethod;
  readonly #lots = new Map<string, SymbolLots>();
  /** Number of the event that is applied. */
  #event = 0;

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

  /** Applies an event and returns the pieces that it closed. `number`: of the event, for methods other than FIFO and for wash sales. */
  apply(event: BookEvent, number = 0): readonly ClosedPiece[] {
    this.#event = number;
    switch (event.type) {
      case 'TRADED':
        return this.#trade({
          ...event,
          transaction: transactionOf(event),
          openKey: event.key,
          quantity: quantityUnits(event.quantity),
          value: moneyUnits(event.value),
          commission: moneyUnits(event.commission),
          fees: moneyUnits(event.fees),
          disallowed: 0,
        });
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

  /** `share`: the part of an amount that belongs to the quantity that closes. */
  #trade(trade: Trade, share = shareOf): readonly ClosedPiece[] {
    const { symbol, side, key, at, date, orderId, by, quantity, value, commission, fees, disallowed } = trade;
    const closing = Math.min(quantity, this.#heldAgainst(symbol, side));
    const part = (amount: number): number => (closing === 0 ? 0 : share(amount, closing, quantity));
    const pieces =
      closing === 0
        ? []
        : this.#close(symbol, closing, {
            key,
            orderId,
            closedBy: by as ClosedBy,
            closedAt: at,
            closedDate: date,
            settlementDate: trade.settlementDate ?? date,
            value: part(value),
            commission: part(commission),
            fees: part(fees),
            disallowed: part(disallowed),
          });
    const opened = quantity - closing;
    if (opened > 0) {
      const openedDate = trade.acquiredDate ?? date;
      // Field by field: most of the time of a long history is spent here.
      this.#add({
        symbol,
        assetClass: trade.assetClass,
        multiplier: trade.multiplier,
        isSection1256: trade.isSection1256 ?? false,
        side: side === 'BUY' ? 'LONG' : 'SHORT',
        epoch: trade.epoch,
        key: trade.openKey,
        transaction: trade.transaction,
        openedIn: this.#event,
        orderId,
        openedBy: by as OpenedBy,
        openedAt: at,
        openedDate,
        openedQuantity: opened,
        quantity: opened,
        cost: value - part(value),
        commission: commission - part(commission),
        fees: fees - part(fees),
        holdingFrom: openedDate,
        disallowed: disallowed - part(disallowed),
        isReplacement: false,
      });
    }
    return pieces;
  }

  /**
   * Each lot of the contracts gives its premium to its own shares (D244), in the order in which the lots were opened: the premium of a long
   * option raises the cost of its shares, or lowers their proceeds; that of a short option the other way round. A premium beyond the strike
   * makes the amount negative. Disallowed losses in a long option are part of its premium; those in a short one go into the basis.
   */
  #convert(event: Converted): readonly ClosedPiece[] {
    const { symbol, key, at, date, epoch, by, shares } = event;
    const contracts = quantityUnits(event.quantity);
    const pieces = this.#close(symbol, contracts, {
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
    const moved: ClosedPiece[] = [];
    const quantity = quantityUnits(shares.quantity);
    const cash = moneyUnits(shares.cash);
    let [sharesLeft, cashLeft] = [quantity, cash];
    for (const [index, { lot }] of this.#inOrderOfOpening(pieces).entries()) {
      const isLast = index === pieces.length - 1;
      const size = isLast ? sharesLeft : wholeShareOf(quantity, lot.quantity, contracts);
      const paid = isLast ? cashLeft : wholeCentsOf(cash, lot.quantity, contracts);
      sharesLeft -= size;
      cashLeft -= paid;
      const isLong = lot.side === 'LONG';
      const premium = isLong ? lot.cost + lot.disallowed : -lot.cost;
      const trade: Trade = {
        at,
        date,
        epoch,
        key,
        transaction: transactionOf(event),
        openKey: `${key} ${lot.key}`,
        symbol: shares.symbol,
        assetClass: 'EQUITY',
        multiplier: 1,
        by,
        side: shares.side,
        quantity: size,
        value: shares.side === 'BUY' ? paid + premium : paid - premium,
        commission: 0,
        fees: 0,
        disallowed: isLong ? 0 : lot.disallowed,
        ...(shares.settlementDate !== undefined && { settlementDate: shares.settlementDate }),
      };
      for (const piece of this.#trade(trade, wholeCentsOf)) moved.push(piece);
    }
    return [...pieces, ...moved];
  }

  #inOrderOfOpening(pieces: readonly ClosedPiece[]): readonly ClosedPiece[] {
    switch (this.#method) {
      case 'FIFO':
        return pieces;
      case 'LIFO':
        return pieces.toReversed();
      case 'HIFO':
        return pieces.toSorted((a, b) => a.lot.openedIn - b.lot.openedIn);
    }
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
    let { value, commission, fees, disallowed = 0 } = closing;
    while (left > 0) {
      // The fraction remains from the last lot, as in the books.
      const node = closing.closedBy === 'CASH_IN_LIEU' ? lots.last : this.#nextOf(lots);
      if (node === undefined) break;
      const { lot } = node;
      const taken = Math.min(left, lot.quantity);
      const piece = taken === lot.quantity ? lot : partOf(lot, taken);
      const share = (amount: number): number => shareOf(amount, taken, left);
      const more = share(disallowed);
      pieces.push({
        key: closing.key,
        closedIn: this.#event,
        orderId: closing.orderId,
        closedBy: closing.closedBy,
        closedAt: closing.closedAt,
        closedDate: closing.closedDate,
        settlementDate: closing.settlementDate,
        lot: more === 0 ? piece : { ...piece, disallowed: piece.disallowed + more },
        value: value === undefined ? piece.cost : share(value),
        commission: share(commission),
        fees: share(fees),
        isUnpriced: value === undefined,
      });
      if (value !== undefined) value -= share(value);
      commission -= share(commission);
      fees -= share(fees);
      disallowed -= more;
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
        return lots.leastGain;
    }
  }
}

/** Transaction of a trade or of contracts that became shares. */
export const transactionOf = ({ transaction, key, date }: Traded | Converted): string =>
  transaction ?? `${key} ${date}`;

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
