import { hash } from 'node:crypto';
import { DamagedJournal } from '../../journal.js';
import { all, one, pragmaNumber } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { refuseOtherTables } from './journal-schema.js';
import { answersSumOf, REGISTRY_TABLES, RowSum, stateSumOf } from './row-sums.js';

/** The only row: identifies the last commit and the required contents of the tables after it. */
export interface Meta {
  readonly journalId: string;
  /** Ownership of the directory: one more at each opening. */
  readonly epoch: number;
  readonly commits: number;
  readonly lastK: number;
  readonly stateSum: Uint8Array;
  readonly answersSum: Uint8Array;
  readonly digest: string;
  readonly previousDigest: string;
}

export function readMeta(database: Database): Meta {
  const meta = one<Meta>(
    database.prepare(
      `SELECT journal_id AS journalId, epoch, commits, last_k AS lastK, state_sum AS stateSum, answers_sum AS answersSum, digest,
         previous_digest AS previousDigest FROM meta`,
    ),
  );
  if (meta === undefined) throw new DamagedJournal('The journal has lost its meta row');
  // A flipped bit can change the type of a value, too.
  if (!(isSum(meta.stateSum) && isSum(meta.answersSum)))
    throw damaged('its meta row is not the one that was written');
  return meta;
}

function isSum(value: unknown): boolean {
  return value instanceof Uint8Array;
}

/** Covers the whole row, and by the previous digest every commit so far. */
export function digestOf(meta: Omit<Meta, 'digest'>): string {
  const { journalId, epoch, commits, lastK, stateSum, answersSum, previousDigest } = meta;
  const sums = [stateSum, answersSum].map((sum) => Buffer.from(sum).toString('hex'));
  return hash('sha256', JSON.stringify([journalId, epoch, commits, lastK, sums, previousDigest]), 'hex');
}

/**
 * Pages of a database that a start checks completely: a fraction of a second. Larger databases are checked after the start
 * (journal-scrub.ts).
 */
const PAGES_OF_A_START = 64 * 1024;

/**
 * Refuses a journal whose registry or whose ends differ from those of its last commit, before it is served. In a large journal it reads
 * only the last block of each simulation: other blocks are checked when they are read.
 */
export function refuseAltered(database: Database, meta: Meta): void {
  refuseOtherTables(database);
  if (meta.commits === 0) return;
  if (digestOf(meta) !== meta.digest) throw damaged('its meta row is not the one that was written');
  const isSmall = pragmaNumber(database, 'page_count') <= PAGES_OF_A_START;
  for (const problem of isSmall
    ? malformed(database)
    : Object.keys(REGISTRY_TABLES).flatMap((table) => malformed(database, table)))
    throw damaged(problem);
  for (const problem of alteredSums(database, meta, isSmall)) throw damaged(problem);
  const last = one<{ k: number | null }>(database.prepare('SELECT max(k) AS k FROM block'))?.k ?? 0;
  if (last > meta.lastK) throw damaged(`block ${last} is there, and only ${meta.lastK} were written`);
}

/** Problems that SQLite finds in its pages, or in those of one table and its indexes. */
export function malformed(database: Database, table?: string): readonly string[] {
  const check = table === undefined ? 'PRAGMA integrity_check(1)' : `PRAGMA integrity_check('${table}')`;
  return all<{ integrity_check: string }>(database.prepare(check))
    .map((row) => row.integrity_check.replace(/^\*\*\*.*\n/, '').replaceAll('\n', '; '))
    .filter((text) => text !== 'ok');
}

/** Differences between the tables and the sums of the last commit. Needs a transaction when others write. */
export function* alteredSums(database: Database, meta: Meta, withAnswers: boolean): Iterable<string> {
  if (!stateSumOf(database).equals(new RowSum(meta.stateSum)))
    yield 'tenants, keys, simulations, settings, or where a simulation ends, are not as they were written';
  if (withAnswers && !answersSumOf(database).equals(new RowSum(meta.answersSum)))
    yield 'the answers kept for idempotency keys are not as they were written';
}

function damaged(what: string): DamagedJournal {
  return new DamagedJournal(`The journal is damaged: ${what}`);
}
