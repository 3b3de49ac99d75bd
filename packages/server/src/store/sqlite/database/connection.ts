import { DatabaseSync } from '@photostructure/sqlite';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { DamagedJournal } from '../../journal.js';
import { uninterrupted } from '../../../threads/process-end.js';

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;
export type SqlValue = string | number | null | Uint8Array;

/** Earlier versions can lose commits when a WAL is reset while another connection reads it. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/** A statement waits this long for a lock of another process (a backup, a curious shell) before it fails. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Opens a connection. Once closed it stays open internally until its statements are garbage-collected or its thread has ended: the binding
 * does not release them before. A writing connection removes its log by name at that time, so no other file may have replaced it.
 */
export function openConnection(path: string, options: { readonly readOnly: boolean }): Database {
  return uninterrupted(() => {
    const database = new DatabaseSync(path, { readOnly: options.readOnly, timeout: LOCK_TIMEOUT_MS });
    // The binding's default in WAL mode is NORMAL, which does not survive a power cut.
    database.exec('PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY');
    // Deleted rows are overwritten: the erasure of a tenant leaves no data in free pages (D170).
    database.exec('PRAGMA secure_delete = ON');
    return database;
  });
}

export function requireSqliteVersion(database: Database): void {
  const version =
    one<{ version: string }>(database.prepare('SELECT sqlite_version() AS version'))?.version ?? '0';
  const parts = version.split('.').map(Number);
  for (const [index, oldest] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) return;
    if (part < oldest)
      throw new Error(`SQLite ${version} is too old: ${OLDEST_SQLITE.join('.')} or later is needed`);
  }
}

/** A pragma that answers with one number. */
export function pragmaNumber(database: Database, name: string): number {
  const row = one<Record<string, number>>(database.prepare(`PRAGMA ${name}`));
  return Object.values(row ?? {})[0] ?? Number.NaN;
}

/** A statement with the type of the rows that it selects. SQLite does not know it: the code that has the statement names it. */
export type Select<Row> = Statement & { readonly rowType?: Row };

export function one<Row>(statement: Select<Row>, ...values: readonly SqlValue[]): Row | undefined {
  return statement.get(...values) as Row | undefined;
}

export function all<Row>(statement: Select<Row>, ...values: readonly SqlValue[]): readonly Row[] {
  return statement.all(...values) as readonly Row[];
}

/** Prepares each statement once, when it is first needed. */
export class Statements {
  readonly #database: Database;
  readonly #prepared = new Map<string, Statement>();
  readonly #before: (() => void) | undefined;

  /** `before`: called before each statement, for a journal whose last records are not in its tables yet. */
  constructor(database: Database, before?: () => void) {
    this.#database = database;
    this.#before = before;
  }

  of<Row>(sql: string): Select<Row> {
    this.#before?.();
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

const SQLITE_ERROR = 1;
const SQLITE_PERM = 3;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_NOTADB = 26;

/** The binding omits the number of some errors; the texts are SQLite's own. */
const NUMBERS: Readonly<Record<string, number>> = {
  'access permission denied': SQLITE_PERM,
  'attempt to write a readonly database': SQLITE_READONLY,
  'database is locked': SQLITE_BUSY,
  'disk I/O error': SQLITE_IOERR,
  'database disk image is malformed': SQLITE_CORRUPT,
  'database or disk is full': SQLITE_FULL,
  'file is not a database': SQLITE_NOTADB,
  'unable to open database file': SQLITE_CANTOPEN,
};

function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR')) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  const text = Object.keys(NUMBERS).find((text) => error.message.endsWith(text));
  return text === undefined ? undefined : NUMBERS[text];
}

export const isSqliteError = (error: unknown): boolean => sqliteCode(error) !== undefined;

/** No space left: the only error after which the same commit may be retried. */
export function isDiskFull(error: unknown): boolean {
  if (sqliteCode(error) === SQLITE_FULL) return true;
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** True when another process holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}

/** The file or its directory may not be written. */
export function isForbidden(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_PERM || code === SQLITE_READONLY || code === SQLITE_CANTOPEN;
}

/** The disk itself fails: not a bug, and not solved by a retry. */
export function isDiskFailure(error: unknown): boolean {
  return (
    sqliteCode(error) === SQLITE_IOERR || (error instanceof Error && 'code' in error && error.code === 'EIO')
  );
}

/** Runs a read, and maps errors of damaged data to their own type. */
export function readingIntact<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw asDamage(error);
  }
}

export function asDamage(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code !== SQLITE_CORRUPT && code !== SQLITE_NOTADB) return error;
  return new DamagedJournal(`The database is damaged: ${(error as Error).message}`, { cause: error });
}

/** True for errors of tables that differ from their original form: malformed pages, missing tables, impossible rows. */
export function isDamageOfTables(error: unknown): boolean {
  const code = sqliteCode(error);
  const signs = [SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_NOTADB];
  return code !== undefined && signs.includes(code);
}
