/** The history in PostgreSQL: rows that are written with their records, and made again where they cannot be. */
import pg from 'pg';
import { Price, Quantity } from '@sandpit/core';
import type { Command, OrderRequest } from '@sandpit/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { standbyFrom } from '../../engine/recovery/checkpoint.js';
import { mainOf } from '../../engine/values/cell-names.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { OLDER_WEBHOOK_TABLES } from '../../testing/older-webhook-tables.js';
import { CuttingProxy } from '../../testing/cutting-proxy.js';
import {
  BY,
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
  TENANT,
} from '../../testing/simulations.js';
import { newDatabase } from '../../testing/test-database.js';
import { DamagedHistory, LIST_CODE } from '../history/history-rows.js';
import type { HistoryRows, ItemRow } from '../history/history-rows.js';
import { list, lineOf } from '../history/history-queries.js';
import { HISTORY_TABLES } from '../history/history-schema.js';
import { answeredLater } from '../history/asking.js';
import { StoreInUse, StoreUnavailable } from '../journal.js';
import type { Store } from '../store.js';
import { recoveryUrl } from '../worker-url.js';
import { compareHistory } from './compare-history.js';
import { DatabaseAddress } from './database.js';
import { HistoryWrites } from './history-writes.js';
import { openPostgresStore } from './postgres-store.js';
import { QuestionConnection } from './question-connection.js';
import { prepareTables } from './schema.js';

/** Rows that are made again may take longer than a read waits. */
const SOON = { timeout: 25_000 };

let url: string;
let looker: pg.Client;
let stores: Store[] = [];

beforeEach(async () => {
  url = await newDatabase();
  looker = new pg.Client({ connectionString: url, options: '-c search_path=sandpit' });
  await looker.connect();
});
afterEach(async () => {
  for (const store of stores) await store.close();
  stores = [];
  await looker.end();
});

async function openStore(through = url): Promise<Store> {
  const store = await openPostgresStore({ url: through, recovery: recoveryUrl().href, node: 'test' });
  stores.push(store);
  return store;
}

async function one<Row extends pg.QueryResultRow>(sql: string): Promise<Row | undefined> {
  return (await looker.query<Row>(sql)).rows[0];
}

const problems = async (): Promise<readonly string[]> => (await compareHistory(url, standbyFrom)).problems;

/** The number of rows of a cell. */
async function rowsOf(cell: number): Promise<number> {
  const counts = HISTORY_TABLES.map(([table]) => `(SELECT count(*) FROM ${table} WHERE cell = ${cell})`);
  return Number((await one<{ n: string }>(`SELECT ${counts.join(' + ')} AS n`))?.n);
}

const keyOf = async (id: string): Promise<number> =>
  Number(
    (
      await one<{ key: string }>(
        `SELECT value::json ->> 'key' AS key FROM registry WHERE kind = 'simulation' AND name = '${id}'`,
      )
    )?.key,
  );

type SubmitOrder = Extract<Command, { type: 'SubmitOrder' }>;

const orderOf = (portfolioId: string): OrderRequest => ({
  portfolioId,
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'MARKET',
  positionIntent: 'BUY_TO_OPEN',
  quantity: Quantity.of(1),
  timeInForce: 'DAY',
});

async function trading(
  store: Store,
): Promise<{ main: Simulation; portfolioId: string; simulations: Simulations }> {
  const { main, simulations } = await startSimulations({}, store);
  const portfolioId = await openTestPortfolio(main, { cash: 100_000_000 });
  await pushTestQuote(main, 'AAPL', '99.90', '100');
  return { main, portfolioId, simulations };
}

const total = async (main: Simulation, portfolioId: string): Promise<number> =>
  (
    await (
      await main.past()
    ).orders({
      simulationId: main.id,
      scope: { portfolioId },
      offset: 0,
      limit: 1,
    })
  ).total;

const shownOrders = async (main: Simulation, portfolioId: string): Promise<number> =>
  (await main.history.orders({ simulationId: main.id, scope: { portfolioId }, offset: 0, limit: 10 })).items
    .length;

