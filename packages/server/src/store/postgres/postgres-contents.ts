import type { SimulationEntry } from '../registry.js';
import type { KeptAnswer, StoreContents } from '../store.js';
import { intactAnswer, withChecksum } from './answers.js';
import type { AnswerRow } from './answers.js';
import type { CommitQueue } from './commit-queue.js';
import type { QuestionConnection } from './question-connection.js';
import { entryOf } from './registry-state.js';
import type { RegistryState } from './registry-state.js';

const PAGE_MS = 30_000;

/** Contents of a database that a migration copies and no port offers. */
export class PostgresContents implements StoreContents {
  readonly installation: string;
  readonly #queue: CommitQueue;
  readonly #database: QuestionConnection;
  readonly #state: RegistryState;

  constructor(installation: string, queue: CommitQueue, database: QuestionConnection, state: RegistryState) {
    this.installation = installation;
    this.#queue = queue;
    this.#database = database;
    this.#state = state;
  }

  deleted(): readonly SimulationEntry[] {
    const gone = [...this.#state.cells.values()].filter(({ deletedAt }) => deletedAt !== undefined);
    // Erased tenants leave only their keys.
    return gone
      .filter(({ id }) => !id.startsWith('erased/'))
      .sort((a, b) => a.key - b.key)
      .map(entryOf);
  }

  async answers(after: string, limit: number): Promise<readonly KeptAnswer[]> {
    const rows = await this.#database.ask<AnswerRow>(
      `SELECT lookup, expires_at, fingerprint, status_code, body, checksum FROM answer WHERE lookup ~>~ $1
         ORDER BY lookup USING ~<~, cell DESC LIMIT $2`,
      [after, limit],
      PAGE_MS,
    );
    // An answer given to a cell comes before one given before the cell existed.
    const found = new Map<string, KeptAnswer>();
    for (const row of rows) if (!found.has(row.lookup)) found.set(row.lookup, intactAnswer(row));
    return [...found.values()];
  }

  /** Without a cell: their lookups do not contain one, and lookups without a cell apply to every cell. */
  async saveAnswers(answers: readonly KeptAnswer[]): Promise<void> {
    await Promise.all(answers.map((answer) => this.#queue.saveAnswer(undefined, withChecksum(answer))));
  }
}
