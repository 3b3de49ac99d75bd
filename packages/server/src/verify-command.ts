import { parseArgs } from 'node:util';
import { openStore } from './compose.js';
import { BadSetting, readSettings } from './config.js';
import { verifyJournal } from './engine/verify.js';

/**
 * `npm run verify -- --data DIR`: reads every journal of a data directory, executes its commands again, compares events and state,
 * checks every invariant. Exits 0 when all is well, 1 with what is not.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { data: { type: 'string' } } });
  const settings = readSettings({
    ...process.env,
    ...(values.data !== undefined && { DATA_DIR: values.data }),
  });
  const store = await openStore(settings);
  try {
    let sound = true;
    for (const { message } of store.check()) {
      console.error(message);
      sound = false;
    }
    for (const entry of store.registry.simulations()) {
      const report = verifyJournal(store, entry.id);
      for (const change of report.changes) console.log(`${entry.id}: ${change}`);
      for (const problem of report.problems) console.error(`${entry.id}: ${problem}`);
      console.log(
        `${entry.id}: ${report.records} records, ${report.events} events, state ${report.stateHash}`,
      );
      sound &&= report.problems.length === 0;
    }
    console.log(sound ? 'sound' : 'NOT SOUND');
    return sound ? 0 : 1;
  } finally {
    await store.close();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const known = error instanceof BadSetting || (error instanceof Error && /Journal|Store|Directory/.test(error.name));
  console.error(known ? error.message : error);
  process.exitCode = 1;
}
