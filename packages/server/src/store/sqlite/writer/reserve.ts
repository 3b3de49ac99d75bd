import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskFull } from '../database/connection.js';

const RESERVE_FILE = 'reserve';

/** Room for thousands of cancellations. */
const BYTES = 8 * 1024 * 1024;

/** It is put back once there is room for it and for as much again, so that it does not come and go with every commit. */
const ROOM_NEEDED = 2 * BYTES;

/** A file that is good for nothing but to be removed when the disk is full: what ends risk can then still be committed. */
export class Reserve {
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, RESERVE_FILE);
  }

  /** Frees its room. False when there was none. */
  give(): boolean {
    if (!this.#isWhole()) return false;
    rmSync(this.#path, { force: true });
    return true;
  }

  /** True when it is there, after putting it back if there is room. */
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
      // By chance, so that no file system can store it in less.
      writeSync(fd, randomFillSync(Buffer.allocUnsafe(BYTES)));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}
