import { hash } from 'node:crypto';
import { all } from '../database/connection.js';
import type { Database, SqlValue } from '../database/connection.js';
import type { Tail } from './journal-blocks.js';

/** Bytes of a sum, and of the hash of a row. */
const SIZE = 32;

/**
 * A sum over the hashes of a set of rows, independent of their order: exclusive or. It is updated row by row, and computed again from the
 * tables to detect a changed, missing or additional row.
 */
export class RowSum {
  readonly bytes: Buffer;

  constructor(bytes: Uint8Array = Buffer.alloc(SIZE)) {
    this.bytes = Buffer.from(bytes);
  }

  /** Adds a row that is not part of it, removes one that is. */
  toggle(row: Uint8Array): void {
    const { bytes } = this;
    for (let index = 0; index < SIZE; index += 1) bytes[index] = (bytes[index] ?? 0) ^ (row[index] ?? 0);
  }

  equals(other: RowSum): boolean {
    return this.bytes.equals(other.bytes);
  }
}

/** Tables whose rows are part of the state sum, whole, with what names a row. */
export const REGISTRY_TABLES = {
  setting: 'name',
  tenant: 'id',
  api_key: 'hash',
  simulation: 'key',
} as const;

export type RegistryTable = keyof typeof REGISTRY_TABLES;

export function registryRowHash(table: RegistryTable, row: Readonly<Record<string, SqlValue>>): Uint8Array {
  return hash('sha256', JSON.stringify([table, Object.entries(row)]), 'buffer');
}

/** Hash of the end of a simulation's journal. */
export function tailHash(simulation: number, tail: Tail): Uint8Array {
  return hash('sha256', `tail ${simulation} ${tail.seq} ${Buffer.from(tail.hash).toString('hex')}`, 'buffer');
}

export interface AnswerRow {
  readonly lookup: string;
  readonly expiresAt: number;
  readonly fingerprint: string;
  readonly statusCode: number;
  readonly body: string;
}

export function answerHash({ lookup, expiresAt, fingerprint, statusCode, body }: AnswerRow): Uint8Array {
  return hash('sha256', JSON.stringify([lookup, expiresAt, fingerprint, statusCode, body]), 'buffer');
}

/** Sum of an installation's state in the tables: the registry, and the end of each simulation's journal. */
export function stateSumOf(database: Database): RowSum {
  const sum = new RowSum();
  for (const table of Object.keys(REGISTRY_TABLES) as RegistryTable[]) {
    // By the table itself: an index may be damaged, too.
    const rows = database.prepare(`SELECT * FROM ${table} NOT INDEXED`).iterate();
    for (const row of rows) sum.toggle(registryRowHash(table, row as Record<string, SqlValue>));
  }
  const tail = database.prepare(
    'SELECT last AS seq, hash FROM block WHERE simulation = ? ORDER BY first DESC LIMIT 1',
  );
  const live = all<{ key: number }>(
    database.prepare('SELECT key FROM simulation NOT INDEXED WHERE deleted_at IS NULL'),
  );
  for (const { key } of live) {
    const end = tail.get(key) as Tail | undefined;
    if (end !== undefined) sum.toggle(tailHash(key, end));
  }
  return sum;
}

export function answersSumOf(database: Database): RowSum {
  const sum = new RowSum();
  const rows: Iterable<unknown> = database
    .prepare(
      `SELECT lookup, expires_at AS expiresAt, fingerprint, status_code AS statusCode, body FROM answer NOT INDEXED`,
    )
    .iterate();
  for (const row of rows) sum.toggle(answerHash(row as AnswerRow));
  return sum;
}
