import type { Checkpoints } from './checkpoints.js';
import type { History } from './history.js';
import type { DamagedJournal, Journal, StoredAnswer, ValueOrPromise } from './journal.js';
import type { Ownership } from './ownership.js';
import type { PastAccess } from './past.js';
import type { Registry, SimulationEntry } from './registry.js';
import type { TicketStore } from './tickets.js';
import type { WebhookStore } from './webhooks.js';

/** All stored data of a server, behind its ports. */
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
  /** Tenants of this node; absent = it serves all, because there is no other. */
  readonly ownership?: Ownership;
  /**
   * Ensures that this server may serve a simulation before it is opened. Rejects with `RecordsMissing` if acknowledged records are missing;
   * absent = it may serve all.
   */
  takeCell?(simulationId: string): ValueOrPromise<void>;
  /** True while state in memory may be shown; absent = always. */
  mayAnswer?(): boolean;
  /** For migrations; absent = it cannot be migrated. */
  readonly contents?: StoreContents;
  /** Performs a test commit, or rejects with `StoreUnavailable` within a second. */
  probe(): Promise<void>;
  /** State of the store as known, without a probe. */
  health(): StoreHealth;
  /** Reads all stored data, and yields the differences from the written data. Has no time limit. */
  check(): Iterable<DamagedJournal> | AsyncIterable<DamagedJournal>;
  /** Commits the appended records, and releases the data directory. */
  close(): Promise<void>;
}

/** The setting that marks the destination of a migration that has not finished: the source installation. */
export const MIGRATION = 'migration/from';

/** Prefixes of settings that are a store's own: no migration copies them. */
export const STORE_SETTINGS: readonly string[] = ['fork/', 'migration/'];

/** A stored response, without the parts of its lookup. */
export interface KeptAnswer extends Pick<StoredAnswer, 'expiresAt' | 'fingerprint' | 'statusCode' | 'body'> {
  readonly lookup: string;
}

/** Contents of a store that a migration copies and no port offers. */
export interface StoreContents {
  /** Random, from the creation of the store. */
  readonly installation: string;
  /** Deleted simulations, oldest first: their ids stay reserved. */
  deleted(): readonly SimulationEntry[];
  /** Responses with lookups after this one, in the store's own order. Throws `DamagedJournal`. */
  answers(after: string, limit: number): ValueOrPromise<readonly KeptAnswer[]>;
  /** Resolves when they are durable. */
  saveAnswers(answers: readonly KeptAnswer[]): Promise<void>;
}

export interface StoreHealth {
  /**
   * `reserve`: the disk is full, and commits use its small reserve: append only commands that reduce risk (a cancellation) until it is `ok`
   * again. `failing`: it cannot commit now and keeps trying; appends are refused. `failed`: it cannot commit again in this process.
   */
  readonly status: 'ok' | 'reserve' | 'failing' | 'failed' | 'closed';
  readonly reason?: string;
  /** Damage that the slow background check has found since the start, a sentence each. */
  readonly damage?: readonly string[];
  /** Appends and changes that wait to become durable. */
  readonly waiting: number;
}
