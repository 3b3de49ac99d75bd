import type { Checkpoints } from './checkpoints.js';
import type { History } from './history.js';
import type { DamagedJournal, Journal, StoreUnavailable, StoredAnswer, ValueOrPromise } from './journal.js';
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
  acquireCell?(simulationId: string): ValueOrPromise<void>;
  /** True while state in memory may be shown; absent = always. */
  mayAnswer?(): boolean;
  /** Simulations in memory beside those that are stored; absent = there are none (D255). */
  readonly ephemeral?: EphemeralPart;
  /** A reason of its own why only commands that reduce risk are accepted; undefined = there is none. */
  refusal?(): StoreUnavailable | undefined;
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

/** Ephemeral simulations: they are in memory alone, and end with the process (D255). */
export interface EphemeralPart {
  has(simulationId: string): boolean;
  /** The store as an ephemeral simulation sees it; for any other one the whole store. */
  storeOf(simulationId: string): Store;
  /** Throws `EphemeralFull` if the tenant, or all tenants together, use as much memory as they may. */
  requireRoom(tenantId: string): void;
  /**
   * Copies into memory the records that an ephemeral fork has in common with a stored parent; does nothing for an ephemeral parent. The
   * returned function is called once the fork is registered, or will not be. Rejects with `EphemeralFull`.
   */
  copyAncestors(parentId: string, tenantId: string, upTo: number): Promise<() => void>;
  /** Lists of rules for simulations in memory: a new one is in memory alone. */
  readonly lists: Pick<Registry, 'setting' | 'saveSetting'>;
  /** The registry without them. */
  readonly durableRegistry: Registry;
  /** Those of a tenant, oldest first. */
  idsOf(tenantId: string): readonly string[];
  /** Memory that they use. */
  readonly bytes: number;
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

/** A store without its ephemeral simulations in the registry: for what is stored about stored ones. */
export const storedPart = (store: Store): Store =>
  store.ephemeral === undefined ? store : { ...store, registry: store.ephemeral.durableRegistry };
