import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BadSetting, readSettings } from './config.js';
import { JOURNAL_FILE } from './store/sqlite/journal/journal-schema.js';
import { openSqliteStore } from './store/sqlite/sqlite-store.js';

const LOOK_MS = 50;

/**
 * `npm run rebuild-history -- --data DIR`: discards the history of a data directory and derives it again from the journal. The server must
 * be stopped. Exits 0 when it is complete, 1 when it cannot be written.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { data: { type: 'string' } } });
  const { dataDir: directory, databaseUrl } = readSettings({
    ...process.env,
    ...(values.data !== undefined && { DATA_DIR: values.data }),
  });
  if (databaseUrl !== undefined)
    throw new BadSetting(
      'DATABASE_URL is set: empty the history_ tables while no server runs, and the next start derives them',
    );
  if (!existsSync(join(directory, JOURNAL_FILE)))
    throw new BadSetting(`${directory} is no data directory: it has no ${JOURNAL_FILE}`);
  const store = await openSqliteStore({ directory, note: (text) => console.log(text), isHistoryFresh: true });
  try {
    for (;;) {
      const { status, behind } = store.history.health();
      if (status === 'failing') return 1;
      if (status === 'ok' && behind === 0) return 0;
      await later(LOOK_MS);
    }
  } finally {
    await store.close();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const known =
    error instanceof BadSetting || (error instanceof Error && /Journal|Store|Unusable/.test(error.name));
  console.error(known ? (error as Error).message : error);
  process.exitCode = 1;
}
