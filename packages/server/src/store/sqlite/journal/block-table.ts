import { LRUCache } from 'lru-cache';
import { one, Statements } from '../database/connection.js';
import type { Database, Statement } from '../database/connection.js';
import { forkOriginOf } from './fork-origin.js';
import { beginningOf, blockHash, chainStart } from './journal-blocks.js';
import type { Tail } from './journal-blocks.js';

/** Simulations that were written to lately; the others' tails are read again when they are needed. */
const TAILS_KEPT = 10_000;

/** Writes blocks. Used by the writer only, inside its commits. */
export class BlockTable {
  readonly #epoch: number;
  readonly #insert: Statement;
  readonly #findTail: Statement;
  readonly #statements: Statements;
  // With `max`, lru-cache would allocate room for all at once, which takes a tenth of the time of opening a store in memory.
  readonly #tails = new LRUCache<number, Tail>({ maxSize: TAILS_KEPT, sizeCalculation: () => 1 });

  constructor(database: Database, epoch: number) {
    this.#epoch = epoch;
    this.#insert = database.prepare(
      'INSERT INTO block (k, simulation, first, last, epoch, hash, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#statements = new Statements(database);
    this.#findTail = database.prepare(
      'SELECT last AS seq, hash FROM block WHERE simulation = ? ORDER BY first DESC LIMIT 1',
    );
  }

  /** Answers with the tails of the simulation before and after it. */
  append(
    k: number,
    simulation: number,
    first: number,
    last: number,
    data: Uint8Array,
  ): { readonly before: Tail; readonly after: Tail } {
    const before = this.tail(simulation);
    if (first !== before.seq + 1)
      throw new Error(`Record ${first} of simulation ${simulation} follows record ${before.seq}`);
    const hash = blockHash(before.hash, { epoch: this.#epoch, first, last, data });
    this.#insert.run(k, simulation, first, last, this.#epoch, hash, data);
    const after = { seq: last, hash };
    this.#tails.set(simulation, after);
    return { before, after };
  }

  tail(simulation: number): Tail {
    return (
      this.#tails.get(simulation) ??
      one<Tail>(this.#findTail, simulation) ??
      beginningOf(simulation, forkOriginOf(this.#statements, simulation), (parent, seq) =>
        this.#hashOf(parent, seq),
      )
    );
  }

  /** The hash of the block with one of the simulation's own records. */
  #hashOf(simulation: number, seq: number): Uint8Array {
    const sql = 'SELECT hash FROM block WHERE simulation = ? AND first <= ? ORDER BY first DESC LIMIT 1';
    const row = one<{ hash: Uint8Array }>(this.#statements.of(sql), simulation, seq);
    if (row !== undefined && seq > 0) return row.hash;
    if (seq === 0) return chainStart(simulation);
    throw new Error(`Record ${seq} of simulation ${simulation} is not there for a fork`);
  }

  /** After a commit that did not happen. */
  forget(): void {
    this.#tails.clear();
  }
}
