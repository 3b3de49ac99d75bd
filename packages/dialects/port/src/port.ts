/** The port: everything that a dialect sees of the server behind it. The server implements it; a dialect imports nothing else of the server. */
import type {
  Calendar,
  Event,
  Ids,
  Instant,
  Instrument,
  LedgerEntry,
  OrderSnapshot,
  Portfolio,
  Price,
  Quote as CoreQuote,
  TradingDate,
} from '@sandpit/core';
import type {
  AnnouncedAction,
  Bar,
  MarketHours,
  OperationId,
  Portfolio as PortfolioFigures,
  Quote,
  ReplyOf,
} from '@sandpit/protocol';

/** Operations that write to the connection themselves. */
type StreamingId = 'streamOrders' | 'streamPortfolios' | 'streamQuotes' | 'streamLeaderboard' | 'getReport';

/** Operations of `/v1` that respond with JSON. */
export type AnsweringId = Exclude<OperationId, StreamingId>;

/** Input of an operation before validation. */
export interface OperationInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Fields that join the body after its validation: the dialect has checked them by its own rules. */
  readonly checked?: Readonly<Record<string, unknown>>;
}

/** One simulation, as one credential may see and use it. */
export interface Desk {
  readonly simulationId: string;
  /** The same object for all desks of a simulation: a key for what a dialect remembers of it. */
  readonly key: object;
  readonly mayTrade: boolean;
  readonly ids: Ids;
  readonly calendar: Calendar;
  readonly market: Market;
  readonly keep: Keep;
  /** Simulated time. */
  now(): Instant;
  /** A listed instrument; undefined for an unknown symbol. */
  instrument(symbol: string): Instrument | undefined;
  /** Checks and carries out an operation of `/v1` as its route does. Throws `Refused` when that answers with an error. */
  run<Id extends AnsweringId>(id: Id, input?: OperationInput): Promise<ReplyOf<Id>>;
  /** Calls for each record of the simulation that becomes durable. Returns a function that unsubscribes. */
  subscribe(listener: (record: HappenedRecord) => void): () => void;
  /** Open portfolios, oldest first. */
  portfolios(): readonly Portfolio[];
  /** The book of an open portfolio; undefined for a portfolio that this credential has no access to. */
  book(portfolioId: string): Book | undefined;
}

/** A desk with one portfolio. */
export interface Book extends Desk {
  readonly portfolioId: string;
  readonly orders: Orders;
  readonly events: Events;
  /** The present state, which may not be durable yet; undefined once the portfolio is closed. */
  portfolio(): Portfolio | undefined;
  /** Durable figures of the portfolio; undefined once it is closed. */
  numbers(): Promise<Numbers | undefined>;
}

/** Figures of a portfolio at one instant. */
export interface Numbers {
  readonly shown: PortfolioFigures;
  /** Figures of its last two session closes, and its opening. */
  readonly previousClose: Portfolio['previousClose'];
  readonly terms: Portfolio['terms'];
  readonly isFrozen: boolean;
}

/** Filter of a list of orders. */
export interface OrderQuery {
  /** Statuses of `/v1`; absent = all. */
  readonly statuses?: readonly string[];
  /** Created at or after, and before, ms. */
  readonly from?: number;
  readonly to?: number;
  readonly isAscending?: boolean;
}

/** An event of an order, and the order before and after it. */
export interface OrderVersion {
  readonly event: Event;
  readonly at: Instant;
  readonly before: OrderSnapshot | undefined;
  readonly order: OrderSnapshot;
}

/** Looks up an order that is attached to another: an exit of a bracket. */
export type Attached = (number: number) => OrderSnapshot | undefined;

/** The orders of a portfolio, open and closed. */
export interface Orders {
  /** An order of this portfolio in its durable state; undefined if there is none. */
  byNumber(number: number): Promise<OrderSnapshot | undefined>;
  /** The number of the order with a client order id, open or closed. */
  numberOf(clientOrderId: string): Promise<number | undefined>;
  /** True for an order that is open now. */
  isOpen(number: number): boolean;
  /** Open orders in their durable state, oldest first. */
  open(): Promise<readonly OrderSnapshot[]>;
  /** All orders that match, newest first unless ascending. Orders that arrive in between may be left out. */
  list(query: OrderQuery): AsyncIterable<OrderSnapshot>;
  /** Calls `show`, again if it needed an attached order that had to be loaded. */
  show<T>(show: (attached: Attached) => T): Promise<T>;
  /** An attached order without waiting; undefined if it has to be loaded. */
  atHand: Attached;
  /** Everything that has happened to an order, oldest first. */
  versions(number: number): Promise<readonly OrderVersion[]>;
}

