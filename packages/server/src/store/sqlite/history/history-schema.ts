import { DatabaseSync } from '@photostructure/sqlite';
import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { all, one, openConnection, pragmaNumber } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { MOST_CHECKED_BYTES } from './history-seal.js';
import { malformed } from '../journal/meta.js';
import { makePrivate } from '../database/private-files.js';
import { BOOK_FOLDER } from './book-files.js';
import { DamagedHistory, watermarkSum } from './history-rows.js';
import type { WatermarkRow } from './history-rows.js';

export const HISTORY_FILE = 'history.db';

/** "SPIH": marks a SQLite file as ours. */
const APPLICATION_ID = 0x53504948;

/** Grows with each change of the tables or of the projection: a history of any other format is derived again. */
const FORMAT = 7;

/** Orders occupy some 800 bytes: a fifth of each 4 KB page would stay empty. */
const PAGE_SIZE = 8_192;

/** Some 8 MB of log, then it is copied into the database. Commits of the journal wait for the disk while a longer one is synced. */
const CHECKPOINT_AFTER_PAGES = 1_024;

/**
 * Rows are in the order in which they are read and have running ordinals: a page is one range, a total is the ordinal of the last row.
 * history-rows.ts describes their columns.
 */
const TABLES = `
  CREATE TABLE watermark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    journal TEXT NOT NULL,
    k INTEGER NOT NULL,
    hash BLOB NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE simulation (
    key INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    orders INTEGER NOT NULL,
    last_order INTEGER NOT NULL,
    parent INTEGER,
    begins INTEGER NOT NULL,
    inherited INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE owner (
    k INTEGER PRIMARY KEY,
    simulation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    counts TEXT NOT NULL,
    base TEXT NOT NULL,
    UNIQUE (simulation, id, kind)
  ) STRICT;

  CREATE TABLE portfolio (
    simulation INTEGER NOT NULL,
    id TEXT NOT NULL,
    account TEXT NOT NULL,
    terms TEXT NOT NULL,
    opened INTEGER NOT NULL,
    last TEXT,
    closed INTEGER,
    PRIMARY KEY (simulation, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE orders (
    simulation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    portfolio INTEGER NOT NULL,
    portfolio_n INTEGER NOT NULL,
    account INTEGER NOT NULL,
    account_n INTEGER NOT NULL,
    symbol TEXT NOT NULL,
    asset_class TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    filled_on TEXT,
    terms TEXT NOT NULL,
    progress TEXT NOT NULL,
    seq INTEGER NOT NULL,
    places TEXT NOT NULL,
    changed INTEGER NOT NULL,
    events INTEGER NOT NULL,
    PRIMARY KEY (simulation, number)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX orders_by_portfolio ON orders (portfolio, portfolio_n);
  CREATE UNIQUE INDEX orders_by_account ON orders (account, account_n);
  CREATE INDEX orders_by_filled_on ON orders (simulation, filled_on) WHERE filled_on IS NOT NULL;

  CREATE TABLE client_order (
    owner INTEGER NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE item (
    owner INTEGER NOT NULL,
    list INTEGER NOT NULL,
    n INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    places TEXT NOT NULL,
    key TEXT,
    PRIMARY KEY (owner, list, n)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX item_by_key ON item (owner, list, key) WHERE key IS NOT NULL;

  CREATE TABLE past_item (
    owner INTEGER NOT NULL,
    list INTEGER NOT NULL,
    n INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    places TEXT NOT NULL,
    PRIMARY KEY (owner, list, n, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE standing (
    owner INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    n INTEGER NOT NULL,
    holding INTEGER NOT NULL,
    moved INTEGER NOT NULL,
    standing TEXT NOT NULL,
    first INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (owner, minute)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE past_standing (
    owner INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    until INTEGER NOT NULL,
    moved INTEGER NOT NULL,
    standing TEXT NOT NULL,
    PRIMARY KEY (owner, minute, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE mark (
    simulation INTEGER NOT NULL,
    symbol TEXT NOT NULL,
    minute INTEGER NOT NULL,
    price INTEGER NOT NULL,
    first INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (simulation, symbol, minute)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE order_event (
    simulation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    n INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    places TEXT NOT NULL,
    PRIMARY KEY (simulation, number, n)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE stream_event (
    simulation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    places TEXT NOT NULL,
    PRIMARY KEY (simulation, seq)
  ) STRICT, WITHOUT ROWID;
`;

/** Removes the tables in any state. No connection may have them open. */
export function removeHistory(path: string): void {
  for (const ending of ['', '.seal', '-wal', '-shm', '-journal']) rmSync(`${path}${ending}`, { force: true });
}

/**
 * Opens the writing connection; creates missing tables. Throws `DamagedHistory` for tables of another format, of
 * another journal, or that cannot be read.
 */
export function openHistory(path: string, journal: string): Database {
  const isNew = !existsSync(path) || statSync(path).size === 0;
  makePrivate(path);
  const database = openConnection(path, { readOnly: false });
  try {
    // Takes effect in an empty file only. A cache need not survive a power cut to the last transaction: it catches up.
    database.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16384');
    database.exec(
      `PRAGMA wal_autocheckpoint = ${CHECKPOINT_AFTER_PAGES}; PRAGMA journal_size_limit = 268435456`,
    );
    if (isNew) {
      // Derived from the history that was here before.
      rmSync(join(dirname(path), BOOK_FOLDER), { recursive: true, force: true });
      makeTables(database, journal);
    } else refuseOther(database, journal);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function makeTables(database: Database, journal: string): void {
  const watermark = { journal, k: 0, hash: new Uint8Array() };
  database.exec(`BEGIN IMMEDIATE; ${TABLES}`);
  database
    .prepare('INSERT INTO watermark VALUES (1, ?, ?, ?, ?)')
    .run(journal, watermark.k, watermark.hash, watermarkSum(watermark));
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; COMMIT`);
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
    pragmaNumber(database, 'user_version') !== FORMAT
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
  if (watermarkOf(database).journal !== journal)
    throw new DamagedHistory('The history is of another journal');
}

/** Throws `DamagedHistory` when SQLite finds a small history malformed; larger ones are checked by reads. */
export function refuseMalformed(database: Database): void {
  if (pragmaNumber(database, 'page_count') * PAGE_SIZE > MOST_CHECKED_BYTES) return;
  const [problem] = malformed(database);
  if (problem !== undefined) throw new DamagedHistory(`The history is malformed: ${problem}`);
}

/** Watermark of the tables in a file; undefined if there are none or they cannot be trusted. */
export function watermarkAt(path: string): WatermarkRow | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const database = openConnection(path, { readOnly: true });
    try {
      return watermarkOf(database);
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

/** Watermark of the tables: the last block that they contain. */
export function watermarkOf(database: Database): WatermarkRow {
  const row = one<WatermarkRow>(database.prepare('SELECT journal, k, hash, sum FROM watermark'));
  if (row === undefined) throw new DamagedHistory('The history does not say how far it has come');
  if (watermarkSum(row) !== row.sum)
    throw new DamagedHistory('The history does not say how far it has come as it was written');
  return row;
}
