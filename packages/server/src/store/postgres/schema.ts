import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { StoreInUse, UnusableDatabase } from '../journal.js';
import { HISTORY_TABLES, historyTables } from '../history/history-schema.js';
import { webhookTables } from '../webhooks.js';
import { SCHEMA } from './database.js';

/** Grows with each change of the tables. */
const FORMAT = 4;
/** The format with endpoints in a table of their own. */
const OLDER_WEBHOOKS = 3;
/** The format with another history as well, which is replaced: its rows are made again. */
const OLDER_HISTORY = 2;
/** Live nodes raise their counters every second. */
const SILENCE_MS = 5_000;
const LOOK_AGAIN_MS = 500;

/** An arbitrary lock number: servers that create the tables at the same time wait for each other on it. */
const TABLES_LOCK = 7_293_615_480;

/**
 * Every table of a cell has the cell first in its key, so that a sharded PostgreSQL can distribute the rows of a cell together. The
 * registry, the incarnations and the webhooks are the installation's: small, and read by every node.
 */
const TABLES = `
  CREATE TABLE meta (
    id integer PRIMARY KEY CHECK (id = 1),
    format integer NOT NULL,
    installation text NOT NULL
  );

  CREATE TABLE registry_head (
    id integer PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL,
    stamp text NOT NULL,
    digest text NOT NULL
  );

  CREATE TABLE registry (
    kind text NOT NULL,
    name text NOT NULL,
    value text,
    version bigint NOT NULL,
    stamp text NOT NULL,
    PRIMARY KEY (kind, name)
  );
  CREATE INDEX registry_by_version ON registry (version);

  CREATE TABLE incarnation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node text NOT NULL,
    url text,
    version text NOT NULL,
    counter bigint NOT NULL,
    struck_out boolean NOT NULL DEFAULT false
  );

  CREATE TABLE head (
    cell integer PRIMARY KEY,
    incarnation bigint,
    epoch bigint NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    wake_at bigint,
    missing bigint,
    losses integer NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  CREATE INDEX head_by_incarnation ON head (incarnation);

  CREATE TABLE block (
    cell integer NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    epoch bigint NOT NULL,
    hash bytea NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (cell, first)
  );

  CREATE TABLE answer (
    cell integer NOT NULL,
    lookup text NOT NULL,
    expires_at bigint NOT NULL,
    fingerprint text NOT NULL,
    status_code integer NOT NULL,
    body text NOT NULL,
    checksum bytea NOT NULL,
    PRIMARY KEY (cell, lookup)
  );
  CREATE INDEX answer_by_lookup ON answer (lookup text_pattern_ops);
  CREATE INDEX answer_by_expiry ON answer (expires_at);

  CREATE TABLE checkpoint (
    cell integer NOT NULL,
    seq bigint NOT NULL,
    kept boolean NOT NULL,
    block_hash bytea NOT NULL,
    parts integer NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (cell, seq)
  );
  CREATE TABLE checkpoint_part (
    cell integer NOT NULL,
    seq bigint NOT NULL,
    part integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (cell, seq, part)
  );
`;

const WEBHOOK_TABLES = webhookTables({
  text: 'text',
  integer: 'bigint',
  key: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  end: '',
});

/** The webhooks of format 3 in the tables of this one. Endpoints stay in `webhook` until the registry has them. */
const ADOPTED_WEBHOOKS = `
  ALTER TABLE webhook_cursor RENAME TO webhook_cursor_3;
  ALTER TABLE webhook_delivery RENAME TO webhook_delivery_3;
  ALTER INDEX webhook_cursor_pkey RENAME TO webhook_cursor_3_pkey;
  ALTER INDEX webhook_delivery_pkey RENAME TO webhook_delivery_3_pkey;
  DROP INDEX webhook_delivery_due;
  ${WEBHOOK_TABLES}
  INSERT INTO webhook_cursor SELECT webhook, simulation, seq, place, coalesce((
      SELECT json_agg(json_build_array(d.seq, d.place)) FROM webhook_delivery_3 d
        WHERE d.webhook = c.webhook AND d.simulation = c.simulation AND (d.seq, d.place) > (c.seq, c.place))::text, '[]')
    FROM webhook_cursor_3 c;
  INSERT INTO webhook_delivery (id, webhook, simulation, event, type, attempts, tries, status, next_at, tried_at, body)
    SELECT id, webhook, simulation, event, data::json ->> 'type', data::json ->> 'attempts', (data::json ->> 'tries')::bigint, status, next_at,
      tried_at, data::json ->> 'body' FROM webhook_delivery_3 ORDER BY n;
  DROP TABLE webhook_cursor_3, webhook_delivery_3;
`;

/** Rows that change often have room on their page for the next version. */
const HISTORY = `
  ${historyTables({ text: 'text', integer: 'bigint', clustered: '' })}
  ALTER TABLE history_cell SET (fillfactor = 50);
  ALTER TABLE history_owner SET (fillfactor = 70);
  ALTER TABLE history_order SET (fillfactor = 80);
  ALTER TABLE history_standing SET (fillfactor = 80);
`;

/** The history of `OLDER_HISTORY`. */
const NO_HISTORY = `
  DROP TABLE IF EXISTS history_position, history_count, history_portfolio, history_order, history_item, history_standing, history_mark;
`;

