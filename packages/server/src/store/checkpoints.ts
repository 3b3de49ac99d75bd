import type { ForkRows, HistoryRows } from './history/history-rows.js';
import type { JournalRecord, ValueOrPromise } from './journal.js';

/** The state of a simulation as of a record, so that recovery reads only the records after it. */
export interface Checkpoint {
  readonly seq: number;
  /** Parts of the state, as `CheckpointMaking` wrote them. Can be iterated once. */
  readonly lines: Iterable<string>;
}

/** A checkpoint that can be sent to another thread. */
export interface SavedCheckpoint extends Checkpoint {
  readonly lines: readonly string[];
}

/** Grows with each change of the format of a state: a checkpoint of any other format is not used. */
export const CHECKPOINT_FORMAT = 5;

/** The latest two checkpoints of a simulation; the older one in case the latest is damaged. */
export const CHECKPOINTS_KEPT = 2;

export interface Checkpoints {
  /**
   * The latest that is intact and fits the journal, of a record up to `upTo`: two are kept, and those of snapshots. A fork also has those
   * of its ancestors up to its start.
   */
  load(simulationId: string, upTo?: number): ValueOrPromise<Checkpoint | undefined>;
  /**
   * Writes `state`, which must be that of a durable record. Without it, one of all durable records: another thread performs a recovery
   * ahead of time, without blocking this one. Resolves with the number of its record once it is durable; with 0 if none can be written.
   */
  make(simulationId: string, state?: SavedCheckpoint): Promise<number>;
  /**
   * Writes one of exactly this durable record, and keeps it until it is released. Resolves with the hash of the state; undefined if none
   * can be written, or `isWanted` is false when it is its turn.
   */
  keep(simulationId: string, seq: number, isWanted?: () => boolean): Promise<string | undefined>;
  /** A stored checkpoint is no longer needed. */
  letGo(simulationId: string, seq: number): void;
  /** Prepares the next one gradually if one of this simulation was written recently. */
  readAhead(simulationId: string): void;
}

/** A simulation that only follows its journal. */
export interface Standby {
  /** Sequence of the last record applied; 0 = none. */
  readonly seq: number;
  /** The records that follow. */
  apply(records: Iterable<JournalRecord>): void;
  checkpoint(): Checkpoint;
  stateHash(): string;
  /** Collects the rows of the records from here on. */
  collect(): void;
  /** The rows collected since the last call. */
  takeRows(): HistoryRows | undefined;
  /** The rows of a fork that begins here. */
  forkRows(): ForkRows;
}

/** Recovery, as far as a maker of checkpoints needs it. */
export interface CheckpointMaking {
  /** A standby in the state of a checkpoint, or of the beginning. `config`: of the simulation, as the registry has it. */
  standbyFrom(config: string, before: Checkpoint | undefined): Standby;
}

/** For stores without checkpoints: recovery starts from the beginning. */
export const NO_CHECKPOINTS: Checkpoints = {
  load: () => undefined,
  make: () => Promise.resolve(0),
  keep: () => Promise.resolve(undefined),
  letGo: () => undefined,
  readAhead: () => undefined,
};
