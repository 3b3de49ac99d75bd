/**
 * Realized gains and open tax lots (D189), for individuals: holding periods, wash sales within a portfolio and symbol, and Section 1256
 * contracts marked at the end of each year. Sources: IRS Publication 550; 26 CFR 1.1091-1 and 1.1091-2; 26 U.S.C. 1222, 1233, 1256.
 * Straddles, other portfolios, and options as a replacement of stock are not considered. Not tax advice.
 */
import type { BookEvent, Converted, Restated, Traded } from './book-event.js';
import { addDays, daysBetween, nextYear } from './dates.js';
import {
  type ClosedPiece,
  LotBook,
  type LotMethod,
  type OpenLot,
  partOf,
  transactionOf,
  without,
} from './lot-book.js';
import type { LotNode, SymbolLots } from './symbol-lots.js';
import { dollars, moneyUnits, quantityOf, shareOf } from './units.js';

/** Days before and after a sale at a loss in which a purchase replaces the shares sold. */
const WASH_SALE_DAYS = 30;

export type Term = 'SHORT' | 'LONG' | 'SECTION_1256';

export interface RealizedGain {
  readonly symbol: string;
  readonly quantity: number;
  /** New York dates. */
  readonly acquiredAt: string;
  readonly holdingFrom: string;
  readonly soldAt: string;
  /** Dollars, net of charges. */
  readonly proceeds: number;
  /** Dollars, charges and disallowed losses of earlier sales in it. */
  readonly costBasis: number;
  /** Part of the loss that a replacement absorbed; 0 or positive. */
  readonly washSaleDisallowed: number;
  /** proceeds − costBasis + washSaleDisallowed. */
  readonly gain: number;
  readonly term: Term;
  readonly washSale: boolean;
  /** Code of Form 8949. */
  readonly code?: 'W';
  /** The orders that opened and closed it. */
  readonly orderIds: readonly string[];
}

export interface TaxLot {
  readonly symbol: string;
  readonly side: 'LONG' | 'SHORT';
  readonly quantity: number;
  readonly acquiredAt: string;
  readonly holdingFrom: string;
  /** Disallowed losses in it; for a short the proceeds of the sale, as confirmed. */
  readonly costBasis: number;
  /** Disallowed losses in the basis; for a short those that raise the basis of the cover. */
  readonly washSaleDisallowed: number;
  readonly orderIds: readonly string[];
}

export interface GainTotals {
  readonly proceeds: number;
  readonly costBasis: number;
  readonly washSaleDisallowed: number;
  readonly gain: number;
}

/** Marks of the last close of a year, by which Section 1256 contracts are treated as sold. */
export interface YearEnd {
  /** Milliseconds since 1970 of the close. */
  readonly at: number;
  /** New York date. */
  readonly date: string;
  /** Dollars per unit; a contract without a mark is unchanged. */
  readonly marks: Readonly<Record<string, number>>;
}

/** A split of a symbol, which also restates losses of positions that are gone. */
export interface TaxSplit {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly symbol: string;
  /** Each old share is `numerator / denominator` new ones. */
  readonly numerator: number;
  readonly denominator: number;
  /** The new symbol of the shares; absent = the same symbol. */
  readonly to?: string;
}

export interface TaxInput {
  /** Events of one epoch, in order of time. Iterated twice. */
  readonly events: Iterable<BookEvent>;
  readonly method: LotMethod;
  /** In order of time. */
  readonly yearEnds: readonly YearEnd[];
  /** In order of time; those of positions that are held are among the events, too. */
  readonly splits?: readonly TaxSplit[];
  /** False in retirement accounts, which have no adjustments. */
  readonly washSales: boolean;
}

export interface TaxBooks {
  /** In order of sale. */
  readonly gains: readonly RealizedGain[];
  readonly lots: readonly TaxLot[];
}

/** A sale while later purchases may still change what of its loss counts. Amounts in units. */
interface Sale {
  readonly piece: ClosedPiece;
  readonly proceeds: number;
  readonly basis: number;
  disallowed: number;
}

/** A loss for which a replacement may still come. */
interface OpenLoss {
  readonly sale: Sale;
  /** Units not replaced yet, counted after splits. */
  quantity: number;
  /** Loss on them. */
  loss: number;
}

