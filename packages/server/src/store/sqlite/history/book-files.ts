import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { JournalBlocks } from '../journal/journal-blocks.js';

/** The folder of a data directory that books are in. It is removed with the history that they were derived from. */
export const BOOK_FOLDER = 'books';

/** All books of a data directory; those written longest ago are removed. */
const MOST_BYTES = 512 * 1024 * 1024;

const NEWLINE = 10;
const SUM_BYTES = 32;

/** Names of files: simulation, and a digest of the portfolio's id. */
const NAME = /^(\d+)-[0-9a-f]{32}\.book$/;

/** The first line of a file: the history that a book was derived from. */
interface Head {
  readonly journal: string;
  readonly simulation: number;
  readonly portfolio: string;
  /** The last record that it contains. */
  readonly seq: number;
  /** Hash of the journal's block that holds this record. */
  readonly block: string;
}

/**
 * Books of portfolios as files: a head, the bytes of the book, and the SHA-256 of both. A cache: a file that is missing, damaged, or not of
 * this journal is derived again. A file is replaced as a whole, and no power cut is waited for: the checksum finds what was lost.
 */
export class BookFiles {
  readonly #folder: string;
  readonly #blocks: JournalBlocks;

  constructor(directory: string, blocks: JournalBlocks) {
    this.#folder = join(directory, BOOK_FOLDER);
    this.#blocks = blocks;
  }

  /** The bytes of a book that is intact and fits the journal. */
  load(simulation: number, portfolio: string): Uint8Array | undefined {
    try {
      const data = readFileSync(this.#pathOf(simulation, portfolio));
      const sumAt = data.length - SUM_BYTES;
      if (sumAt < 0) return undefined;
      const sum = createHash('sha256').update(data.subarray(0, sumAt)).digest();
      if (!sum.equals(data.subarray(sumAt))) return undefined;
      const end = data.indexOf(NEWLINE);
      const head = JSON.parse(data.toString('utf8', 0, end)) as Head;
      const expected = this.#headOf(simulation, portfolio, head.seq);
      return JSON.stringify(head) === JSON.stringify(expected) ? data.subarray(end + 1, sumAt) : undefined;
    } catch {
      // No file, or no record with this number: the history has everything.
      return undefined;
    }
  }

  /** Replaces the book of a portfolio. One that cannot be written is left out. */
  save(simulation: number, portfolio: string, seq: number, parts: readonly Uint8Array[]): void {
    const size = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (size > MOST_BYTES) return;
    const path = this.#pathOf(simulation, portfolio);
    const draft = `${path}.new`;
    try {
      const head = `${JSON.stringify(this.#headOf(simulation, portfolio, seq))}\n`;
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#makeRoom(size, path);
      writeWhole(draft, [Buffer.from(head), ...parts]);
      renameSync(draft, path);
    } catch {
      discard(draft);
    }
  }

  remove(simulation: number): void {
    for (const { path, simulation: of } of this.#files())
      if (of === simulation) rmSync(path, { force: true });
  }

  /** Removes useless files: incomplete ones, and books of removed simulations. */
  tidy(isLive: (simulation: number) => boolean): void {
    for (const { path, simulation } of this.#files())
      if (simulation === undefined || !isLive(simulation)) rmSync(path, { force: true });
  }

  /** Throws `DamagedJournal` for a record that is not there. */
  #headOf(simulation: number, portfolio: string, seq: number): Head {
    const { hash } = this.#blocks.holding(simulation, seq);
    const journal = this.#blocks.journalId();
    return { journal, simulation, portfolio, seq, block: Buffer.from(hash).toString('hex') };
  }

  #pathOf(simulation: number, portfolio: string): string {
    const digest = createHash('sha256').update(portfolio).digest('hex').slice(0, 32);
    return join(this.#folder, `${simulation}-${digest}.book`);
  }

  /** Removes the oldest files, so that so many bytes fit in the place of a file. */
  #makeRoom(bytes: number, path: string): void {
    const others = this.#files()
      .filter((file) => file.path !== path)
      .map((file) => ({ ...file, ...statOf(file.path) }))
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
    let total = bytes;
    for (const { path: other, size } of others) {
      total += size;
      if (total > MOST_BYTES) rmSync(other, { force: true });
    }
  }

  #files(): readonly { readonly path: string; readonly simulation: number | undefined }[] {
    return namesIn(this.#folder).map((name) => {
      const key = NAME.exec(name)?.[1];
      return { path: join(this.#folder, name), simulation: key === undefined ? undefined : Number(key) };
    });
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes a draft; one that cannot be removed is overwritten next time, or removed at the next start. */
function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // The disk refuses this as well: the study that wanted to store a book continues without it.
  }
}

const statOf = (path: string): { readonly size: number; readonly mtimeMs: number } =>
  statSync(path, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };

function writeWhole(path: string, parts: readonly Uint8Array[]): void {
  const file = openSync(path, 'w', 0o600);
  try {
    const sum = createHash('sha256');
    for (const part of parts) {
      sum.update(part);
      writeSync(file, part);
    }
    writeSync(file, sum.digest());
  } finally {
    closeSync(file);
  }
}
