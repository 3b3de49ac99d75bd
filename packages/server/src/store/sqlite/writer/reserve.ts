import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskFull } from '../database/connection.js';

const RESERVE_FILE = 'reserve';

/** Room for thousands of cancellations. */
const BYTES = 8 * 1024 * 1024;

/** Space required to restore the reserve: twice its size, so that it is not removed and restored with every commit. */
const ROOM_NEEDED = 2 * BYTES;

/** A file that exists only to be removed when the disk is full: commands that reduce risk can then still be committed. */
export class Reserve {
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, RESERVE_FILE);
  }

  /** Frees its space. False if there was none. */
  give(): boolean {
    if (!this.#isWhole()) return false;
    rmSync(this.#path, { force: true });
    return true;
  }

  /** True if it exists, after restoring it if there is space. */
  restore(): boolean {
    if (this.#isWhole()) return true;
    const { bavail, bsize } = statfsSync(dirname(this.#path));
    if (bavail * bsize < ROOM_NEEDED) return false;
    try {
      this.#write();
      return true;
    } catch (error) {
      rmSync(this.#path, { force: true });
      if (!isDiskFull(error)) throw error;
      return false;
    }
  }

  #isWhole(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.size === BYTES;
  }

  #write(): void {
    const fd = openSync(this.#path, 'w', 0o600);
    try {
      // Random data, so that no file system can compress it.
      writeSync(fd, randomFillSync(Buffer.allocUnsafe(BYTES)));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}
