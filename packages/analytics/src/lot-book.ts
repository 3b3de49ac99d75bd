/** Lots of a portfolio as its events open and close them, by a method that says which are closed first. */
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
import { moneyUnits, quantityUnits, shareOf, wholeShareOf } from './units.js';

/** Which lots are closed first: the oldest, the newest, those of the highest cost a unit (of equal ones the oldest). */
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
  /** Quantity as it was opened, before splits. */
  readonly openedQuantity: number;
  readonly quantity: number;
  /** Value of the opening, charges aside: cost of a long, proceeds of a short. */
  readonly cost: number;
  readonly commission: number;
  readonly fees: number;
  /** Date that the holding period counts from: that of the opening, earlier where a wash sale adds to it. */
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
  /** True where there is no price at which it was closed: contracts became shares, or a reset took it away. */
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
  readonly #lots = new Map<string, OpenLot[]>();
  /** Leading lots of a symbol that are settled. */
  readonly #settled = new Map<string, number>();
  /** Units held, by symbol, of one side: what trades against them closes them first. */
  readonly #held = new Map<string, number>();

  constructor(method: LotMethod = 'FIFO') {
    this.#method = method;
  }

  /** Lots that are open, by symbol in order of their first lot, oldest first. */
  open(): readonly OpenLot[] {
    return [...this.#lots.values()].flat();
  }

  /** Open lots of a symbol, all of one side, oldest first. They change with the book. */
  lotsOf(symbol: string): readonly OpenLot[] {
    return this.#lots.get(symbol) ?? [];
  }

  /** Puts one or two lots, with the same quantity together, in the place of a lot of `lotsOf`. */
  revise(symbol: string, index: number, [first, rest]: readonly [OpenLot, OpenLot?]): void {
    const lots = this.#lots.get(symbol);
    if (lots === undefined) return;
    lots[index] = first;
    if (rest !== undefined) lots.splice(index + 1, 0, rest);
  }

  /** Lots at the beginning of `lotsOf` for which `settle` was called. */
  settledOf(symbol: string): number {
    return this.#settled.get(symbol) ?? 0;
  }

  /** Notes how many lots at the beginning of a symbol's list a search need not check again. */
  settle(symbol: string, count: number): void {
    this.#settled.set(symbol, count);
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

  /**
   * Changes the open lots of a symbol, such as marking them to market at the end of a tax year. The result replaces them; an empty list
   * removes them.
   */
  replace(symbol: string, change: (lots: readonly OpenLot[]) => readonly OpenLot[]): void {
    const lots = change(this.#lots.get(symbol) ?? []);
    this.#settled.delete(symbol);
    this.#held.set(
      symbol,
      lots.reduce((total, { quantity }) => total + quantity, 0),
    );
    if (lots.length === 0) this.#lots.delete(symbol);
    else this.#lots.set(symbol, [...lots]);
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
      (total, { lot }) => total + (lot.side === 'LONG' ? lot.cost : -lot.cost),
      0,
    );
    const cash = moneyUnits(shares.cash);
    // The premium of a long option raises the cost of its shares, or lowers their proceeds; that of a short option the other way round. A
    // price is never negative.
    const value = Math.max(0, shares.side === 'BUY' ? cash + premium : cash - premium);
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
    this.#settled.delete(symbol);
    this.#held.delete(symbol);
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

  #discard({ key, at, date }: Discarded): readonly ClosedPiece[] {
    return [...this.#lots].flatMap(([symbol, lots]) =>
      this.#close(
        symbol,
        lots.reduce((total, { quantity }) => total + quantity, 0),
        {
          key,
          orderId: undefined,
          closedBy: 'RESET',
          closedAt: at,
          closedDate: date,
          settlementDate: date,
          value: undefined,
          commission: 0,
          fees: 0,
        },
      ),
    );
  }

  #add(lot: OpenLot): void {
    const lots = this.#lots.get(lot.symbol);
    this.#held.set(lot.symbol, (this.#held.get(lot.symbol) ?? 0) + lot.quantity);
    if (lots === undefined) this.#lots.set(lot.symbol, [lot]);
    else lots.push(lot);
  }

  /** Units held that a trade of this side closes. */
  #heldAgainst(symbol: string, side: 'BUY' | 'SELL'): number {
    const against = side === 'BUY' ? 'SHORT' : 'LONG';
    return this.#lots.get(symbol)?.[0]?.side === against ? (this.#held.get(symbol) ?? 0) : 0;
  }

  #close(symbol: string, quantity: number, closing: Closing): readonly ClosedPiece[] {
    const lots = this.#lots.get(symbol) ?? [];
    const pieces: ClosedPiece[] = [];
    let left = quantity;
    let { value, commission, fees } = closing;
    while (left > 0) {
      // The fraction is left over from the last lot, as in the books.
      const index = closing.closedBy === 'CASH_IN_LIEU' ? lots.length - 1 : this.#nextOf(lots);
      const lot = lots[index];
      if (lot === undefined) break;
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
      if (taken < lot.quantity) {
        lots[index] = without(lot, piece);
        continue;
      }
      // The first goes without moving the others.
      if (index === 0) lots.shift();
      else lots.splice(index, 1);
      const settled = this.settledOf(symbol);
      if (index < settled) this.settle(symbol, settled - 1);
    }
    this.#held.set(symbol, (this.#held.get(symbol) ?? 0) - (quantity - left));
    if (lots.length === 0) {
      this.#lots.delete(symbol);
      this.#settled.delete(symbol);
    }
    return pieces;
  }

  #nextOf(lots: readonly OpenLot[]): number {
    switch (this.#method) {
      case 'FIFO':
        return 0;
      case 'LIFO':
        return lots.length - 1;
      case 'HIFO': {
        let highest = 0;
        lots.forEach((lot, index) => {
          if (costPerUnit(lot) > costPerUnit(lots[highest] ?? lot)) highest = index;
        });
        return highest;
      }
    }
  }
}

/** Adjusted basis of a unit, opening charges in it. */
const costPerUnit = ({ side, cost, commission, fees, disallowed, quantity }: OpenLot): number =>
  ((side === 'LONG' ? cost + commission + fees : cost - commission - fees) + disallowed) / quantity;

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
