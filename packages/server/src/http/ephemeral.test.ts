/** Ephemeral simulations over HTTP (D255). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { verifyJournal } from '../engine/recovery/verify.js';
import { openMemoryStore } from '../store/sqlite/memory-store.js';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import { recoveryUrl } from '../store/worker-url.js';
import type { Store } from '../store/store.js';
import { withEphemeral } from '../store/with-ephemeral.js';
import {
  type Body,
  openPortfolio,
  orderBody,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

interface Sim {
  readonly id: string;
  readonly client: TestClient;
  readonly body: Body;
}

const MARKET = { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z', seed: 7 };
const LIMIT = 8 * 1024 * 1024;

let durable: Store;
let test: TestApp;
let owner: TestClient;

async function opened(mostBytes = LIMIT): Promise<void> {
  durable = await openMemoryStore({ standbyFrom });
  const store = withEphemeral(durable, await openMemoryStore({ standbyFrom }), mostBytes);
  test = await TestApp.open({ store, settings: { RATE_LIMIT_DEFAULT: '1000000' } });
  owner = test.as({ tier: 'ENTERPRISE' });
}

beforeEach(() => opened());
afterEach(() => test.close());

async function made(path: string, body: object, by: TestClient = owner): Promise<Sim> {
  const reply = await by.post(path, body);
  expect(reply.status, reply.text).toBe(201);
  const { simulationId, token } = reply.body as { simulationId: string; token: string };
  return { id: simulationId, client: test.withToken(token), body: reply.body };
}
const created = (more: object = { ephemeral: true }, by: TestClient = owner): Promise<Sim> =>
  made('/v1/simulations', { ...MARKET, ...more }, by);
const forkOf = ({ id }: Pick<Sim, 'id'>, body: object = {}): Promise<Sim> =>
  made(`/v1/simulations/${id}/forks`, body);

/** Names of everything about a simulation that the durable store has. */
const traces = ({ id }: Sim): readonly string[] => [
  ...(durable.registry.simulation(id) === undefined ? [] : ['simulation']),
  ...durable.registry
    .settings('')
    .filter(([name, value]) => name.includes(id) || value.includes(id))
    .map(([name]) => name),
];

async function traded(client: TestClient, orders = 2): Promise<string> {
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 1_000_000 });
  await pushQuote(client);
  for (let n = 0; n < orders; n += 1) await placeOrder(client, portfolioId as string);
  return portfolioId as string;
}

const ordersOf = async (client: TestClient, portfolioId: string): Promise<Body> =>
  (await client.get(`/v1/orders/portfolio/${portfolioId}`)).body;

const FULL = { status: 503, body: { statusCode: 503, error: { code: 'EPHEMERAL_FULL' } } };

