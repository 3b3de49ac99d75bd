import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openStore } from './open-store.js';
import { BadSetting, readSettings } from './config.js';
import { verifyJournal } from './engine/verify.js';
import { projectRecord } from './store/projection.js';
import { compareHistory } from './store/sqlite/compare-history.js';
import { JOURNAL_FILE } from './store/sqlite/journal-schema.js';
import type { Store } from './store/store.js';
import { printUsage } from './usage.js';

const USAGE = `usage: npm run verify [-- --data DIR]

Re-executes every journal of a data directory (default: DATA_DIR, ./data) and compares events, state and history. With DATABASE_URL those of that database. No server may be using them.`;

const LOOK_MS = 20;

/**
 * `npm run verify -- --data DIR`: reads every journal of a data directory, executes its commands again, compares events and state,
 * checks every invariant, and compares history row by row with what the journal says. Exits 0 when all is well, 1 with what is not.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { data: { type: 'string' } } });
  const settings = readSettings({
    ...process.env,
    ...(values.data !== undefined && { DATA_DIR: values.data }),
  });
  const { dataDir } = settings;
  if (settings.databaseUrl === undefined && !existsSync(join(dataDir, JOURNAL_FILE)))
    throw new BadSetting(`${dataDir} is no data directory: it has no ${JOURNAL_FILE}`);
  const store = await openStore(settings);
  try {
    let sound = true;
    for await (const { message } of store.check()) {
      console.error(message);
      sound = false;
    }
    for (const entry of store.registry.simulations()) {
      const report = await verifyJournal(store, entry.id);
      for (const change of report.changes) console.log(`${entry.id}: ${change}`);
      for (const problem of report.problems) console.error(`${entry.id}: ${problem}`);
      console.log(
        `${entry.id}: ${report.records} records, ${report.events} events, state ${report.stateHash}`,
      );
      sound &&= report.problems.length === 0;
    }
    const differences = (await isHistoryComplete(store))
      ? settings.databaseUrl === undefined
        ? compareHistory(settings.dataDir, projectRecord)
        : []
      : ['history cannot be written'];
    for (const difference of differences) console.error(difference);
    if (differences.length === 0)
      console.log(
        settings.databaseUrl === undefined
          ? 'history is what the journal says'
          : 'history has come to the end of every journal',
      );
    sound &&= differences.length === 0;
    console.log(sound ? 'sound' : 'NOT SOUND');
    return sound ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** Resolves once history has caught up with the journal; false = it cannot. */
async function isHistoryComplete({ history }: Store): Promise<boolean> {
  for (;;) {
    const { status, behind } = history.health();
    if (status === 'failing') return false;
    if (status === 'ok' && behind === 0) return true;
    await later(LOOK_MS);
  }
}

try {
  process.exitCode = printUsage(USAGE) ? 0 : await main();
} catch (error) {
  const known =
    error instanceof BadSetting ||
    (error instanceof Error && /Journal|Store|Directory|Database/.test(error.name));
  console.error(known ? error.message : error);
  process.exitCode = 1;
}
