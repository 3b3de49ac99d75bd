import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inDirectory } from '../packages/server/src/testing/server-process.js';
import { bundle } from '../scripts/packing/bundle.js';
import type { Patch } from './patches.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Gives `use` the folder of the server's programs as people install them, joined into a few files, which start in half the time; with
 * patches applied. A patch that does not fit any more is an error.
 */
export const withJoinedServer = <T>(
  patches: readonly Patch[],
  use: (folder: string) => Promise<T>,
): Promise<T> =>
  inDirectory(async (into) => {
    const unused = new Set(patches);
    await bundle(root, into, (path, code) => {
      let patched = code;
      for (const patch of patches) {
        if (!path.endsWith(patch.file) || !patched.includes(patch.from)) continue;
        patched = patched.replace(patch.from, () => patch.to);
        unused.delete(patch);
      }
      return patched;
    });
    for (const { file, from } of unused) throw new Error(`a patch does not fit ${file}: ${from}`);
    return use(join(into, 'packages/server/dist'));
  });