describe('an ephemeral simulation', () => {
  it('createSimulation, getSimulation and listSimulations: show ephemeral, and only where it is true', async () => {
    const sim = await created();
    const stored = await created({ ephemeral: false });
    expect(sim.body.ephemeral).toBe(true);
    expect(stored.body).not.toHaveProperty('ephemeral');
    expect((await owner.get(`/v1/simulations/${sim.id}`)).body.ephemeral).toBe(true);
    const { data } = (await owner.get('/v1/simulations')).body as { data: Body[] };
    expect(data.map(({ simulationId, ephemeral }) => [simulationId, ephemeral])).toEqual([
      [stored.id, undefined],
      [sim.id, true],
    ]);
  });

  it.each([{ ephemeral: 'true' }, { ephemeral: null }, { ephemeral: 1 }])(
    'createSimulation: refuses %j as a value',
    async (more) => {
      expect((await owner.post('/v1/simulations', { ...MARKET, ...more })).status).toBe(400);
    },
  );

  it('leaves nothing in the durable store, whatever is done with it', async () => {
    const sim = await created({ ephemeral: true, ttl: 'PT1H' });
    const { client, id } = sim;
    await traded(client);
    const snapshot = await owner.post(
      `/v1/simulations/${id}/snapshots`,
      { name: 'a' },
      { 'idempotency-key': 'snapshot' },
    );
    expect(snapshot.status).toBe(201);
    const fork = await forkOf(sim);
    await owner.post('/v1/simulations/step', {
      steps: [{ simulationId: id, advance: { by: 'PT1M' } }],
    });
    await durable.probe();
    expect([traces(sim), traces(fork)]).toEqual([[], []]);
    const kept = { ...MARKET, ephemeral: true };
    await owner.post('/v1/simulations', kept, { 'idempotency-key': 'once' });
    const again = await owner.post('/v1/simulations', kept, { 'idempotency-key': 'once' });
    expect(again.headers['idempotent-replayed']).toBe('true');
    const found = durable.journal.findAnswer('tenant-1', 'main', 'POST /v1/simulations', 'once', Date.now());
    expect(found).toBeUndefined();
  });

  it('lists, streams, verification and forks are those of a stored one', async () => {
    const pairs = [await created(), await created({ ephemeral: false })];
    const shown = [];
    for (const { client, id } of pairs) {
      const portfolioId = await traded(client, 3);
      await client.post('/v1/simulation/clock/advance', { by: 'PT10M' });
      shown.push(await ordersOf(client, portfolioId));
      expect((await verifyJournal(test.store, id)).problems).toEqual([]);
    }
    expect(shown[0]).toEqual(shown[1]);
    expect((shown[0] as { data: unknown[] }).data).toHaveLength(3);
  });

  it('exportSimulation: the file is that of a stored simulation', async () => {
    const { id, client } = await created();
    await traded(client);
    const { body: text } = await test.app.inject({
      url: `/v1/simulations/${id}/export`,
      headers: { authorization: `Bearer ${test.token({ tier: 'ENTERPRISE' })}` },
    });
    const lines = text.trimEnd().split('\n');
    expect(lines[0]).not.toContain('ephemeral');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'trailer' });
  });

  it('deleteSimulation: frees its memory and ends its stored answers', async () => {
    const before = test.store.ephemeral?.bytes;
    const sim = await created();
    await traded(sim.client);
    expect(test.store.ephemeral?.bytes).toBeGreaterThan(before ?? 0);
    expect((await owner.delete(`/v1/simulations/${sim.id}`)).status).toBe(200);
    expect(test.store.ephemeral?.bytes).toBe(before);
    expect((await sim.client.get('/v1/simulation/clock')).status).toBe(401);
  });

  it('ends with the process: the next one answers 404', async () => {
    const sim = await created();
    await traded(sim.client);
    await test.app.close();
    await test.simulations.close();
    const store = withEphemeral(durable, await openMemoryStore({ standbyFrom }), LIMIT);
    test = await TestApp.open({ store });
    owner = test.as({ tier: 'ENTERPRISE' });
    expect((await owner.get(`/v1/simulations/${sim.id}`)).status).toBe(404);
    expect((await owner.get('/v1/simulations')).body).toMatchObject({ data: [] });
  });

  it('other tenants get 404', async () => {
    const { id } = await created();
    const other = test.as({ tenantId: 'tenant-2', tier: 'ENTERPRISE' });
    expect((await other.get(`/v1/simulations/${id}`)).status).toBe(404);
    expect((await other.post(`/v1/simulations/${id}/forks`, { ephemeral: true })).status).toBe(404);
    expect((await other.delete(`/v1/simulations/${id}`)).status).toBe(404);
  });

  it('counts as a simulation of its tenant', async () => {
    await test.close();
    durable = await openMemoryStore({ standbyFrom });
    const store = withEphemeral(durable, await openMemoryStore({ standbyFrom }), LIMIT);
    test = await TestApp.open({ store, settings: { BASIC_SIMULATIONS: '1' } });
    const basic = test.as({ tier: 'BASIC' });
    const { id } = await created({ ephemeral: true }, basic);
    expect((await basic.post('/v1/simulations', MARKET)).status).toBe(403);
    await basic.delete(`/v1/simulations/${id}`);
    expect((await basic.post('/v1/simulations', MARKET)).status).toBe(201);
  });

  it('createWebhook: refuses it', async () => {
    const { id } = await created();
    const reply = await owner.post('/v1/webhooks', { url: 'https://example.com/hook', simulationId: id });
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body.message).toEqual(['simulationId must not name an ephemeral simulation']);
  });
});

