import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckpointMaking } from '../../checkpoints.js';
import { countRecord, TABLE_NAMES } from '../../history/differences.js';
import type { Counted, Differences } from '../../history/differences.js';
import { lineOf } from '../../history/history-queries.js';
import { LIST_CODE } from '../../history/history-rows.js';
import { HISTORY_TABLES } from '../../history/history-schema.js';
import { makeRows } from '../../history/make-rows.js';
import { all, isDamageOfTables, one, openConnection, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { HISTORY_FILE, openHistory } from '../history/history-file.js';
import { WrittenTables } from '../history/open-tables.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';

/** A row of these lists has the items of all records of one write; items are compared. */
const STREAMS = LIST_CODE['stream-events'];

/**
 * Compares the history of a data directory with its journal: the rows of every simulation are made again in a temporary file, and compared
 * one by one. Orders and executions are also counted in the events themselves: a row that is never made would be missing both times.
 * Memory use is constant.
 */
export async function compareHistory(
  directory: string,
  standbyFrom: CheckpointMaking['standbyFrom'],
): Promise<Differences> {
  const scratch = mkdtempSync(join(tmpdir(), 'sandpit-history-'));
  const journal = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  try {
    const statements = new Statements(journal);
    const blocks = new JournalBlocks(statements);
    const database = openHistory(join(scratch, HISTORY_FILE), blocks.journalId());
    try {
      const cells = all<LiveCell>(
        journal.prepare('SELECT key, id, config FROM simulation WHERE deleted_at IS NULL'),
      );
      const counted: Counted = { orders: 0, executions: 0 };
      for (const cell of cells) await derive(cell, database, blocks, standbyFrom, counted);
      return compareWith(join(directory, HISTORY_FILE), database, cells, counted);
    } finally {
      database.close();
    }
  } finally {
    journal.close();
    rmSync(scratch, { recursive: true });
  }
}

interface LiveCell {
  readonly key: number;
  readonly id: string;
  readonly config: string;
}

async function derive(
  { key, id, config }: LiveCell,
  database: Database,
  blocks: JournalBlocks,
  standbyFrom: CheckpointMaking['standbyFrom'],
  counted: Counted,
): Promise<void> {
  const tables = new WrittenTables(database, blocks);
  const last = blocks.tail(key).seq;
  const begins = blocks.originOf(key)?.seq ?? 0;
  const line = lineOf(key, (fork) => blocks.originOf(fork), last).map((generation) => ({
    ...generation,
    position: tables.position(generation.cell),
  }));
  await makeRows(line, {
    standbyAt: () => Promise.resolve(standbyFrom(config, undefined)),
    read: (afterSeq) => [blocks.read(key, id, afterSeq)],
    write: (made) => {
      if ('rows' in made) tables.write([made]);
      else tables.begin(made.cell, made.beginning);
      return Promise.resolve();
    },
  });
  for (const { payload } of blocks.read(key, id, begins)) countRecord(counted, payload);
}

function compareWith(
  path: string,
  database: Database,
  cells: readonly LiveCell[],
  counted: Counted,
): Differences {
  try {
    // Rows of a long journal need not fit in memory.
    database.exec('PRAGMA temp_store = FILE');
    database.prepare('ATTACH ? AS served').run(path);
    const found = cells.flatMap((cell) => differences(database, cell));
    const miscounts = miscounted(database, cells, counted);
    return {
      problems: [...found.map(({ problem }) => problem), ...miscounts],
      ids: [...new Set(found.map(({ id }) => id))],
    };
  } catch (error) {
    // Pages that were not read since they were damaged.
    if (!isDamageOfTables(error)) throw error;
    const problem = `history is damaged, and is to be made again: ${(error as Error).message}`;
    return { problems: [problem], ids: cells.map(({ id }) => id) };
  }
}

interface Difference {
  readonly id: string;
  readonly problem: string;
}

function differences(database: Database, { key, id }: LiveCell): readonly Difference[] {
  const found: Difference[] = [];
  const say = (problem: string): void => void found.push({ id, problem: `history of ${id} ${problem}` });
  for (const [table] of HISTORY_TABLES) {
    const rows = rowsOf(table);
    const missing = unmatched(database, rows, 'main', 'served', key);
    const extra = unmatched(database, rows, 'served', 'main', key);
    const name = TABLE_NAMES[table] ?? table;
    if (missing.count > 0)
      say(
        `does not have ${missing.count} rows of ${name} that the journal gives, the first ${missing.first}`,
      );
    if (extra.count > 0)
      say(`has ${extra.count} rows of ${name} that the journal does not give, the first ${extra.first}`);
  }
  return found;
}

/** The rows of a table, without what depends on how many were written together. */
function rowsOf(table: string): (schema: string) => string {
  if (table === 'history_cell') return (schema) => `SELECT cell, seq, format FROM ${schema}.history_cell`;
  if (table !== 'history_item') return (schema) => `SELECT * FROM ${schema}.${table}`;
  return (schema) => `
    SELECT cell, owner, list, n, seq, at, places, key FROM ${schema}.history_item WHERE list <> ${STREAMS}
    UNION ALL SELECT i.cell, i.owner, i.list, 0, 0, 0, place.value, i.key
      FROM ${schema}.history_item AS i, json_each(i.places) AS place WHERE i.list = ${STREAMS}`;
}

/** Rows of one database that the other does not have. */
function unmatched(
  database: Database,
  rows: (schema: string) => string,
  here: string,
  there: string,
  cell: number,
): { readonly count: number; readonly first: string } {
  const of = (schema: string): string => `SELECT * FROM (${rows(schema)}) WHERE cell = ${cell}`;
  const sql = `FROM (${of(here)} EXCEPT ${of(there)})`;
  const found = one<{ n: number }>(database.prepare(`SELECT count(*) AS n ${sql}`))?.n ?? 0;
  if (found === 0) return { count: 0, first: '' };
  const [first] = all<Record<string, unknown>>(database.prepare(`SELECT * ${sql} LIMIT 1`));
  return { count: found, first: JSON.stringify(Object.values(first ?? {})) };
}

function miscounted(
  database: Database,
  cells: readonly LiveCell[],
  { orders, executions }: Counted,
): readonly string[] {
  const live = `cell IN (SELECT value FROM json_each('${JSON.stringify(cells.map(({ key }) => key))}'))`;
  const number = (sql: string): number => one<{ n: number }>(database.prepare(sql))?.n ?? 0;
  // Copies that a fork begins with are of its ancestors.
  const hasOrders = number(
    `SELECT total(orders - orders_base) AS n FROM served.history_owner WHERE ${live} AND id = '*'`,
  );
  const hasExecutions = number(
    `SELECT count(*) AS n FROM (
       SELECT places FROM served.history_item WHERE ${live} AND list = ${LIST_CODE['order-events']}
       UNION ALL SELECT o.places FROM served.history_order o WHERE ${live} AND NOT EXISTS (
         SELECT 1 FROM served.history_owner w WHERE w.cell = o.cell AND w.id = o.portfolio AND o.portfolio_n <= w.orders_base)
     ), json_each(places) AS place WHERE place.value ->> 2 = 'EXECUTION'`,
  );
  return [
    ...(hasOrders === orders ? [] : [`history has ${hasOrders} orders where the journal has ${orders}`]),
    ...(hasExecutions === executions
      ? []
      : [`history has ${hasExecutions} executions where the journal has ${executions}`]),
  ];
}
