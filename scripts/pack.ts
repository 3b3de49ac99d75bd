/**
 * Makes the packages that people install out of what is built: `npm run pack -- DIRECTORY [--without DIALECT]… [--release] [--repository URL]`. Prints the
 * paths of the tarballs: those with the binary of SQLite, for this platform or, with `--release`, for all of them, and last the one that
 * depends on them. `--release` also compresses pages as far as possible, which takes ten seconds.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { billOfMaterials } from './packing/bill-of-materials.js';
import { bundle } from './packing/bundle.js';
import { shippedLibraries, thirdParties } from './packing/licenses.js';
import { binaryPackage, importBinary, platforms, writeBinaryPackage } from './packing/sqlite.js';
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
  values: { without = [], release: isRelease = false, repository },
} = parseArgs({
  allowPositionals: true,
  options: {
    without: { type: 'string', multiple: true },
    release: { type: 'boolean' },
    repository: { type: 'string' },
  },
});
const out = resolve(given);
const into = join(out, 'contents');
const copy = (from: string, to = from): void =>
  cpSync(join(root, from), join(into, to), { recursive: true, filter: (path) => !path.endsWith('.map') });

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

rmSync(into, { recursive: true, force: true });
mkdirSync(into, { recursive: true });
const files = await bundle(root, into, { change: importBinary(name, version), without, isCompact: true });
for (const path of FILES) copy(path);
for (const folder of ['packages/site/dist', 'packages/dashboard/dist/assets']) compress(join(into, folder));
// The README of the checkout has commands and links that only a checkout has.
copy('scripts/packing/README.md', 'README.md');
copy('packages/python/sandpit.py', 'python/sandpit.py');
// The client is of use in a browser as well: it stays apart, and needs nothing.
copy('packages/client/dist');
declare(root, into);
const libraries = shippedLibraries(root, files);
writeFileSync(join(into, 'THIRD-PARTY.txt'), thirdParties(root, libraries));
writeFileSync(join(into, 'sbom.cdx.json'), billOfMaterials(root, libraries));

// Platforms for which the store has been built.
const { os, cpu } = manifestIn('node_modules/@photostructure/sqlite');
const binaries = platforms(root);
/** npm compares it with the repository that a package is published from. */
const origin = repository !== undefined && { repository: { type: 'git', url: `git+${repository}.git` } };
const manifest = {
  name,
  version,
  description,
  license,
  ...origin,
  type: 'module',
  engines,
  os,
  cpu,
  bin: { sandpit: COMMAND },
  exports,
  optionalDependencies: Object.fromEntries(
    binaries.map((platform) => [binaryPackage(name, platform), version]),
  ),
};
writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const packed = binaries.filter(
  (one) => isRelease || (one.os === process.platform && one.cpu === process.arch && isInstalled(one.libc)),
);
const folders = packed.map((platform) => join(out, 'platforms', binaryPackage(name, platform)));
for (const [at, folder] of folders.entries()) {
  const platform = packed[at];
  if (platform !== undefined) writeBinaryPackage(root, folder, { name, version, ...origin }, platform);
}
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const printed = execFileSync(npm, ['pack', ...folders, into, '--json', '--pack-destination', out], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'ignore'],
});
for (const { filename } of JSON.parse(printed) as readonly { readonly filename: string }[])
  process.stdout.write(`${join(out, filename)}\n`);

/** True on the C library that Node itself uses. */
function isInstalled(libc: 'glibc' | 'musl' | undefined): boolean {
  const { header } = process.report.getReport() as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  return libc === undefined || (libc === 'glibc') === (header.glibcVersionRuntime !== undefined);
}

/** Replaces the files of a build by compressed ones, which the server sends unchanged. Small ones fit in a packet either way. */
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !['.css', '.html', '.js', '.json', '.svg'].includes(extname(path))) continue;
    const bytes = readFileSync(path);
    if (bytes.length < 1400) continue;
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: isRelease ? 11 : 4 } }),
    );
    rmSync(path);
  }
}