describe('ephemeral forks', () => {
  it('a fork of an ephemeral simulation is ephemeral; false is 409', async () => {
    const sim = await created();
    const portfolioId = await traded(sim.client);
    const fork = await forkOf(sim);
    expect(fork.body).toMatchObject({ ephemeral: true, parent: { simulationId: sim.id } });
    expect(await ordersOf(fork.client, portfolioId)).toEqual(await ordersOf(sim.client, portfolioId));
    const refused = await owner.post(`/v1/simulations/${sim.id}/forks`, { ephemeral: false });
    expect(refused.status).toBe(409);
  });

  it('a fork of a stored simulation has its orders, and keeps them when the parent is deleted', async () => {
    const sim = await created({ ephemeral: false });
    const portfolioId = await traded(sim.client);
    const before = await ordersOf(sim.client, portfolioId);
    const fork = await forkOf(sim, { ephemeral: true });
    expect(fork.body.ephemeral).toBe(true);
    expect(traces(fork)).toEqual([]);
    expect(await ordersOf(fork.client, portfolioId)).toEqual(before);
    await placeOrder(sim.client, portfolioId);
    await placeOrder(fork.client, portfolioId);
    await owner.delete(`/v1/simulations/${sim.id}`);
    const grandchild = await forkOf(fork);
    await owner.delete(`/v1/simulations/${fork.id}`);
    const { data } = (await ordersOf(grandchild.client, portfolioId)) as { data: Body[] };
    expect(data).toHaveLength(3);
    expect((await verifyJournal(test.store, grandchild.id)).problems).toEqual([]);
    await owner.delete(`/v1/simulations/${grandchild.id}`);
    expect(test.store.ephemeral?.bytes).toBe(0);
  });

  it('forks at several points of one stored parent, and of main, each have their part', async () => {
    const sim = await created({ ephemeral: false });
    const portfolioId = await traded(sim.client, 1);
    const early = await forkOf(sim, { ephemeral: true });
    await placeOrder(sim.client, portfolioId);
    const late = await forkOf(sim, { ephemeral: true });
    const start = await forkOf(sim, { ephemeral: true, from: { sequence: 0 } });
    const counts = [];
    for (const { client } of [early, late])
      counts.push(((await ordersOf(client, portfolioId)) as { data: unknown[] }).data.length);
    expect(counts).toEqual([1, 2]);
    expect((await start.client.get(`/v1/accounts/portfolios/${portfolioId}`)).status).toBe(404);
    const ofMain = await made('/v1/simulations/main/forks', { ephemeral: true });
    expect(ofMain.body).toMatchObject({ ephemeral: true, parent: { simulationId: 'main' } });
  });
});

describe('steps of several simulations', () => {
  it.each([
    [true, false],
    [false, true],
  ])('are of the kind of the first: ephemeral %s, then %s, then as the first', async (first, second) => {
    const sims = [
      await created({ ephemeral: first }),
      await created({ ephemeral: second }),
      await created({ ephemeral: first }),
    ];
    const reply = await owner.post('/v1/simulations/step', {
      steps: sims.map(({ id }) => ({ simulationId: id, advance: { by: 'PT1M' } })),
    });
    expect(reply.status, reply.text).toBe(200);
    const { results } = reply.body as { results: Body[] };
    expect(results.map(({ error }) => error?.statusCode)).toEqual([undefined, 409, undefined]);
    const nows = [];
    for (const { client } of sims) nows.push((await client.get('/v1/simulation/clock')).body.now);
    expect(nows).toEqual(['2026-01-05T15:01:00.000Z', MARKET.start.replace('Z', '.000Z'), nows[0]]);
  });
});

