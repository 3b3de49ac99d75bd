/** Joins the programs of the server for the tests: `npm test` does it. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './packing/bundle.js';
import { linkSqlite } from './packing/sqlite.js';
import { JOINED, STAMP, stampOfBuild } from '../packages/server/src/testing/joined-programs.js';

/** Files that the server reads at their paths in a checkout. */
const READ = ['samples', 'docs', 'packages/dashboard/dist', 'packages/site/dist', 'packages/python'];

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = stampOfBuild();
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== stamp) {
  rmSync(JOINED, { recursive: true, force: true });
  await bundle(root, JOINED);
  const link = (place: string, path: string): void => {
    rmSync(join(JOINED, place), { recursive: true, force: true });
    mkdirSync(dirname(join(JOINED, place)), { recursive: true });
    symlinkSync(join(root, path), join(JOINED, place), 'junction');
  };
  for (const path of READ) link(path, path);
  linkSqlite(root, JOINED);
  // Programs print the version.
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  writeFileSync(join(JOINED, 'package.json'), `${JSON.stringify({ type: 'module', version })}\n`);
  writeFileSync(STAMP, stamp);
}