/** A durable record with its events. */
export interface HappenedRecord {
  readonly seq: number;
  readonly at: Instant;
  readonly events: readonly Event[];
  /** For each event its order, after the event. */
  readonly orders: readonly (OrderSnapshot | undefined)[];
}

/** An event of the past. */
export interface PastEvent {
  readonly seq: number;
  /** Index of the event in its record. */
  readonly event: number;
  readonly at: Instant;
  readonly data: Event;
  /** The order of the event, after it. Only for events of orders. */
  order(): Promise<OrderSnapshot>;
  /** A sentence for people. Only for events without an order. */
  describe(): string;
}

/** Position of an event. */
export interface EventPlace {
  readonly seq: number;
  readonly event: number;
}

/** Events of a portfolio's simulation: those to come, and those of the past. */
export interface Events {
  /** The last record that streams have received. */
  readonly published: number;
  /** Calls for each record that becomes durable. Returns a function that unsubscribes. */
  subscribe(listener: (record: HappenedRecord) => void): () => void;
  /** Ids of stream positions, different in each fork (D172). */
  idOf(place: { readonly seq: number; readonly place: number }): string;
  placeOf(id: string): { readonly seq: number; readonly place: number } | undefined;
  /** Events of this portfolio that change money or positions, by record. */
  byRecord(
    range: { readonly from?: number; readonly to?: number },
    isAscending: boolean,
  ): AsyncIterable<readonly PastEvent[]>;
  /** A sentence for people about a ledger entry. */
  describeEntry(entry: LedgerEntry, at: Instant): string;
  /** The last event of this portfolio before an instant. */
  lastBefore(to: Instant): Promise<EventPlace | undefined>;
  /** Events of orders of the simulation after a place, oldest first, once the record is in the history; `isWhole` if none is missing up to it. */
  missed(
    after: EventPlace,
    upTo: number,
    limit: number,
  ): Promise<{ readonly events: readonly PastEvent[]; readonly isWhole: boolean }>;
}

/** Size of bars that the market has. */
export type BarSize = '1Min' | '5Min' | '15Min' | '1Hour' | '1Day';

/** Market data of a simulation. */
export interface Market {
  /** True when prices are computed: they do not change by splits. */
  readonly isComputed: boolean;
  readonly isLive: boolean;
  /** True when options are listed on all stocks. */
  readonly hasOptions: boolean;
  /** Everything that is listed one by one. */
  listed(): readonly Instrument[];
  /** Latest durable quotes; symbols without one are left out. */
  latest(symbols: readonly string[]): Promise<readonly Quote[]>;
  /** The quote that a symbol had at an instant. */
  quoteAt(symbol: string, at: Instant): CoreQuote | undefined;
  /** Bars that begin in [from, until), the last ones up to a limit. */
  bars(query: {
    readonly symbol: string;
    readonly size: BarSize;
    readonly from: Instant;
    readonly until: Instant;
    readonly limit: number;
  }): Promise<readonly Bar[]>;
  /** Official close of the session before a date. */
  closeBefore(symbol: string, date: TradingDate): Price | undefined;
  /** New shares of one old share, by splits that took effect after a date. */
  splitsSince(symbol: string, date: TradingDate): number;
  /** Splits and dividends that are announced or recent. */
  actions(): Promise<readonly AnnouncedAction[]>;
  /** Trading hours of stocks at an instant. */
  hoursAt(at: Instant): MarketHours;
  /** Calls `look` for all readers together, after events and at intervals, while there are readers. */
  watch<Reader extends Watcher>(look: (readers: readonly Reader[]) => Promise<number>): Watch<Reader>;
}

/** A reader of a watch; it ends with its connection. */
export interface Watcher {
  readonly connection: { onClose(listener: () => void): void };
}

/** The readers of one look: `look` returns the milliseconds until the next one. */
export interface Watch<Reader extends Watcher> {
  add(reader: Reader): void;
}

/** Texts that a dialect keeps for a simulation. They are deleted with it. */
export interface Keep {
  get(name: string): string | undefined;
  save(name: string, text: string): Promise<void>;
  delete(name: string): Promise<void>;
}