describe('the memory for ephemeral simulations', () => {
  /** Places orders until one is refused. */
  async function filled(sim: Sim, portfolioId: string): Promise<Body> {
    for (let n = 0; n < 2000; n += 1) {
      const reply = await sim.client.post('/v1/orders', orderBody(portfolioId, { limitPrice: 1 }));
      if (reply.status !== 201) return reply;
    }
    throw new Error('it was never full');
  }

  it('is a quarter of the whole for one tenant: commands that add are 503, nothing else is affected', async () => {
    await test.close();
    await opened(600_000);
    const sim = await created();
    const { portfolioId } = await openPortfolio(sim.client, {});
    await pushQuote(sim.client);
    const order = await placeOrder(sim.client, portfolioId as string, { limitPrice: 1 });
    const stored = await created({ ephemeral: false });
    expect(await filled(sim, portfolioId as string)).toMatchObject(FULL);
    for (const [path, body] of [
      ['/v1/simulations', { ...MARKET, ephemeral: true }],
      [`/v1/simulations/${sim.id}/forks`, {}],
      [`/v1/simulations/${stored.id}/forks`, { ephemeral: true }],
      [`/v1/simulations/${sim.id}/snapshots`, {}],
    ] as const)
      expect(await owner.post(path, body), path).toMatchObject(FULL);
    const stepped = await sim.client.post('/v1/simulation/step', { advance: { by: 'PT1M' } });
    expect(stepped).toMatchObject(FULL);
    const several = await owner.post('/v1/simulations/step', {
      steps: [{ simulationId: sim.id, advance: { by: 'PT1M' } }],
    });
    expect(several.body).toMatchObject({ results: [{ error: { error: { code: 'EPHEMERAL_FULL' } } }] });
    // Reads, cancellations, stored simulations and other tenants.
    expect((await sim.client.get(`/v1/accounts/portfolios/${portfolioId}`)).status).toBe(200);
    expect((await sim.client.put(`/v1/orders/${order.orderId}/cancel`)).status).toBe(200);
    await traded(stored.client);
    const other = test.as({ tenantId: 'tenant-2', tier: 'ENTERPRISE' });
    const elsewhere = await created({ ephemeral: true }, other);
    await traded(elsewhere.client);
    await owner.delete(`/v1/simulations/${sim.id}`);
    await created();
  });

  it('counts what forks hold of deleted parents', async () => {
    const sim = await created();
    await traded(sim.client, 5);
    const used = test.store.ephemeral?.bytes ?? 0;
    const fork = await forkOf(sim);
    await owner.delete(`/v1/simulations/${sim.id}`);
    expect(test.store.ephemeral?.bytes).toBeGreaterThan(used);
    await owner.delete(`/v1/simulations/${fork.id}`);
    expect(test.store.ephemeral?.bytes).toBe(0);
  });

  it('is freed by the ends of the simulations of two tenants', async () => {
    const tenants = [owner, test.as({ tenantId: 'tenant-2', tier: 'ENTERPRISE' })];
    const before = test.store.ephemeral?.bytes;
    for (let round = 0; round < 2; round += 1) {
      const sims = await Promise.all(
        Array.from({ length: 24 }, (_, n) => created({ ephemeral: true }, tenants[n % 2])),
      );
      await Promise.all(sims.map(({ id }, n) => (tenants[n % 2] ?? owner).delete(`/v1/simulations/${id}`)));
    }
    expect(test.store.ephemeral?.bytes).toBe(before);
  });
});

describe('beside a data directory', () => {
  it('is gone after a restart, with all its rows', async () => {
    await test.close();
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-ephemeral-'));
    const open = async (): Promise<void> => {
      durable = await openSqliteStore({ directory, recovery: recoveryUrl().href });
      const store = withEphemeral(durable, await openMemoryStore({ standbyFrom }), LIMIT);
      test = await TestApp.open({ store });
      owner = test.as({ tier: 'ENTERPRISE' });
    };
    try {
      await open();
      const stored = await created({ ephemeral: false });
      const portfolioId = await traded(stored.client);
      const fork = await forkOf(stored, { ephemeral: true });
      expect(await ordersOf(fork.client, portfolioId)).toEqual(await ordersOf(stored.client, portfolioId));
      await test.close();
      await open();
      expect((await owner.get(`/v1/simulations/${fork.id}`)).status).toBe(404);
      expect((await owner.get(`/v1/simulations/${stored.id}`)).status).toBe(200);
      expect(traces(fork)).toEqual([]);
    } finally {
      await test.close();
      rmSync(directory, { recursive: true, force: true });
      await opened();
    }
  });
});
