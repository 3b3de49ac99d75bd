/**
 * Makes the package that people install out of what is built: `npm run pack -- DIRECTORY [--without DIALECT]…`. Prints the path of the
 * tarball.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from './packing/bundle.js';
import { thirdParties } from './packing/licenses.js';
import { declare } from './packing/types.js';

const COMMAND = 'packages/cli/dist/main.js';

/** Copied unchanged, to the paths at which the code reads them. */
const FILES = [
  'LICENSE',
  'NOTICE',
  'CHANGELOG.md',
  'docs/rules',
  'samples',
  'packages/dashboard/dist/index.html',
  'packages/dashboard/dist/assets',
  'packages/site/dist',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const {
  positionals: [given = 'package'],
  values: { without = [] },
} = parseArgs({ allowPositionals: true, options: { without: { type: 'string', multiple: true } } });
const into = resolve(given, 'contents');
const copy = (from: string, to = from): void =>
  cpSync(join(root, from), join(into, to), { recursive: true, filter: (path) => !path.endsWith('.map') });

rmSync(into, { recursive: true, force: true });
mkdirSync(into, { recursive: true });
const files = await bundle(root, into, undefined, without);
for (const path of FILES) copy(path);
// The README of the checkout has commands and links that only a checkout has.
copy('scripts/packing/README.md', 'README.md');
copy('packages/python/sandpit.py', 'python/sandpit.py');
// The client is of use in a browser as well: it stays apart, and needs nothing.
copy('packages/client/dist');
declare(root, into);
writeFileSync(join(into, 'THIRD-PARTY.txt'), thirdParties(root, files));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: object;
  readonly exports: object;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
const { name, version, description, license, engines, exports } = manifestIn('.');
// Platforms for which the store has been built.
const { os, cpu } = manifestIn('node_modules/@photostructure/sqlite');
const manifest = {
  name,
  version,
  description,
  license,
  type: 'module',
  engines,
  os,
  cpu,
  bin: { sandpit: COMMAND },
  exports,
};
writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const packed = execFileSync(npm, ['pack', '--json', '--pack-destination', resolve(given)], {
  cwd: into,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [{ filename }] = JSON.parse(packed) as readonly [{ readonly filename: string }];
process.stdout.write(`${join(resolve(given), filename)}
`);
