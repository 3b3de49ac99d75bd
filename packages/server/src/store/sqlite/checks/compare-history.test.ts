import { DatabaseSync } from '@photostructure/sqlite';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { standbyFrom } from '../../../engine/recovery/checkpoint.js';
import { START } from '../../fixtures.contract.js';
import { TradedSimulation } from '../../traded-simulation.contract.js';
import { newDirectory, openTestStore, removeDirectories } from '../data-directory.contract.js';
import { compareHistory } from './compare-history.js';
import type { Differences } from '../../history/differences.js';

afterAll(removeDirectories);

/** A data directory with rows in every table, of a simulation and a fork of it; closed. */
async function filled(): Promise<string> {
  const directory = newDirectory();
  const store = await openTestStore(directory);
  const main = await TradedSimulation.begin(store);
  const [mine, margin] = [
    await main.openPortfolio(),
    await main.openPortfolio({ type: 'MARGIN', cash: 10_000 }),
  ];
  const closing = await main.openPortfolio();
  await main.quote('AAPL', '99.90', '100.00');
  for (let n = 0; n < 5; n += 1) {
    await main.place(mine, { quantity: 2, clientOrderId: `c-${n}` });
    // More day trades would restrict it.
    if (n < 2) {
      await main.place(margin, { quantity: 10 });
      await main.place(margin, { intent: 'SELL_TO_CLOSE', quantity: 10 });
    }
    await main.advance(1);
  }
  await main.close(closing);
  const resting = await main.place(mine, { limit: '50' });
  await main.replace(resting, '51');
  await main.quote('AAPL', '99.90', '100.00');
  const fork = await main.fork('fork');
  await fork.cancel(resting);
  await fork.place(mine);
  await main.place(margin, { quantity: 150 });
  await main.quote('AAPL', '50.00', '50.10');
  await main.advance(1);
  await main.advanceTo('2026-01-06', 10);
  await main.written();
  await fork.written();
  await store.close();
  return directory;
}

let sound: Promise<string> | undefined;

/** A copy of one that is filled once. */
async function copied(): Promise<string> {
  const directory = newDirectory();
  cpSync(await (sound ??= filled()), directory, { recursive: true });
  return directory;
}

const compared = (directory: string): Promise<Differences> => compareHistory(directory, standbyFrom);

/** A killed server leaves no seal: a store does not notice the change by itself. */
function change(directory: string, sql: string): void {
  const database = new DatabaseSync(join(directory, 'history.db'));
  database.exec(sql);
  database.close();
  rmSync(join(directory, 'history.db.seal'), { force: true });
}

/** What `verify --repair` does: what is missing is made, and then the rows of simulations with differences are made again. */
async function repair(directory: string): Promise<void> {
  const store = await openTestStore(directory);
  for (const { id } of store.registry.simulations()) await store.history.make(id);
  for (const id of (await compared(directory)).ids) await store.history.make(id, true);
  await store.close();
}

/** Faults of all kinds: each has its own table, and its own way to be noticed. */
const FAULTS: readonly (readonly [sql: string, told: RegExp])[] = [
  [
    'DELETE FROM history_owner WHERE id = (SELECT max(id) FROM history_owner)',
    /does not have 1 rows of lengths of lists/,
  ],
  [
    'UPDATE history_owner SET ledger = ledger + 1 WHERE cell = 1 AND ledger > 1',
    /has \d rows of lengths of lists that the journal does not give/,
  ],
  ['DELETE FROM history_portfolio WHERE closed IS NOT NULL', /of main does not have 1 rows of portfolios/],
  [`UPDATE history_portfolio SET last = NULL, closed = NULL WHERE closed IS NOT NULL`, /rows of portfolios/],
  ['DELETE FROM history_order WHERE cell = 1 AND number = 7', /of main does not have 1 rows of orders/],
  [
    `UPDATE history_order SET status = 'ACTIVE' WHERE cell = 1 AND number = 7`,
    /does not have 1 rows of orders.*FILLED/s,
  ],
  [`UPDATE history_order SET status = 'ACTIVE' WHERE cell = 2`, /history of fork has \d rows of orders/],
  [
    `UPDATE history_order SET client_order = 'never' WHERE client_order = 'c-3'`,
    /has 1 rows of orders that the journal does not give.*never/s,
  ],
  ['DELETE FROM history_item WHERE cell = 1 AND list = 2 AND n = 3', /does not have 2 rows of lists/],
  ['DELETE FROM history_item WHERE cell = 1 AND list = 3', /does not have 2 rows of lists/],
  ['DELETE FROM history_item WHERE list = 5', /rows of lists/],
  ['DELETE FROM history_item WHERE cell = 1 AND list = 7', /rows of lists/],
  [
    `UPDATE history_item SET places = json_remove(places, '$[0]') WHERE cell = 1 AND list = 8`,
    /does not have \d rows of lists/,
  ],
  [
    `UPDATE history_item SET places = json_insert(places, '$[#]', json('[4,9]')) WHERE cell = 1 AND list = 8`,
    /has \d rows of lists that the journal does not give/,
  ],
  [
    'DELETE FROM history_standing WHERE cell = 1 AND minute = (SELECT min(minute) FROM history_standing)',
    /rows of portfolios over time/,
  ],
  ['UPDATE history_standing SET moved_by = NULL WHERE cell = 2', /history of fork.*portfolios over time/],
  ['UPDATE history_mark SET price = price + 1 WHERE cell = 1', /rows of marks by pushed quotes/],
  ['DELETE FROM history_mark WHERE cell = 2', /history of fork does not have 1 rows of marks/],
  ['UPDATE history_cell SET seq = seq - 1 WHERE cell = 2', /history of fork.*rows of simulations/s],
];

