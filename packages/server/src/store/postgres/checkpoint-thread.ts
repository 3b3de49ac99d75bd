/** The thread that writes checkpoints to PostgreSQL, on its own connection. */
import { parentPort, workerData } from 'node:worker_threads';
import { workOn } from '../checkpoint-work.js';
import type { CheckpointedSimulation, CheckpointThreadData } from '../checkpoint-work.js';
import { recordTexts } from '../journal-chain.js';
import type { JournalRecord } from '../journal.js';
import { BlockReader } from './block-reader.js';
import type { Origin } from './cells.js';
import { CheckpointTable } from './checkpoint-table.js';
import { DatabaseAddress } from './database.js';
import { QuestionConnection } from './question-connection.js';

/** Source of the journal of a cell. */
export interface CellReading {
  /** The last record that is durable. */
  readonly end: { readonly seq: number; readonly hash: Uint8Array };
  /** Origins of the cell and its ancestors that are forks, by key. */
  readonly origins: readonly (readonly [key: number, origin: Origin])[];
}

if (parentPort !== null) {
  const data = workerData as CheckpointThreadData & { readonly url: string };
  const database = new QuestionConnection(new DatabaseAddress(data.url));
  const readerOf = ({ reading }: CheckpointedSimulation) => {
    const { end, origins } = reading as CellReading;
    const known = new Map(origins);
    const originOf = (key: number): Origin | undefined => known.get(key);
    const blocks = new BlockReader(database, originOf);
    return { end, originOf, blocks, table: new CheckpointTable(database, blocks, originOf) };
  };
  async function* read(
    simulation: CheckpointedSimulation & { readonly simulationId: string },
    afterSeq: number,
  ): AsyncGenerator<Iterable<JournalRecord>> {
    const { key, simulationId: id } = simulation;
    const { blocks, end, originOf } = readerOf(simulation);
    const cell = { id, key, origin: originOf(key) };
    for await (const { block, after, upTo } of blocks.blocks(cell, afterSeq, end))
      yield recordTexts(block, id, after, upTo);
  }
  workOn(parentPort, data, {
    load: (request, upTo) => readerOf(request).table.load(request.key, upTo),
    save: (request, checkpoint, isKept) => readerOf(request).table.save(request.key, checkpoint, isKept),
    read,
    close: () => database.close(),
  });
}
