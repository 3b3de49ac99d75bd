/** `vite build`, where a source of the dashboard is newer than what it would make; else nothing, at once. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const stamp = join(here, 'dist', 'sources.sha256');

/** What goes into the build: our sources, those of the packages beside it, and the versions of libraries. */
const inputs = ['index.html', 'vite.config.js', 'package.json', '../../package-lock.json']
  .map((name) => join(here, name))
  .concat(
    filesIn(join(here, 'src')),
    filesIn(join(here, '../protocol/src')),
    filesIn(join(here, '../client/src')),
  );

const hash = createHash('sha256');
for (const path of inputs) {
  if (existsSync(path)) hash.update(path.slice(here.length)).update(readFileSync(path));
}
const digest = hash.digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== digest) {
  const { build } = await import('vite');
  await build({ root: here, configFile: join(here, 'vite.config.js'), logLevel: 'warn' });
  writeFileSync(stamp, digest);
}

function filesIn(folder) {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
    : [];
}
