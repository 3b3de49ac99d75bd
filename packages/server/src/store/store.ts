import type { Checkpoints } from './checkpoints.js';
import type { History } from './history.js';
import type { DamagedJournal, Journal, StoredAnswer, ValueOrPromise } from './journal.js';
import type { Ownership } from './ownership.js';
import type { PastAccess } from './past.js';
import type { Registry, SimulationEntry } from './registry.js';
import type { TicketStore } from './tickets.js';
import type { WebhookStore } from './webhooks.js';

/** Everything a server keeps, behind its ports. */
export interface Store {
  readonly journal: Journal;
  readonly checkpoints: Checkpoints;
  readonly history: History;
  readonly registry: Registry;
  readonly webhooks: WebhookStore;
  /** Stream tickets for every node of a cluster; absent = this server keeps them in memory. */
  readonly tickets?: TicketStore;
  /** Access of other threads to journal and history; absent = this thread only. */
  readonly past?: PastAccess;
  /** Which tenants this node serves; absent = it serves all, for there is no other. */
  readonly ownership?: Ownership;
  /**
   * Makes sure that this server may serve a simulation before it is opened. Rejects with `RecordsMissing` when acknowledged records are
   * missing; absent = it may serve all.
   */
  takeCell?(simulationId: string): ValueOrPromise<void>;
  /** True while state in memory may be shown; absent = always. */
  mayAnswer?(): boolean;
  /** For migrations; absent = it cannot be migrated. */
  readonly contents?: StoreContents;
  /** Commits something, or rejects with `StoreUnavailable` within a second. */
  probe(): Promise<void>;
  /** State of the store as known, without a probe. */
  health(): StoreHealth;
  /** Reads all stored data, and yields the differences from the written data. Takes as long as needed. */
  check(): Iterable<DamagedJournal> | AsyncIterable<DamagedJournal>;
  /** Commits the appended records, and releases the data directory. */
  close(): Promise<void>;
}

/** The setting that marks the destination of a migration that has not finished: the installation that it comes from. */
export const MIGRATION = 'migration/from';

/** Prefixes of settings that are a store's own: no migration copies them. */
export const STORE_SETTINGS: readonly string[] = ['fork/', 'migration/'];

/** An answer as it is stored: without what its lookup is made of. */
export interface KeptAnswer extends Pick<StoredAnswer, 'expiresAt' | 'fingerprint' | 'statusCode' | 'body'> {
  readonly lookup: string;
}

/** Contents of a store that a migration copies and no port offers. */
export interface StoreContents {
  /** Drawn when the store was made. */
  readonly installation: string;
  /** Deleted simulations, oldest first: their ids stay taken. */
  deleted(): readonly SimulationEntry[];
  /** Answers with lookups behind this one, in an order of the store's own. Throws `DamagedJournal`. */
  answers(after: string, limit: number): ValueOrPromise<readonly KeptAnswer[]>;
  /** Resolves when they are durable. */
  saveAnswers(answers: readonly KeptAnswer[]): Promise<void>;
}

export interface StoreHealth {
  /**
   * `reserve`: the disk is full, and commits go into the little room that was held back for it: only what ends risk should be
   * appended (a cancellation), until it is `ok` again by itself. `failing`: it cannot commit now and keeps trying; appends are
   * refused meanwhile. `failed`: it never will again in this process.
   */
  readonly status: 'ok' | 'reserve' | 'failing' | 'failed' | 'closed';
  readonly reason?: string;
  /** Damage that the slow background check has found since the start, a sentence each. */
  readonly damage?: readonly string[];
  /** Appends and changes that wait to become durable. */
  readonly waiting: number;
}
