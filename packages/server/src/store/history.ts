import type { OrderProgress, OrderTerms, Price, PortfolioSnapshot } from '@sandpit/core';
import type { ValueOrPromise } from './journal.js';

/**
 * Questions about the past, answered from tables that are derived from the journal: a cache, which can be discarded and derived again.
 * `projection.ts` turns events into changes.
 *
 * Questions that the tables cannot answer now (they are being rebuilt, or cannot be read) reject with `StoreUnavailable`.
 */

/** Rows that one journal record adds or changes. Produced by `projection.ts` from the record's events. */
export type HistoryChange =
  /** The account of a portfolio, which its orders do not contain; kept as long as the simulation. */
  | {
      readonly change: 'portfolio-opened';
      readonly portfolioId: string;
      readonly accountId: string;
      /** JSON of its constant parts. */
      readonly terms: string;
    }
  | {
      readonly change: 'order-added';
      readonly terms: OrderTerms;
      /** Exchange date of the last fill, once FILLED. */
      readonly filledOn?: string;
      readonly progress: OrderProgress;
    }
  | {
      readonly change: 'order-moved';
      /** New terms after a split renamed the contract. */
      readonly terms?: OrderTerms;
      readonly order: number;
      readonly filledOn?: string;
      readonly progress: OrderProgress;
    }
  /** An item of a paged list: which part of the record it is, found again by (seq, event, item). */
  | {
      readonly change: 'listed';
      readonly list: ListName;
      /** Whose list: a portfolio id, or for `order-events` the number of an order. */
      readonly owner: string;
      /** Index of the event in the record, and of the item inside the event. */
      readonly event: number;
      readonly item: number;
      /** For filters: the category of an activity, what kind of event of an order it is. */
      readonly tag?: string;
      /**
       * An item that grows: a later one with the same key of this owner and list replaces it at the same position. Not for events of
       * orders.
       */
      readonly key?: string;
    }
  /** `last`: JSON of the portfolio at that time. */
  | { readonly change: 'portfolio-closed'; readonly portfolioId: string; readonly last: string }
  /** Portfolio snapshot at the end of a record, kept by minute: the last one of a minute stays. */
  | {
      readonly change: 'standing';
      readonly portfolioId: string;
      /** Since 1970. */
      readonly minute: number;
      /** True when a trade or another event changed the holdings. */
      readonly hasMoved: boolean;
      readonly standing: PortfolioSnapshot;
    }
  /** Mark of a symbol by a pushed quote; the last one of a minute stays. */
  | {
      readonly change: 'mark';
      readonly symbol: string;
      readonly minute: number;
      readonly price: Price;
    }
  /** An order event that streams must be able to resume from. */
  | { readonly change: 'stream-event'; readonly event: number };

/** `order-events`: all events of an order. */
export type ListName =
  'activities' | 'ledger' | 'order-events' | 'day-trades' | 'equity' | 'sma' | 'margin-calls';

export interface OrderRow {
  readonly number: number;
  readonly accountId: string;
  readonly portfolioId: string;
  readonly status: string;
  /** JSON of the parts of the order that never change. */
  readonly terms: string;
  /** JSON of the current changing parts. */
  readonly progress: string;
}

export interface ClosedPortfolioRow {
  readonly terms: string;
  readonly last: string;
}

export interface OrderQuery {
  readonly simulationId: string;
  readonly scope:
    | { readonly portfolioId: string }
    | { readonly accountId: string }
    | { readonly filledOn: string }
    /** All orders of the simulation. */
    | { readonly every: 'order' };
  /** Any of these. */
  readonly status?: readonly string[];
  readonly symbol?: string;
  readonly assetClass?: string;
  /** createdAt ≥ from, < to; simulated ms. */
  readonly from?: number;
  readonly to?: number;
  readonly offset: number;
  readonly limit: number;
  /** `next` of an earlier page: the page that follows it, regardless of newer items. */
  readonly before?: number;
  /** The total is not needed: if it would have to be counted, any value is valid. */
  readonly isUncounted?: true;
}

