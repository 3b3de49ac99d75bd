import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { UnusableDatabase } from '../journal.js';
import type { ServerIdentity } from './database.js';

/** The file is written this often while heads move. */
const SAVE_MS = 2_000;

/** End of a cell's journal that was acknowledged to clients. */
interface AcknowledgedHead {
  readonly key: number;
  readonly seq: number;
  readonly hash: Uint8Array;
  /** Losses of this cell that were accepted before. */
  readonly losses: number;
}

/** A database as a node remembers it. */
export interface RememberedDatabase extends ServerIdentity {
  /** Random, from the creation of the tables. */
  readonly installation: string;
}

interface SavedMemory extends RememberedDatabase {
  /** Key, sequence, hash in hexadecimal digits and accepted losses, by id of the cell. */
  readonly cells: Readonly<Record<string, readonly [key: number, seq: number, hash: string, losses: number]>>;
}

/**
 * A node's memory of its database: identity, timeline, and the head of every cell that it owned (D203). A file stores it across restarts;
 * heads that moved within the last two seconds before a crash of the node are not in the file.
 */
export class AcknowledgedHeads {
  readonly #file: string | undefined;
  readonly #note: (text: string) => void;
  readonly #heads = new Map<string, AcknowledgedHead>();
  #database: RememberedDatabase | undefined;
  #isChanged = false;
  #isUnwritable = false;
  readonly #timer: NodeJS.Timeout;

  /** Without a file the memory ends with the process. */
  constructor(file: string | undefined, note: (text: string) => void) {
    this.#file = file;
    this.#note = note;
    const saved = file === undefined ? undefined : readMemory(file);
    if (saved !== undefined) {
      const { cells, ...database } = saved;
      this.#database = database;
      for (const [id, [key, seq, hash, losses]] of Object.entries(cells))
        this.#heads.set(id, { key, seq, hash: Buffer.from(hash, 'hex'), losses });
    }
    this.#timer = setInterval(() => this.save(), SAVE_MS).unref();
  }

  /** Throws `UnusableDatabase` for a database other than the remembered one, and for an older timeline of it. */
  expect(found: RememberedDatabase, shown: string): void {
    const known = this.#database;
    const forget = this.#file === undefined ? '' : `, or remove ${this.#file} to use this one from now on`;
    if (
      known !== undefined &&
      (known.identity !== found.identity || known.installation !== found.installation)
    )
      throw new UnusableDatabase(
        `DATABASE_URL: ${shown} is another database than the one that this node has used before; name that one${forget}`,
      );
    if (known !== undefined && found.timeline < known.timeline)
      throw new UnusableDatabase(
        `DATABASE_URL: ${shown} is on timeline ${found.timeline}, but this node has used timeline ${known.timeline}: it is an old primary or an old copy; name the present primary${forget}`,
      );
    if (known !== undefined && known.timeline === found.timeline) return;
    this.#database = found;
    this.#isChanged = true;
    this.save();
  }

  /** The database as it was known last. */
  get database(): RememberedDatabase | undefined {
    return this.#database;
  }

  get size(): number {
    return this.#heads.size;
  }

  entries(): Iterable<readonly [id: string, head: AcknowledgedHead]> {
    return this.#heads;
  }

  /** A commit of the cell was acknowledged, or the cell was acquired in this state. */
  remember(id: string, head: AcknowledgedHead): void {
    this.#heads.set(id, head);
    this.#isChanged = true;
  }

  forget(id: string): void {
    this.#isChanged = this.#heads.delete(id) || this.#isChanged;
  }

  /** Writes the file if a head has changed. */
  save(): void {
    if (this.#file === undefined || this.#database === undefined || !this.#isChanged) return;
    this.#isChanged = false;
    const cells: Record<string, SavedMemory['cells'][string]> = {};
    for (const [id, { key, seq, hash, losses }] of this.#heads)
      cells[id] = [key, seq, Buffer.from(hash).toString('hex'), losses];
    const saved: SavedMemory = { ...this.#database, cells };
    try {
      writeFileSync(`${this.#file}.new`, JSON.stringify(saved), { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch (error) {
      if (!this.#isUnwritable)
        this.#note(
          `Acknowledged heads cannot be saved, so that a restart of this node forgets them: ${(error as Error).message}`,
        );
      this.#isUnwritable = true;
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.save();
  }
}

function readMemory(file: string): SavedMemory | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as SavedMemory;
  } catch {
    throw new UnusableDatabase(
      `${file} is damaged: remove it, and compare the database with its last backup`,
    );
  }
}
