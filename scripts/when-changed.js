/** Runs a build only when its sources differ from those of the last one. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Runs `build` unless `FOLDER/dist/sources.sha256` holds the digest of `inputs`, then writes it there. `inputs` are files and folders, relative to
 * `folder`; those that do not exist are ignored.
 */
export async function whenChanged(folder, inputs, build) {
  const stamp = join(folder, 'dist', 'sources.sha256');
  const hash = createHash('sha256');
  for (const path of inputs.flatMap((input) => filesIn(join(folder, input)))) {
    hash.update(relative(folder, path)).update(readFileSync(path));
  }
  const digest = hash.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  await build();
  writeFileSync(stamp, digest);
}

function filesIn(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
