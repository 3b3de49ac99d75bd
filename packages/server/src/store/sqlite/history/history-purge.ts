import { one, Statements } from '../database/connection.js';
import type { Database, SqlValue } from '../database/connection.js';

/** Rows of one table that a step removes at most: a few milliseconds. */
const ROWS_AT_ONCE = 512;

/**
 * Removes the rows of deleted simulations, in small steps, when idle. Rows that forks depend on stay until the last of these forks is
 * removed.
 */
export class HistoryPurge {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #requested = new Set<number>();

  readonly #isHeld: (simulation: number) => boolean;

  /** `isHeld`: whether forks rest on a simulation; then its rows stay. */
  constructor(database: Database, isHeld: (simulation: number) => boolean = () => false) {
    this.#isHeld = isHeld;
    this.#database = database;
    this.#statements = new Statements(database);
  }

  request(simulation: number): void {
    this.#requested.add(simulation);
  }

  /** Its records are no longer projected. */
  isRequested(simulation: number): boolean {
    return this.#requested.has(simulation);
  }

  /** A transaction of its own. False if there was nothing to remove. */
  step(): boolean {
    for (const simulation of this.#requested) {
      if (this.#isHeld(simulation)) continue;
      if (this.#removeSome(simulation)) return true;
      this.#requested.delete(simulation);
    }
    return false;
  }

  #removeSome(simulation: number): boolean {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const isChanged =
        this.#removedOfOwner(simulation) ||
        this.#removed('order_event', 'simulation = ?1', 'number, n', simulation) ||
        this.#removed('orders', 'simulation = ?1', 'number', simulation) ||
        this.#removed('stream_event', 'simulation = ?1', 'seq', simulation) ||
        this.#removed('portfolio', 'simulation = ?1', 'id', simulation) ||
        this.#removed('mark', 'simulation = ?1', 'symbol, minute', simulation) ||
        this.#run('DELETE FROM simulation WHERE key = ?', simulation) > 0;
      this.#database.exec('COMMIT');
      return isChanged;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #removedOfOwner(simulation: number): boolean {
    const owner = one<{ k: number }>(
      this.#statements.of('SELECT k FROM owner WHERE simulation = ? LIMIT 1'),
      simulation,
    )?.k;
    if (owner === undefined) return false;
    return (
      this.#removed('item', 'owner = ?1', 'list, n', owner) ||
      this.#removed('client_order', 'owner = ?1', 'id', owner) ||
      this.#removed('standing', 'owner = ?1', 'minute', owner) ||
      this.#removed('past_standing', 'owner = ?1', 'minute, seq', owner) ||
      this.#removed('past_item', 'owner = ?1', 'list, n, seq', owner) ||
      this.#run('DELETE FROM owner WHERE k = ?', owner) > 0
    );
  }

  #removed(table: string, where: string, key: string, value: number): boolean {
    const some = `SELECT ${key} FROM ${table} WHERE ${where} ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`;
    return this.#run(`DELETE FROM ${table} WHERE ${where} AND (${key}) IN (${some})`, value) > 0;
  }

  #run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#statements.of(sql).run(...values).changes;
  }
}
