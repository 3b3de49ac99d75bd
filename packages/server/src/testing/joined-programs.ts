/**
 * The joined programs that tests start: loading a thousand small files is most of the start of a server. They are used while they match the
 * build; after another build, tests start the files in dist/.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const BUILT = [
  ...['analytics', 'cli', 'client', 'core', 'protocol', 'server'],
  ...readdirSync(join(ROOT, 'packages/dialects')).map((name) => `dialects/${name}`),
];

/** Laid out as the checkout is. */
export const JOINED = join(ROOT, 'node_modules/.cache/sandpit-joined');
export const STAMP = join(JOINED, 'stamp');

/** Hash of the files of the last build: names, sizes and times. */
export function stampOfBuild(): string {
  const hash = createHash('sha256');
  for (const name of BUILT) {
    const folder = join(ROOT, 'packages', name, 'dist');
    if (!existsSync(folder)) continue;
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!path.endsWith('.js')) continue;
      const { size, mtimeMs } = statSync(join(folder, path));
      hash.update(`${name}/${path} ${String(size)} ${String(mtimeMs)}\n`);
    }
  }
  return hash.digest('hex');
}

const LAST = existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stampOfBuild() ? JOINED : ROOT;

/** Folder of the server's programs. */
export const PROGRAMS = join(LAST, 'packages/server/dist');

/** The program behind `sandpit`. */
export const COMMAND = join(LAST, 'packages/cli/dist/main.js');
