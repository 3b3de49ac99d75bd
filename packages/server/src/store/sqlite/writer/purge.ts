import { all, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { forkSetting, hasForks, heldByForks } from '../journal/fork-origin.js';
import type { RegistryTables } from '../registry/registry-tables.js';
import type { RowSum } from '../journal/row-sums.js';

/** Blocks that a step removes at most: when nobody waits for the commit, and when somebody does. */
const BLOCKS_WHEN_IDLE = 64;
const BLOCKS_WHEN_BUSY = 4;

/**
 * Removes the blocks of deleted simulations, a few in each commit, so that nobody waits for it; those that forks rest on stay until the
 * last of these is gone. Where it has got to is in the tables themselves: it goes on after a restart.
 */
export class Purge {
  readonly #statements: Statements;
  readonly #registry: RegistryTables;
  #isPending: boolean;
  /** Deleted, and left with nothing but what forks rest on. */
  readonly #held = new Set<number>();

  constructor(database: Database, registry: RegistryTables) {
    this.#statements = new Statements(database);
    this.#registry = registry;
    this.#isPending = this.#next() !== undefined;
  }

  /** There may be something to remove. */
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
    // Its own ancestors may now be removed.
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
