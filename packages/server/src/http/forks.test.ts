/** Snapshots and forks over HTTP (D171, D172), on both stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pollAgain } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mainOf } from '../engine/values/cell-names.js';
import { verifyJournal } from '../engine/recovery/verify.js';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { openMemoryStore } from '../store/sqlite/memory-store.js';
import { compareHistory } from '../store/sqlite/checks/compare-history.js';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import { recoveryUrl } from '../store/worker-url.js';
import type { Store } from '../store/store.js';
import {
  ACCOUNT,
  type Body,
  openPortfolio,
  orderBody,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

const directory = mkdtempSync(join(tmpdir(), 'sandpit-forks-'));
const openSqlite = (): Promise<Store> => openSqliteStore({ directory, recovery: recoveryUrl().href });
const stores = {
  memory: () => openMemoryStore({ standbyFrom }),
  sqlite: openSqlite,
} as const;

interface Fork {
  readonly id: string;
  readonly client: TestClient;
  readonly body: Body;
}

/** Interval between polls of a thread's progress: the rate limit counts requests. */
const POLL_MS = 25;

describe.each(['memory', 'sqlite'] as const)('forks on the %s store', (kind) => {
  let test: TestApp;
  let owner: TestClient;
  /** The fixture: a simulation with a clock and pushed quotes, and a client of it. */
  let parent: TestClient;
  let parentId: string;
  let portfolioId: string;

  beforeEach(async () => {
    test = await TestApp.open({
      store: await stores[kind](),
      settings: { DATA_DIR: directory, BASIC_SIMULATIONS: '1', RATE_LIMIT_DEFAULT: '100000' },
    });
    owner = test.as({ tier: 'ENTERPRISE' });
    const made = await owner.post('/v1/simulations', {
      name: 'fixture',
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
      seed: 7,
    });
    parentId = made.body.simulationId as string;
    parent = test.withToken(made.body.token as string);
    ({ portfolioId } = (await openPortfolio(parent)) as { portfolioId: string });
    await pushQuote(parent);
  });
  afterEach(async () => {
    await test.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function fork(body: object = {}, of = parentId): Promise<Fork> {
    const reply = await owner.post(`/v1/simulations/${of}/forks`, body);
    if (reply.status !== 201) throw new Error(reply.text);
    const { simulationId, token } = reply.body as { simulationId: string; token: string };
    return { id: simulationId, client: test.withToken(token), body: reply.body };
  }

  const snapshot = async (name?: string, of = parentId): Promise<Body> => {
    const reply = await owner.post(`/v1/simulations/${of}/snapshots`, name === undefined ? {} : { name });
    if (reply.status !== 201) throw new Error(reply.text);
    return reply.body;
  };

  /** Everything that a client can read of the portfolio. */
  async function told(client: TestClient): Promise<Body> {
    const portfolio = `/v1/accounts/portfolios/${portfolioId}`;
    const paths = [
      portfolio,
      `${portfolio}/equities`,
      `${portfolio}/activities?limit=200`,
      `${portfolio}/ledger?limit=200`,
      `${portfolio}/history?interval=1m`,
      `${portfolio}/settlements`,
      `${portfolio}/trades`,
      `/v1/orders/portfolio/${portfolioId}?limit=200`,
      `/v1/orders/portfolio/${portfolioId}?status=FILLED`,
      `/v1/orders/account/${ACCOUNT}?limit=2`,
      '/v1/orders/filled/today',
      '/v1/market-data/quote/AAPL',
      '/v1/simulation/clock',
    ];
    return Promise.all(
      paths.map(async (path) => {
        const { status, body } = await client.get(path);
        if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
        return body;
      }),
    );
  }

  /** Some filled orders, a resting one, one that is canceled. */
  async function trade(client: TestClient): Promise<Body> {
    await placeOrder(client, portfolioId, { clientOrderId: 'first' });
    await placeOrder(client, portfolioId, { quantity: 3 });
    const canceled = await placeOrder(client, portfolioId, { limitPrice: 90 });
    await client.put(`/v1/orders/${canceled.orderId as string}/cancel`);
    await client.post('/v1/simulation/clock/advance', { by: 'PT1H' });
    return placeOrder(client, portfolioId, { limitPrice: 95, clientOrderId: 'resting', quantity: 7 });
  }

  it('start with all records of the parent, under the same ids', async () => {
    await trade(parent);
    const before = await told(parent);
    const forked = await fork({ name: 'attempt' });
    expect(forked.body).toMatchObject({
      name: 'attempt',
      feed: 'push',
      clock: 'manual',
      now: '2026-01-05T16:00:00.000Z',
      parent: { simulationId: parentId },
      seed: 7,
    });
    expect(await told(forked.client)).toEqual(before);
    const shown = await owner.get(`/v1/simulations/${forked.id}`);
    expect(shown.body.parent).toEqual(forked.body.parent);
    expect((await owner.get('/v1/simulations')).body.data).toHaveLength(2);
  });

  it('never affect their parent, nor it them', async () => {
    const { orderId } = await trade(parent);
    const before = await told(parent);
    const [one, other] = [await fork(), await fork()];
    await pushQuote(one.client, { bid: 94.9, ask: 95, last: 95 });
    expect((await one.client.get(`/v1/orders/${orderId as string}`)).body.status).toBe('FILLED');
    expect(await told(parent)).toEqual(before);
    expect(await told(other.client)).toEqual(before);
    await parent.put(`/v1/orders/${orderId as string}/cancel`);
    expect((await one.client.get(`/v1/orders/${orderId as string}`)).body.status).toBe('FILLED');
    expect((await other.client.get(`/v1/orders/${orderId as string}`)).body.status).toBe('ACTIVE');
  });

  it('assign the same ids to new orders as the parent', async () => {
    await trade(parent);
    const forked = await fork();
    const [mine, theirs] = [
      await placeOrder(forked.client, portfolioId),
      await placeOrder(parent, portfolioId),
    ];
    expect(mine.orderId).toBe(theirs.orderId);
  });

  it('begin at a snapshot, regardless of later changes of the parent', async () => {
    const { orderId } = await trade(parent);
    const before = await told(parent);
    const taken = await snapshot('fixture');
    expect(taken).toMatchObject({ simulationId: parentId, name: 'fixture', at: '2026-01-05T16:00:00.000Z' });
    await pushQuote(parent, { bid: 94.9, ask: 95, last: 95 });
    expect((await parent.get(`/v1/orders/${orderId as string}`)).body.status).toBe('FILLED');
    await placeOrder(parent, portfolioId, { clientOrderId: 'later', limitPrice: 96 });
    await parent.post('/v1/simulation/clock/advance', { by: 'P3D' });
    const forked = await fork({ from: { snapshotId: taken.snapshotId as string } });
    expect(forked.body.parent).toEqual({ simulationId: parentId, sequence: taken.sequence });
    expect(await told(forked.client)).toEqual(before);
    // Used before the point, and after it.
    const again = await forked.client.post(
      '/v1/orders',
      orderBody(portfolioId, { clientOrderId: 'resting' }),
    );
    expect(again.body).toMatchObject({ statusCode: 409, error: { orderId } });
    await placeOrder(forked.client, portfolioId, { clientOrderId: 'later', limitPrice: 96 });
  });

  it('begin at an instant, and behind a record', async () => {
    const { orderId } = await trade(parent);
    const { sequence } = (await fork()).body.parent as { sequence: number };
    await parent.put(`/v1/orders/${orderId as string}/cancel`);
    await parent.post('/v1/simulation/clock/advance', { by: 'PT2H' });
    const early = await fork({ from: { at: '2026-01-05T15:30:00Z' } });
    expect(early.body.now).toBe('2026-01-05T15:30:00.000Z');
    expect((await early.client.get(`/v1/orders/${orderId as string}`)).status).toBe(404);
    expect((await early.client.get(`/v1/orders/portfolio/${portfolioId}`)).body.pagination.total).toBe(3);
    const behind = await fork({ from: { sequence } });
    expect(behind.body).toMatchObject({ now: '2026-01-05T16:00:00.000Z', parent: { sequence } });
    expect((await behind.client.get(`/v1/orders/${orderId as string}`)).body.status).toBe('ACTIVE');
    const begun = await fork({ from: { sequence: 0 } });
    expect(begun.body).toMatchObject({ now: '2026-01-05T15:00:00.000Z', parent: { sequence: 0 } });
    expect((await begun.client.get(`/v1/accounts/portfolios/${portfolioId}`)).status).toBe(404);
  });

  it('are refused at an invalid point', async () => {
    const asked = (from: object) => owner.post(`/v1/simulations/${parentId}/forks`, { from });
    expect((await asked({ at: '2026-01-05T15:00:01Z' })).body.message).toEqual([
      'from.at must not be after now',
    ]);
    expect((await asked({ at: '2026-01-05T14:59:59Z' })).status).toBe(400);
    expect((await asked({ sequence: 999 })).status).toBe(400);
    expect((await asked({ sequence: -1 })).status).toBe(400);
    expect((await asked({})).status).toBe(400);
    expect((await asked({ sequence: 1, at: '2026-01-05T15:00:00Z' })).status).toBe(400);
    expect((await asked({ snapshotId: 'nowhere' })).body).toMatchObject({ statusCode: 404 });
    expect((await owner.post(`/v1/simulations/${parentId}/forks`, { clock: 'wall' })).body.message).toEqual([
      'clock must be manual or scaled',
    ]);
    expect((await owner.post(`/v1/simulations/${parentId}/forks`, { ttl: 'PT0S' })).status).toBe(400);
    expect((await owner.post(`/v1/simulations/${parentId}/forks`, { ttl: 'P11Y' })).status).toBe(400);
    expect((await owner.post('/v1/simulations/nowhere/forks', {})).status).toBe(404);
    const foreign = test.as({ tenantId: 'tenant-2' });
    expect((await foreign.post(`/v1/simulations/${parentId}/forks`, {})).status).toBe(404);
    const { snapshotId } = await snapshot();
    const other = await owner.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const of = `/v1/simulations/${other.body.simulationId as string}`;
    expect((await owner.post(`${of}/forks`, { from: { snapshotId } })).status).toBe(404);
    expect((await foreign.get(`/v1/simulations/${parentId}/snapshots`)).status).toBe(404);
  });

  it('can be forked, even at points before their own fork point', async () => {
    await trade(parent);
    const before = await told(parent);
    const child = await fork();
    const { sequence } = child.body.parent as { sequence: number };
    await placeOrder(child.client, portfolioId, { quantity: 1 });
    const after = await told(child.client);
    const grandchild = await fork({}, child.id);
    expect(await told(grandchild.client)).toEqual(after);
    const older = await fork({ from: { sequence } }, child.id);
    expect(await told(older.client)).toEqual(before);
    expect(older.body.parent).toEqual({ simulationId: child.id, sequence });
    for (const { id } of [child, grandchild, older])
      expect((await verifyJournal(test.store, id)).problems).toEqual([]);
  });

  it('are refused in the 65th generation', async () => {
    let id = parentId;
    for (let generation = 1; generation <= 64; generation++) id = (await fork({}, id)).id;
    const refused = await owner.post(`/v1/simulations/${id}/forks`, {});
    expect(refused.status).toBe(409);
    expect((await verifyJournal(test.store, id)).problems).toEqual([]);
    expect((await owner.get(`/v1/simulations/${id}`)).status).toBe(200);
  });

  it('have their parent’s state hash at the point', async () => {
    await trade(parent);
    const taken = await snapshot();
    const forked = await fork({ from: { snapshotId: taken.snapshotId as string } });
    const now = await fork();
    expect(now.body.stateHash).toBe(forked.body.stateHash);
    for (;;) {
      const { data } = (await owner.get(`/v1/simulations/${parentId}/snapshots`)).body as { data: Body[] };
      if (data[0].stateHash === undefined) await pollAgain(POLL_MS);
      else {
        expect(data[0].stateHash).toBe(now.body.stateHash);
        return;
      }
    }
  });

  it('stay when their parent is deleted, and over a restart', async () => {
    const { orderId } = await trade(parent);
    const forked = await fork();
    const grandchild = await fork({}, forked.id);
    const before = await told(grandchild.client);
    await owner.delete(`/v1/simulations/${parentId}`);
    await owner.delete(`/v1/simulations/${forked.id}`);
    expect((await owner.get(`/v1/simulations/${parentId}`)).status).toBe(404);
    if (kind === 'sqlite') {
      await test.close();
      test = await TestApp.open({ store: await openSqlite() });
      owner = test.as({ tier: 'ENTERPRISE' });
    } else test = await test.restart();
    const client = test.withToken(grandchild.client.token);
    expect(await told(client)).toEqual(before);
    await pushQuote(client, { bid: 94.9, ask: 95, last: 95 });
    expect((await client.get(`/v1/orders/${orderId as string}`)).body.status).toBe('FILLED');
    expect((await verifyJournal(test.store, grandchild.id)).problems).toEqual([]);
    if (kind === 'sqlite') {
      await test.store.history.make(grandchild.id);
      expect((await compareHistory(directory, standbyFrom)).problems).toEqual([]);
    }
  });

  it('of main have a separate market from the fork point', async () => {
    const main = test.as({ tier: 'ENTERPRISE' });
    await main.put('/v1/simulation/quotes', { quotes: [{ symbol: 'ZZZZ', bid: 4.9, ask: 5, last: 5 }] });
    await pushQuote(main);
    await main.post('/v1/simulation/halts', { symbol: 'ZZZZ', reason: 'T1' });
    const mine = await openPortfolio(main);
    await placeOrder(main, mine.portfolioId as string);
    const forked = await fork({}, 'main');
    expect(forked.body.parent.simulationId).toBe('main');
    await pushQuote(main, { bid: 49.9, ask: 50, last: 50 });
    const quoteOf = async (symbol: string): Promise<Body> =>
      (await forked.client.get(`/v1/market-data/quote/${symbol}`)).body;
    expect(await quoteOf('AAPL')).toMatchObject({ price: 100 });
    expect(await quoteOf('ZZZZ')).toMatchObject({ price: 5, halted: true });
    await pushQuote(forked.client, { bid: 59.9, ask: 60, last: 60 });
    expect((await main.get('/v1/market-data/quote/AAPL')).body.price).toBe(50);
    await placeOrder(forked.client, mine.portfolioId as string, { quantity: 2 });
    expect((await verifyJournal(test.store, forked.id)).problems).toEqual([]);
    expect((await verifyJournal(test.store, mainOf('tenant-1'))).problems).toEqual([]);
    const earlier = await fork({ from: { sequence: forked.body.parent.sequence as number } }, 'main');
    expect(
      (await earlier.client.get(`/v1/accounts/portfolios/${mine.portfolioId as string}/equities`)).body,
    ).toHaveLength(1);
  });

  it('a fork is deleted after `ttl` without requests', async () => {
    const made = await owner.post('/v1/simulations', { feed: 'push', clock: 'manual', ttl: 'PT0.2S' });
    expect(made.body.ttl).toBe('PT0.2S');
    const forked = await fork({ ttl: 'PT0.2S' });
    expect(forked.body.ttl).toBe('PT0.2S');
    const began = performance.now();
    while (test.simulations.entries.list('tenant-1').length > 1) {
      expect(performance.now() - began).toBeLessThan(2200);
      await pollAgain(POLL_MS);
    }
    expect((await forked.client.get('/v1/simulation/clock')).status).toBe(401);
  });

  it('have snapshots with unique names, which are listed and deleted', async () => {
    const first = await snapshot('one');
    for (const name of ['one', 'ONE', 'ｏｎｅ']) {
      const refused = await owner.post(`/v1/simulations/${parentId}/snapshots`, { name });
      expect([name, refused.status]).toEqual([name, 409]);
    }
    const second = await snapshot();
    const list = async (): Promise<string[]> =>
      ((await owner.get(`/v1/simulations/${parentId}/snapshots`)).body.data as Body[]).map(
        ({ snapshotId }) => snapshotId as string,
      );
    expect(await list()).toEqual([second.snapshotId, first.snapshotId]);
    const path = `/v1/simulations/${parentId}/snapshots/${first.snapshotId as string}`;
    expect((await owner.delete(path)).status).toBe(200);
    expect((await owner.delete(path)).status).toBe(404);
    expect((await owner.delete(`${path}x`)).body.message).toEqual(['snapshotId must be a UUID']);
    expect(await list()).toEqual([second.snapshotId]);
    await snapshot('one');
    expect(await snapshot('of main', 'main')).toMatchObject({ simulationId: 'main' });
  });

  it('can be exported, and imported without their parent', async () => {
    await trade(parent);
    const forked = await fork({ seed: 'other' });
    await placeOrder(forked.client, portfolioId, { quantity: 2 });
    const before = await told(forked.client);
    const file = await test.app.inject({
      method: 'GET',
      url: `/v1/simulations/${forked.id}/export`,
      headers: { authorization: `Bearer ${owner.token ?? ''}` },
    });
    await owner.delete(`/v1/simulations/${parentId}`);
    await owner.delete(`/v1/simulations/${forked.id}`);
    const sent = await owner.inject({
      method: 'POST',
      url: '/v1/simulations/import',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: file.body,
    });
    expect(sent.status).toBe(202);
    const id = sent.body.simulationId as string;
    for (;;) {
      const { status, reason } = (await owner.get(`/v1/simulations/${id}`)).body;
      if (status !== 'IMPORTING') {
        expect([status, reason]).toEqual(['READY', undefined]);
        break;
      }
      await pollAgain(POLL_MS);
    }
    expect(await told(test.withToken(sent.body.token as string))).toEqual(before);
  });

  it('are counted among the simulations of a tier', async () => {
    const basic = test.as({ tier: 'BASIC' });
    const { status, body } = await basic.post(`/v1/simulations/${parentId}/forks`, {});
    expect([status, body.error?.code]).toEqual([403, 'FEATURE_NOT_AVAILABLE']);
  });

  it('are made once for an idempotency key', async () => {
    const ask = () => owner.post(`/v1/simulations/${parentId}/forks`, {}, { 'idempotency-key': 'once' });
    const [first, second] = [await ask(), await ask()];
    expect(second.body.simulationId).toBe(first.body.simulationId);
    expect((await owner.get('/v1/simulations')).body.data).toHaveLength(2);
  });
});
