/** Joins the programs of the server for the tests: `npm test` does it. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './packing/bundle.js';
import { JOINED, STAMP, stampOfBuild } from '../packages/server/src/testing/joined-programs.js';

/** Read by the server at the places where they are in a checkout. */
const READ = ['samples', 'docs', 'packages/dashboard/dist', 'packages/site/dist', 'packages/python'];

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = stampOfBuild();
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== stamp) {
  rmSync(JOINED, { recursive: true, force: true });
  await bundle(root, JOINED);
  for (const path of READ) {
    mkdirSync(dirname(join(JOINED, path)), { recursive: true });
    symlinkSync(join(root, path), join(JOINED, path), 'junction');
  }
  writeFileSync(join(JOINED, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(STAMP, stamp);
}