/** Tables of clusters, added to those of a single server's installation. */
const CLUSTER_TABLES = `
  ALTER TABLE incarnation ADD COLUMN IF NOT EXISTS facts text;
  ALTER TABLE incarnation ADD COLUMN IF NOT EXISTS unfit text NOT NULL DEFAULT '["starting"]';
  CREATE TABLE IF NOT EXISTS placement (
    tenant text PRIMARY KEY,
    incarnation bigint,
    epoch bigint NOT NULL
  );
  CREATE INDEX IF NOT EXISTS placement_by_incarnation ON placement (incarnation);
  CREATE TABLE IF NOT EXISTS ticket (
    digest text PRIMARY KEY,
    value text NOT NULL,
    expires_at bigint NOT NULL,
    used_by text NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ticket_by_expiry ON ticket (expires_at);
`;

/** Columns added later: acknowledged records that a cell lacks (null = none), and accepted losses. */
const LOSS_COLUMNS = `
  ALTER TABLE head ADD COLUMN IF NOT EXISTS missing bigint;
  ALTER TABLE head ADD COLUMN IF NOT EXISTS losses integer NOT NULL DEFAULT 0;
`;

/** Tables with rows of a cell, in the order in which they are emptied when it is deleted. */
export const TABLES_OF_CELLS = [
  'answer',
  'checkpoint_part',
  'checkpoint',
  ...HISTORY_TABLES.map(([table]) => table),
] as const;

/** An installation as its database names it. */
export interface Installation {
  /** Random, from the creation of the tables. */
  readonly installation: string;
  /** An older version stored endpoints of webhooks in a table, which the registry does not have yet. */
  readonly hasOlderEndpoints: boolean;
}

/**
 * Creates missing tables. If several servers start together, one creates them and the others wait. Throws `UnusableDatabase` for
 * tables of another application or of a newer version.
 */
export async function prepareTables(client: pg.Client, shown: string): Promise<Installation> {
  await refuseOlderNodes(client, shown);
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [TABLES_LOCK]);
    const { rows: tables } = await client.query<{ name: string }>(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1',
      [SCHEMA],
    );
    if (tables.length === 0) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
      await client.query(TABLES + HISTORY + WEBHOOK_TABLES);
      await client.query('INSERT INTO meta VALUES (1, $1, $2)', [FORMAT, randomUUID()]);
      await client.query(`INSERT INTO registry_head VALUES (1, 0, '', $1)`, ['0'.repeat(64)]);
    }
    const known = tables.length === 0 || tables.some(({ name }) => name === 'meta');
    if (!known)
      throw new UnusableDatabase(
        `DATABASE_URL: the schema ${SCHEMA} of ${shown} has tables of another application; name another database`,
      );
    const { rows } = await client.query<{ format: number; installation: string }>(
      'SELECT format, installation FROM meta',
    );
    const [meta] = rows;
    const isOlder = meta?.format === OLDER_HISTORY || meta?.format === OLDER_WEBHOOKS;
    if (isOlder) {
      if (meta.format === OLDER_HISTORY) await client.query(NO_HISTORY + HISTORY);
      await client.query(ADOPTED_WEBHOOKS);
      await client.query('UPDATE meta SET format = $1', [FORMAT]);
      await client.query('UPDATE incarnation SET struck_out = true');
    }
    if (meta === undefined || !(isOlder || meta.format === FORMAT))
      throw new UnusableDatabase(
        `DATABASE_URL: the tables of ${shown} are of format ${meta?.format ?? 'none'}; this version reads format ${FORMAT}`,
      );
    await client.query(CLUSTER_TABLES);
    const { rowCount } = await client.query(
      `SELECT 1 FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'head' AND column_name = 'losses'`,
      [SCHEMA],
    );
    // Nodes that run need not wait for a lock on their heads if no column is missing.
    if (rowCount === 0) await client.query(LOSS_COLUMNS);
    await client.query('COMMIT');
    return {
      installation: meta.installation,
      hasOlderEndpoints: tables.some(({ name }) => name === 'webhook'),
    };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw foreignOr(error, shown);
  }
}

/**
 * Nodes of earlier versions read and write older tables: these are replaced when none of them runs. Rejects with `StoreInUse` while one runs.
 */
async function refuseOlderNodes(client: pg.Client, shown: string): Promise<void> {
  const others = async (): Promise<ReadonlyMap<string, string>> => {
    const { rows } = await client.query<{ id: string; counter: string }>(
      'SELECT id, counter FROM incarnation WHERE NOT struck_out AND (SELECT format FROM meta) < $1',
      [FORMAT],
    );
    return new Map(rows.map(({ id, counter }) => [id, counter]));
  };
  try {
    const before = await others();
    const until = performance.now() + SILENCE_MS;
    while (before.size > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      for (const [id, counter] of await others())
        if (before.get(id) !== counter)
          throw new StoreInUse(`Nodes of an older version use ${shown}: stop all of them first`);
    }
  } catch (error) {
    // There are no tables yet, or another application's.
    if ((error as { readonly code?: string }).code !== '42P01') throw error;
  }
}

/** Missing columns: tables of the same names by another program. */
function foreignOr(error: unknown, shown: string): unknown {
  const { code } = error as { readonly code?: string };
  if (code !== '42703' && code !== '42P01') return error;
  return new UnusableDatabase(
    `DATABASE_URL: the schema ${SCHEMA} of ${shown} has tables of another application; name another database`,
  );
}
