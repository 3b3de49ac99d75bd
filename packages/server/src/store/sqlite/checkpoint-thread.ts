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
import { giveWay } from './give-way.js';
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

export interface CheckpointRequest {
  readonly simulation: number;
  readonly simulationId: string;
  readonly config: string;
}

export type ToCheckpointThread = CheckpointRequest | { readonly kind: 'end' };
export type FromCheckpointThread = { readonly seq: number } | { readonly failed: string };

class CheckpointThread {
  readonly #making: CheckpointMaking;
  readonly #blocks: JournalBlocks;
  readonly #files: CheckpointFiles;
  readonly #stop: Int32Array;
  #kept: { readonly simulation: number; readonly standby: Standby } | undefined;

  constructor(database: Database, { directory, stop }: CheckpointData, making: CheckpointMaking) {
    this.#making = making;
    this.#blocks = new JournalBlocks(new Statements(database));
    this.#files = new CheckpointFiles(directory, this.#blocks);
    this.#stop = stop;
  }

  /** Returns the number of the record that the newest checkpoint is of. */
  make(request: CheckpointRequest): number {
    const { simulation, simulationId } = request;
    const standby = this.#kept?.simulation === simulation ? this.#kept.standby : this.#begin(request);
    // Kept only where it goes well.
    this.#kept = undefined;
    const before = standby.seq;
    standby.apply(this.#unlessStopped(this.#blocks.read(simulation, simulationId, before)));
    if (standby.seq > before) this.#files.save(simulation, standby.checkpoint());
    this.#kept = { simulation, standby };
    return standby.seq;
  }

  #begin({ simulation, config }: CheckpointRequest): Standby {
    this.#kept = undefined;
    return this.#making.standbyFrom(config, this.#files.load(simulation));
  }

  *#unlessStopped<T>(records: Iterable<T>): Generator<T> {
    for (const record of records) {
      if (isRaised(this.#stop)) throw new Error('the store is closing');
      yield record;
    }
  }
}

const port = parentPort;
if (port !== null) {
  giveWay(10);
  const data = workerData as CheckpointData;
  const making = (await import(data.recovery)) as CheckpointMaking;
  const database = openConnection(join(data.directory, JOURNAL_FILE), { readOnly: true });
  const thread = new CheckpointThread(database, data, making);
  port.on('message', (message: ToCheckpointThread) => {
    if ('kind' in message) {
      database.close();
      port.close();
      return;
    }
    try {
      port.postMessage({ seq: thread.make(message) } satisfies FromCheckpointThread);
    } catch (error) {
      const failed = error instanceof Error ? error.message : String(error);
      port.postMessage({ failed } satisfies FromCheckpointThread);
    }
  });
}
