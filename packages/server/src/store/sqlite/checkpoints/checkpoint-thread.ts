/** The checkpoint thread of the embedded store. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { workOn } from '../../checkpoint-work.js';
import type { CheckpointThreadData } from '../../checkpoint-work.js';
import { CheckpointFiles } from './checkpoint-files.js';
import { openConnection, Statements } from '../database/connection.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';
import { eachUninterrupted, uninterrupted } from '../../../threads/process-end.js';

if (parentPort !== null) {
  const data = workerData as CheckpointThreadData & { readonly directory: string };
  const database = openConnection(join(data.directory, JOURNAL_FILE), { readOnly: true });
  const blocks = new JournalBlocks(new Statements(database));
  const files = new CheckpointFiles(data.directory, blocks);
  workOn(parentPort, data, {
    load: ({ key }, upTo) => uninterrupted(() => files.load(key, upTo)),
    save: ({ key }, checkpoint, isKept) => uninterrupted(() => files.save(key, checkpoint, isKept)),
    read: ({ key, simulationId }, afterSeq) => [eachUninterrupted(blocks.read(key, simulationId, afterSeq))],
    close: () => uninterrupted(() => database.close()),
  });
}