/** Open losses of one symbol and side. */
interface OpenLosses {
  /** Losses of sales that continue, by sale: no lot has been checked for them. */
  readonly fresh: Map<string, OpenLoss[]>;
  /** Losses that no lot from before the end of their sale can absorb, in order of sale. */
  waiting: OpenLoss[];
  /** Place of the first one in `waiting` that still counts. */
  first: number;
}

/** Computes the tax books of an epoch by a lot method. */
export function taxBooksOf({ events, method, yearEnds, splits = [], washSales }: TaxInput): TaxBooks {
  const books = new TaxLedger(method, washSales, washSales ? lastEvents(events) : new Map());
  let next = 0;
  let nextSplit = 0;
  for (const event of events) {
    for (let end = yearEnds[next]; end !== undefined && end.at < event.at; end = yearEnds[(next += 1)])
      books.markYearEnd(end);
    for (
      let split = splits[nextSplit];
      split !== undefined && split.at <= event.at;
      split = splits[nextSplit]
    ) {
      books.split(split);
      nextSplit += 1;
    }
    books.apply(event);
  }
  for (const end of yearEnds.slice(next)) books.markYearEnd(end);
  return books.result();
}

/** Numbers of the last events of each sale that has several, counted from 1. */
function lastEvents(events: Iterable<BookEvent>): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  const seen = new Set<string>();
  let number = 0;
  for (const event of events) {
    number += 1;
    if (event.type !== 'TRADED' && event.type !== 'CONVERTED') continue;
    const name = saleOf(event);
    if (seen.has(name)) last.set(name, number);
    else seen.add(name);
  }
  return last;
}

/** Totals of Section 1256 contracts, and how their gain is taxed: lines 8 and 9 of Form 6781. */
export interface Section1256Totals extends GainTotals {
  /** 40 % of the gain. */
  readonly shortTerm: number;
  /** 60 % of the gain. */
  readonly longTerm: number;
}

export interface TotalsByTerm {
  readonly SHORT: GainTotals;
  readonly LONG: GainTotals;
  readonly SECTION_1256: Section1256Totals;
}

const SHORT_TERM_PERCENT = 40;

/** Sums of gains, by term. */
export function gainTotals(gains: readonly RealizedGain[]): TotalsByTerm {
  const totalOf = (term: Term): GainTotals => {
    const rows = gains.filter((row) => row.term === term);
    const total = (amountOf: (row: RealizedGain) => number): number =>
      dollars(rows.reduce((sum, row) => sum + moneyUnits(amountOf(row)), 0));
    return {
      proceeds: total((row) => row.proceeds),
      costBasis: total((row) => row.costBasis),
      washSaleDisallowed: total((row) => row.washSaleDisallowed),
      gain: total((row) => row.gain),
    };
  };
  const marked = totalOf('SECTION_1256');
  const cents = Math.round(marked.gain * 100);
  const shortCents = Math.round((cents * SHORT_TERM_PERCENT) / 100);
  return {
    SHORT: totalOf('SHORT'),
    LONG: totalOf('LONG'),
    SECTION_1256: { ...marked, shortTerm: shortCents / 100, longTerm: (cents - shortCents) / 100 },
  };
}

/** The symbol that an event moves at a price. */
const movedSymbol = (event: Traded | Converted): string =>
  event.type === 'TRADED' ? event.symbol : event.shares.symbol;

/** Names the sale of a symbol that an event belongs to. */
const saleOf = (event: Traded | Converted): string => `${movedSymbol(event)} ${transactionOf(event)}`;

class TaxLedger {
  readonly #book: LotBook;
  readonly #washSales: boolean;
  readonly #lastEvents: ReadonlyMap<string, number>;
  readonly #sales: Sale[] = [];
  /** By symbol and side. */
  readonly #losses = new Map<string, OpenLosses>();
  /** Events applied. */
  #events = 0;

  constructor(method: LotMethod, washSales: boolean, lastEvents: ReadonlyMap<string, number>) {
    this.#book = new LotBook(method);
    this.#washSales = washSales;
    this.#lastEvents = lastEvents;
  }

