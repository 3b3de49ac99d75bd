import { one, Statements } from './connection.js';
import type { Database, SqlValue } from './connection.js';

/** Rows of one table that a step removes at most. */
const STEP = 256;
/** Orders per step: each can have many executions. */
const ORDERS_PER_STEP = 64;

/**
 * Removes the rows of deleted simulations, a little in each commit, so that nobody waits for it. Where it has
 * got to is in the tables themselves: it goes on after a restart.
 */
export class Purge {
  readonly #statements: Statements;
  #isPending: boolean;

  constructor(database: Database) {
    this.#statements = new Statements(database);
    this.#isPending = this.#next() !== undefined;
  }

  /** There may be something to remove. */
  get isPending(): boolean {
    return this.#isPending;
  }

  request(): void {
    this.#isPending = true;
  }

  step(): void {
    if (!this.#isPending) return;
    const next = this.#next();
    if (next === undefined) {
      this.#isPending = false;
      return;
    }
    if (this.#removedJournal(next) || this.#removedOrders(next) || this.#removedLists(next)) return;
    this.#run('DELETE FROM checkpoint WHERE simulation = ?', next);
    this.#run('DELETE FROM tail WHERE simulation = ?', next);
    this.#run('UPDATE simulation SET purged = 1 WHERE key = ?', next);
  }

  #next(): number | undefined {
    return this.#one(
      'SELECT key AS k FROM simulation WHERE deleted_at IS NOT NULL AND purged = 0 ORDER BY key LIMIT 1',
    );
  }

  #removedJournal(simulation: number): boolean {
    const some = `SELECT k FROM journal WHERE simulation = ? LIMIT ${STEP}`;
    return this.#run(`DELETE FROM journal WHERE k IN (${some})`, simulation) > 0;
  }

  #removedOrders(simulation: number): boolean {
    const some = `SELECT k FROM orders WHERE simulation = ? ORDER BY id LIMIT ${ORDERS_PER_STEP}`;
    const removed = this.#run(
      `DELETE FROM execution WHERE (order_k, n) IN
         (SELECT order_k, n FROM execution WHERE order_k IN (${some}) LIMIT ${STEP})`,
      simulation,
    );
    if (removed === STEP) return true;
    return this.#run(`DELETE FROM orders WHERE k IN (${some})`, simulation) > 0;
  }

  #removedLists(simulation: number): boolean {
    const list = this.#one('SELECT key AS k FROM list WHERE simulation = ? LIMIT 1', simulation);
    if (list === undefined) return false;
    const items = this.#run(
      `DELETE FROM item WHERE list = ?1 AND n IN (SELECT n FROM item WHERE list = ?1 LIMIT ${STEP})`,
      list,
    );
    if (items === STEP) return true;
    const events = this.#run(
      `DELETE FROM order_event WHERE list = ?1 AND (seq, event) IN
         (SELECT seq, event FROM order_event WHERE list = ?1 LIMIT ${STEP})`,
      list,
    );
    if (events < STEP) this.#run('DELETE FROM list WHERE key = ?', list);
    return true;
  }

  #one(sql: string, ...values: readonly SqlValue[]): number | undefined {
    return one<{ k: number }>(this.#statements.of(sql), ...values)?.k;
  }

  #run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#statements.of(sql).run(...values).changes;
  }
}
