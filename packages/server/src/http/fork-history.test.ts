/** History that forks show of their ancestors (D172): as of the fork point, regardless of later changes, on each store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyJournal } from '../engine/recovery/verify.js';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { compareHistory } from '../store/sqlite/checks/compare-history.js';
import { HISTORY_TABLES } from '../store/history/history-schema.js';
import { compareHistory as compareTables } from '../store/postgres/compare-history.js';
import { openPostgresStore } from '../store/postgres/postgres-store.js';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import { recoveryUrl } from '../store/worker-url.js';
import type { Store } from '../store/store.js';
import {
  ACCOUNT,
  type Body,
  openPortfolio,
  orderBody,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';
import { newDatabase } from '../testing/test-database.js';

/** Numbers below `end`, always the same ones. */
function drawing(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

/** A trader who does something of everything, several things within a minute. */
class Trader {
  readonly #client: TestClient;
  readonly #portfolios: readonly string[];
  readonly #draw: (end: number) => number;
  readonly orders: string[] = [];

  constructor(
    client: TestClient,
    portfolios: readonly string[],
    seed: number,
    orders: readonly string[] = [],
  ) {
    this.#client = client;
    this.#portfolios = portfolios;
    this.#draw = drawing(seed);
    this.orders.push(...orders);
  }

  async act(): Promise<void> {
    const portfolioId = this.#portfolios[this.#draw(this.#portfolios.length)] ?? '';
    const order = this.orders[this.#draw(this.orders.length)] ?? '';
    switch (this.#draw(9)) {
      case 0:
        await this.#client.put(`/v1/orders/${order}/cancel`);
        return;
      case 1:
        await this.#client.put(`/v1/orders/${order}`, { limitPrice: 90 + this.#draw(10) });
        return;
      case 2:
        await this.#client.post('/v1/simulation/clock/advance', {
          by: ['PT7S', 'PT20M', 'P1D'][this.#draw(3)],
        });
        return;
      case 3:
      case 4:
        await this.#push();
        return;
      case 5:
        await this.#client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount: 100 });
        return;
      case 6:
        return this.#place(portfolioId, {
          positionIntent: 'SELL_TO_CLOSE',
          orderType: 'MARKET',
          limitPrice: undefined,
          quantity: 1 + this.#draw(3),
        });
      default:
        return this.#place(portfolioId, {
          limitPrice: 92 + this.#draw(12),
          quantity: 1 + this.#draw(5),
          timeInForce: this.#draw(2) === 0 ? 'GTC' : 'DAY',
          ...(this.#draw(2) === 0 && { clientOrderId: `mine-${this.orders.length}` }),
          ...(this.#draw(3) === 0 && {
            bracketConfig: { takeProfit: { limitPrice: 110 }, stopLoss: { stopPrice: 80 } },
          }),
        });
    }
  }

  async #push(): Promise<void> {
    const last = 92 + this.#draw(14);
    await pushQuote(this.#client, { bid: last - 0.1, ask: last, last });
  }

  async #place(portfolioId: string, more: object): Promise<void> {
    const { body } = await this.#client.post('/v1/orders', orderBody(portfolioId, more));
    if (typeof body.orderId === 'string') this.orders.push(body.orderId);
  }
}

/** Everything that a client can read. */
async function told(
  client: TestClient,
  portfolios: readonly string[],
  orders: readonly string[],
): Promise<Body> {
  const paths = [
    ...portfolios.flatMap((id) => [
      `/v1/accounts/portfolios/${id}`,
      `/v1/accounts/portfolios/${id}/activities?limit=200`,
      `/v1/accounts/portfolios/${id}/activities?limit=3&category=EXECUTION`,
      `/v1/accounts/portfolios/${id}/ledger?limit=200`,
      `/v1/accounts/portfolios/${id}/history?interval=1m`,
      `/v1/accounts/portfolios/${id}/day-trades`,
      `/v1/accounts/portfolios/${id}/trades`,
      `/v1/orders/portfolio/${id}?limit=4`,
      `/v1/orders/portfolio/${id}?status=CANCELED,FILLED&limit=3`,
      `/v1/orders/portfolio/${id}?status=ACTIVE&symbol=AAPL`,
    ]),
    `/v1/orders/account/${ACCOUNT}?limit=200`,
    '/v1/orders?limit=7',
    '/v1/orders/filled/today',
    ...orders.flatMap((id) => [
      `/v1/orders/${id}`,
      `/v1/orders/${id}/executions`,
      `/v1/orders/${id}/execution-quality`,
    ]),
  ];
  return Promise.all(
    paths.map(async (path) => {
      const { status, body } = await client.get(path);
      return { path, status, body };
    }),
  );
}

const ACTIONS = 15;
const POINT_EVERY = 5;

interface Point {
  readonly sequence: number;
  readonly snapshotId: string;
  readonly told: Body;
  readonly orders: readonly string[];
}

/** Where a store is kept, and what is done to its history. */
interface Kept {
  readonly open: () => Promise<Store>;
  readonly compare: () => Promise<{ readonly problems: readonly string[] }>;
  /** While it is closed. */
  readonly removeHistory: () => Promise<void>;
  readonly remove: () => void;
}

