/** Lots of a portfolio, opened and closed by its events; the method determines which are closed first. */
import type {
  AssetClass,
  BookEvent,
  ClosedBy,
  Converted,
  Discarded,
  Exchanged,
  OpenedBy,
  Restated,
  Traded,
} from './book-event.js';
import { type LotNode, SymbolLots } from './symbol-lots.js';
import { moneyUnits, quantityOf, quantityUnits, shareOf, wholeCentsOf, wholeShareOf } from './units.js';

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
        return this.#restate(event);
      case 'EXCHANGED':
        return this.#exchange(event);
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

  #restate(event: Restated): readonly ClosedPiece[] {
    const { symbol, numerator, denominator, to = symbol, multiplier } = event;
    const lots = this.#lots.get(symbol);
    if (lots === undefined) return [];
    this.#lots.delete(symbol);
    const quantities = restatedQuantities(lots, numerator, denominator);
    const restated = [...lots].map((lot, index) => ({
      ...lot,
      symbol: to,
      multiplier: multiplier ?? lot.multiplier,
      quantity: quantities[index] ?? 0,
    }));
    return this.#receive(restated, event);
  }

  /** Adds lots of a symbol by the dates that they keep; an opposite position there is closed first (D208). */
  #receive(
    received: readonly OpenLot[],
    { at, date, epoch, key }: Pick<BookEvent, 'at' | 'date' | 'epoch' | 'key'>,
  ): readonly ClosedPiece[] {
    const [first] = received;
    if (first === undefined) return [];
    const { symbol } = first;
    const held = [...(this.#lots.get(symbol) ?? [])];
    if (held[0] !== undefined && held[0].side !== first.side)
      return received.flatMap((lot) =>
        this.#trade({
          symbol,
          assetClass: lot.assetClass,
          multiplier: lot.multiplier,
          isSection1256: lot.isSection1256,
          side: lot.side === 'LONG' ? 'BUY' : 'SELL',
          epoch,
          key,
          at,
          date,
          ...(lot.orderId !== undefined && { orderId: lot.orderId }),
          by: 'ACTION',
          acquiredDate: lot.openedDate,
          transaction: lot.transaction,
          openKey: lot.key,
          quantity: lot.quantity,
          value: lot.cost,
          commission: lot.commission,
          fees: lot.fees,
          disallowed: lot.disallowed,
        }),
      );
    if (held.length === 0) {
      for (const lot of received) this.#add(lot);
      return [];
    }
    this.#lots.delete(symbol);
    const all = [...held];
    for (const lot of received) {
      const later = all.findIndex(({ openedDate }) => openedDate > lot.openedDate);
      all.splice(later === -1 ? all.length : later, 0, lot);
    }
    for (const lot of all) this.#add(lot);
    return [];
  }

  /**
   * New shares for each lot, with the date of the lot and the part of its cost that passes (D208). Of a merger for shares and cash, the cash
   * closes as much of the cost as leaves the gain that counts: at most the cash, and never a loss (IRC 356); of shorts the loss alike.
   */
  #exchange(event: Exchanged): readonly ClosedPiece[] {
    const { symbol, to, numerator, denominator, exchange, key, at, date } = event;
    const lots = [...(this.#lots.get(symbol) ?? [])];
    const all = lots.reduce((sum, { quantity }) => sum + quantity, 0);
    const quantities = restatedQuantities(lots, numerator, denominator);
    this.#lots.delete(symbol);
    const pieces: ClosedPiece[] = [];
    const given: OpenLot[] = [];
    const cash = exchange.kind === 'MERGER' ? moneyUnits(exchange.cash) : 0;
    let cashLeft = cash;
    lots.forEach((lot, index) => {
      const isLast = index === lots.length - 1;
      const paid = isLast ? cashLeft : shareOf(cash, lot.quantity, all);
      cashLeft -= paid;
      const removed =
        exchange.kind === 'SPIN_OFF'
          ? lot.cost - Math.round(lot.cost * exchange.passed)
          : paid - gainOnCash(lot, paid, exchange.worth);
      const gone = costPart(lot, Math.min(removed, lot.cost));
      if (exchange.kind === 'SPIN_OFF') this.#add(gone);
      else
        pieces.push({
          lot: gone,
          key,
          closedIn: this.#event,
          orderId: undefined,
          closedBy: 'MERGER',
          closedAt: at,
          closedDate: date,
          settlementDate: exchange.settlementDate ?? date,
          value: paid,
          commission: 0,
          fees: 0,
          isUnpriced: false,
        });
      const quantity = quantities[index] ?? 0;
      if (quantity === 0) return;
      given.push({
        ...lot,
        symbol: to,
        key: `${key} ${lot.key}`,
        orderId: undefined,
        openedIn: this.#event,
        openedBy: 'ACTION',
        openedAt: at,
        openedQuantity: quantity,
        quantity,
        cost: lot.cost - gone.cost,
        commission: lot.commission - gone.commission,
        fees: lot.fees - gone.fees,
        disallowed: lot.disallowed - gone.disallowed,
      });
    });
    return [...pieces, ...this.#receive(given, event)];
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

/** New quantities of lots, by the running total, so that the lots add up to the new position. */
function restatedQuantities(
  lots: Iterable<OpenLot>,
  numerator: number,
  denominator: number,
): readonly number[] {
  let before = 0;
  let given = 0;
  return [...lots].map((lot) => {
    before += lot.quantity;
    const from = given;
    given = wholeShareOf(before, numerator, denominator);
    return given - from;
  });
}

/** The gain on a lot that cash of a merger makes count; of a short position the loss. `worth`: of the new shares for one old share. */
function gainOnCash(lot: OpenLot, paid: number, worth: number | undefined): number {
  if (worth === undefined) return Math.max(0, paid - lot.cost);
  const value = moneyUnits(worth * quantityOf(lot.quantity)) + paid;
  return Math.min(paid, Math.max(0, value - lot.cost));
}

/** A lot with a part of its cost, and the same share of its charges and disallowed losses. */
function costPart(lot: OpenLot, cost: number): OpenLot {
  const share = (amount: number): number => (lot.cost === 0 ? amount : shareOf(amount, cost, lot.cost));
  return {
    ...lot,
    cost,
    commission: share(lot.commission),
    fees: share(lot.fees),
    disallowed: share(lot.disallowed),
  };
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
