import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CHECKPOINT_FORMAT, CHECKPOINTS_KEPT } from '../../checkpoints.js';
import type { Checkpoint } from '../../checkpoints.js';
import { DamagedJournal } from '../../journal.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';

/** The folder of a data directory that checkpoints are in. */
export const CHECKPOINT_FOLDER = 'checkpoints';

/** Bytes of lines written at a time. */
const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;
/** A head is shorter. */
const HEAD_BYTES = 512;

/** Names of files: simulation and record. */
const NAME = /^(\d+)-(\d+)(\.kept)?\.jsonl$/;

interface CheckpointFile {
  readonly seq: number;
  /** For a snapshot: until it is released. */
  readonly isKept: boolean;
}

/** The first line of a file: the identity of the checkpoint. */
interface Head {
  readonly format: number;
  readonly journal: string;
  readonly simulation: number;
  readonly seq: number;
  /** Hash of the journal's block with this record. */
  readonly block: string;
}

/**
 * Checkpoints as files: a head, the lines of the state, and in the last line the SHA-256 of all before it. A file exists completely or not
 * at all, and is used only if its journal is the one that it was made of.
 */
export class CheckpointFiles {
  readonly #folder: string;
  readonly #blocks: JournalBlocks;

  constructor(directory: string, blocks: JournalBlocks) {
    this.#folder = join(directory, CHECKPOINT_FOLDER);
    this.#blocks = blocks;
  }

  /** The latest that is intact and fits the journal, of a record up to `upTo`; of a fork's ancestors if it has none. */
  load(simulation: number, upTo = Infinity): Checkpoint | undefined {
    for (const file of this.#filesOf(simulation)) {
      const checkpoint = file.seq <= upTo ? this.#read(simulation, file) : undefined;
      if (checkpoint !== undefined) return checkpoint;
    }
    const origin = this.#blocks.originOf(simulation);
    return origin && this.load(origin.parent, Math.min(upTo, origin.seq));
  }

