/**
 * The thread that makes checkpoints. It keeps the state that the last one was made of: the next, of the same simulation, costs the records
 * between the two. The main thread ends it when it is not needed for a while, and what it holds is free again.
 */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointMaking, Standby } from '../checkpoints.js';
import { CheckpointFiles } from './checkpoint-files.js';
import { openConnection, Statements } from './connection.js';
import type { Database } from './connection.js';
import { lowerPriority } from './lower-priority.js';
import { JournalBlocks } from './journal-blocks.js';
import { JOURNAL_FILE } from './journal-schema.js';
import { isRaised } from './stop-flag.js';

export interface CheckpointData {
  readonly directory: string;
  /** URL of a module that is a `CheckpointMaking`. */
  readonly recovery: string;
  /** Ends what is under way, without a checkpoint. */
  readonly stop: Int32Array;
}

interface SimulationRequest {
  readonly simulation: number;
  readonly simulationId: string;
}
export interface CheckpointRequest extends SimulationRequest {
  readonly kind: 'make';
  readonly config: string;
}

/** Of this very record, to be kept. */
export interface KeepRequest extends SimulationRequest {
  readonly kind: 'keep';
  readonly config: string;
  readonly seq: number;
}

export interface MadeCheckpoint {
  /** Of its record. */
  readonly seq: number;
  /** Of one that is kept. */
  readonly stateHash?: string;
}

export type ToCheckpointThread =
  | CheckpointRequest
  | KeepRequest
  | (SimulationRequest & { readonly kind: 'read-ahead' })
  | { readonly kind: 'end' };
export type FromCheckpointThread = MadeCheckpoint | { readonly failed: string };

class CheckpointThread {
  readonly #making: CheckpointMaking;
  readonly #blocks: JournalBlocks;
  readonly #files: CheckpointFiles;
  readonly #stop: Int32Array;
  #kept: { readonly simulation: number; readonly standby: Standby } | undefined;
  /** The record that the newest checkpoint of what is kept is of. */
  #saved = 0;

  constructor(database: Database, { directory, stop }: CheckpointData, making: CheckpointMaking) {
    this.#making = making;
    this.#blocks = new JournalBlocks(new Statements(database));
    this.#files = new CheckpointFiles(directory, this.#blocks);
    this.#stop = stop;
  }

  /** Returns the number of the record that the newest checkpoint is of. */
  make(request: CheckpointRequest): number {
    const { simulation } = request;
    const standby = this.#kept?.simulation === simulation ? this.#kept.standby : this.#begin(request);
    this.#catchUp(standby, request);
    if (standby.seq > this.#saved) this.#files.save(simulation, standby.checkpoint());
    this.#saved = standby.seq;
    this.#kept = { simulation, standby };
    return standby.seq;
  }

  /** Returns the hash of the state as of the record. */
  keep(request: KeepRequest): string {
    const { simulation, seq } = request;
    const kept = this.#kept?.simulation === simulation ? this.#kept.standby : undefined;
    const standby = kept !== undefined && kept.seq <= seq ? kept : this.#begin(request, seq);
    this.#catchUp(standby, request, seq);
    if (standby.seq > 0) this.#files.save(simulation, standby.checkpoint(), true);
    this.#kept = { simulation, standby };
    return standby.stateHash();
  }

  /** Of the simulation that it has; of another there is nothing to go on from. */
  readAhead(request: SimulationRequest): void {
    const { simulation, standby } = this.#kept ?? {};
    if (simulation !== request.simulation || standby === undefined) return;
    this.#catchUp(standby, request);
    this.#kept = { simulation, standby };
  }

  #catchUp(standby: Standby, { simulation, simulationId }: SimulationRequest, upTo = Infinity): void {
    // Kept only where it goes well.
    this.#kept = undefined;
    standby.apply(this.#unlessStopped(this.#blocks.read(simulation, simulationId, standby.seq), upTo));
  }

  #begin({ simulation, config }: CheckpointRequest | KeepRequest, upTo?: number): Standby {
    this.#kept = undefined;
    const standby = this.#making.standbyFrom(config, this.#files.load(simulation, upTo));
    this.#saved = standby.seq;
    return standby;
  }

  *#unlessStopped<T extends { readonly seq: number }>(records: Iterable<T>, upTo: number): Generator<T> {
    for (const record of records) {
      if (record.seq > upTo) return;
      if (isRaised(this.#stop)) throw new Error('the store is closing');
      yield record;
    }
  }
}

const port = parentPort;
if (port !== null) {
  lowerPriority();
  const data = workerData as CheckpointData;
  const making = (await import(data.recovery)) as CheckpointMaking;
  const database = openConnection(join(data.directory, JOURNAL_FILE), { readOnly: true });
  const thread = new CheckpointThread(database, data, making);
  port.on('message', (message: ToCheckpointThread) => {
    if (message.kind === 'end') {
      database.close();
      port.close();
      return;
    }
    if (message.kind === 'read-ahead') {
      try {
        thread.readAhead(message);
      } catch {
        // The next checkpoint begins anew, and says what is wrong.
      }
      return;
    }
    try {
      const made: MadeCheckpoint =
        message.kind === 'keep'
          ? { seq: message.seq, stateHash: thread.keep(message) }
          : { seq: thread.make(message) };
      port.postMessage(made satisfies FromCheckpointThread);
    } catch (error) {
      const failed = error instanceof Error ? error.message : String(error);
      port.postMessage({ failed } satisfies FromCheckpointThread);
    }
  });
}
