import { hash } from 'node:crypto';
import type { StoredAnswer } from '../journal.js';
import type { Database, Statement } from './connection.js';

/** Answers removed per commit at most, so that a wave of expiring ones does not delay those who wait. */
const EXPIRED_PER_COMMIT = 64;
const EXPIRY_INTERVAL_MS = 1_000;

/** One value for the four that name an answer. */
export function answerLookup(tenantId: string, simulationId: string, route: string, key: string): string {
  return hash('sha256', JSON.stringify([tenantId, simulationId, route, key]), 'base64');
}

/** Writes answers and removes expired ones. Used by the writer only, inside its commits. */
export class AnswerTable {
  readonly #save: Statement;
  readonly #removeExpired: Statement;
  #nextExpiry = 0;

  constructor(database: Database) {
    this.#save = database.prepare(
      'INSERT OR REPLACE INTO answer (lookup, expires_at, fingerprint, status_code, body) VALUES (?, ?, ?, ?, ?)',
    );
    this.#removeExpired = database.prepare(
      'DELETE FROM answer WHERE k IN (SELECT k FROM answer WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
    );
  }

  save(lookup: string, answer: StoredAnswer): void {
    this.#save.run(lookup, answer.expiresAt, answer.fingerprint, answer.statusCode, answer.body);
  }

  removeExpired(now: number): void {
    if (now < this.#nextExpiry) return;
    const { changes } = this.#removeExpired.run(now, EXPIRED_PER_COMMIT);
    if (changes < EXPIRED_PER_COMMIT) this.#nextExpiry = now + EXPIRY_INTERVAL_MS;
  }
}
