import { existsSync } from 'node:fs';
import { DamagedJournal } from '../journal.js';
import { all, asDamage, one, openConnection, pragmaNumber, requireSqliteVersion } from './connection.js';
import type { Database } from './connection.js';

/** "SPIT": says that a SQLite file is ours. */
const APPLICATION_ID = 0x53504954;

/** Grows with each change of the tables or of what records say; a server refuses any other format. */
const FORMAT = 2;

/** Payloads are 1–2 KB: in pages of 4 KB a third of each would stay empty. */
const PAGE_SIZE = 8_192;

/**
 * `list` gives each list of an owner a number; the rows of the list then have running ordinals `n`, so that
 * totals (the last n) and pages (a range of n) are found without counting.
 *
 * `item`, `order_event` and `tenant_event` hold runs: one row for the consecutive items that one commit added,
 * filed under the last of them. See runs.ts. Items with a key have runs of their own: they are replaced.
 *
 * `journal` is written in the order of commits, whatever the simulation, so that a commit touches the end of one
 * table and not a page per simulation.
 */
const TABLES = `
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,
    commits INTEGER NOT NULL,
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

  CREATE TABLE journal (
    k INTEGER PRIMARY KEY,
    simulation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    hash TEXT NOT NULL,
    payload TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX journal_by_seq ON journal (simulation, seq);

  CREATE TABLE tail (simulation INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;

  CREATE TABLE checkpoint (
    simulation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (simulation, seq)
  ) STRICT;

  CREATE TABLE answer (
    k INTEGER PRIMARY KEY,
    lookup TEXT NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    status_code INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX answer_by_expiry ON answer (expires_at);

  CREATE TABLE list (
    key INTEGER PRIMARY KEY,
    simulation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    UNIQUE (simulation, owner, kind)
  ) STRICT;

  CREATE TABLE item (list INTEGER NOT NULL, n INTEGER NOT NULL, run TEXT NOT NULL, PRIMARY KEY (list, n)) STRICT, WITHOUT ROWID;

  CREATE TABLE item_key (list INTEGER NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (list, key)) STRICT, WITHOUT ROWID;

  CREATE TABLE tenant_event (list INTEGER NOT NULL, seq INTEGER NOT NULL, event INTEGER NOT NULL, run TEXT NOT NULL,
    PRIMARY KEY (list, seq, event)) STRICT, WITHOUT ROWID;

  CREATE TABLE portfolio (
    simulation INTEGER NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    account TEXT NOT NULL,
    terms TEXT NOT NULL,
    last TEXT,
    PRIMARY KEY (simulation, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE orders (
    k INTEGER PRIMARY KEY,
    simulation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    portfolio INTEGER NOT NULL,
    portfolio_n INTEGER NOT NULL,
    account INTEGER NOT NULL,
    account_n INTEGER NOT NULL,
    tenant INTEGER NOT NULL,
    symbol TEXT NOT NULL,
    asset_class TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    filled_on TEXT,
    client_order_id TEXT,
    terms TEXT NOT NULL,
    progress TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX orders_by_number ON orders (simulation, number);
  CREATE UNIQUE INDEX orders_by_portfolio ON orders (portfolio, portfolio_n);
  CREATE UNIQUE INDEX orders_by_account ON orders (account, account_n);
  CREATE INDEX orders_by_filled_on ON orders (tenant, filled_on) WHERE filled_on IS NOT NULL;
  CREATE UNIQUE INDEX orders_by_client_order_id ON orders (portfolio, client_order_id) WHERE client_order_id IS NOT NULL;

  CREATE TABLE order_event (order_k INTEGER NOT NULL, n INTEGER NOT NULL, run TEXT NOT NULL, PRIMARY KEY (order_k, n)) STRICT, WITHOUT ROWID;

  INSERT INTO meta VALUES (1, 0, 0, '', '');
`;

/** Opens the writing connection: creates the tables of a new file, refuses a file that is not ours to write. */
export function openForWriting(path: string): Database {
  let database: Database | undefined;
  try {
    // Read-only, so that a file that is refused stays as it was.
    if (existsSync(path)) refuseForeign(path);
    database = openConnection(path, { readOnly: false });
    requireSqliteVersion(database);
    // Takes effect in an empty file only, and before its first page is written.
    database.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
    const mode = one<{ journal_mode: string }>(database.prepare('PRAGMA journal_mode = WAL'));
    if (mode?.journal_mode !== 'wal')
      throw new Error(`${path}: the file system does not allow a write-ahead log`);
    if (isEmpty(database)) createTables(database);
    return database;
  } catch (error) {
    database?.close();
    throw asDamage(error);
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
    if (format !== FORMAT) {
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
  database.exec(`BEGIN IMMEDIATE; ${TABLES}
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; COMMIT`);
}
