import { parseArgs } from 'node:util';
import { BadSetting, readSettings } from './config.js';
import { backUp } from './store/sqlite/checks/backup.js';
import { printUsage } from './usage.js';

const USAGE = `usage: npm run backup -- --to DIR [--data DIR]

Copies a data directory (default: DATA_DIR, ./data) into a new directory and checks the copy, while a server uses it or not.`;

/**
 * `npm run backup -- --to DIR [--data DIR]`: copies the data directory into a new one, while a server uses it or not, and checks the
 * copy. Exits 0 when the copy is whole.
 */
function main(): void {
  const { values } = parseArgs({ options: { to: { type: 'string' }, data: { type: 'string' } } });
  if (values.to === undefined) throw new BadSetting('--to DIR is needed: where the copy is to be');
  const { dataDir, databaseUrl } = readSettings({
    ...process.env,
    ...(values.data !== undefined && { DATA_DIR: values.data }),
  });
  if (databaseUrl !== undefined && values.data === undefined)
    throw new BadSetting('DATABASE_URL is set: back the database up with pg_dump or continuous archiving');
  const { commits, notes } = backUp(dataDir, values.to);
  for (const note of notes) console.log(note);
  console.log(`${values.to} has everything up to commit ${commits}`);
}

try {
  if (!printUsage(USAGE)) main();
} catch (error) {
  const known = error instanceof Error && /^(BadSetting|DamagedJournal|UnusableDirectory)$/.test(error.name);
  console.error(known ? error.message : error);
  process.exitCode = 1;
}
