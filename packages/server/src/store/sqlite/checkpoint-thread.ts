/** The thread that makes one checkpoint and ends: what it needed is free again. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointMaking } from '../checkpoints.js';
import { CheckpointFiles } from './checkpoint-files.js';
import { openConnection, Statements } from './connection.js';
import { JournalBlocks } from './journal-blocks.js';
import { JOURNAL_FILE } from './journal-schema.js';
import { isRaised } from './stop-flag.js';

export interface CheckpointData {
  readonly directory: string;
  /** URL of a module that is a `CheckpointMaking`. */
  readonly recovery: string;
  readonly simulation: number;
  readonly simulationId: string;
  readonly config: string;
  /** Ends it without a checkpoint. */
  readonly stop: Int32Array;
}

export type FromCheckpointThread = { readonly seq: number } | { readonly failed: string };

async function makeCheckpoint(data: CheckpointData): Promise<number> {
  const { directory, recovery, simulation, simulationId, config } = data;
  const making = (await import(recovery)) as CheckpointMaking;
  const database = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  try {
    const blocks = new JournalBlocks(new Statements(database));
    const files = new CheckpointFiles(directory, blocks);
    const before = files.load(simulation);
    const records = unlessStopped(blocks.read(simulation, simulationId, before?.seq ?? 0), data.stop);
    const checkpoint = making.checkpointOf(config, before, records);
    if (checkpoint.seq > (before?.seq ?? 0)) files.save(simulation, checkpoint);
    return checkpoint.seq;
  } finally {
    database.close();
  }
}

function* unlessStopped<T>(records: Iterable<T>, stop: Int32Array): Generator<T> {
  for (const record of records) {
    if (isRaised(stop)) throw new Error('the store is closing');
    yield record;
  }
}

const port = parentPort;
if (port !== null) {
  try {
    port.postMessage({
      seq: await makeCheckpoint(workerData as CheckpointData),
    } satisfies FromCheckpointThread);
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error);
    port.postMessage({ failed } satisfies FromCheckpointThread);
  }
}
