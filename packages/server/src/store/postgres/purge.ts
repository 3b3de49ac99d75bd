import type { PostgresRegistry } from './postgres-registry.js';
import type { QuestionConnection } from './question-connection.js';
import type { RegistryState } from './registry-state.js';
import { TABLES_OF_CELLS } from './schema.js';

/** Rows of a deleted cell that are removed at a time. */
const PURGED_AT_ONCE = 5_000;
const PAGE_MS = 30_000;

/**
 * Removes the rows of deleted cells little by little. What forks rest on stays until the last of these forks is purged: blocks, checkpoints
 * and the history. The registry remembers which cells are purged, so that a start continues what a stopped process left.
 */
export class Purge {
  readonly #database: QuestionConnection;
  readonly #state: RegistryState;
  readonly #note: (message: string) => void;
  #registry: Pick<PostgresRegistry, 'markPurged'> | undefined;
  /** One cell at a time. */
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(database: QuestionConnection, state: RegistryState, note: (message: string) => void) {
    this.#database = database;
    this.#state = state;
    this.#note = note;
  }

  /** Continues what an earlier process left. `registry` records what is purged. */
  open(registry: Pick<PostgresRegistry, 'markPurged'>): void {
    this.#registry = registry;
    for (const key of this.#state.unpurged()) if (this.#state.heldByForks(key) === 0) this.request(key);
  }

  /** Purges a deleted cell, and then those of its ancestors that only this cell kept. */
  request(key: number): void {
    this.#last = this.#last.then(() =>
      this.#purge(key).catch((error: unknown) => {
        if (!this.#isClosed)
          this.#note(
            `Rows of a deleted simulation stay for now: ${error instanceof Error ? error.message : String(error)}`,
          );
      }),
    );
  }

  /** Resolves when everything requested so far is purged. */
  settled(): Promise<void> {
    return this.#last;
  }

  /** Stops between two statements; the next start continues. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  async #purge(key: number): Promise<void> {
    const held = this.#state.heldByForks(key);
    for (const table of held > 0 ? (['answer'] as const) : TABLES_OF_CELLS)
      for (let isLeft = true; isLeft && !this.#isClosed;) {
        const removed = await this.#database.ask(
          `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE cell = $1 LIMIT ${PURGED_AT_ONCE}) RETURNING 1`,
          [key],
          PAGE_MS,
        );
        isLeft = removed.length === PURGED_AT_ONCE;
      }
    if (this.#isClosed) return;
    await this.#database.ask('DELETE FROM block WHERE cell = $1 AND first > $2', [key, held], PAGE_MS);
    if (held > 0) return;
    const parent = this.#state.originOf(key)?.parent;
    await this.#registry?.markPurged(key);
    if (parent !== undefined && this.#state.isUnpurged(parent) && this.#state.heldByForks(parent) === 0)
      await this.#purge(parent);
  }
}
