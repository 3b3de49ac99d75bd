import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../scripts/packing/bundle.js';
import { linkSqlite } from '../scripts/packing/sqlite.js';
import type { Patch } from './patches.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The server's programs as people install them, joined into a few files, which start in half the time; with patches applied. */
export class JoinedServer {
  /** Folder of the programs. */
  readonly folder: string;
  readonly #place: string;

  private constructor(place: string) {
    this.#place = place;
    this.folder = join(place, 'packages/server/dist');
  }

  /** Throws when a patch does not fit. */
  static async make(patches: readonly Patch[]): Promise<JoinedServer> {
    const server = new JoinedServer(mkdtempSync(join(tmpdir(), 'sandpit-joined-')));
    try {
      const unused = new Set(patches);
      const change = (path: string, code: string): string => {
        let patched = code;
        for (const patch of patches) {
          if (!path.endsWith(patch.file) || !patched.includes(patch.from)) continue;
          patched = patched.replace(patch.from, () => patch.to);
          unused.delete(patch);
        }
        return patched;
      };
      await bundle(root, server.#place, { change });
      linkSqlite(root, server.#place);
      for (const { file, from } of unused) throw new Error(`a patch does not fit ${file}: ${from}`);
      return server;
    } catch (error) {
      server.remove();
      throw error;
    }
  }

  remove(): void {
    rmSync(this.#place, { recursive: true, force: true });
  }
}

/** Gives `use` the folder of a joined server's programs, for as long as it runs. */
export async function withJoinedServer<T>(
  patches: readonly Patch[],
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const server = await JoinedServer.make(patches);
  try {
    return await use(server.folder);
  } finally {
    server.remove();
  }
}