  apply(event: BookEvent): void {
    this.#events += 1;
    const pieces = this.#book.apply(withTaxDates(withChargesInValue(event)), this.#events);
    if (event.type === 'RESTATED') this.#restateLosses(event);
    if (event.type === 'RESTATED' || event.type === 'EXCHANGED') {
      // Gains alone: a merger makes no loss count.
      for (const piece of pieces) if (!piece.isUnpriced) this.#sell(piece, event.key);
      return;
    }
    if (event.type === 'DISCARDED') return;
    const sale = saleOf(event);
    for (const piece of pieces) if (!piece.isUnpriced) this.#sell(piece, sale);
    if (!this.#washSales) return;
    const isLast = (this.#lastEvents.get(sale) ?? this.#events) === this.#events;
    this.#replace(movedSymbol(event), event.date, isLast ? sale : undefined);
  }

  /** Restates the losses of a symbol that is not held; one that is held has its own event. */
  split(split: TaxSplit): void {
    if (this.#book.lotsOf(split.symbol) === undefined) this.#restateLosses(split);
  }

  /** Treats each Section 1256 contract as sold at its mark, which is its new basis. */
  markYearEnd({ at, date, marks }: YearEnd): void {
    const symbols = new Set(this.#book.open().flatMap((lot) => (lot.isSection1256 ? [lot.symbol] : [])));
    for (const symbol of symbols) {
      const mark = marks[symbol];
      if (mark === undefined) continue;
      this.#book.replace(symbol, (lot) => {
        const value = moneyUnits(mark * quantityOf(lot.quantity) * lot.multiplier);
        this.#sell(
          {
            lot,
            key: `year-end ${date}`,
            closedIn: this.#events,
            orderId: undefined,
            closedBy: 'SETTLEMENT',
            closedAt: at,
            closedDate: date,
            settlementDate: date,
            value,
            commission: 0,
            fees: 0,
            isUnpriced: false,
          },
          '',
        );
        return { ...lot, cost: value, openedDate: date, holdingFrom: date };
      });
    }
  }

  result(): TaxBooks {
    return {
      gains: this.#sales.map(gainOf),
      lots: this.#book.open().map((lot) => ({
        symbol: lot.symbol,
        side: lot.side,
        quantity: quantityOf(lot.quantity),
        acquiredAt: lot.openedDate,
        holdingFrom: lot.holdingFrom,
        costBasis: dollars(lot.side === 'LONG' ? lot.cost + lot.disallowed : lot.cost),
        washSaleDisallowed: dollars(lot.disallowed),
        orderIds: lot.orderId === undefined ? [] : [lot.orderId],
      })),
    };
  }

  #sell(piece: ClosedPiece, name: string): void {
    const { lot, value } = piece;
    const [proceeds, basis] = lot.side === 'LONG' ? [value, lot.cost] : [lot.cost, value];
    const sale: Sale = { piece, proceeds, basis: basis + lot.disallowed, disallowed: 0 };
    this.#sales.push(sale);
    const loss = sale.basis - proceeds;
    if (!this.#washSales || loss <= 0 || lot.isSection1256) return;
    const { fresh } = this.#lossesOf(lot.symbol, lot.side);
    const losses = fresh.get(name);
    const open: OpenLoss = { sale, quantity: lot.quantity, loss };
    if (losses === undefined) fresh.set(name, [open]);
    else losses.push(open);
  }

  #lossesOf(symbol: string, side: OpenLot['side']): OpenLosses {
    const name = lossName(symbol, side);
    const found = this.#losses.get(name) ?? { fresh: new Map<string, OpenLoss[]>(), waiting: [], first: 0 };
    this.#losses.set(name, found);
    return found;
  }

  /**
   * Assigns open losses of a symbol to lots opened within 30 days, earliest loss and earliest lot first: earlier losses to the lots of the
   * present event, then those of a sale that ends with it to all lots. All other pairs were checked before.
   */
  #replace(symbol: string, date: string, ended: string | undefined): void {
    for (const side of SIDES) {
      const losses = this.#losses.get(lossName(symbol, side));
      if (losses === undefined) continue;
      const lots = this.#book.lotsOf(symbol);
      const candidates = lots?.first?.lot.side === side ? lots : undefined;
      if (candidates !== undefined) offerNewest(candidates, this.#events, losses);
      const fresh = ended === undefined ? undefined : losses.fresh.get(ended);
      if (ended !== undefined && fresh !== undefined) {
        losses.fresh.delete(ended);
        if (candidates !== undefined) for (const open of fresh) offerAll(candidates, open);
        addWaiting(losses, fresh);
      }
      if (!hasMore(losses, date) && losses.fresh.size === 0) this.#losses.delete(lossName(symbol, side));
    }
  }

  #restateLosses({
    symbol,
    numerator,
    denominator,
    to = symbol,
  }: Pick<Restated, 'symbol' | 'numerator' | 'denominator' | 'to'>): void {
    for (const side of SIDES) {
      const losses = this.#losses.get(lossName(symbol, side));
      if (losses === undefined) continue;
      for (const loss of [...losses.waiting, ...[...losses.fresh.values()].flat()])
        loss.quantity = shareOf(loss.quantity, numerator, denominator);
      if (to !== symbol) this.#rename(losses, symbol, side, to);
    }
  }

  #rename({ fresh, waiting, first }: OpenLosses, from: string, side: OpenLot['side'], to: string): void {
    this.#losses.delete(lossName(from, side));
    const renamed = this.#lossesOf(to, side);
    for (const [sale, losses] of fresh) renamed.fresh.set(sale, losses);
    const lots = this.#book.lotsOf(to);
    const moved = waiting.slice(first);
    // Lots that had the new symbol before have not been checked.
    if (lots?.first?.lot.side === side) for (const open of moved) offerAll(lots, open);
    addWaiting(renamed, moved);
  }
}

