import { DatabaseSync } from '@photostructure/sqlite';
import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DamagedHistory, HISTORY_FORMAT } from '../../history/history-rows.js';
import { historyTables } from '../../history/history-schema.js';
import { all, one, openConnection, pragmaNumber } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';
import { MOST_CHECKED_BYTES } from './history-seal.js';
import { malformed } from '../journal/meta.js';
import { makePrivate } from '../database/private-files.js';
import { BOOK_FOLDER } from './book-files.js';

export const HISTORY_FILE = 'history.db';

/** "SPIH": marks a SQLite file as ours. */
const APPLICATION_ID = 0x53504948;

/** Orders occupy some 800 bytes: a fifth of each 4 KB page would stay empty. */
const PAGE_SIZE = 8_192;

/** Some 8 MB of log, then it is copied into the database. Commits of the journal wait for the disk while a longer one is synced. */
const CHECKPOINT_AFTER_PAGES = 1_024;

/** `journal`: the id of the journal that the rows are of. */
const TABLES = `
  CREATE TABLE history_meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    journal TEXT NOT NULL
  ) STRICT;
${historyTables({ text: 'TEXT', integer: 'INTEGER', clustered: ' STRICT, WITHOUT ROWID' })}`;

/** Removes the tables in any state. No connection may have them open. */
export function removeHistory(path: string): void {
  for (const ending of ['', '.seal', '-wal', '-shm', '-journal']) rmSync(`${path}${ending}`, { force: true });
}

/**
 * Opens the writing connection; creates missing tables. Throws `DamagedHistory` for tables of another format, of
 * another journal, or that cannot be read.
 */
export function openHistory(path: string, journal: string): Database {
  const isNew = path === ':memory:' || !existsSync(path) || statSync(path).size === 0;
  if (path !== ':memory:') makePrivate(path);
  const database = openConnection(path, { readOnly: false });
  try {
    // Takes effect in an empty file only. Rows need not survive a power cut to the last transaction: they are made again.
    database.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384');
    database.exec(
      `PRAGMA wal_autocheckpoint = ${CHECKPOINT_AFTER_PAGES}; PRAGMA journal_size_limit = 268435456`,
    );
    if (isNew) {
      // Derived from the history that was here before.
      if (path !== ':memory:') rmSync(join(dirname(path), BOOK_FOLDER), { recursive: true, force: true });
      makeTables(database, journal);
    } else refuseOther(database, journal);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function makeTables(database: Database, journal: string): void {
  database.exec(`BEGIN IMMEDIATE; ${TABLES}`);
  database.prepare('INSERT INTO history_meta VALUES (1, ?)').run(journal);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${HISTORY_FORMAT}; COMMIT`);
}

/** The tables and indexes that a database has, as text. */
function schemaOf(database: Database): string {
  return JSON.stringify(
    all(database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name')),
  );
}

function refuseOther(database: Database, journal: string): void {
  if (
    pragmaNumber(database, 'application_id') !== APPLICATION_ID ||
    pragmaNumber(database, 'user_version') !== HISTORY_FORMAT
  )
    throw new DamagedHistory('The history is of another format');
  const expected = new DatabaseSync(':memory:');
  try {
    expected.exec(TABLES);
    if (schemaOf(database) !== schemaOf(expected))
      throw new DamagedHistory('The history does not have the tables that it was made with');
  } finally {
    expected.close();
  }
  const meta = one<{ journal: string }>(database.prepare('SELECT journal FROM history_meta'));
  if (meta?.journal !== journal) throw new DamagedHistory('The history is of another journal');
}

/** Throws `DamagedHistory` when SQLite finds a small history malformed; larger ones are checked by reads. */
export function refuseMalformed(database: Database): void {
  if (pragmaNumber(database, 'page_count') * PAGE_SIZE > MOST_CHECKED_BYTES) return;
  const [problem] = malformed(database);
  if (problem !== undefined) throw new DamagedHistory(`The history is malformed: ${problem}`);
}

/**
 * A history that does not fit the journal: of another one, or with records that it does not have. Undefined = it fits, or says nothing.
 */
export function historyMisfit(
  path: string,
  journalId: string,
  blocks: JournalBlocks,
): { readonly path: string; readonly journal: string } | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const database = openConnection(path, { readOnly: true });
    try {
      if (pragmaNumber(database, 'user_version') !== HISTORY_FORMAT) return undefined;
      const journal = one<{ journal: string }>(database.prepare('SELECT journal FROM history_meta'))?.journal;
      if (journal !== undefined && journal !== journalId) return { path, journal };
      const cells = all<{ cell: number; seq: number }>(
        database.prepare('SELECT cell, seq FROM history_cell'),
      );
      const isAhead = cells.some(({ cell, seq }) => blocks.isLive(cell) && seq > blocks.tail(cell).seq);
      return isAhead ? { path, journal: journalId } : undefined;
    } finally {
      database.close();
    }
  } catch {
    // Opening for writing removes the file.
    return undefined;
  }
}
