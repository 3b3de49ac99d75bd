import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { DamagedJournal } from '../../journal.js';
import {
  all,
  asDamage,
  one,
  openConnection,
  pragmaNumber,
  requireSqliteVersion,
} from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { makePrivate } from '../database/private-files.js';
import { webhookTables } from '../../webhooks.js';

/** The file in a data directory that holds the journal, the registry and the answers. */
export const JOURNAL_FILE = 'journal.db';

/** The file of earlier versions with the webhooks. */
export const WEBHOOK_FILE = 'webhooks.db';

/** "SPIT": marks a SQLite file as ours. */
const APPLICATION_ID = 0x53504954;

/** Increased with each change of the tables or of the meaning of records; a server refuses any other format. */
const FORMAT = 6;
/** The format of earlier versions, with the webhooks in a file of their own. The first commit of an opening changes it. */
const FORMAT_WITHOUT_WEBHOOKS = 5;

/**
 * A commit writes whole pages, however little of each has changed: with one order 6.7 KB of log in pages of 1 KB, 10.8 in pages of
 * 2 KB, 21 in pages of 4 KB. With many orders it is nearly the same for all.
 */
const PAGE_SIZE = 1_024;

/**
 * `block` is written in the order of commits of all simulations, so that a commit touches the end of one table and not a page per
 * simulation. See journal-blocks.ts. There is no table of tails: a simulation's journal ends with its last block.
 *
 * `meta`: `last_k` is the k of the last block ever written (the block may have been removed with its simulation), `state_sum` and
 * `answers_sum` are the sums of the required rows (row-sums.ts), and the digest of a commit covers them all.
 */
const TABLES_WITHOUT_WEBHOOKS = `
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    journal_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    commits INTEGER NOT NULL,
    last_k INTEGER NOT NULL,
    state_sum BLOB NOT NULL,
    answers_sum BLOB NOT NULL,
    digest TEXT NOT NULL,
    previous_digest TEXT NOT NULL
  ) STRICT;

  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE tenant (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    tier TEXT NOT NULL,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE api_key (
    hash TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    tier TEXT NOT NULL,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT;
  CREATE INDEX api_key_by_tenant ON api_key (tenant);

  CREATE TABLE simulation (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT,
    config TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    deleted_at INTEGER,
    purged INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX simulation_by_tenant ON simulation (tenant) WHERE deleted_at IS NULL;
  CREATE INDEX simulation_to_purge ON simulation (key) WHERE deleted_at IS NOT NULL AND purged = 0;

  CREATE TABLE block (
    k INTEGER PRIMARY KEY,
    simulation INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    hash BLOB NOT NULL,
    data BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX block_by_first ON block (simulation, first);

  CREATE TABLE answer (
    k INTEGER PRIMARY KEY,
    lookup TEXT NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    status_code INTEGER NOT NULL,
    body TEXT NOT NULL,
    checksum BLOB NOT NULL
  ) STRICT;
`;

const WEBHOOK_TABLES = webhookTables({
  text: 'TEXT',
  integer: 'INTEGER',
  key: 'INTEGER PRIMARY KEY',
  end: ' STRICT',
});

/** The tables of webhooks are covered by no sum: what they lack, receivers get again. */
export const JOURNAL_TABLES = TABLES_WITHOUT_WEBHOOKS + WEBHOOK_TABLES;

export const isWithoutWebhooks = (database: Database): boolean =>
  pragmaNumber(database, 'user_version') === FORMAT_WITHOUT_WEBHOOKS;

/** Adds the tables of webhooks to a journal of the format before, inside a commit. */
export function addWebhookTables(database: Database): void {
  database.exec(`${WEBHOOK_TABLES} PRAGMA user_version = ${FORMAT}`);
}

/** Opens the writing connection: creates the tables of a new file, refuses a file that is not ours to write. */
export function openJournalForWriting(path: string): Database {
  const isInMemory = path === ':memory:';
  let database: Database | undefined;
  try {
    if (!isInMemory) {
      if (isHalfCreated(path)) rollBack(path);
      // Read-only, so that a refused file is unchanged.
      if (existsSync(path)) refuseForeign(path);
      makePrivate(path);
    }
    database = openConnection(path, { readOnly: false });
    requireSqliteVersion(database);
    // Takes effect in an empty file only, and before its first page is written.
    database.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
    const mode = one<{ journal_mode: string }>(database.prepare('PRAGMA journal_mode = WAL'));
    if (mode?.journal_mode !== 'wal' && !isInMemory)
      throw new Error(`${path}: the file system does not allow a write-ahead log`);
    if (isEmpty(database)) createTables(database);
    return database;
  } catch (error) {
    database?.close();
    throw asDamage(error);
  }
}

/** True after a kill during the creation of the file: it has no table yet, and a rollback journal, which no later moment has. */
const isHalfCreated = (path: string): boolean =>
  existsSync(`${path}-journal`) && existsSync(path) && statSync(path).size <= PAGE_SIZE;

/** A read-only connection refuses a file that has to be rolled back. */
function rollBack(path: string): void {
  const database = openConnection(path, { readOnly: false });
  try {
    isEmpty(database);
  } finally {
    database.close();
  }
}

function refuseForeign(path: string): void {
  const database = openConnection(path, { readOnly: true });
  try {
    if (isEmpty(database)) return;
    if (pragmaNumber(database, 'application_id') !== APPLICATION_ID) {
      throw new DamagedJournal(`${path} is a database of another program`);
    }
    const format = pragmaNumber(database, 'user_version');
    if (format !== FORMAT && format !== FORMAT_WITHOUT_WEBHOOKS) {
      const version = format > FORMAT ? 'a newer version' : 'an older version';
      throw new DamagedJournal(
        `${path} was written by ${version} (format ${format}; this one knows ${FORMAT}). Nothing was changed.`,
      );
    }
  } finally {
    database.close();
  }
}

function isEmpty(database: Database): boolean {
  return (
    all(database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1')).length === 0 &&
    pragmaNumber(database, 'application_id') === 0
  );
}

function createTables(database: Database): void {
  database.exec(`BEGIN IMMEDIATE; ${JOURNAL_TABLES}
    INSERT INTO meta VALUES (1, '${randomUUID()}', 0, 0, 0, zeroblob(32), zeroblob(32), '', '');
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; COMMIT`);
}

/** The tables and indexes that a database has, as text. */
function schemaOf(database: Database): string {
  return JSON.stringify(
    all(database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name')),
  );
}

/**
 * Refuses altered table definitions: a flipped bit in the name of a table or column would be an unexplained error at the first statement.
 */
export function refuseOtherTables(database: Database): void {
  const expected = new DatabaseSync(':memory:');
  try {
    expected.exec(isWithoutWebhooks(database) ? TABLES_WITHOUT_WEBHOOKS : JOURNAL_TABLES);
    if (schemaOf(database) !== schemaOf(expected))
      throw new DamagedJournal('The journal does not have the tables that it was made with');
  } finally {
    expected.close();
  }
}
