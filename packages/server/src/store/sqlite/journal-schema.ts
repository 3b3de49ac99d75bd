/** The file in a data directory that holds the journal, the registry and the answers. */
export const JOURNAL_FILE = 'journal.db';

/**
 * `block` is written in the order of commits, whatever the simulation, so that a commit touches the end of one table and not a page
 * per simulation. See journal-blocks.ts. There is no table of tails: where a simulation's journal ends is its last block.
 *
 * `meta`: `last_k` is the k of the last block ever written (the block may be gone with its simulation), `state_sum` and
 * `answers_sum` are the sums of what must be there (row-sums.ts), and the digest of a commit covers them all.
 */
export const JOURNAL_TABLES = `
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
    lookup BLOB NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    status_code INTEGER NOT NULL,
    body TEXT NOT NULL,
    checksum BLOB NOT NULL
  ) STRICT;
`;
