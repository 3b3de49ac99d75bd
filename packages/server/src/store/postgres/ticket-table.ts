import type { TicketRow, TicketStore } from '../tickets.js';
import type { QuestionConnection } from './question-connection.js';

const REMOVED_AT_ONCE = 1_000;

/** Stream tickets in PostgreSQL. */
export class TicketTable implements TicketStore {
  readonly #database: QuestionConnection;

  constructor(database: QuestionConnection) {
    this.#database = database;
  }

  async save(digest: string, { value, expiresAt, use }: TicketRow): Promise<void> {
    await this.#database.ask(
      `INSERT INTO ticket (digest, value, expires_at, used_by) VALUES ($1, $2, $3, $4)
         ON CONFLICT (digest) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at, used_by = excluded.used_by`,
      [digest, value, expiresAt, use],
    );
  }

  async release(digest: string, use: string, expiresAt: number): Promise<void> {
    await this.#database.ask('UPDATE ticket SET expires_at = $3 WHERE digest = $1 AND used_by = $2', [
      digest,
      use,
      expiresAt,
    ]);
  }

  async find(digest: string): Promise<TicketRow | undefined> {
    const [row] = await this.#database.ask<{ value: string; expires_at: string; used_by: string }>(
      'SELECT value, expires_at, used_by FROM ticket WHERE digest = $1',
      [digest],
    );
    return row && { value: row.value, expiresAt: Number(row.expires_at), use: row.used_by };
  }

  async removeExpired(nowMs: number): Promise<void> {
    await this.#database.ask(
      `DELETE FROM ticket WHERE digest IN (
         SELECT digest FROM ticket WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${REMOVED_AT_ONCE})`,
      [nowMs],
    );
  }
}
