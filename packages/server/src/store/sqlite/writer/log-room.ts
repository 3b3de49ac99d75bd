import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isDiskFull } from '../database/connection.js';

/** A shorter log is not extended: most data directories never have a longer one. */
const WORTHWHILE_BYTES = 1024 * 1024;
/** The log is extended in pieces of this size. The next sync writes a whole piece: a larger one would be noticeable. */
const PIECE = Buffer.alloc(512 * 1024);
/** Free space at which the log is extended: more than small commits between two checks require. */
const LEAST_ROOM_BYTES = 256 * 1024;

/**
 * Preallocated space at the end of the journal's write-ahead log. A commit that lengthens a file must also sync the file system's own
 * journal, which costs as much time as its frames, and occasionally ten times as much. SQLite reads a log as far as its frames are valid,
 * and zeros are none.
 */
export class LogRoom {
  readonly #path: string;
  #fd: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Extends the log if little space is left after the frames. Does nothing on a full disk. */
  ensure(usedBytes: number): void {
    if (usedBytes < WORTHWHILE_BYTES) return;
    this.#fd ??= openSync(this.#path, constants.O_RDWR);
    const { size } = fstatSync(this.#fd);
    if (size - usedBytes >= LEAST_ROOM_BYTES) return;
    try {
      writeSync(this.#fd, PIECE, 0, PIECE.byteLength, size);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
