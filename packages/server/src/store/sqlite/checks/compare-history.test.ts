import { DatabaseSync } from '@photostructure/sqlite';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PortfolioSnapshot, Price } from '@sandpit/core';
import { afterAll, describe, expect, it } from 'vitest';
import {
  orderAdded,
  orderMoved,
  recordOf,
  START,
  testProjection,
  withSimulation,
} from '../../fixtures.contract.js';
import type { HistoryChange } from '../../history.js';
import type { Projection } from '../../projection.js';
import { compareHistory } from './compare-history.js';
import { newDirectory, openTestStore, removeDirectories } from '../data-directory.contract.js';

afterAll(removeDirectories);

/** Module of a faulty projection that omits every fifth row of a kind. */
const forgetting = (kind: string): string =>
  `data:text/javascript,${encodeURIComponent(`
    let n = 0;
    export const projectRecord = (_, { events }) => events.flatMap((event) => event.changes ?? [])
      .filter((change) => (change.list ?? change.change) !== ${JSON.stringify(kind)} || ++n % 5 !== 0);`)}`;

const RECORDS = 25;

/** A data directory with something of everything, closed. */
async function filled(projection?: string): Promise<string> {
  const directory = newDirectory();
  const store = await withSimulation(
    await openTestStore(directory, projection === undefined ? {} : { projection }),
  );
  const place = { event: 0, item: 0 };
  const standing = { held: {} } as unknown as PortfolioSnapshot;
  const appends = Array.from({ length: RECORDS }, (_, index) => {
    const seq = index + 1;
    const listed = (list: 'activities' | 'ledger' | 'equity'): HistoryChange => ({
      change: 'listed',
      list,
      owner: 'portfolio-1',
      ...place,
    });
    const changes: HistoryChange[] = [
      { change: 'portfolio-opened', portfolioId: `p-${seq}`, accountId: 'a', terms: '{}' },
      orderAdded(seq, { clientOrderId: `c-${seq}` }),
      orderMoved(seq, { status: 'FILLED' }, '2026-01-05'),
      { change: 'listed', list: 'order-events', owner: String(seq), ...place, tag: 'EXECUTION' },
      listed('activities'),
      listed('ledger'),
      listed('equity'),
      { change: 'listed', list: 'day-trades', owner: 'portfolio-1', ...place, key: `k-${seq % 20}` },
      { change: 'stream-event', event: 0 },
      { change: 'standing', portfolioId: 'portfolio-1', minute: seq >> 1, hasMoved: true, standing },
      { change: 'mark', symbol: 'AAPL', minute: seq >> 1, price: seq as Price },
      { change: 'portfolio-closed', portfolioId: `p-${seq}`, last: '{}' },
    ];
    const events = [
      { type: 'OrderAccepted', changes },
      { type: 'OrderExecuted', executions: [{}] },
    ];
    return store.journal.append(recordOf('main', seq, events));
  });
  await Promise.all(appends);
  await store.history.reached('main', RECORDS);
  await store.close();
  return directory;
}

/** A copy of a sound one, which is filled once. */
async function copied(): Promise<string> {
  const directory = newDirectory();
  cpSync(await (sound ??= filled()), directory, { recursive: true });
  return directory;
}

let sound: Promise<string> | undefined;

const compared = (directory: string): readonly string[] => compareHistory(directory, testProjection);

describe('compareHistory', () => {
  it('reports nothing for history that matches the journal', async () => {
    expect(compared(await copied())).toEqual([]);
  });

  it.each([
    ['order-events', /events and executions of orders/],
    ['activities', /activities/],
    ['ledger', /ledger/],
    ['equity', /equity/],
    ['day-trades', /day trades/],
    ['stream-event', /events of streams/],
    ['order-moved', /orders/],
    ['portfolio-closed', /portfolios/],
  ])('reports missing rows: %s', async (kind, told) => {
    expect(compared(await filled(forgetting(kind))).join('\n')).toMatch(told);
  });

  it.each([
    ['DELETE FROM client_order WHERE number = 7', /does not have 1 rows of client order ids/],
    [`UPDATE orders SET status = 'CANCELED' WHERE number = 7`, /does not have 1 rows of orders.*CANCELED/s],
    ['DELETE FROM item WHERE list = 2 AND n > 20', /does not have 5 rows of ledger entries/],
    [`INSERT INTO client_order VALUES (1, 'never', 9)`, /has 1 rows of client order ids that the journal/],
  ])('reports the difference: %s', async (sql, told) => {
    const directory = await copied();
    const database = new DatabaseSync(join(directory, 'history.db'));
    database.exec(sql);
    database.close();
    expect(compared(directory).join('\n')).toMatch(told);
  });

  it('reports a difference in any column of any table', async () => {
    const directory = await copied();
    const database = new DatabaseSync(join(directory, 'history.db'));
    const columns = database
      .prepare(
        `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name <> 'watermark' AND NOT (t.name = 'owner' AND c.name = 'k')`,
      )
      .all() as { table: string; column: string }[];
    const unnoticed: string[] = [];
    for (const { table, column } of columns) {
      database.exec('DROP TABLE IF EXISTS aside; CREATE TEMP TABLE aside AS SELECT * FROM ' + table);
      const { changes } = database
        .prepare(
          `UPDATE ${table} SET ${column} = CASE typeof(${column}) WHEN 'text' THEN ${column} || 'x' ELSE ${column} + 1000000 END
           WHERE ${column} IS NOT NULL`,
        )
        .run();
      if (changes > 0 && compared(directory).length === 0) unnoticed.push(`${table}.${column}`);
      database.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM temp.aside`);
    }
    database.close();
    expect(unnoticed).toEqual([]);
    expect(compared(directory)).toEqual([]);
  });

  it('reports damage if a table cannot be read', async () => {
    const path = join(await copied(), 'history.db');
    const database = new DatabaseSync(path);
    const { page } = database
      .prepare(`SELECT rootpage AS page FROM sqlite_master WHERE name = 'client_order'`)
      .get() as { page: number };
    const { size } = database.prepare('SELECT page_size AS size FROM pragma_page_size').get() as {
      size: number;
    };
    database.close();
    const file = readFileSync(path);
    writeFileSync(path, file.fill(255, (page - 1) * size, page * size));
    expect(compared(dirname(path))).toEqual([expect.stringMatching(/^history is damaged/)]);
  });

  it('reports rows that the projection itself omits', async () => {
    const forgets: Projection = (record, parsed, known) =>
      testProjection(record, parsed, known).filter(({ change }) => change !== 'listed');
    const list = `{ change }) => change !== 'listed'`;
    const projection = `data:text/javascript,${encodeURIComponent(
      `export const projectRecord = (_, { events }) => events.flatMap((event) => event.changes ?? []).filter((${list})`,
    )}`;
    expect(compareHistory(await filled(projection), forgets)).toEqual([
      `history has 0 executions where the journal has ${RECORDS}`,
    ]);
  });

  it('ignores remaining rows of a deleted simulation', async () => {
    const directory = await copied();
    const store = await openTestStore(directory);
    void store.registry.deleteSimulation('main', START);
    await store.close();
    expect(compared(directory)).toEqual([]);
  });
});
