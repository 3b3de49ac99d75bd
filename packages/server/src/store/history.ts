import type { Price } from '@sandpit/core';
import type { ForkRows, HistoryRows, ListName } from './history/history-rows.js';
import type { ValueOrPromise } from './journal.js';

/**
 * Questions about the past, answered from rows that are made where decisions are made. They are derived: a store that has lost them makes
 * them again from the journal.
 *
 * Questions that the tables cannot answer now (rows are being made again, or cannot be read) reject with `StoreUnavailable`.
 */

/** A simulation in memory, whose decisions have rows. */
export interface RowSource {
  readonly simulationId: string;
  /** The last record that rows were collected of, or taken, or dropped. */
  readonly seq: number;
  /** Number of records whose rows are collected. */
  readonly records: number;
  /** The rows that are collected. Undefined = none. */
  take(): HistoryRows | undefined;
  /** Drops the rows that are collected: they are made from the journal. */
  drop(): void;
  /** The tables contain this record and all before it. */
  written(seq: number): void;
  /** Rows of a fork before its first record. */
  forkRows(): ForkRows;
}

export type { ListName } from './history/history-rows.js';

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
  /** See `OrderQuery.before`. */
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
  /** `rebuilding`: rows of a simulation are made again, and its lists wait. `failing`: writing the tables fails and is retried. */
  readonly status: 'ok' | 'rebuilding' | 'failing';
  readonly reason?: string;
  /** Durable records that the tables do not contain yet. */
  readonly behind: number;
  /** While rows are made again: the completed share, 0 to 1. */
  readonly progress?: number;
  /** Reads that waited for rows to be written, since the start. */
  readonly waits: { readonly count: number; readonly totalMs: number; readonly longestMs: number };
}

export interface History {
  /** True when single rows are values; false when they are promises of a remote store. */
  readonly answersAtOnce: boolean;
  /** State of the history as known, without a probe. */
  health(): HistoryHealth;
  /**
   * A simulation is in memory. Rows that the tables lack up to its last record are made from the journal; those of a fork without records of
   * its own from its state.
   */
  open(source: RowSource, isForkBeginning?: boolean): void;
  /** Rows of a record are collected. */
  note(source: RowSource): void;
  /** A simulation leaves memory. Resolves when its rows are written, or cannot be. */
  leave(source: RowSource): Promise<void>;
  /**
   * Completes the rows of a simulation: those that are collected, if it is in memory, and otherwise those that the tables lack. `isAnew`: of
   * all its records, because rows are not what they were; not while it is in memory. Rejects with `StoreUnavailable`.
   */
  make(simulationId: string, isAnew?: boolean): Promise<void>;
  /** True when every record of a simulation in memory is in the tables or collected. */
  isComplete(simulationId: string): boolean;
  /** Resolves when it is. Rejects with `StoreUnavailable` after two seconds. */
  completed(simulationId: string): Promise<void>;
  /** The last record of a simulation in memory that the tables contain. */
  position(simulationId: string): number;
  /**
   * Resolves once the tables contain all durable records so far: a list then agrees with every response and stream. Rejects with
   * `StoreUnavailable` after two seconds.
   */
  flush(simulationId: string): Promise<void>;
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
