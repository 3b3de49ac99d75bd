import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BadSetting } from './config.js';
import { migrateStore } from './migrate-store.js';
import { openAnyStore } from './open-store.js';
import { JOURNAL_FILE } from './store/sqlite/journal/journal-schema.js';
import { makePrivateDirectory } from './store/sqlite/database/private-files.js';
import type { Store } from './store/store.js';
import { printUsage } from './usage.js';

const USAGE = `usage: npm run migrate -- --from DIR|URL --to URL|DIR

Copies everything from a data directory into a PostgreSQL database (postgres://user:password@host/database), or back, and compares both by hashes.
No server may use either. The destination must be empty; a migration that was interrupted goes on where it was.`;

const isUrl = (place: string): boolean => /^postgres(ql)?:\/\//.test(place);

const openAt = (place: string): Promise<Store> =>
  openAnyStore({ databaseUrl: isUrl(place) ? place : undefined, dataDir: place });

/** `npm run migrate -- --from DIR --to URL`, and back. Exits with 0 if the destination is complete. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } });
  const { from, to } = values;
  if (from === undefined || to === undefined) throw new BadSetting('--from and --to are needed');
  if (isUrl(from) === isUrl(to))
    throw new BadSetting(
      'One of --from and --to must be a data directory, the other postgres://user:password@host/database',
    );
  if (!isUrl(from) && !existsSync(join(from, JOURNAL_FILE)))
    throw new BadSetting(`${from} is no data directory: it has no ${JOURNAL_FILE}`);
  if (!isUrl(to)) makePrivateDirectory(to);
  const source = await openAt(from);
  try {
    const destination = await openAt(to);
    try {
      const done = await migrateStore(source, destination, (text) => console.log(text));
      const { cells, records, found, answers, webhooks, deliveries, digest } = done;
      console.log(
        `migrated ${cells} simulations with ${records} records (${found} of an earlier attempt), ${answers} kept answers, ${webhooks} webhooks with ${deliveries} deliveries; sha256 ${digest}`,
      );
    } finally {
      await destination.close();
    }
  } finally {
    await source.close();
  }
  if (!isUrl(from))
    console.log(
      `Tokens stay valid where DATA_DIR is ${resolve(from)}, whose jwt-secret signed them, or JWT_SECRET has its content`,
    );
}

try {
  if (!printUsage(USAGE)) await main();
} catch (error) {
  const known =
    error instanceof BadSetting || (error instanceof Error && /Journal|Store|Unusable/.test(error.name));
  console.error(known ? (error as Error).message : error);
  process.exitCode = 1;
}
