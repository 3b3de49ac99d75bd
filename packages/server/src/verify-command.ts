import { parseArgs } from 'node:util';
import { calendarById } from '@sandpit/core';
import { openExistingStore } from './open-store.js';
import { BadSetting, readSettings } from './config.js';
import type { Settings } from './config.js';
import { compareQuotes } from './engine/records/recorded-quotes.js';
import type { SimulationConfig } from './engine/configuration/simulation-config.js';
import { verifyJournal } from './engine/recovery/verify.js';
import { ReplayArchive } from './feeds/replay/archive.js';
import { ReplayFeed } from './feeds/replay/replay-feed.js';
import { standbyFrom } from './engine/recovery/checkpoint.js';
import { compareHistory } from './store/sqlite/checks/compare-history.js';
import type { Differences } from './store/history/differences.js';
import type { Store } from './store/store.js';
import { printUsage } from './usage.js';

const USAGE = `usage: npm run verify [-- --data DIR] [--recording DIR] [--repair]

Re-executes every journal of a data directory (default: DATA_DIR, ./data) and compares events, state and history. With DATABASE_URL those of that database. No server may be using them.
Rows of the history that differ are made again with --repair.
Quotes of live simulations are in their records; with a recording (default: RECORD_DIR) they are compared with that as well.`;

/**
 * `npm run verify -- --data DIR`: reads every journal of a data directory, executes its commands again, compares events and state, checks
 * every invariant, and compares history row by row with the journal; `--repair` makes the rows of simulations with differences again. Exits 0 when all is sound, 1 with a list of problems.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, recording: { type: 'string' }, repair: { type: 'boolean' } },
  });
  const settings = readSettings({
    ...process.env,
    ...(values.data !== undefined && { DATA_DIR: values.data }),
  });
  const store = await openExistingStore(settings);
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
      if (isOfLiveSource(JSON.parse(entry.config) as SimulationConfig))
        sound = (await isAsRecorded(store, entry.id, values.recording ?? settings.recordDir)) && sound;
    }
    sound = (await isHistorySound(store, settings, values.repair === true)) && sound;
    console.log(sound ? 'sound' : 'NOT SOUND');
    return sound ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** True when decisions of a simulation went by quotes of a live source, or of its recording. */
const isOfLiveSource = ({ feed, liveRecording, fork }: SimulationConfig): boolean =>
  feed === 'live' || liveRecording === true || fork?.stretches.some((one) => one.feed === 'live') === true;

/** Compares the history with the journals. With `isRepaired`, rows of simulations with differences are made again, and compared again. */
async function isHistorySound(store: Store, settings: Settings, isRepaired: boolean): Promise<boolean> {
  const { registry, history } = store;
  for (const { id } of registry.simulations()) await history.make(id);
  const { problems, ids } = await historyDifferences(settings);
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) {
    console.log('history is what the journal says');
    return true;
  }
  if (!isRepaired) {
    console.error('npm run verify -- --repair makes the rows of these simulations again');
    return false;
  }
  for (const id of ids) await history.make(id, true);
  console.log(`history of ${ids.length} simulations was made again`);
  return isHistorySound(store, settings, false);
}

async function historyDifferences({ databaseUrl, dataDir }: Settings): Promise<Differences> {
  if (databaseUrl === undefined) return compareHistory(dataDir, standbyFrom);
  const { compareHistory: compareTables } = await import('./store/postgres/compare-history.js');
  return compareTables(databaseUrl, standbyFrom);
}

/** Compares the quotes of a live simulation's records with the recording of its feed, if there is one, and reports the result. */
async function isAsRecorded(store: Store, id: string, path: string | undefined): Promise<boolean> {
  if (path === undefined) {
    console.log(`${id}: no recording (--recording DIR): the quotes of its records are compared with nothing`);
    return true;
  }
  const archive = await ReplayArchive.open({ path, calendar: calendarById('XNYS') });
  const found = await compareQuotes(store.journal.read(id, 0), new ReplayFeed({ archive }));
  for (const difference of found.differences) console.error(`${id}: ${difference}`);
  console.log(
    `${id}: ${found.matching} quotes of its records are in the recording, ${found.outside} are outside of it`,
  );
  return found.differences.length === 0;
}

try {
  process.exitCode = printUsage(USAGE) ? 0 : await main();
} catch (error) {
  const known =
    error instanceof BadSetting ||
    (error instanceof Error && /Journal|Store|Directory|Database|ReplayFile/.test(error.name));
  console.error(known ? error.message : error);
  process.exitCode = 1;
}