  /** Durable when it returns. A kept one stays until it is released; of the others the latest stay. */
  save(simulation: number, { seq, lines }: Checkpoint, isKept = false): void {
    const block = this.#blocks.holding(simulation, seq);
    const head: Head = {
      format: CHECKPOINT_FORMAT,
      journal: this.#blocks.journalId(),
      simulation,
      seq,
      block: Buffer.from(block.hash).toString('hex'),
    };
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#pathOf(simulation, { seq, isKept });
    writeWhole(`${path}.new`, JSON.stringify(head), lines);
    renameSync(`${path}.new`, path);
    syncFolder(this.#folder);
    const passing = this.#filesOf(simulation).filter((file) => !file.isKept);
    for (const old of passing.slice(CHECKPOINTS_KEPT)) rmSync(this.#pathOf(simulation, old), { force: true });
  }

  /** Does not block: freeing a large file takes milliseconds. */
  letGo(simulation: number, seq: number): Promise<void> {
    return rm(this.#pathOf(simulation, { seq, isKept: true }), { force: true });
  }

  /** Does not block either. */
  async remove(simulation: number): Promise<void> {
    for (const file of this.#filesOf(simulation)) await rm(this.#pathOf(simulation, file), { force: true });
  }

  /** Removes useless files: incomplete ones, and checkpoints of removed simulations. */
  tidy(isLive: (simulation: number) => boolean): void {
    for (const name of this.#names()) {
      const simulation = NAME.exec(name)?.[1];
      const isUseless = simulation === undefined ? name.endsWith('.new') : !isLive(Number(simulation));
      if (isUseless) rmSync(join(this.#folder, name), { force: true });
    }
  }

  /** The first complete one of an existing simulation that belongs to another journal, or to more records than this journal has. */
  misfit(
    isLive: (simulation: number) => boolean,
  ): { readonly path: string; readonly journal: string } | undefined {
    for (const name of this.#names()) {
      const path = join(this.#folder, name);
      const head = NAME.test(name) ? headOf(path) : undefined;
      if (head === undefined) continue;
      const { journal, simulation, seq } = head;
      const isOurs = journal === this.#blocks.journalId();
      if (isOurs && (!isLive(simulation) || seq <= this.#endOf(simulation))) continue;
      if (wholeAt(path) !== undefined) return { path, journal };
    }
    return undefined;
  }

  #endOf(simulation: number): number {
    try {
      return this.#blocks.tail(simulation).seq;
    } catch (error) {
      // A reader of the journal itself finds the damage, and reports it in detail.
      if (error instanceof DamagedJournal) return Infinity;
      throw error;
    }
  }

  #read(simulation: number, file: CheckpointFile): Checkpoint | undefined {
    const { seq } = file;
    const whole = wholeAt(this.#pathOf(simulation, file));
    if (whole === undefined) return undefined;
    const { head, lines } = whole;
    const isOurs =
      head.format === CHECKPOINT_FORMAT &&
      head.simulation === simulation &&
      head.seq === seq &&
      head.journal === this.#blocks.journalId() &&
      head.block === this.#blockHolding(simulation, seq);
    return isOurs ? { seq, lines } : undefined;
  }

  #blockHolding(simulation: number, seq: number): string | undefined {
    try {
      return Buffer.from(this.#blocks.holding(simulation, seq).hash).toString('hex');
    } catch (error) {
      // A reader of the journal itself finds the damage, and reports it in detail.
      if (error instanceof DamagedJournal) return undefined;
      throw error;
    }
  }

  /** Newest first. */
  #filesOf(simulation: number): CheckpointFile[] {
    const files = this.#names().flatMap((name) => {
      const [, key, seq, kept] = NAME.exec(name) ?? [];
      return Number(key) === simulation ? [{ seq: Number(seq), isKept: kept !== undefined }] : [];
    });
    return files.sort((a, b) => b.seq - a.seq);
  }

  #names(): readonly string[] {
    return existsSync(this.#folder) ? readdirSync(this.#folder) : [];
  }

  #pathOf(simulation: number, { seq, isKept }: CheckpointFile): string {
    return join(this.#folder, `${simulation}-${seq}${isKept ? '.kept' : ''}.jsonl`);
  }
}

/** Names of fields may be damaged, too. */
const isHead = (head: Partial<Head>): head is Head =>
  typeof head.journal === 'string' && Number.isInteger(head.simulation) && Number.isInteger(head.seq);

/** The head of a file, whether the rest is complete or not; undefined when it cannot be read. */
function headOf(path: string): Head | undefined {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    const [first = ''] = bytes.toString('utf8', 0, readSync(file, bytes)).split('\n');
    const head = JSON.parse(first) as Partial<Head>;
    return isHead(head) ? head : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** The contents of a file; undefined when its checksum is wrong. */
function wholeAt(path: string): { readonly head: Head; readonly lines: Iterable<string> } | undefined {
  const data = readFileSync(path);
  const lastLine = data.lastIndexOf(NEWLINE, data.length - 2) + 1;
  const sum = data.toString('latin1', lastLine, data.length - 1);
  if (createHash('sha256').update(data.subarray(0, lastLine)).digest('hex') !== sum) return undefined;
  const firstLine = data.indexOf(NEWLINE);
  const head = JSON.parse(data.toString('utf8', 0, firstLine)) as Head;
  return { head, lines: linesOf(data.subarray(firstLine + 1, lastLine)) };
}

function* linesOf(data: Buffer): Iterable<string> {
  let begin = 0;
  for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, begin)) {
    yield data.toString('utf8', begin, end);
    begin = end + 1;
  }
}

function writeWhole(path: string, head: string, lines: Iterable<string>): void {
  const file = openSync(path, 'w', 0o600);
  try {
    const sum = createHash('sha256');
    let text = `${head}\n`;
    const flush = (): void => {
      const chunk = Buffer.from(text);
      sum.update(chunk);
      writeSync(file, chunk);
      text = '';
    };
    for (const line of lines) {
      text += `${line}\n`;
      if (text.length >= CHUNK_BYTES) flush();
    }
    flush();
    writeSync(file, `${sum.digest('hex')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
