/**
 * `npm start`: builds where something changed since the last build, saying so, then serves in this process. Plain JavaScript, because it
 * runs before anything is compiled, and no shell, because there are several.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileWhenChanged } from './compile.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const STAMP = join(root, 'node_modules/.cache/sandpit-start.json');
const SAYS_EVERY_MS = 2000;
const PACKAGES = join(root, 'packages');

const stamp = stampOf();
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== stamp) {
  await build();
  mkdirSync(join(STAMP, '..'), { recursive: true });
  writeFileSync(STAMP, stampOf());
}
await import('../packages/server/dist/main.js');
buildSite();

/** Times and sizes of what goes into a build, and of what marks that one came out. */
function stampOf() {
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.base.json'].map((name) =>
    join(root, name),
  );
  for (const name of readdirSync(PACKAGES)) {
    const folder = join(PACKAGES, name);
    for (const made of ['main.js', 'index.js', 'sources.sha256']) files.push(join(folder, 'dist', made));
    files.push(...readdirSync(folder).map((file) => join(folder, file)));
    if (existsSync(join(folder, 'src')))
      for (const entry of readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true }))
        if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
  }
  return JSON.stringify(
    files.map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat?.isFile() ? [path, stat.size, stat.mtimeMs] : [path];
    }),
  );
}

async function build() {
  const began = Date.now();
  const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
  console.log('sandpit: building; later starts do without');
  const saying = setInterval(() => console.log(`sandpit: building, ${seconds()}`), SAYS_EVERY_MS);
  try {
    await compileWhenChanged();
    await run(join(PACKAGES, 'dashboard/build-when-changed.js'));
  } finally {
    clearInterval(saying);
  }
  console.log(`sandpit: built in ${seconds()}`);
}

/** Builds the documentation site where it changed, while the server runs: until then `/docs` shows the API reference. */
function buildSite() {
  const child = spawn(process.execPath, [join(PACKAGES, 'site/build-when-changed.js')], { stdio: 'ignore' });
  child.once('error', () => undefined);
  child.once('exit', (code) => {
    if (code > 0) console.error('sandpit: the documentation site was not built; npm run build says why');
  });
  child.unref();
  process.once('exit', () => child.kill());
}

/** Runs a program of Node; ends this one where it fails. */
async function run(...args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (ended) => resolve(ended ?? 1));
  });
  if (code !== 0) {
    console.error('sandpit: the build failed');
    process.exit(code);
  }
}
