import { hash } from 'node:crypto';
import { DamagedJournal } from '../journal.js';
import { all, one } from './connection.js';
import type { Database } from './connection.js';
import { refuseOtherTables } from './journal-schema.js';
import { REGISTRY_TABLES, RowSum, stateSumOf } from './row-sums.js';

/** The one row that says what the last commit was and what must be in the tables after it. */
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
    throw new DamagedJournal('The journal is damaged: its meta row is not the one that was written');
  return meta;
}

function isSum(value: unknown): boolean {
  return value instanceof Uint8Array;
}

/** Covers everything of the row, and by the digest before it every commit so far. */
export function digestOf(meta: Omit<Meta, 'digest'>): string {
  const { journalId, epoch, commits, lastK, stateSum, answersSum, previousDigest } = meta;
  const sums = [stateSum, answersSum].map((sum) => Buffer.from(sum).toString('hex'));
  return hash('sha256', JSON.stringify([journalId, epoch, commits, lastK, sums, previousDigest]), 'hex');
}

/**
 * Refuses a journal whose registry or whose ends are not those of its last commit, before anything is served of it. Reads no block
 * but the last of each simulation: whoever reads another one checks it.
 */
export function refuseAltered(database: Database, meta: Meta): void {
  refuseOtherTables(database);
  if (meta.commits === 0) return;
  if (digestOf(meta) !== meta.digest)
    throw new DamagedJournal('The journal is damaged: its meta row is not the one that was written');
  for (const table of Object.keys(REGISTRY_TABLES)) {
    const [problem] = all<{ integrity_check: string }>(
      database.prepare(`PRAGMA integrity_check('${table}')`),
    ).filter((row) => row.integrity_check !== 'ok');
    if (problem !== undefined)
      throw new DamagedJournal(`The registry is damaged: ${problem.integrity_check}`);
  }
  if (!stateSumOf(database).equals(new RowSum(meta.stateSum)))
    throw new DamagedJournal(
      'The journal is damaged: tenants, keys, simulations, settings, or where a simulation ends, are not as they were written',
    );
  const last = one<{ k: number | null }>(database.prepare('SELECT max(k) AS k FROM block'))?.k ?? 0;
  if (last > meta.lastK)
    throw new DamagedJournal(
      `The journal is damaged: block ${last} is there, and only ${meta.lastK} were written`,
    );
}
