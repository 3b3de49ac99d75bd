/**
 * The thread that reads the whole journal again and again, slowly: what nobody asks for can be damaged, too, and is better known while
 * there is a backup of it. Ends with what it has found.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { DamagedJournal } from '../journal.js';
import { asDamage, openConnection, Statements } from './connection.js';
import type { Database } from './connection.js';
import { JournalBlocks } from './journal-blocks.js';
import { JOURNAL_FILE } from './journal-schema.js';
import { alteredSums, digestOf, readMeta } from './meta.js';
import type { ScrubData, ScrubReport } from './scrubbing-thread.js';

function compareSums(database: Database): void {
  database.exec('BEGIN');
  try {
    const meta = readMeta(database);
    if (digestOf(meta) !== meta.digest)
      throw new DamagedJournal('The journal is damaged: its meta row is not the one that was written');
    for (const problem of alteredSums(database, meta, true))
      throw new DamagedJournal(`The journal is damaged: ${problem}`);
  } finally {
    database.exec('ROLLBACK');
  }
}

async function scrub({ directory, pace }: ScrubData): Promise<void> {
  const database = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  const blocks = new JournalBlocks(new Statements(database));
  for (;;) {
    compareSums(database);
    for (let k = 0; ;) {
      const last = blocks.after(k, pace.bytes).at(-1);
      if (last === undefined) break;
      k = last.k;
      await pause(pace.pauseMs);
    }
    await pause(pace.restMs);
  }
}

async function run(port: MessagePort, data: ScrubData): Promise<void> {
  try {
    await scrub(data);
  } catch (error) {
    const named = asDamage(error);
    if (!(named instanceof DamagedJournal)) throw error;
    const { message, simulation } = named;
    port.postMessage({ message, ...(simulation !== undefined && { simulation }) } satisfies ScrubReport);
  }
}

if (parentPort !== null) await run(parentPort, workerData as ScrubData);
