import { DamagedJournal } from '../journal.js';
import type { SimulationEntry } from '../registry.js';
import type { KeptAnswer, StoreContents } from '../store.js';
import { all, readingIntact } from './database/connection.js';
import type { Statements } from './database/connection.js';
import type { JournalBlocks } from './journal/journal-blocks.js';
import { RegistryQueries } from './registry/registry-tables.js';
import { answerHash } from './journal/row-sums.js';
import type { WriteQueue } from './journal/write-queue.js';

/** Contents of a data directory that a migration copies and no port offers. */
export class SqliteContents implements StoreContents {
  readonly #queue: WriteQueue;
  readonly #statements: Statements;
  readonly #blocks: JournalBlocks;

  constructor(queue: WriteQueue, statements: Statements, blocks: JournalBlocks) {
    this.#queue = queue;
    this.#statements = statements;
    this.#blocks = blocks;
  }

  get installation(): string {
    return this.#blocks.journalId();
  }

  deleted(): readonly SimulationEntry[] {
    const rows = new RegistryQueries(this.#statements).simulations('deleted_at IS NOT NULL');
    // Erased tenants leave only their keys.
    return rows.filter(({ id }) => !id.startsWith('erased/'));
  }

  answers(after: string, limit: number): readonly KeptAnswer[] {
    const sql = `SELECT lookup, expires_at AS expiresAt, fingerprint, status_code AS statusCode, body, checksum FROM answer
      WHERE lookup > ? ORDER BY lookup LIMIT ?`;
    const rows = readingIntact(() =>
      all<KeptAnswer & { readonly checksum: Uint8Array }>(this.#statements.of(sql), after, limit),
    );
    return rows.map(({ checksum, ...answer }) => {
      if (Buffer.compare(answerHash(answer), checksum) !== 0)
        throw new DamagedJournal('An answer that was kept for an idempotency key is damaged');
      return answer;
    });
  }

  async saveAnswers(answers: readonly KeptAnswer[]): Promise<void> {
    await Promise.all(
      answers.map(({ lookup, ...answer }) => this.#queue.add({ kind: 'save-answer', lookup, answer })),
    );
  }
}
