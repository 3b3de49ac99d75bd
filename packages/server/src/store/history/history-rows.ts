/**
 * The rows that lists, streams and curves are read from. They are made where a decision is made (`collect-rows.ts`), and a store writes
 * them as they are: the embedded one behind its commits, PostgreSQL in the statement of the commit.
 */

/** `order-events`: all events of an order. */
export type ListName =
  'activities' | 'ledger' | 'order-events' | 'day-trades' | 'equity' | 'sma' | 'margin-calls';

/** The tables differ from the written ones: they are discarded and made again. */
export class DamagedHistory extends Error {
  override readonly name = 'DamagedHistory';
}

/** Grows with each change of the tables or of what is in them: rows of any other format are made again. */
export const HISTORY_FORMAT = 8;

/** Code of a list in rows. `stream-events` has the events of all orders, and no owner. */
export const LIST_CODE: Readonly<Record<ListName | 'stream-events', number>> = {
  activities: 1,
  ledger: 2,
  'day-trades': 3,
  equity: 4,
  sma: 5,
  'margin-calls': 6,
  'order-events': 7,
  'stream-events': 8,
};

/** Lists whose items grow: a later item with the same key replaces the earlier one. */
export const KEYED_LISTS: ReadonlySet<string> = new Set<ListName>(['day-trades', 'margin-calls']);

/** Lists of a portfolio or an account whose lengths are stored, as columns of `history_owner`. Accounts have orders only. */
export const LENGTHS = ['orders', 'activities', 'ledger', 'equity', 'sma'] as const;

export type Length = (typeof LENGTHS)[number];

/** A list whose items are rows of `history_item` with running ordinals. */
export type ItemLength = Exclude<Length, 'orders'>;

/** Owner of all orders of a simulation: its length is their number. */
export const EVERY_ORDER = '*';

/** An order as the owner of its events: text in the order of numbers. */
export const orderOwner = (number: number): string => String(number).padStart(12, '0');

/** An account as the owner of its orders. */
export const accountOwner = (accountId: string): string => `@${accountId}`;

/** A portfolio, an account or `EVERY_ORDER`, and by how much its lists grow. */
export type OwnerGrowth = { readonly id: string } & Readonly<Record<Length, number>>;

/** An order that is new. `portfolioBack`, `accountBack`: later new orders of the same owner among these rows. */
export interface NewOrderRow {
  readonly number: number;
  readonly portfolio: string;
  readonly portfolioBack: number;
  readonly account: string;
  readonly accountBack: number;
  readonly clientOrder: string | null;
  readonly symbol: string;
  readonly assetClass: string;
  /** Simulated ms. */
  readonly createdAt: number;
  readonly status: string;
  /** Exchange date of the last fill, once FILLED. */
  readonly filledOn: string | null;
  /** JSON of the parts that never change. */
  readonly terms: string;
  /** JSON of the parts that change. */
  readonly progress: string;
  /** The record that accepted it. */
  readonly seq: number;
  /** Events of the order in that record: JSON, `[event, item]` or `[event, item, tag]` each. */
  readonly places: string;
  /** Number of its events. */
  readonly events: number;
}

/** An order that is there already, after its last event. */
export interface MovedOrderRow extends Pick<
  NewOrderRow,
  'number' | 'symbol' | 'status' | 'terms' | 'progress'
> {
  /** Null = as it was. */
  readonly filledOn: string | null;
  /** Number of added events. */
  readonly events: number;
}

/** Items of one record in a list. */
export interface ItemRow {
  /** A portfolio, or the number of an order; empty for the events of streams. */
  readonly owner: string;
  readonly list: number;
  /**
   * Ordinal of the item; null = the length of the list with these rows minus `back`. An item with a key keeps the ordinal of the first one
   * with that key.
   */
  readonly n: number | null;
  /** Items of the same list among these rows that follow it. */
  readonly back: number;
  /** The last record that it has items of. */
  readonly seq: number;
  /** Simulated ms. */
  readonly at: number;
  /** JSON: one `[event, item]` or `[event, item, tag]` each; in `stream-events` one `[seq, event]` each. */
  readonly places: string;
  /** Key of the item, in lists whose items grow. */
  readonly key: string | null;
}

export interface PortfolioRow {
  readonly id: string;
  readonly account: string;
  /** JSON of its constant parts. */
  readonly terms: string;
  /** The record that opened it. */
  readonly opened: number;
  /** JSON of its last figures; null while it is open. */
  readonly last: string | null;
  /** The record that closed it. */
  readonly closed: number | null;
}

/** A portfolio at the end of a minute in which it changed. */
export interface StandingRow {
  readonly portfolio: string;
  /** Since 1970. */
  readonly minute: number;
  readonly isHolding: boolean;
  /** The first record of the minute by which holdings changed; null = none. */
  readonly movedBy: number | null;
  /** JSON of a `PortfolioSnapshot`. */
  readonly standing: string;
  /** The first record that changed it in the minute, and the last. */
  readonly first: number;
  readonly seq: number;
}

/** Mark of a symbol by the last quote pushed in a minute. */
export interface MarkRow {
  readonly symbol: string;
  readonly minute: number;
  /** In units of a price. */
  readonly price: number;
  readonly first: number;
  readonly seq: number;
}

/** Everything that consecutive records of a simulation add and change. Plain data: it can be sent to a thread. */
export interface HistoryRows {
  /** The last record before these, and the last of these. */
  readonly from: number;
  readonly to: number;
  readonly owners: readonly OwnerGrowth[];
  /** New ones and closed ones. */
  readonly portfolios: readonly PortfolioRow[];
  readonly orders: readonly NewOrderRow[];
  readonly moved: readonly MovedOrderRow[];
  readonly items: readonly ItemRow[];
  readonly standings: readonly StandingRow[];
  readonly marks: readonly MarkRow[];
}

/** Initial rows of a fork that its parent may still change, as of the fork's first record. */
export interface ForkRows {
  /** Orders that are open. */
  readonly orders: readonly Pick<NewOrderRow, 'number' | 'symbol' | 'status' | 'terms' | 'progress'>[];
  /** The minute of the record. */
  readonly minute: number;
  /** JSON of the snapshots of open portfolios. */
  readonly standings: readonly {
    readonly portfolio: string;
    readonly isHolding: boolean;
    readonly standing: string;
  }[];
  /** Marks by the quotes in force. */
  readonly marks: readonly { readonly symbol: string; readonly price: number }[];
}
