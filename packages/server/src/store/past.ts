import type { History, ListItem, OrderRow } from './history.js';
import type { Journal, ValueOrPromise } from './journal.js';

/** Reads of long walks through the past, in any thread. */
export interface PastSource {
  readonly history: Pick<History, 'list' | 'order'>;
  /** Orders with numbers in a range; absent = only one by one. */
  readonly ordersBetween?: (
    simulationId: string,
    first: number,
    last: number,
  ) => ValueOrPromise<readonly OrderRow[]>;
  /** Events of orders with numbers in a range, by order, oldest first; missing ones must be read individually. */
  readonly orderEventsBetween?: (
    simulationId: string,
    first: number,
    last: number,
  ) => ReadonlyMap<number, readonly ListItem[]>;
  readonly journal: PastJournal;
  /** Bytes that a thread derived from the history of a portfolio and keeps between starts; absent = it keeps none. */
  readonly books?: {
    /** The bytes saved last, if they are intact and derived from this journal. */
    load(simulationId: string, portfolioId: string): Uint8Array | undefined;
    /** Replaces them. `seq`: the last record that they contain. */
    save(simulationId: string, portfolioId: string, seq: number, parts: readonly Uint8Array[]): void;
  };
  /**
   * A name that no other simulation has, had or will have, even when one is created again under the same id; undefined = it was removed.
   */
  nameOf(simulationId: string): ValueOrPromise<string | undefined>;
}

export type PastJournal = Pick<Journal, 'read'> & { lastSeq(simulationId: string): ValueOrPromise<number> };

/** Reason for a failed read, in a form that can be sent between threads. */
export interface PastFailure {
  readonly kind: string;
  readonly message: string;
}

/** A module that opens the past of a store in another thread. */
export interface PastModule {
  /** Reads of SQLite end their thread once `stop` is raised. */
  readonly openPast: (data: unknown, stop: Int32Array) => PastSource;
  /** The journal alone: it stays open while the history is replaced. */
  readonly openPastJournal: (data: unknown, stop: Int32Array) => PastJournal;
  readonly failureOf: (error: unknown) => PastFailure;
}

/** Access of another thread to a store. */
export interface PastAccess {
  /** URL of a `PastModule`. */
  readonly module: string;
  /** For `openPast`; can be sent to a thread. */
  readonly data: unknown;
  /** Converts a failure in the thread into the store's own error. */
  errorOf(failure: PastFailure): Error;
  /** `letGo` is called before the data that the thread reads is replaced or closed; it resolves when the thread has closed it. */
  onReplace(letGo: () => Promise<void>): void;
}
