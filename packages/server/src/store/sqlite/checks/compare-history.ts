import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOrderPlaced } from '@sandpit/core';
import type { Event } from '@sandpit/core';
import type { Projection } from '../../projection.js';
import { all, isDamageOfTables, one, openConnection, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { HistoryPurge } from '../history/history-purge.js';
import { LIST_CODE } from '../history/history-rows.js';
import { HISTORY_FILE, openHistory } from '../history/history-schema.js';
import { JournalBlocks, recordsOf } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';
import { OpenHistory } from '../history/open-history.js';

const BYTES_AT_ONCE = 2_000_000;

/** Rows of one kind, by content: numbers of owners differ between files. */
interface RowKind {
  readonly name: string;
  /** `s` is the simulation; @ is replaced by the database. */
  readonly rows: string;
  readonly columns: readonly string[];
}

const OF_OWNER = ['owner.simulation', 'owner.kind', 'owner.id'];

const itemsOf = (name: string, list: number): RowKind => ({
  name,
  rows: `@.item JOIN @.owner ON owner.k = item.owner WHERE item.list = ${list}`,
  columns: [...OF_OWNER, 'item.n', 'item.seq', 'item.places', 'item.key'],
});

const ORDER_OWNERS = `@.orders
  JOIN @.owner AS portfolio ON portfolio.k = orders.portfolio
  JOIN @.owner AS account ON account.k = orders.account WHERE true`;

/** Events in the record that created the order are in the order's own row. */
const ORDER_EVENTS = `(
  SELECT simulation, number, 0 AS n, seq, places FROM @.orders
  UNION ALL SELECT simulation, number, n, seq, places FROM @.order_event)`;

const KINDS: readonly RowKind[] = [
  {
    name: 'simulations',
    rows: '@.simulation AS owner WHERE true',
    columns: [
      'owner.key',
      'owner.seq',
      'owner.orders',
      'owner.last_order',
      'owner.parent',
      'owner.begins',
      'owner.inherited',
    ],
  },
  { name: 'counts', rows: '@.owner WHERE true', columns: [...OF_OWNER, 'owner.counts', 'owner.base'] },
  {
    name: 'portfolios',
    rows: '@.portfolio AS owner WHERE true',
    columns: [
      'owner.simulation',
      'owner.id',
      'owner.account',
      'owner.terms',
      'owner.opened',
      'owner.last',
      'owner.closed',
    ],
  },
  {
    name: 'orders',
    rows: ORDER_OWNERS,
    columns: [
      'orders.simulation',
      'orders.number',
      'portfolio.id',
      'orders.portfolio_n',
      'account.id',
      'orders.account_n',
      'orders.symbol',
      'orders.asset_class',
      'orders.created_at',
      'orders.status',
      'orders.filled_on',
      'orders.terms',
      'orders.progress',
      'orders.changed',
      'orders.events',
    ],
  },
  {
    name: 'client order ids',
    rows: '@.client_order JOIN @.owner ON owner.k = client_order.owner WHERE true',
    columns: [...OF_OWNER, 'client_order.id', 'client_order.number'],
  },
  {
    name: 'events and executions of orders',
    rows: `${ORDER_EVENTS} AS owner WHERE true`,
    columns: ['owner.simulation', 'owner.number', 'owner.n', 'owner.seq', 'owner.places'],
  },
  {
    name: 'events of streams',
    rows: '@.stream_event AS owner WHERE true',
    columns: ['owner.simulation', 'owner.seq', 'owner.places'],
  },
  {
    name: 'what portfolios had',
    rows: '@.standing JOIN @.owner ON owner.k = standing.owner WHERE true',
    columns: [
      ...OF_OWNER,
      'standing.minute',
      'standing.n',
      'standing.holding',
      'standing.moved',
      'standing.standing',
      'standing.first',
      'standing.seq',
    ],
  },
  {
    name: 'versions of what portfolios had',
    rows: '@.past_standing JOIN @.owner ON owner.k = past_standing.owner WHERE true',
    columns: [
      ...OF_OWNER,
      'past_standing.minute',
      'past_standing.seq',
      'past_standing.until',
      'past_standing.moved',
      'past_standing.standing',
    ],
  },
  {
    name: 'versions of items',
    rows: '@.past_item JOIN @.owner ON owner.k = past_item.owner WHERE true',
    columns: [...OF_OWNER, 'past_item.list', 'past_item.n', 'past_item.seq', 'past_item.places'],
  },
  {
    name: 'marks by pushed quotes',
    rows: '@.mark AS owner WHERE true',
    columns: ['owner.simulation', 'owner.symbol', 'owner.minute', 'owner.price', 'owner.first', 'owner.seq'],
  },
  itemsOf('activities', LIST_CODE.activities),
  itemsOf('ledger entries', LIST_CODE.ledger),
  itemsOf('day trades', LIST_CODE['day-trades']),
  itemsOf('points of equity curves', LIST_CODE.equity),
  itemsOf('rows of memorandum accounts', LIST_CODE.sma),
  itemsOf('margin calls', LIST_CODE['margin-calls']),
];

/**
 * Reports the rows in which the history of a data directory differs from its journal, in sentences for an operator; empty = none. History
 * must have caught up. It is derived again into a temporary file and compared row by row; orders and executions are also counted in the
 * events themselves, since a projection that omits an item would omit it both times. Memory use is constant.
 */
export function compareHistory(directory: string, project: Projection): readonly string[] {
  const scratch = mkdtempSync(join(tmpdir(), 'sandpit-history-'));
  const journal = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  try {
    const blocks = new JournalBlocks(new Statements(journal));
    const database = openHistory(join(scratch, HISTORY_FILE), blocks.journalId());
    try {
      const counted = derive(database, blocks, project);
      noteLive(database, journal);
      return compareWith(join(directory, HISTORY_FILE), database, counted);
    } finally {
      database.close();
    }
  } finally {
    journal.close();
    rmSync(scratch, { recursive: true });
  }
}

/** Rows of deleted simulations may be on their way out, or stay for forks. */
function noteLive(database: Database, journal: Database): void {
  database.exec('CREATE TEMP TABLE live (key INTEGER PRIMARY KEY)');
  const insert = database.prepare('INSERT INTO temp.live VALUES (?)');
  const live = journal.prepare('SELECT key FROM simulation WHERE deleted_at IS NULL');
  for (const { key } of all<{ key: number }>(live)) insert.run(key);
}

function compareWith(path: string, database: Database, counted: Counted): readonly string[] {
  try {
    database.prepare('ATTACH ? AS served').run(path);
    return [...KINDS.flatMap((kind) => differences(database, kind)), ...miscounted(database, counted)];
  } catch (error) {
    // Pages that were not read since they were damaged.
    if (!isDamageOfTables(error)) throw error;
    return [`history is damaged, and is to be derived again: ${(error as Error).message}`];
  }
}

interface Counted {
  orders: number;
  executions: number;
}

function derive(database: Database, blocks: JournalBlocks, project: Projection): Counted {
  const open = new OpenHistory(database, new HistoryPurge(database), blocks);
  const counted = { orders: 0, executions: 0 };
  for (;;) {
    const some = blocks.after(open.k, BYTES_AT_ONCE);
    const last = some.at(-1);
    if (last === undefined) return counted;
    open.transaction(last, () => {
      for (const block of some) {
        const records = recordsOf(block);
        open.project(block, records, project);
        if (blocks.isLive(block.simulation))
          for (const { events } of records) count(counted, events as readonly Event[]);
      }
    });
  }
}

function count(counted: Counted, events: readonly Event[]): void {
  for (const event of events) {
    if (isOrderPlaced(event)) counted.orders += 1;
    if (event.type === 'OrderExecuted') counted.executions += event.executions.length;
  }
}

function differences(database: Database, { name, rows, columns }: RowKind): readonly string[] {
  const missing = unmatched(database, { name, rows, columns }, 'main', 'served');
  const extra = unmatched(database, { name, rows, columns }, 'served', 'main');
  return [
    ...(missing.count > 0
      ? [
          `history does not have ${missing.count} rows of ${name} that the journal gives, the first ${missing.first}`,
        ]
      : []),
    ...(extra.count > 0
      ? [
          `history has ${extra.count} rows of ${name} that the journal does not give, the first ${extra.first}`,
        ]
      : []),
  ];
}

/** Rows of one database that the other does not have. */
function unmatched(
  database: Database,
  { rows, columns }: RowKind,
  here: string,
  there: string,
): { readonly count: number; readonly first: string } {
  const own = columns.map((column, index) => `${column} AS c${index}`).join(', ');
  const same = columns.map((column, index) => `${column} IS mine.c${index}`).join(' AND ');
  const [simulation] = columns;
  const live = `${simulation} IN (SELECT key FROM temp.live)`;
  const sql = `FROM (SELECT ${own} FROM ${rows.replaceAll('@', here)} AND ${live}) AS mine
     WHERE NOT EXISTS (SELECT 1 FROM ${rows.replaceAll('@', there)} AND ${same})`;
  const found = one<{ n: number }>(database.prepare(`SELECT count(*) AS n ${sql}`))?.n ?? 0;
  if (found === 0) return { count: 0, first: '' };
  const [first] = all<Record<string, unknown>>(database.prepare(`SELECT * ${sql} LIMIT 1`));
  return { count: found, first: JSON.stringify(Object.values(first ?? {})) };
}

function miscounted(database: Database, { orders, executions }: Counted): readonly string[] {
  const live = 'simulation IN (SELECT key FROM temp.live)';
  // Orders that a fork has changed are its own rows, and its ancestors' too.
  const own = (table: string): string =>
    `${live} AND ${table}.seq > (SELECT begins FROM served.simulation AS origin WHERE origin.key = ${table}.simulation)`;
  const number = (sql: string): number => one<{ n: number }>(database.prepare(sql))?.n ?? 0;
  const hasOrders = number(`SELECT count(*) AS n FROM served.orders WHERE ${own('orders')}`);
  const hasExecutions = number(
    `SELECT count(*) AS n FROM ${ORDER_EVENTS.replaceAll('@', 'served')} AS event, json_each(event.places) AS place
     WHERE ${own('event')} AND place.value ->> 2 = 'EXECUTION'`,
  );
  return [
    ...(hasOrders === orders ? [] : [`history has ${hasOrders} orders where the journal has ${orders}`]),
    ...(hasExecutions === executions
      ? []
      : [`history has ${hasExecutions} executions where the journal has ${executions}`]),
  ];
}