function inDirectory(): Promise<Kept> {
  const directory = mkdtempSync(join(tmpdir(), 'sandpit-fork-history-'));
  return Promise.resolve({
    open: () => openSqliteStore({ directory, recovery: recoveryUrl().href }),
    compare: () => compareHistory(directory, standbyFrom),
    removeHistory: () => {
      for (const ending of ['', '-wal', '-shm'])
        rmSync(join(directory, `history.db${ending}`), { force: true });
      return Promise.resolve();
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  });
}

async function inPostgres(): Promise<Kept> {
  const url = await newDatabase();
  return {
    open: () => openPostgresStore({ url, recovery: recoveryUrl().href }),
    compare: () => compareTables(url, standbyFrom),
    removeHistory: async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`TRUNCATE ${HISTORY_TABLES.map(([table]) => `sandpit.${table}`).join(', ')}`);
      await client.end();
    },
    remove: () => undefined,
  };
}

describe.each([
  ['SQLite', inDirectory],
  ['PostgreSQL', inPostgres],
] as const)('On %s', (_, keep) => {
  let kept: Kept;
  let test: TestApp;
  let owner: TestClient;

  beforeEach(async () => {
    kept = await keep();
    test = await TestApp.open({ store: await kept.open(), settings: { RATE_LIMIT_DEFAULT: '1000000' } });
    owner = test.as({ tier: 'ENTERPRISE' });
  });
  afterEach(async () => {
    await test.close();
    kept.remove();
  });

  it('forks show the history of their ancestors as of the fork point, even after later changes, deletions and a rebuild', async () => {
    const made = await owner.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
      seed: 7,
    });
    let id = made.body.simulationId as string;
    let client = test.withToken(made.body.token as string);
    const ids: string[] = [];
    for (const brokerId of ['default', 'default', 'broker_03'])
      ids.push((await openPortfolio(client, { brokerId, initialCash: 50_000 })).portfolioId as string);
    await pushQuote(client);

    const forked: { id: string; token: string; point: Point }[] = [];
    let trader = new Trader(client, ids, 11);
    for (let generation = 1; generation <= 3; generation++) {
      const points: Point[] = [];
      for (let action = 0; action < ACTIONS; action++) {
        await trader.act();
        if (action % POINT_EVERY !== 0) continue;
        const taken = (await owner.post(`/v1/simulations/${id}/snapshots`, {})).body;
        const { sequence, snapshotId } = taken as unknown as Point;
        const orders = [...trader.orders];
        points.push({ sequence, snapshotId, told: await told(client, ids, orders), orders });
      }
      for (const point of points) {
        const from =
          forked.length % 2 === 0 ? { snapshotId: point.snapshotId } : { sequence: point.sequence };
        const fork = (await owner.post(`/v1/simulations/${id}/forks`, { from })).body;
        const token = fork.token as string;
        expect(await told(test.withToken(token), ids, point.orders)).toEqual(point.told);
        forked.push({ id: fork.simulationId as string, token, point });
      }
      // The next generation begins in the middle of this one.
      const middle = points[Math.floor(points.length / 2)] as Point;
      const next = (await owner.post(`/v1/simulations/${id}/forks`, { from: { sequence: middle.sequence } }))
        .body;
      if (generation < 3) await owner.delete(`/v1/simulations/${id}`);
      id = next.simulationId as string;
      client = test.withToken(next.token as string);
      expect(
        (await told(client, ids, middle.orders)).filter(
          ({ path }: Body) => !String(path).includes('history'),
        ),
      ).toEqual(middle.told.filter(({ path }: Body) => !String(path).includes('history')));
      trader = new Trader(client, ids, 11 + generation, middle.orders);
    }
    const { store } = test;
    for (const fork of forked) {
      expect((await verifyJournal(store, fork.id)).problems).toEqual([]);
      await store.history.make(fork.id);
    }
    expect((await kept.compare()).problems).toEqual([]);

    await test.close();
    await kept.removeHistory();
    test = await TestApp.open({ store: await kept.open(), settings: { RATE_LIMIT_DEFAULT: '1000000' } });
    await expect
      .poll(() => test.store.history.health(), { timeout: 10_000 })
      .toMatchObject({ status: 'ok', behind: 0 });
    for (const { token, point } of forked)
      expect(await told(test.withToken(token), ids, point.orders)).toEqual(point.told);
  }, 120_000);

  it('the equity curve of a fork continues from the fork point, even if its parent trades later in the same minute', async () => {
    const made = await owner.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
    });
    const parent = test.withToken(made.body.token as string);
    const { portfolioId } = (await openPortfolio(parent, { initialCash: 10_000 })) as { portfolioId: string };
    await pushQuote(parent, { bid: 100, ask: 100, last: 100 });
    // Accepted and filled in one record each.
    const buy = (client: TestClient): Promise<unknown> =>
      client.post(
        '/v1/orders',
        orderBody(portfolioId, { orderType: 'MARKET', limitPrice: undefined, quantity: 3 }),
      );
    const heldIn = async (client: TestClient): Promise<unknown> => {
      await client.post('/v1/simulation/clock/advance', { by: 'PT2M' });
      const { body } = await client.get(`/v1/accounts/portfolios/${portfolioId}/history?interval=1m`);
      return (body.data as Body[])[0]?.longMarketValue;
    };
    const forkOf = async (simulationId: string): Promise<TestClient> =>
      test.withToken((await owner.post(`/v1/simulations/${simulationId}/forks`, {})).body.token as string);
    await buy(parent);
    await buy(parent);
    const idle = await forkOf(made.body.simulationId as string);
    const busy = await forkOf(made.body.simulationId as string);
    await buy(parent);
    await buy(busy);
    await buy(busy);
    expect([await heldIn(parent), await heldIn(idle), await heldIn(busy)]).toEqual([900, 600, 1200]);
  });
});
