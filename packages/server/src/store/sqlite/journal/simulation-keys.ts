import { one } from '../database/connection.js';
import type { Statements } from '../database/connection.js';
import type { JournalBlocks } from './journal-blocks.js';

/** A simulation as the main thread sees it: its key in the tables, and the last record that was accepted. */
export interface SimulationEnd {
  readonly key: number;
  lastSeq: number;
}

/**
 * Keys of simulations, found in the database when they are first needed. An entry is ahead of the database while
 * its records wait to be written, and stays for as long as the simulation exists.
 */
export class SimulationKeys {
  readonly #statements: Statements;
  readonly #blocks: JournalBlocks;
  readonly #ends = new Map<string, SimulationEnd>();
  /** Deleted, and the database does not know yet. */
  readonly #deleting = new Set<string>();
  #lastKey: number;

  constructor(statements: Statements, blocks: JournalBlocks) {
    this.#statements = statements;
    this.#blocks = blocks;
    this.#lastKey = one<{ n: number | null }>(statements.of('SELECT max(key) AS n FROM simulation'))?.n ?? 0;
  }

  find(id: string): SimulationEnd | undefined {
    const known = this.#ends.get(id);
    if (known !== undefined) return known;
    if (this.#deleting.has(id)) return undefined;
    const sql = 'SELECT key FROM simulation WHERE id = ? AND deleted_at IS NULL';
    const key = one<{ key: number }>(this.#statements.of(sql), id)?.key;
    if (key === undefined) return undefined;
    const end = { key, lastSeq: this.#blocks.tail(key).seq };
    this.#ends.set(id, end);
    return end;
  }

  idOf(key: number): string | undefined {
    return one<{ id: string }>(this.#statements.of('SELECT id FROM simulation WHERE key = ?'), key)?.id;
  }

  add(id: string, lastSeq = 0): number {
    this.#lastKey += 1;
    this.#ends.set(id, { key: this.#lastKey, lastSeq });
    return this.#lastKey;
  }

  deleting(id: string): void {
    this.#ends.delete(id);
    this.#deleting.add(id);
  }

  deleted(id: string): void {
    this.#deleting.delete(id);
  }
}
