import { one, Statements } from './connection.js';
import type { Database, SqlValue } from './connection.js';

/** Rows of one table that a step removes at most: when nobody waits for the commit, and when somebody does. */
const ROWS_WHEN_IDLE = 256;
const ROWS_WHEN_BUSY = 16;

/** An order is in many indexes, and can have many events. */
const ROWS_PER_ORDER = 4;

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

  step(isIdle: boolean): void {
    if (!this.#isPending) return;
    const simulation = this.#next();
    if (simulation === undefined) {
      this.#isPending = false;
      return;
    }
    const rows = isIdle ? ROWS_WHEN_IDLE : ROWS_WHEN_BUSY;
    // What names records goes before them: a query that began earlier must not find half of it.
    if (this.#removedLists(simulation, rows) || this.#removedPortfolios(simulation, rows)) return;
    if (this.#removedRecords(simulation, rows)) return;
    this.#run('DELETE FROM checkpoint WHERE simulation = ?', simulation);
    this.#run('DELETE FROM tail WHERE simulation = ?', simulation);
    this.#run('UPDATE simulation SET purged = 1 WHERE key = ?', simulation);
  }

  #next(): number | undefined {
    return this.#one(
      'SELECT key AS k FROM simulation WHERE deleted_at IS NOT NULL AND purged = 0 ORDER BY key LIMIT 1',
    );
  }

  /** One list after the other; orders with the list of their portfolio, where they lie closest together. */
  #removedLists(simulation: number, rows: number): boolean {
    const list = this.#one('SELECT key AS k FROM list WHERE simulation = ? LIMIT 1', simulation);
    if (list === undefined) return false;
    const isEmpty = this.#removedItems(list, rows) === 0 && !this.#removedOrders(list, rows);
    if (isEmpty) this.#run('DELETE FROM list WHERE key = ?', list);
    return true;
  }

  #removedItems(list: number, rows: number): number {
    const items = this.#run(
      'DELETE FROM item WHERE list = ?1 AND n IN (SELECT n FROM item WHERE list = ?1 ORDER BY n LIMIT ?2)',
      list,
      rows,
    );
    if (items > 0) return items;
    const keys = this.#run(
      'DELETE FROM item_key WHERE list = ?1 AND key IN (SELECT key FROM item_key WHERE list = ?1 ORDER BY key LIMIT ?2)',
      list,
      rows,
    );
    if (keys > 0) return keys;
    return this.#run(
      `DELETE FROM tenant_event WHERE list = ?1 AND (seq, event) IN
         (SELECT seq, event FROM tenant_event WHERE list = ?1 ORDER BY seq, event LIMIT ?2)`,
      list,
      rows,
    );
  }

  #removedOrders(portfolio: number, rows: number): boolean {
    const orders = 'SELECT k FROM orders WHERE portfolio = ?1 ORDER BY portfolio_n LIMIT ?2';
    const events = this.#run(
      `DELETE FROM order_event WHERE (order_k, n) IN
         (SELECT order_k, n FROM order_event WHERE order_k IN (${orders}) LIMIT ?3)`,
      portfolio,
      rows / ROWS_PER_ORDER,
      rows,
    );
    if (events === rows) return true;
    return this.#run(`DELETE FROM orders WHERE k IN (${orders})`, portfolio, rows / ROWS_PER_ORDER) > 0;
  }

  #removedPortfolios(simulation: number, rows: number): boolean {
    const portfolios = 'SELECT id FROM portfolio WHERE simulation = ?1 LIMIT ?2';
    return (
      this.#run(`DELETE FROM portfolio WHERE simulation = ?1 AND id IN (${portfolios})`, simulation, rows) > 0
    );
  }

  #removedRecords(simulation: number, rows: number): boolean {
    const records = 'SELECT k FROM journal WHERE simulation = ? ORDER BY seq LIMIT ?';
    return this.#run(`DELETE FROM journal WHERE k IN (${records})`, simulation, rows) > 0;
  }

  #one(sql: string, ...values: readonly SqlValue[]): number | undefined {
    return one<{ k: number }>(this.#statements.of(sql), ...values)?.k;
  }

  #run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#statements.of(sql).run(...values).changes;
  }
}