describe('compareHistory', () => {
  it('reports nothing for a history that matches the journal, and examines every table', async () => {
    const directory = await copied();
    expect(await compared(directory)).toEqual({ problems: [], ids: [] });
    const database = new DatabaseSync(join(directory, 'history.db'));
    for (const table of ['owner', 'portfolio', 'order', 'item', 'standing', 'mark', 'cell'])
      for (const cell of [1, 2]) {
        const sql = `SELECT count(*) AS n FROM history_${table} WHERE cell = ${cell}`;
        const { n } = database.prepare(sql).get() as { n: number };
        // A fork has no portfolio of its own.
        expect([table, cell, n > 0]).toEqual([table, cell, table !== 'portfolio' || cell === 1]);
      }
    database.close();
  });

  it.each(FAULTS)('names the difference, and rows that are made again mend it: %s', async (sql, told) => {
    const directory = await copied();
    change(directory, sql);
    const found = await compared(directory);
    expect(found.problems.join('\n')).toMatch(told);
    expect(found.ids.length).toBeGreaterThan(0);
    await repair(directory);
    expect(await compared(directory)).toEqual({ problems: [], ids: [] });
  });

  it('names the simulations with differences, and no others', async () => {
    const directory = await copied();
    change(directory, `UPDATE history_order SET status = 'ACTIVE' WHERE cell = 1 AND number = 7`);
    expect((await compared(directory)).ids).toEqual(['main']);
    change(directory, `UPDATE history_order SET status = 'NONE' WHERE cell = 2`);
    expect((await compared(directory)).ids).toEqual(['main', 'fork']);
  });

  it('make: with isAnew, mends rows that are not noticed when the file is opened', async () => {
    const directory = await copied();
    const store = await openTestStore(directory);
    // While the server runs.
    change(directory, `UPDATE history_order SET status = 'ACTIVE' WHERE cell = 1 AND number = 7`);
    expect(store.history.order('main', 7)).toMatchObject({ status: 'ACTIVE' });
    await store.history.make('main');
    expect(store.history.order('main', 7)).toMatchObject({ status: 'ACTIVE' });
    await store.history.make('main', true);
    expect(store.history.order('main', 7)).toMatchObject({ status: 'FILLED' });
    // The fork has the rows of its parent.
    expect(store.history.order('fork', 7)).toMatchObject({ status: 'FILLED' });
    await store.close();
    expect(await compared(directory)).toEqual({ problems: [], ids: [] });
  });

  it('reports a difference in any column of any table', async () => {
    const directory = await copied();
    const database = new DatabaseSync(join(directory, 'history.db'));
    const columns = database
      .prepare(
        `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name <> 'history_meta'`,
      )
      .all() as { table: string; column: string }[];
    const unnoticed: string[] = [];
    for (const { table, column } of columns) {
      // The proof depends on the journal alone, and is compared when the history is opened.
      if (table === 'history_cell' && column === 'proof') continue;
      database.exec(`CREATE TEMP TABLE aside AS SELECT * FROM ${table}`);
      const { changes } = database
        .prepare(
          `UPDATE ${table} SET ${column} = CASE
             WHEN typeof(${column}) = 'text' AND json_valid(${column}) AND substr(${column}, 1, 1) IN ('[', '{') THEN ${column} || ' '
             WHEN typeof(${column}) = 'text' THEN ${column} || 'x' ELSE ${column} + 1000000 END
           WHERE ${column} IS NOT NULL ${column === 'places' ? 'AND list <> 8' : ''}`.replace(
            'AND list <> 8',
            table === 'history_item' ? 'AND list <> 8' : '',
          ),
        )
        .run();
      if (changes > 0 && (await compared(directory)).problems.length === 0)
        unnoticed.push(`${table}.${column}`);
      database.exec(
        `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM temp.aside; DROP TABLE temp.aside`,
      );
    }
    database.close();
    expect(unnoticed).toEqual([]);
    expect((await compared(directory)).problems).toEqual([]);
  });

  it('reports damage if a table cannot be read', async () => {
    const path = join(await copied(), 'history.db');
    const database = new DatabaseSync(path);
    const { page } = database
      .prepare(`SELECT rootpage AS page FROM sqlite_master WHERE name = 'history_item'`)
      .get() as {
      page: number;
    };
    const { size } = database.prepare('SELECT page_size AS size FROM pragma_page_size').get() as {
      size: number;
    };
    database.close();
    const file = readFileSync(path);
    writeFileSync(path, file.fill(255, (page - 1) * size, page * size));
    expect(await compared(dirname(path))).toEqual({
      problems: [expect.stringMatching(/^history is damaged/)],
      ids: ['main', 'fork'],
    });
  });

  it('counts orders and executions by themselves', async () => {
    const directory = await copied();
    // Rows that are missing both times would not be noticed otherwise: here they are wrong both times.
    change(directory, `UPDATE history_owner SET orders = orders - 1 WHERE cell = 1 AND id = '*'`);
    const { problems } = await compared(directory);
    expect(problems.join('\n')).toMatch(/history has 11 orders where the journal has 12/);
  });

  it('ignores remaining rows of a deleted simulation', async () => {
    const directory = await copied();
    const store = await openTestStore(directory);
    void store.registry.deleteSimulation('main', START);
    await store.close();
    expect(await compared(directory)).toEqual({ problems: [], ids: [] });
  });
});