export interface ListQuery {
  readonly simulationId: string;
  readonly list: ListName;
  readonly owner: string;
  readonly tag?: string;
  /** Only records at or after `from` and before `to`, simulated ms. Not for lists with keys. */
  readonly from?: number;
  readonly to?: number;
  readonly offset: number;
  readonly limit: number;
  /** The same as for orders. */
  readonly before?: number;
  readonly isUncounted?: true;
}

export interface ListItem {
  readonly seq: number;
  readonly at: number;
  readonly event: number;
  readonly item: number;
  /** The event of the record, parsed. */
  readonly data: unknown;
}

/** A minute in which a portfolio's snapshot changed. */
export interface SnapshotMinute {
  readonly minute: number;
  /** True with any position at its end. */
  readonly isHolding: boolean;
  readonly hasMoved: boolean;
}

export interface SnapshotRow extends SnapshotMinute {
  /** JSON of a `Standing` at the end of the minute. */
  readonly standing: string;
}

export interface MinuteMark {
  readonly minute: number;
  readonly price: Price;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Total of all pages, wherever this one begins. */
  readonly total: number;
  /** Start of the next page; absent at the end. */
  readonly next?: number;
}

export interface HistoryHealth {
  /** `rebuilding`: the tables are derived again, and no query is possible. `failing`: writing the tables fails and is retried. */
  readonly status: 'ok' | 'rebuilding' | 'failing';
  readonly reason?: string;
  /** Durable records that the tables do not contain yet. */
  readonly behind: number;
  /** For a rebuild: the completed share, 0 to 1. */
  readonly progress?: number;
  /** Calls of `reached` that had to wait, since the start. */
  readonly waits: { readonly count: number; readonly totalMs: number; readonly longestMs: number };
}

export interface History {
  /** True when single rows are values; false when they are promises of a remote store. */
  readonly answersAtOnce: boolean;
  /** State of the history as known, without a probe. */
  health(): HistoryHealth;
  /** The last record of a simulation that the tables contain. */
  position(simulationId: string): number;
  /**
   * Resolves once the tables contain this record and all before it: a list then agrees with every response and stream. Rejects with
   * `StoreUnavailable` after a few seconds, and immediately while the tables are being rebuilt or cannot be written.
   */
  reached(simulationId: string, seq: number): Promise<void>;
  order(simulationId: string, order: number): ValueOrPromise<OrderRow | undefined>;
  /** A portfolio that is closed; undefined while it is open. */
  closedPortfolio(simulationId: string, portfolioId: string): ValueOrPromise<ClosedPortfolioRow | undefined>;
  /** All that are closed, in no order. */
  closedPortfolios(simulationId: string): Promise<readonly ClosedPortfolioRow[]>;
  /** The number of the order of this portfolio with this client order id, open or closed. */
  orderByClientOrderId(
    simulationId: string,
    portfolioId: string,
    clientOrderId: string,
  ): ValueOrPromise<number | undefined>;
  /** Newest first (by creation). Totals and deep pages cost the same however long the list is, unless filtered. */
  orders(query: OrderQuery): Promise<Page<OrderRow>>;
  /** Newest first. */
  list(query: ListQuery): Promise<Page<ListItem>>;
  /** All minutes in which a portfolio's snapshot changed, oldest first. */
  standingMinutes(simulationId: string, portfolioId: string): Promise<readonly SnapshotMinute[]>;
  /** Snapshots of a portfolio in force from one minute until before another, oldest first: the first may be of an earlier minute. */
  standings(
    simulationId: string,
    portfolioId: string,
    from: number,
    to: number,
  ): Promise<readonly SnapshotRow[]>;
  /** Marks of a symbol by pushed quotes, in the same way. */
  marks(simulationId: string, symbol: string, from: number, to: number): Promise<readonly MinuteMark[]>;
  /** Order events after a stream position, oldest first, at most `limit`. */
  streamEvents(
    simulationId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): ValueOrPromise<readonly ListItem[]>;
}
