import { all, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { forkSetting, hasForks, heldByForks } from '../journal/fork-origin.js';
import type { RegistryTables } from '../registry/registry-tables.js';
import type { RowSum } from '../journal/row-sums.js';

/** Maximum number of blocks that a step removes: without callers that wait for the commit, and with them. */
const BLOCKS_WHEN_IDLE = 64;
const BLOCKS_WHEN_BUSY = 4;

/**
 * Removes the blocks of deleted simulations, a few in each commit, so that callers do not wait for it. Blocks that forks rest on stay until
 * the last of these forks is removed. The progress is in the tables themselves, so that it continues after a restart.
 */
export class Purge {
  readonly #statements: Statements;
  readonly #registry: RegistryTables;
  #isPending: boolean;
  /** Deleted, except for the blocks that forks depend on. */
  readonly #held = new Set<number>();

  constructor(database: Database, registry: RegistryTables) {
    this.#statements = new Statements(database);
    this.#registry = registry;
    this.#isPending = this.#next() !== undefined;
  }

  /** There may be rows to remove. */
  get isPending(): boolean {
    return this.#isPending;
  }

  request(): void {
    this.#isPending = true;
  }

  step(isIdle: boolean, sum: RowSum): void {
    if (!this.#isPending) return;
    const simulation = this.#next();
    if (simulation === undefined) {
      this.#isPending = false;
      return;
    }
    const held = heldByForks(this.#statements, simulation);
    const { changes } = this.#statements
      .of(
        'DELETE FROM block WHERE k IN (SELECT k FROM block WHERE simulation = ? AND first > ? ORDER BY first LIMIT ?)',
      )
      .run(simulation, held, isIdle ? BLOCKS_WHEN_IDLE : BLOCKS_WHEN_BUSY);
    if (changes > 0) return;
    if (hasForks(this.#statements, simulation)) {
      this.#held.add(simulation);
      return;
    }
    // The fork's ancestors may now be removed.
    this.#registry.deleteSetting(sum, forkSetting(simulation));
    this.#held.clear();
    const sql = 'UPDATE simulation SET purged = 1 WHERE key = ?';
    this.#registry.change(sum, 'simulation', simulation, sql, simulation);
  }

  #next(): number | undefined {
    const sql = 'SELECT key FROM simulation WHERE deleted_at IS NOT NULL AND purged = 0 ORDER BY key DESC';
    return all<{ key: number }>(this.#statements.of(sql)).find(({ key }) => !this.#held.has(key))?.key;
  }
}