/** Adds losses to those that wait, in order of their execution: a sale that ended earlier may have begun later. */
function addWaiting(losses: OpenLosses, more: readonly OpenLoss[]): void {
  const last = losses.waiting.at(-1);
  for (const open of more) losses.waiting.push(open);
  if (last === undefined || placeOf(last) <= placeOf(more[0])) return;
  losses.waiting = losses.waiting.slice(losses.first).sort((a, b) => placeOf(a) - placeOf(b));
  losses.first = 0;
}

const placeOf = (open: OpenLoss | undefined): number => open?.sale.piece.closedIn ?? Infinity;

/** Offers the lots that an event has opened to earlier losses. */
function offerNewest(lots: SymbolLots, event: number, { waiting, first }: OpenLosses): void {
  let node = lots.last;
  while (node?.previous?.lot.openedIn === event) node = node.previous;
  for (; node?.lot.openedIn === event; node = node.next) {
    for (let i = first; i < waiting.length && !node.lot.isReplacement; i += 1) {
      const open = waiting[i];
      if (open === undefined || open.quantity === 0 || !isNear(open, node.lot)) continue;
      lots.revise(node, ...takeOver(open, node.lot));
    }
  }
}

/** Offers a loss to all open lots. Lots at the beginning that cannot absorb any loss are settled. */
function offerAll(lots: SymbolLots, open: OpenLoss): void {
  const { closedDate } = open.sale.piece;
  const from = addDays(closedDate, -WASH_SALE_DAYS);
  for (let node = lots.firstUnsettled; node !== undefined && open.quantity > 0; node = node.next) {
    const { lot } = node;
    if (lot.isReplacement || !isNear(open, lot) || isOfSamePurchase(open, lot)) continue;
    lots.revise(node, ...takeOver(open, lot));
  }
  let unsettled: LotNode | undefined = lots.firstUnsettled;
  while (unsettled !== undefined && (unsettled.lot.isReplacement || unsettled.lot.openedDate < from))
    unsettled = unsettled.next;
  lots.settleBefore(unsettled);
}

/** True for the rest of the purchase that was sold (Rev. Rul. 56-602); what was bought after the sale always replaces. */
const isOfSamePurchase = ({ sale: { piece } }: OpenLoss, lot: OpenLot): boolean =>
  lot.transaction === piece.lot.transaction && lot.openedIn < piece.closedIn;

const SIDES = ['LONG', 'SHORT'] as const;

const lossName = (symbol: string, side: OpenLot['side']): string => `${symbol} ${side}`;

/** Waiting losses are released in pieces of this size. */
const PASSED_AT_ONCE = 1_000;

