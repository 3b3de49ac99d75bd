import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { one } from './connection.js';
import type { Database, Statement } from './connection.js';

/** The last record of a simulation: what the next one is chained to. */
interface Tail {
  seq: number;
  hash: string;
}

/** Simulations that were written to lately; the others' tails are read again when they are needed. */
const TAILS_KEPT = 10_000;

/** Chains begin with the simulation they belong to, so that records cannot be moved from one to another. */
export function chainStart(simulation: number): string {
  return hash('sha256', `sandpit simulation ${simulation}`, 'base64');
}

export function chainHash(previous: string, epoch: number, seq: number, at: number, payload: string): string {
  return hash('sha256', `${previous} ${epoch} ${seq} ${at}\n${payload}`, 'base64');
}

/** Writes records. Used by the writer only, inside its commits. */
export class JournalTables {
  readonly #epoch: number;
  readonly #insert: Statement;
  readonly #saveTail: Statement;
  readonly #loadTail: Statement;
  readonly #tails = new LRUCache<number, Tail>({ max: TAILS_KEPT });
  /** Tails that this commit has moved. */
  readonly #moved = new Map<number, Tail>();

  constructor(database: Database, epoch: number) {
    this.#epoch = epoch;
    this.#insert = database.prepare(
      'INSERT INTO journal (simulation, seq, epoch, at, hash, payload) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#saveTail = database.prepare('INSERT OR REPLACE INTO tail (simulation, seq, hash) VALUES (?, ?, ?)');
    this.#loadTail = database.prepare('SELECT seq, hash FROM tail WHERE simulation = ?');
  }

  /** Answers with the record's hash. */
  append(simulation: number, seq: number, at: number, payload: string): string {
    const tail = this.#moved.get(simulation) ?? this.#tailOf(simulation);
    if (seq !== tail.seq + 1)
      throw new Error(`Record ${seq} of simulation ${simulation} follows record ${tail.seq}`);
    tail.hash = chainHash(tail.hash, this.#epoch, seq, at, payload);
    tail.seq = seq;
    this.#insert.run(simulation, seq, this.#epoch, at, tail.hash, payload);
    return tail.hash;
  }

  #tailOf(simulation: number): Tail {
    const tail = this.#tails.get(simulation) ??
      one<Tail>(this.#loadTail, simulation) ?? { seq: 0, hash: chainStart(simulation) };
    this.#tails.set(simulation, tail);
    this.#moved.set(simulation, tail);
    return tail;
  }

  /** The last part of a commit. */
  flush(): void {
    for (const [simulation, tail] of this.#moved) this.#saveTail.run(simulation, tail.seq, tail.hash);
    this.#moved.clear();
  }

  /** After a commit that did not happen. */
  forget(): void {
    this.#moved.clear();
    this.#tails.clear();
  }
}
