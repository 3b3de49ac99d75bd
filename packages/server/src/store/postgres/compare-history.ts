import { isOrderPlaced } from '@sandpit/core';
import type { Event } from '@sandpit/core';
import type { Projection } from '../projection.js';
import { BlockReader } from './block-reader.js';
import type { Cell } from './cells.js';
import { DatabaseAddress, SCHEMA } from './database.js';
import { followRegistry } from './follow-registry.js';
import { HistoryProjector } from './history-projector.js';
import { QuestionConnection } from './question-connection.js';
import { RegistryState } from './registry-state.js';
import { TABLES_OF_CELLS } from './schema.js';

/** Comparing the rows of a long journal may be slow. */
const COMPARE_MS = 600_000;

const TABLES = TABLES_OF_CELLS.filter((name) => name.startsWith('history_'));

/** Names of tables in messages for the operator. */
const NAMES: Readonly<Record<string, string>> = {
  history_position: 'positions',
  history_count: 'counts',
  history_portfolio: 'portfolios',
  history_order: 'orders',
  history_item: 'lists',
  history_standing: 'what portfolios had',
  history_mark: 'marks by pushed quotes',
};

/**
 * Reports the rows in which the history of a database differs from its journals; empty = none. No server may use the database, and history
 * must have caught up. Each cell's history is derived again into temporary tables of the same names and compared row by row; orders and
 * executions are also counted in the events themselves.
 */
export async function compareHistory(url: string, project: Projection): Promise<readonly string[]> {
  const address = new DatabaseAddress(url);
  const journal = new QuestionConnection(address);
  // A session resolves names to its temporary tables first.
  const scratch = new QuestionConnection(address, (client) =>
    client.query(
      TABLES.map((name) => `CREATE TEMP TABLE ${name} (LIKE ${SCHEMA}.${name} INCLUDING ALL)`).join(';'),
    ),
  );
  try {
    const state = new RegistryState();
    await followRegistry(journal, state);
    const heads = await journal.ask<{ cell: number; epoch: string; seq: string; hash: Buffer }>(
      'SELECT cell, epoch, seq, hash FROM head',
      [],
      COMPARE_MS,
    );
    const headOf = new Map(heads.map((head) => [head.cell, head]));
    const blocks = new BlockReader(journal, (key) => state.originOf(key));
    const differences: string[] = [];
    for (const { id, key, origin, deletedAt } of state.cells.values()) {
      const head = headOf.get(key);
      if (deletedAt !== undefined || head === undefined) continue;
      const seq = Number(head.seq);
      const cell: Cell = {
        id,
        key,
        head: { epoch: Number(head.epoch), seq, hash: head.hash },
        lastSeq: seq,
        origin,
        losses: 0,
        isLost: false,
      };
      const counted = await derive(cell, scratch, blocks, project);
      for (const table of TABLES) differences.push(...(await differencesIn(scratch, table, key, id)));
      differences.push(...(await miscounted(scratch, key, id, counted)));
      await scratch.ask(`TRUNCATE ${TABLES.map((name) => `pg_temp.${name}`).join(', ')}`, [], COMPARE_MS);
    }
    return differences;
  } finally {
    await scratch.close();
    await journal.close();
  }
}

interface Counted {
  orders: number;
  executions: number;
}

/** Resolves once the temporary tables contain every record of a cell. */
async function derive(
  cell: Cell,
  scratch: QuestionConnection,
  blocks: BlockReader,
  project: Projection,
): Promise<Counted> {
  const counted: Counted = { orders: 0, executions: 0 };
  let last = 0;
  const counting: Projection = (record, payload, source) => {
    const changes = project(record, payload, source);
    // A projection that lacks a row throws, and is repeated.
    if (record.seq > last) count(counted, payload.events as readonly Event[]);
    last = Math.max(last, record.seq);
    return changes;
  };
  if (cell.head.seq === 0) return counted;
  let projector: HistoryProjector | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      projector = new HistoryProjector(scratch, blocks, counting, {
        onProjected: (_, seq) => {
          if (seq >= cell.head.seq) resolve();
        },
        onFailing: (reason) => {
          if (reason !== undefined)
            reject(new Error(`The history of ${cell.id} cannot be derived: ${reason}`));
        },
      });
      projector.own(cell, 0);
    });
  } finally {
    await projector?.close();
  }
  return counted;
}

function count(counted: Counted, events: readonly Event[]): void {
  for (const event of events) {
    if (isOrderPlaced(event)) counted.orders += 1;
    if (event.type === 'OrderExecuted') counted.executions += event.executions.length;
  }
}

async function differencesIn(
  scratch: QuestionConnection,
  table: string,
  key: number,
  id: string,
): Promise<readonly string[]> {
  const rowsOf = (schema: string): string => `SELECT * FROM ${schema}.${table} WHERE cell = $1`;
  const unmatched = async (
    here: string,
    there: string,
  ): Promise<{ readonly n: number; readonly first: string } | undefined> => {
    const [found] = await scratch.ask<{ n: number; first: string }>(
      `SELECT count(*)::integer AS n, min(left(row_to_json(d)::text, 300)) AS first
         FROM (${rowsOf(here)} EXCEPT ALL ${rowsOf(there)}) d`,
      [key],
      COMPARE_MS,
    );
    return found !== undefined && found.n > 0 ? found : undefined;
  };
  const missing = await unmatched('pg_temp', SCHEMA);
  const extra = await unmatched(SCHEMA, 'pg_temp');
  const name = `rows of ${NAMES[table] ?? table}`;
  return [
    ...(missing === undefined
      ? []
      : [
          `history of ${id} does not have ${missing.n} ${name} that the journal gives, the first ${missing.first}`,
        ]),
    ...(extra === undefined
      ? []
      : [`history of ${id} has ${extra.n} ${name} that the journal does not give, the first ${extra.first}`]),
  ];
}

async function miscounted(
  scratch: QuestionConnection,
  key: number,
  id: string,
  { orders, executions }: Counted,
): Promise<readonly string[]> {
  const [has] = await scratch.ask<{ orders: number; executions: number }>(
    `SELECT (SELECT count(*)::integer FROM ${SCHEMA}.history_order WHERE cell = $1) AS orders,
       (SELECT count(*)::integer FROM ${SCHEMA}.history_item WHERE cell = $1 AND list = 'order-events' AND tag = 'EXECUTION') AS executions`,
    [key],
    COMPARE_MS,
  );
  return [
    ...(has?.orders === orders
      ? []
      : [`history of ${id} has ${has?.orders} orders where the journal has ${orders}`]),
    ...(has?.executions === executions
      ? []
      : [`history of ${id} has ${has?.executions} executions where the journal has ${executions}`]),
  ];
}
