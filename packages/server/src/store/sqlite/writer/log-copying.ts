/** The thread that copies the journal's write-ahead log into its database while commits continue. See log-copier.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { openConnection } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { lowerPriority } from '../../lower-priority.js';
import { CopyState } from './log-copier.js';
import type { CopyData } from './log-copier.js';

function copy(database: Database): void {
  try {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // The commits are safe in the log. The writer copies next, with the same error.
  }
}

function run({ path, state }: CopyData): void {
  lowerPriority();
  const database = openConnection(path, { readOnly: false });
  for (;;) {
    const now = Atomics.load(state, 0);
    if (now === CopyState.ending) break;
    if (now !== CopyState.asked) {
      Atomics.wait(state, 0, now);
      continue;
    }
    copy(database);
    Atomics.compareExchange(state, 0, CopyState.asked, CopyState.done);
    Atomics.notify(state, 0);
  }
  database.close();
  Atomics.store(state, 0, CopyState.ended);
  Atomics.notify(state, 0);
}

if (parentPort !== null) run(workerData as CopyData);
