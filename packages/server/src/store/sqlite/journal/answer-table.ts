import { hash } from 'node:crypto';
import { DamagedJournal } from '../../journal.js';
import type { AnswerContent } from './batch.js';
import { all, one, readingIntact } from '../database/connection.js';
import type { Database, Statement, Statements } from '../database/connection.js';
import { answerHash } from './row-sums.js';
import type { AnswerRow, RowSum } from './row-sums.js';

/** Maximum number of responses removed per commit, so that many expiring ones do not delay waiting callers. */
const EXPIRED_PER_COMMIT = 64;
const EXPIRY_INTERVAL_MS = 1_000;

/** Answers of a tenant that a commit removes at most. */
const REMOVED_PER_COMMIT = 256;

/**
 * Lengths of the parts of a SHA-256: long enough that no two collide, and short enough that twice as many index entries fit into a page.
 */
const TENANT_BYTES = 6;
const NAME_BYTES = 12;

/** Greater than any character of a lookup. */
const BEYOND = '~';

/** Prefix of the lookups of a tenant's answers. */
export const answersOf = (tenantId: string): string =>
  hash('sha256', tenantId, 'buffer').subarray(0, TENANT_BYTES).toString('base64url');

/** One value for the four that name an answer. */
export function answerLookup(tenantId: string, simulationId: string, route: string, key: string): string {
  const name = hash('sha256', JSON.stringify([tenantId, simulationId, route, key]), 'buffer');
  return answersOf(tenantId) + name.subarray(0, NAME_BYTES).toString('base64url');
}

/** True when there are answers whose lookups begin with a prefix. */
export const hasAnswers = (statements: Statements, prefix: string): boolean =>
  one(
    statements.of('SELECT 1 FROM answer WHERE lookup >= ? AND lookup < ? LIMIT 1'),
    prefix,
    prefix + BEYOND,
  ) !== undefined;

/** Writes answers and removes expired ones. Used by the writer only, inside its commits. */
export class AnswerTable {
  readonly #find: Statement;
  readonly #save: Statement;
  readonly #oldest: Statement;
  readonly #remove: Statement;
  readonly #some: Statement;
  #nextExpiry = 0;

  constructor(database: Database) {
    this.#find = database.prepare('SELECT k, checksum FROM answer WHERE lookup = ?');
    this.#save = database.prepare(
      'INSERT INTO answer (lookup, expires_at, fingerprint, status_code, body, checksum) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#oldest = database.prepare(
      `SELECT k, expires_at AS expiresAt, checksum FROM answer ORDER BY k LIMIT ${EXPIRED_PER_COMMIT}`,
    );
    this.#some = database.prepare(
      `SELECT k, checksum FROM answer WHERE lookup >= ? AND lookup < ? LIMIT ${REMOVED_PER_COMMIT}`,
    );
    this.#remove = database.prepare('DELETE FROM answer WHERE k = ?');
  }

  save(lookup: string, answer: AnswerContent, sum: RowSum): void {
    const before = one<Stored>(this.#find, lookup);
    if (before !== undefined) this.#removeOne(before, sum);
    const { expiresAt, fingerprint, statusCode, body } = answer;
    const checksum = answerHash({ lookup, expiresAt, fingerprint, statusCode, body });
    this.#save.run(lookup, expiresAt, fingerprint, statusCode, body, checksum);
    sum.toggle(checksum);
  }

  /** Answers are stored in sequence, which is nearly the sequence of expiration. */
  removeExpired(now: number, sum: RowSum): void {
    if (now < this.#nextExpiry) return;
    const oldest = all<Stored & { readonly expiresAt: number }>(this.#oldest);
    const alive = oldest.findIndex(({ expiresAt }) => expiresAt > now);
    const expired = alive === -1 ? oldest : oldest.slice(0, alive);
    for (const answer of expired) this.#removeOne(answer, sum);
    if (expired.length < EXPIRED_PER_COMMIT) this.#nextExpiry = now + EXPIRY_INTERVAL_MS;
  }

  /** Removes a few of those with lookups that begin like this. */
  removeSome(prefix: string, sum: RowSum): void {
    for (const answer of all<Stored>(this.#some, prefix, prefix + BEYOND)) this.#removeOne(answer, sum);
  }

  #removeOne({ k, checksum }: Stored, sum: RowSum): void {
    this.#remove.run(k);
    sum.toggle(checksum);
  }
}

interface Stored {
  readonly k: number;
  readonly checksum: Uint8Array;
}

/** The stored response of this lookup. Throws `DamagedJournal`. */
export function findAnswer(statements: Statements, lookup: string): AnswerRow | undefined {
  const sql = `SELECT lookup, expires_at AS expiresAt, fingerprint, status_code AS statusCode, body, checksum FROM answer WHERE lookup = ?`;
  const row = readingIntact(() =>
    one<AnswerRow & { readonly checksum: unknown }>(statements.of(sql), lookup),
  );
  if (row === undefined) return undefined;
  const { checksum, ...answer } = row;
  if (!(checksum instanceof Uint8Array) || Buffer.compare(answerHash(answer), checksum) !== 0)
    throw new DamagedJournal('An answer that was kept for an idempotency key is damaged');
  return answer;
}