describe('Rows of the history', () => {
  it('are written by the statement that commits their records', async () => {
    const { main, portfolioId } = await trading(await openStore());
    for (let order = 0; order < 3; order += 1) await placeTestOrder(main, portfolioId);
    const key = await keyOf(main.id);
    expect(
      await one(
        `SELECT c.seq = h.seq AS same FROM history_cell c JOIN head h USING (cell) WHERE cell = ${key}`,
      ),
    ).toEqual({
      same: true,
    });
    expect(main.history.health()).toMatchObject({ status: 'ok', behind: 0 });
    await expect.poll(() => total(main, portfolioId), SOON).toBe(3);
    expect(await problems()).toEqual([]);
  });

  it('are not written for a cell that another node has acquired', async () => {
    const { main, portfolioId } = await trading(await openStore());
    await placeTestOrder(main, portfolioId);
    const key = await keyOf(main.id);
    const before = await rowsOf(key);
    await looker.query('UPDATE head SET epoch = epoch + 1 WHERE cell = $1', [key]);
    await expect(placeTestOrder(main, portfolioId)).rejects.toThrow(StoreUnavailable);
    expect(await rowsOf(key)).toBe(before);
    expect(await problems()).toEqual([]);
  });

  it.each([
    ['was applied', true],
    ['never arrived', false],
  ])('are there once when the answer to their commit is lost, and the commit %s', async (_, isDelivered) => {
    const proxy = await CuttingProxy.to(Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(proxy.port);
    try {
      const store = await openStore(through.href);
      const { main, portfolioId } = await trading(store);
      await placeTestOrder(main, portfolioId);
      const lost = proxy.loseRequest('commit-with-history', isDelivered);
      const placed = placeTestOrder(main, portfolioId).catch(() => undefined);
      await lost;
      await placed;
      await expect.poll(() => store.health().status, SOON).toBe('ok');
      await main.durable();
      await placeTestOrder(main, portfolioId);
      await expect.poll(() => total(main, portfolioId), SOON).toBe(3);
      expect(await problems()).toEqual([]);
    } finally {
      for (const store of stores) await store.close();
      stores = [];
      await proxy.close();
    }
  });

  it('hold up no commit that they contradict, and are made again', async () => {
    const { main, portfolioId } = await trading(await openStore());
    await placeTestOrder(main, portfolioId);
    const key = await keyOf(main.id);
    // The next order has this ordinal.
    await looker.query(
      `INSERT INTO history_order SELECT cell, 99, portfolio, portfolio_n + 1, account, account_n + 1, client_order, symbol, asset_class, created_at,
         status, filled_on, terms, progress, seq, places, events FROM history_order WHERE cell = $1`,
      [key],
    );
    await placeTestOrder(main, portfolioId);
    await placeTestOrder(main, portfolioId);
    await expect.poll(() => total(main, portfolioId), SOON).toBe(3);
    expect(await problems()).toEqual([]);
  });

  it('are made again while trading goes on, if a cell has none', async () => {
    const store = await openStore();
    const { main, portfolioId } = await trading(store);
    for (let order = 0; order < 5; order += 1) await placeTestOrder(main, portfolioId);
    const key = await keyOf(main.id);
    await main.close();
    await store.close();
    stores = [];
    // Rows without a cell have no order, or are of another version.
    await looker.query('DELETE FROM history_cell WHERE cell = $1', [key]);
    const { main: again } = await startSimulations({}, await openStore());
    expect(again.history.isComplete(again.id)).toBe(false);
    for (let order = 0; order < 5; order += 1) await placeTestOrder(again, portfolioId);
    await expect.poll(() => again.history.isComplete(again.id), SOON).toBe(true);
    await expect.poll(() => total(again, portfolioId), SOON).toBe(10);
    expect(await problems()).toEqual([]);
  });

  it('rows that a read misses are made again', async () => {
    const { main, portfolioId } = await trading(await openStore());
    for (let order = 0; order < 3; order += 1) await placeTestOrder(main, portfolioId);
    await looker.query('DELETE FROM history_order WHERE number = 2');
    await expect(shownOrders(main, portfolioId)).rejects.toThrow(StoreUnavailable);
    await expect.poll(() => main.history.isComplete(main.id), SOON).toBe(true);
    await expect.poll(() => shownOrders(main, portfolioId), SOON).toBe(3);
    expect(await problems()).toEqual([]);
  });

  it('rows that differ are found by a comparison and repaired', async () => {
    const store = await openStore();
    const { main, portfolioId } = await trading(store);
    for (let order = 0; order < 3; order += 1) await placeTestOrder(main, portfolioId);
    await main.close();
    await looker.query(`UPDATE history_order SET status = 'CANCELED' WHERE number = 2`);
    await looker.query(`DELETE FROM history_item WHERE list = ${LIST_CODE.ledger}`);
    const { ids, problems: found } = await compareHistory(url, standbyFrom);
    expect(ids).toEqual([mainOf(TENANT)]);
    expect(found.join('\n')).toMatch(/does not have 1 rows of orders.*rows of lists/s);
    await store.history.make(mainOf(TENANT), true);
    expect(await problems()).toEqual([]);
  });

  it.each([
    [
      2,
      `DROP TABLE ${HISTORY_TABLES.map(([table]) => table).join(', ')};
       CREATE TABLE history_position (cell integer PRIMARY KEY, seq bigint NOT NULL); CREATE TABLE history_order (cell integer);`,
    ],
    [3, ''],
  ])('of format %i are replaced once no node of that version lives', async (format, tables) => {
    const store = await openStore();
    const { main, portfolioId } = await trading(store);
    await placeTestOrder(main, portfolioId);
    await main.close();
    await looker.query(`UPDATE meta SET format = ${format}; ${tables} ${OLDER_WEBHOOK_TABLES}`);
    await expect(openStore()).rejects.toThrow(StoreInUse);
    await store.close();
    stores = [];
    const { main: again } = await startSimulations({}, await openStore());
    await expect.poll(() => total(again, portfolioId), SOON).toBe(1);
    expect(await problems()).toEqual([]);
  });
});

const ORDERS = 10_000;
const OPEN = 10;

describe('A fork of 10,000 orders with ten open ones', () => {
  it('begins with at most 50 rows', async () => {
    const store = await openStore();
    const { main, portfolioId, simulations } = await trading(store);
    const orders = (count: number, more: Partial<OrderRequest>): readonly SubmitOrder[] =>
      Array.from({ length: count }, () => ({
        type: 'SubmitOrder',
        by: BY,
        order: { ...orderOf(portfolioId), ...more },
      }));
    await main.submitAll<'SubmitOrder'>(orders(ORDERS, {}));
    await main.submitAll<'SubmitOrder'>(
      orders(OPEN, { orderType: 'LIMIT', limitPrice: Price.of('90'), timeInForce: 'GTC' }),
    );
    await expect.poll(() => total(main, portfolioId), SOON).toBe(ORDERS + OPEN);
    const fork = await simulations.forking.fork('main', TENANT, { clock: 'manual', speed: 1 });
    if (fork === undefined) throw new Error('There is no parent');
    const { simulation } = fork;
    await expect.poll(() => total(simulation, portfolioId), SOON).toBe(ORDERS + OPEN);
    const key = await keyOf(simulation.id);
    expect(
      (await rowsOf(key)) -
        Number((await one<{ n: string }>(`SELECT count(*) AS n FROM history_item WHERE cell = ${key}`))?.n),
    ).toBeLessThanOrEqual(50);
    await placeTestOrder(simulation, portfolioId);
    await expect.poll(() => total(simulation, portfolioId), SOON).toBe(ORDERS + OPEN + 1);
    await expect.poll(() => total(main, portfolioId), SOON).toBe(ORDERS + OPEN);
    expect(await problems()).toEqual([]);
  }, 120_000);
});

describe('An item that grows', () => {
  const OWNER = 'portfolio-1';
  const grown = (seq: number, key: string, n = seq): ItemRow => ({
    owner: OWNER,
    list: LIST_CODE['day-trades'],
    n,
    back: 0,
    seq,
    at: seq,
    places: `[[${seq},0]]`,
    key,
  });
  const rowsTo = (from: number, to: number, ...items: readonly ItemRow[]): HistoryRows => ({
    from,
    to,
    items,
    owners: [],
    portfolios: [],
    orders: [],
    moved: [],
    standings: [],
    marks: [],
  });

  it('stands in the place of the first one with its key, also in a fork and among rows that are written together', async () => {
    const address = new DatabaseAddress(url);
    const preparing = await address.connect();
    await prepareTables(preparing.client, 'test');
    await preparing.close();
    const database = new QuestionConnection(address);
    const originOf = (cell: number) => (cell === 2 ? { parent: 1, seq: 3 } : undefined);
    const writes = new HistoryWrites(database, (cell) => lineOf(cell, originOf), undefined);
    const write = (cell: number, rows: HistoryRows): Promise<void> => writes.write({ cell, rows }, cell);
    const shown = async (cell: number): Promise<readonly number[]> => {
      const query = { list: 'day-trades', owner: OWNER, offset: 0, limit: 10 } as const;
      const page = await answeredLater(list(lineOf(cell, originOf), query), (question) =>
        database.askHistory(question),
      );
      expect(page.total).toBe(page.items.length);
      return page.items.map(({ event }) => event);
    };
    try {
      await write(1, rowsTo(0, 3, grown(1, 'a'), grown(2, 'b'), grown(3, 'b')));
      expect(await shown(1)).toEqual([3, 1]);
      await writes.begin(2, 2, { orders: [], minute: 0, standings: [], marks: [] });
      await write(1, rowsTo(3, 6, grown(4, 'a'), grown(5, 'later'), grown(6, 'later')));
      await write(2, rowsTo(3, 5, grown(4, 'later'), grown(5, 'a')));
      expect(await shown(1)).toEqual([6, 3, 4]);
      expect(await shown(2)).toEqual([4, 3, 5]);
      await expect(write(2, rowsTo(3, 5, grown(5, 'a')))).rejects.toThrow(DamagedHistory);
      expect(await shown(2)).toEqual([4, 3, 5]);
    } finally {
      await database.close();
    }
  });
});