/** Skips losses that are replaced or too old. True when others remain. */
function hasMore(losses: OpenLosses, today: string): boolean {
  const { waiting } = losses;
  for (let open = waiting[losses.first]; open !== undefined; open = waiting[(losses.first += 1)])
    if (open.quantity > 0 && daysBetween(open.sale.piece.closedDate, today) <= WASH_SALE_DAYS) break;
  if (losses.first < waiting.length && losses.first >= PASSED_AT_ONCE) {
    losses.waiting = waiting.slice(losses.first);
    losses.first = 0;
  }
  return losses.first < waiting.length;
}

/** Adds charges to the cost of a purchase and deducts them from the proceeds of a sale. */
function withChargesInValue(event: BookEvent): BookEvent {
  if (event.type !== 'TRADED' && event.type !== 'CONVERTED') return event;
  const charges = event.commission + event.fees;
  if (event.type === 'TRADED') {
    const value = event.side === 'BUY' ? event.value + charges : event.value - charges;
    return { ...event, value, commission: 0, fees: 0 };
  }
  const { shares } = event;
  const cash = shares.side === 'BUY' ? shares.cash + charges : shares.cash - charges;
  return { ...event, shares: { ...shares, cash }, commission: 0, fees: 0 };
}

/** Worthless shares count as sold on the last day of their tax year (IRC 165(g)). */
function withTaxDates(event: BookEvent): BookEvent {
  if (event.type !== 'TRADED' || event.by !== 'DELISTING' || event.value !== 0) return event;
  const date = `${event.date.slice(0, 4)}-12-31`;
  return { ...event, date, settlementDate: date };
}

const isNear = ({ sale }: OpenLoss, lot: OpenLot): boolean =>
  Math.abs(daysBetween(sale.piece.closedDate, lot.openedDate)) <= WASH_SALE_DAYS;

/** Moves as much of a loss to a lot as the lot has units; the remainder of the lot is unchanged. */
function takeOver(open: OpenLoss, lot: OpenLot): readonly [OpenLot, OpenLot?] {
  const quantity = Math.min(open.quantity, lot.quantity);
  const loss = shareOf(open.loss, quantity, open.quantity);
  open.quantity -= quantity;
  open.loss -= loss;
  open.sale.disallowed += loss;
  const { holdingFrom } = open.sale.piece.lot;
  const held = daysBetween(holdingFrom, open.sale.piece.closedDate);
  const part = partOf(lot, quantity);
  const replacement: OpenLot = {
    ...part,
    disallowed: part.disallowed + loss,
    holdingFrom: addDays(part.holdingFrom, -held),
    isReplacement: true,
  };
  return quantity === lot.quantity ? [replacement] : [replacement, without(lot, part)];
}

function gainOf({ piece, proceeds, basis, disallowed }: Sale): RealizedGain {
  const { lot, closedDate, settlementDate } = piece;
  const isShort = lot.side === 'SHORT';
  const isLoss = basis > proceeds;
  // A short sale ends when it is covered at a gain, when the shares bought are delivered at a loss (Rev. Rul. 2002-44).
  const soldAt = isShort && isLoss && lot.assetClass === 'EQUITY' ? settlementDate : closedDate;
  return {
    symbol: lot.symbol,
    quantity: quantityOf(lot.quantity),
    acquiredAt: isShort ? closedDate : lot.openedDate,
    holdingFrom: isShort ? closedDate : lot.holdingFrom,
    soldAt,
    proceeds: dollars(proceeds),
    costBasis: dollars(basis),
    washSaleDisallowed: dollars(disallowed),
    gain: dollars(proceeds - basis + disallowed),
    term: termOf(lot, soldAt),
    washSale: disallowed > 0,
    ...(disallowed > 0 && { code: 'W' as const }),
    orderIds: [lot.orderId, piece.orderId].filter((id): id is string => id !== undefined),
  };
}

/** Long-term if sold on or after the same date of the next year as the day after the holding period began. */
function termOf({ isSection1256, side, holdingFrom }: OpenLot, soldAt: string): Term {
  if (isSection1256) return 'SECTION_1256';
  return side === 'LONG' && soldAt >= nextYear(addDays(holdingFrom, 1)) ? 'LONG' : 'SHORT';
}
