/**
 * `npm start`: builds where something changed since the last build, saying so, then serves in this process. Plain JavaScript, because it
 * runs before anything is compiled, and no shell, because there are several.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Times and sizes of what goes into a build, and of what marks that one came out. */
function stampOf() {
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.base.json'].map((name) =>
    join(root, name),
  );
  for (const name of readdirSync(PACKAGES)) {
    const folder = join(PACKAGES, name);
    files.push(join(folder, 'dist/.tsbuildinfo'), join(folder, 'dist/sources.sha256'));
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
  console.log('sandpit: building; the first time takes up to a minute, later starts do without');
  const saying = setInterval(() => console.log(`sandpit: building, ${seconds()}`), SAYS_EVERY_MS);
  try {
    await run(createRequire(import.meta.url).resolve('typescript/bin/tsc'), '-b');
    await run(join(PACKAGES, 'dashboard/build-when-changed.js'));
  } finally {
    clearInterval(saying);
  }
  console.log(`sandpit: built in ${seconds()}`);
}

/** Runs a program of Node; ends this one with it where it fails. */
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
