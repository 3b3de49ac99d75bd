/**
 * The journal: the only source of truth, from which all other data of a simulation derives.
 *
 * One writer per store. `append` enqueues in call order; records are committed in groups; a record is
 * durable when its promise resolves. Records of one simulation have gapless sequence numbers from 1.
 *
 * The simulation must be in the registry; records may follow as soon as `createSimulation` has been called. Appends of one commit share a
 * promise: awaiting it is cheap.
 */

/** One command with all its effects, as decided. */
export interface JournalRecord {
  readonly simulationId: string;
  readonly seq: number;
  /** Simulated instant, ms. */
  readonly at: number;
  /** JSON text on one line: `{ "command": …, "quotes"?: […], "events": […] }`. */
  readonly payload: string;
}

/** An answer kept for `Idempotency-Key`; stored in the same commit as the effect. */
export interface StoredAnswer {
  readonly tenantId: string;
  readonly simulationId: string;
  /** Method and route template. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of method, path and body. */
  readonly fingerprint: string;
  readonly statusCode: number;
  readonly body: string;
  /** Wall-clock ms after which the key may be used again. */
  readonly expiresAt: number;
  /** An ephemeral simulation that it is about: it is kept in memory, and ends with that simulation. */
  readonly endsWith?: string;
}

/** A value that a store has in memory, or a promise of it if it must query a server. */
export type ValueOrPromise<T> = T | Promise<T>;

/** Records in order; asynchronous if they come from a server. `for await` reads both. */
export type JournalRecords = Iterable<JournalRecord> | AsyncIterable<JournalRecord>;

export interface Journal {
  /**
   * Resolves when the record is durable. Rejects with `StoreUnavailable` when it was not accepted (the store is failing) or when that is
   * uncertain (a full disk, after a second): it may then still become durable. The only way back for memory that is then ahead of the store
   * is recovery from the journal.
   */
  append(record: JournalRecord, answer?: StoredAnswer): Promise<void>;
  /** Stores an answer without a record (a POST that changed nothing). */
  saveAnswer(answer: StoredAnswer): Promise<void>;
  /** Throws `StoreUnavailable` while it is not certain whether there will be one: the append of its record was rejected, and it may become durable. */
  findAnswer(
    tenantId: string,
    simulationId: string,
    route: string,
    key: string,
    nowMs: number,
  ): ValueOrPromise<StoredAnswer | undefined>;
  /** Removes every answer of a tenant, a few in each commit. */
  deleteAnswers(tenantId: string): Promise<void>;
  /** Records with seq > afterSeq in order, in constant memory. Verifies the hash chain; throws `DamagedJournal`. */
  read(simulationId: string, afterSeq: number): JournalRecords;
  /** The last durable record at or before an instant, simulated ms; 0 = all are later. Throws `DamagedJournal`. */
  lastAt(simulationId: string, at: number): ValueOrPromise<number>;
  /** Sequence of the last durable record; 0 when there is none. A fork has its parent's up to its start. */
  lastSeq(simulationId: string): number;
}

/** The store cannot commit: nothing is acknowledged until it can. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Acknowledged records of a simulation are missing in the store: it stays out of service until an operator accepts the loss (D203). */
export class RecordsMissing extends StoreUnavailable {
  constructor(missing: number) {
    super(`The simulation is out of service: ${missingRecordsText(missing)}`);
  }
}

export const missingRecordsText = (missing: number): string =>
  `the database lacks ${missing} ${missing === 1 ? 'record that was' : 'records that were'} acknowledged`;

/** The journal on disk differs from the acknowledged one: damaged, shortened, foreign, or of another version. */
export class DamagedJournal extends Error {
  override readonly name = 'DamagedJournal';
  /** Key of the simulation whose records are concerned; undefined = it is not only one that is. */
  readonly simulation: number | undefined;

  constructor(message: string, options: { readonly cause?: unknown; readonly simulation?: number } = {}) {
    super(message, options);
    this.simulation = options.simulation;
  }
}

/** The data directory cannot be used: another owner's, read-only, not a directory. */
export class UnusableDirectory extends Error {
  override readonly name = 'UnusableDirectory';
}

/** The configured database cannot be used: missing, read-only, too old, or of another application. */
export class UnusableDatabase extends Error {
  override readonly name = 'UnusableDatabase';
}

/** Another process uses the data directory. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse';
}
