import { HISTORY_TABLES } from '../../history/history-schema.js';
import { Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';

/** Rows of one table that a step removes at most: a few milliseconds. */
const ROWS_AT_ONCE = 512;

/**
 * Removes the rows of deleted simulations, in small steps, when idle. Rows that forks depend on stay until the last of these forks is
 * removed.
 */
export class HistoryPurge {
  readonly #statements: Statements;
  readonly #requested = new Set<number>();
  readonly #isHeld: (cell: number) => boolean;

  /** `isHeld`: whether forks rest on a simulation; then its rows stay. */
  constructor(database: Database, isHeld: (cell: number) => boolean) {
    this.#isHeld = isHeld;
    this.#statements = new Statements(database);
  }

  request(cell: number): void {
    this.#requested.add(cell);
  }

  /** Rows of this simulation are no longer written. */
  isRequested(cell: number): boolean {
    return this.#requested.has(cell);
  }

  /** A transaction of its own. False if there was nothing to remove. */
  step(): boolean {
    for (const cell of this.#requested) {
      if (this.#isHeld(cell)) continue;
      if (this.#removeSome(cell)) return true;
      this.#requested.delete(cell);
    }
    return false;
  }

  #removeSome(cell: number): boolean {
    for (const [table, key] of HISTORY_TABLES) {
      const some = `SELECT ${key} FROM ${table} WHERE cell = ?1 ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`;
      const sql = `DELETE FROM ${table} WHERE cell = ?1 AND (${key}) IN (${some})`;
      if (this.#statements.of(sql).run(cell).changes > 0) return true;
    }
    return false;
  }
}
