import { hash } from 'node:crypto';
import { DamagedJournal } from '../journal.js';
import type { StoredAnswer } from '../journal.js';
import type { NewAnswer } from './commit-statement.js';
import type { QuestionConnection } from './question-connection.js';

/** Lengths of the parts of a SHA-256: long enough that no two collide. */
const TENANT_BYTES = 6;
const NAME_BYTES = 12;
/** Rows removed by one statement at most. */
const REMOVED_AT_ONCE = 1_000;

/** Key prefix of a tenant's answers. */
const answersOf = (tenantId: string): string =>
  hash('sha256', tenantId, 'buffer').subarray(0, TENANT_BYTES).toString('base64url');

/** One value for the four that name an answer. */
export function answerLookup(tenantId: string, simulationId: string, route: string, key: string): string {
  const name = hash('sha256', JSON.stringify([tenantId, simulationId, route, key]), 'buffer');
  return answersOf(tenantId) + name.subarray(0, NAME_BYTES).toString('base64url');
}

type AnswerFields = Omit<NewAnswer, 'checksum'>;

const checksumOf = ({ lookup, expiresAt, fingerprint, statusCode, body }: AnswerFields): Uint8Array =>
  hash('sha256', JSON.stringify([lookup, expiresAt, fingerprint, statusCode, body]), 'buffer');

export function newAnswer(answer: StoredAnswer): NewAnswer {
  const { tenantId, simulationId, route, key, expiresAt, fingerprint, statusCode, body } = answer;
  const fields = {
    lookup: answerLookup(tenantId, simulationId, route, key),
    expiresAt,
    fingerprint,
    statusCode,
    body,
  };
  return withChecksum(fields);
}

export const withChecksum = (fields: AnswerFields): NewAnswer => ({
  ...fields,
  checksum: checksumOf(fields),
});

export interface AnswerRow {
  readonly lookup: string;
  readonly expires_at: string;
  readonly fingerprint: string;
  readonly status_code: number;
  readonly body: string;
  readonly checksum: Buffer;
}

/** The latest stored response of this lookup. It is of the cell whose record it was committed with. Throws `DamagedJournal`. */
export async function findAnswer(
  database: QuestionConnection,
  lookup: string,
): Promise<AnswerFields | undefined> {
  const [row] = await database.ask<AnswerRow>(
    `SELECT lookup, expires_at, fingerprint, status_code, body, checksum FROM answer WHERE lookup = $1
       ORDER BY expires_at DESC LIMIT 1`,
    [lookup],
  );
  return row && intactAnswer(row);
}

/** A stored response. Throws `DamagedJournal`. */
export function intactAnswer(row: AnswerRow): AnswerFields {
  const answer = {
    lookup: row.lookup,
    expiresAt: Number(row.expires_at),
    fingerprint: row.fingerprint,
    statusCode: row.status_code,
    body: row.body,
  };
  if (Buffer.compare(checksumOf(answer), row.checksum) !== 0)
    throw new DamagedJournal('An answer that was kept for an idempotency key is damaged');
  return answer;
}

/** Removes the answers of a tenant, some at a time. */
export async function removeAnswersOf(database: QuestionConnection, tenantId: string): Promise<void> {
  for (;;) {
    const removed = await database.ask(
      `DELETE FROM answer WHERE (cell, lookup) IN (
         SELECT cell, lookup FROM answer WHERE lookup LIKE $1 LIMIT ${REMOVED_AT_ONCE}) RETURNING cell`,
      [`${answersOf(tenantId).replaceAll('_', '\\_')}%`],
    );
    if (removed.length < REMOVED_AT_ONCE) return;
  }
}

/** Removes some of those that have expired. */
export const removeExpiredAnswers = (
  database: QuestionConnection,
  nowMs: number,
): Promise<readonly object[]> =>
  database.ask(
    `DELETE FROM answer WHERE (cell, lookup) IN (
       SELECT cell, lookup FROM answer WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${REMOVED_AT_ONCE}) RETURNING cell`,
    [nowMs],
  );
