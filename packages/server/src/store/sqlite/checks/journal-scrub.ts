/**
 * The thread that reads the whole journal repeatedly and slowly: damage to rarely read data must be found while a backup of it exists. Ends
 * when it finds damage.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { DamagedJournal } from '../../journal.js';
import { asDamage, openConnection, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';
import { alteredSums, digestOf, readMeta } from '../journal/meta.js';
import type { ScrubData, ScrubReport } from './scrubbing-thread.js';
import { isRaised, sleep } from '../../stop-flag.js';
import { uninterrupted } from '../../../threads/process-end.js';

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

function scrub(database: Database, { pace, stop }: ScrubData): void {
  const blocks = new JournalBlocks(new Statements(database));
  while (!isRaised(stop)) {
    uninterrupted(() => compareSums(database));
    for (let k = 0; !isRaised(stop);) {
      const last = uninterrupted(() => blocks.after(k, pace.bytes)).at(-1);
      if (last === undefined) break;
      k = last.k;
      sleep(stop, pace.pauseMs);
    }
    sleep(stop, pace.restMs);
  }
}

function run(port: MessagePort, data: ScrubData): void {
  const database = openConnection(join(data.directory, JOURNAL_FILE), { readOnly: true });
  try {
    scrub(database, data);
  } catch (error) {
    const named = asDamage(error);
    if (!(named instanceof DamagedJournal)) throw error;
    const { message, simulation } = named;
    port.postMessage({ message, ...(simulation !== undefined && { simulation }) } satisfies ScrubReport);
  } finally {
    database.close();
  }
}

if (parentPort !== null) run(parentPort, workerData as ScrubData);
