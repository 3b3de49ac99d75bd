/** Comparisons of simulations under other rules, over HTTP (D173). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Quantity } from '@sandpit/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import {
  type Body,
  NOWHERE,
  openPortfolio,
  placeOrder,
  pushQuote,
  type Reply,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let owner: TestClient;

beforeEach(async () => {
  test = await TestApp.open();
  owner = test.as({ tier: 'ENTERPRISE' });
});
afterEach(() => test.close());

interface Sim {
  readonly id: string;
  readonly client: TestClient;
  readonly portfolioId: string;
}

async function simulation(more: object = {}, portfolio: object = {}): Promise<Sim> {
  const made = await owner.post('/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T15:00:00Z',
    seed: 7,
    ...more,
  });
  expect(made.status, made.text).toBe(201);
  const client = test.withToken(made.body.token as string);
  const { portfolioId } = await openPortfolio(client, { initialCash: 100_000, ...portfolio });
  return { id: made.body.simulationId as string, client, portfolioId: portfolioId as string };
}

const compare = (id: string, body: object, by: TestClient = owner): Promise<Reply> =>
  by.post(`/v1/simulations/${id}/comparisons`, body);

/** The comparison, when it is over. */
async function compared(id: string, body: object, by: TestClient = owner): Promise<Body> {
  const started = await compare(id, body, by);
  expect(started.status, started.text).toBe(202);
  const { comparisonId } = started.body;
  let reply: Reply;
  do reply = await by.get(`/v1/comparisons/${comparisonId}?wait=30`);
  while (['QUEUED', 'RUNNING'].includes(reply.body.status as string));
  return reply.body;
}

const advance = (client: TestClient, by: string): Promise<Reply> =>
  client.post('/v1/simulation/clock/advance', { by });

/** A day of trading: a purchase, half of it sold, an order that never fills, one that is canceled, a deposit. */
async function trade({ client, portfolioId }: Sim): Promise<void> {
  await pushQuote(client);
  await placeOrder(client, portfolioId, { quantity: 100 });
  await advance(client, 'PT1H');
  await pushQuote(client, { bid: 104.9, ask: 105, last: 105 });
  await placeOrder(client, portfolioId, { positionIntent: 'SELL_TO_CLOSE', quantity: 50, limitPrice: 104 });
  await placeOrder(client, portfolioId, { limitPrice: 50 });
  const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 60 });
  await client.put(`/v1/orders/${orderId}/cancel`);
  await client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount: 500 });
  await advance(client, 'P1D');
  await pushQuote(client, { bid: 89.9, ask: 90, last: 90 });
}

const equityOf = async ({ client, portfolioId }: Sim): Promise<number> =>
  (await client.get(`/v1/accounts/portfolios/${portfolioId}`)).body.totalEquity as number;

describe('POST /v1/simulations/:id/comparisons', () => {
  it('has the drawdown of all portfolios together: their openings, imports, resets and closings are flows (D242)', async () => {
    const sim = await simulation();
    const { client } = sim;
    await pushQuote(client, { bid: 100, ask: 100, last: 100 });
    await placeOrder(client, sim.portfolioId, { quantity: 500 });
    await advance(client, 'PT30M');
    await pushQuote(client, { bid: 110, ask: 110, last: 110 });
    const { portfolioId: second } = await openPortfolio(client, { initialCash: 90_000 });
    const path = `/v1/accounts/portfolios/${String(second)}`;
    expect((await client.post(`${path}/import`, { cash: 10_000 })).status).toBe(201);
    await advance(client, 'PT30M');
    // 105,000 and 100,000 by flows: 198,850 is 3 % less.
    await pushQuote(client, { bid: 97.7, ask: 97.7, last: 97.7 });
    expect((await client.post(`${path}/reset`)).status).toBe(200);
    expect((await client.delete(path)).status).toBe(200);
    await advance(client, 'P1D');
    const { base } = await compared(sim.id, { variants: [{ name: 'same' }] });
    expect(base.maxDrawdown).toEqual({
      fraction: expect.closeTo(-0.03, 12) as number,
      amount: -6150,
      peakAt: '2026-01-05T15:30:00.000Z',
      troughAt: '2026-01-05T16:00:00.000Z',
    });
  });

  it('reports the cost at every broker, against a base that matches the journal to the cent', async () => {
    const sim = await simulation();
    await trade(sim);
    const body = await compared(sim.id, { variants: 'all-brokers' });
    expect(body, JSON.stringify(body.reason)).toMatchObject({
      status: 'DONE',
      progress: 1,
      baseMatches: true,
    });
    expect(body).not.toHaveProperty('baseDifference');
    expect(body.base).toMatchObject({
      name: 'base',
      status: 'DONE',
      difference: 0,
      totalEquity: await equityOf(sim),
      orders: { accepted: 4, rejected: 0, filled: 2, canceled: 2 },
      executions: 2,
      requests: { repeated: 7, refused: 0, skipped: 0 },
      realizedPnl: 245,
      unrealizedPnl: -500,
    });
    // The peak is the deposit at 105, 50 shares; the fall to 90 is 750, the deposit left out.
    expect(body.base.maxDrawdown).toMatchObject({ amount: -750, peakAt: '2026-01-05T16:00:00.000Z' });
    const { maxDrawdown } = (await sim.client.get(`/v1/accounts/portfolios/${sim.portfolioId}/performance`))
      .body;
    expect(body.base.maxDrawdown).toEqual(maxDrawdown);
    const brokers = (await owner.get('/v1/brokers')).body.data as Body[];
    expect(body.variants.map(({ name }: Body) => name as string)).toEqual(
      brokers.map((one) => one.brokerId as string),
    );
    for (const row of body.variants as Body[]) {
      expect(row.status).toBe('DONE');
      expect(row.difference).toBeCloseTo(row.totalEquity - body.base.totalEquity, 6);
    }
    const dear = (body.variants as Body[]).filter((row) => row.commissions > body.base.commissions);
    expect(dear.length).toBeGreaterThan(0);
    for (const row of dear)
      expect(row.firstDifference).toMatchObject({ kind: 'FEE', at: '2026-01-05T15:00:00.000Z' });
  });

  it('reports the reason of a refused order, skips its cancel, and keeps the numbers of other orders', async () => {
    const sim = await simulation({}, { portfolioType: 'CASH' });
    const { client, portfolioId } = sim;
    await pushQuote(client);
    // Not every broker accepts trailing stops, or fractions.
    const fraction = await placeOrder(client, portfolioId, { quantity: 0.5, limitPrice: 50 });
    await client.put(`/v1/orders/${fraction.orderId}/cancel`);
    const whole = await placeOrder(client, portfolioId, { quantity: 5, limitPrice: 50 });
    await client.put(`/v1/orders/${whole.orderId}/cancel`);
    const brokers = (await owner.get('/v1/brokers')).body.data as Body[];
    const strict = brokers.find(({ fractionalShares }) => fractionalShares === false)?.brokerId as string;
    const { base, variants, baseMatches } = await compared(sim.id, {
      variants: [{ name: 'v', brokerId: strict }],
    });
    expect(baseMatches).toBe(true);
    expect(base.requests).toEqual({ repeated: 5, refused: 0, skipped: 0 });
    expect(variants[0]).toMatchObject({
      orders: { accepted: 1, rejected: 1, filled: 0, canceled: 1 },
      requests: { repeated: 5, refused: 1, skipped: 1 },
      firstDifference: {
        orderId: fraction.orderId as string,
        kind: 'REJECTED',
        base: 'ACCEPTED',
        variant: expect.stringContaining('BROKER_RESTRICTION: '),
      },
    });
  });

  it('repeats a synthetic market, latencies and limits under another fill model, latency and seed', async () => {
    const sim = await simulation({ feed: 'synthetic' }, { portfolioType: 'CASH' });
    const { client, portfolioId } = sim;
    const ask = (await client.get('/v1/market-data/quote/AAPL')).body.ask as number;
    for (let i = 0; i < 5; i += 1) {
      await placeOrder(client, portfolioId, {
        orderType: 'LIMIT',
        limitPrice: Math.round(ask * (1.01 - i / 400) * 100) / 100,
        latencyProfile: 'RETAIL',
      });
      await advance(client, 'PT10M');
    }
    await advance(client, 'P2D');
    const body = await compared(sim.id, {
      variants: [
        { name: 'same' },
        { name: 'strict', fillModel: 'strict' },
        { name: 'slow', latencyMs: 60_000 },
        { name: 'other draws', seed: 'another' },
      ],
    });
    expect(body).toMatchObject({ status: 'DONE', baseMatches: true });
    expect(body.base).toMatchObject({ totalEquity: await equityOf(sim) });
    const [same, strict, slow] = body.variants as Body[];
    expect(same).not.toHaveProperty('firstDifference');
    expect(same.difference).toBe(0);
    expect(strict.status).toBe('DONE');
    expect(slow.firstDifference.kind).toBe('PRICE');
  });

  it('compare: begins and ends at the given points; variants that cannot begin there FAIL', async () => {
    const sim = await simulation({}, { portfolioType: 'MARGIN' });
    const { client, portfolioId } = sim;
    await pushQuote(client, { symbol: 'ESH26', bid: 5999.75, ask: 6000, last: 6000 });
    const future = { symbol: 'ESH26', assetClass: 'FUTURE', quantity: 1, limitPrice: 6000 };
    await placeOrder(client, portfolioId, future);
    await advance(client, 'PT1H');
    await pushQuote(client);
    await placeOrder(client, portfolioId, { quantity: 10 });
    const brokers = (await owner.get('/v1/brokers')).body.data as Body[];
    const without = brokers.find(({ futures }) => futures === false)?.brokerId as string;
    const body = await compared(sim.id, {
      from: { at: '2026-01-05T15:30:00Z' },
      variants: [{ name: 'none', brokerId: without }, { name: 'same' }],
    });
    expect(body).toMatchObject({ status: 'DONE', baseMatches: true });
    expect(body.base).toMatchObject({
      orders: { accepted: 1 },
      requests: { repeated: 1 },
      totalEquity: await equityOf(sim),
    });
    expect(body.variants[0]).toMatchObject({ name: 'none', status: 'FAILED' });
    expect(body.variants[0].reason).toContain('does not offer futures');
    expect(body.variants[1]).toMatchObject({ status: 'DONE', difference: 0 });
    const early = await compared(sim.id, {
      until: { at: '2026-01-05T15:30:00Z' },
      variants: [{ name: 'same' }],
    });
    expect(early.base.requests.repeated).toBe(2);
    const one = await compared(sim.id, { until: { sequence: 1 }, variants: [{ name: 'same' }] });
    expect(one.status).toBe('DONE');
  });

  it('getComparison: a tenant of the name of an erased one gets nothing of its comparisons', async () => {
    const { id } = await simulation();
    const body = { variants: [{ name: 'same' }] };
    const { comparisonId } = await compared(id, body);
    const running = (await compare(id, body)).body;
    await test.app.eraseTenant('tenant-1');
    for (const one of [comparisonId, running.comparisonId])
      expect((await owner.get(`/v1/comparisons/${String(one)}`)).status).toBe(404);
    expect(test.store.registry.settings('comparison/')).toEqual([]);
  });

  it('begins and ends at snapshots of the simulation', async () => {
    const { id, client, portfolioId } = await simulation();
    await pushQuote(client);
    await placeOrder(client, portfolioId, { quantity: 1 });
    const { snapshotId } = (await owner.post(`/v1/simulations/${id}/snapshots`, {})).body;
    await placeOrder(client, portfolioId, { quantity: 2 });
    const variants = [{ name: 'same', brokerId: 'default' }];
    const { base } = (await compared(id, { until: { snapshotId }, variants })) as {
      base: { orders: Body };
    };
    expect(base.orders).toMatchObject({ accepted: 1 });
    const unknown = await compare(id, { from: { snapshotId: 'none' }, variants });
    expect(unknown.status).toBe(404);
    const elsewhere = await compare(id, { variants: [{ name: 'a', brokers: { x: 'default' } }] });
    expect(elsewhere.body.message).toEqual(['variants.0.brokers.x must name a portfolio of the simulation']);
  });

  const forkOf = async (
    id: string,
    body: object = {},
  ): Promise<{ id: string; client: TestClient; at: number }> => {
    const made = await owner.post(`/v1/simulations/${id}/forks`, body);
    expect(made.status, made.text).toBe(201);
    return {
      id: String(made.body.simulationId),
      client: test.withToken(String(made.body.token)),
      at: made.body.parent.sequence,
    };
  };

  it('compares a fork based on the records of its ancestors up to the fork point and its own records', async () => {
    const parent = await simulation();
    await trade(parent);
    const fork = await forkOf(parent.id, { seed: 11 });
    await trade(parent);
    const own = { ...parent, ...fork };
    await trade(own);
    const child = await forkOf(fork.id, { from: { at: '2026-01-06T16:30:00Z' } });
    await owner.delete(`/v1/simulations/${parent.id}`);
    const variants = [{ name: 'same' }, { name: 'other', brokerId: 'broker_03' }];
    const whole = await compared(fork.id, { variants });
    expect(whole).toMatchObject({ status: 'DONE', baseMatches: true });
    expect(whole.base.totalEquity).toBe(await equityOf(own));
    expect(whole.base).toMatchObject({ orders: { accepted: 8, filled: 4 } });
    expect(whole.variants[0]).toMatchObject({ difference: 0 });
    const late = await compared(fork.id, { from: { sequence: fork.at }, variants });
    expect(late).toMatchObject({ baseMatches: true, base: { orders: { accepted: 4, filled: 2 } } });
    expect(late.base.totalEquity).toBe(whole.base.totalEquity);
    const ofChild = await compared(child.id, { variants });
    expect(ofChild).toMatchObject({ status: 'DONE', baseMatches: true, base: { orders: { accepted: 5 } } });
  });

  it('compares a fork with a synthetic market, another seed and a clock of another kind', async () => {
    const parent = await simulation({ feed: 'synthetic', clock: 'scaled', speed: 600 });
    const order = { orderType: 'MARKET', limitPrice: undefined, latencyProfile: 'RETAIL', quantity: 3 };
    await placeOrder(parent.client, parent.portfolioId, order);
    await placeOrder(parent.client, parent.portfolioId, { limitPrice: 1, quantity: 2 });
    const fork = await forkOf(parent.id, { seed: 99 });
    await placeOrder(fork.client, parent.portfolioId, order);
    await advance(fork.client, 'P1D');
    await placeOrder(fork.client, parent.portfolioId, { ...order, positionIntent: 'SELL_TO_CLOSE' });
    await advance(fork.client, 'PT1M');
    const variants = [{ name: 'same' }, { name: 'seed', seed: 5 }, { name: 'slow', latencyMs: 5000 }];
    const body = await compared(fork.id, { variants });
    expect(body).toMatchObject({ status: 'DONE', baseMatches: true, base: { orders: { accepted: 4 } } });
    expect(body.base.totalEquity).toBe(await equityOf({ ...parent, ...fork }));
    expect(body.variants).toMatchObject([{ difference: 0 }, { status: 'DONE' }, { status: 'DONE' }]);
  });

  it('compares a fork of main based on the journal of the market up to the fork point', async () => {
    await pushQuote(owner, { bid: 1, ask: 1.01 });
    const { portfolioId } = await openPortfolio(owner, { initialCash: 50_000 });
    await pushQuote(owner);
    await placeOrder(owner, portfolioId as string, { quantity: 100 });
    await advance(owner, 'PT1H');
    await pushQuote(owner, { bid: 109.9, ask: 110, last: 110 });
    const fork = await forkOf('main');
    await pushQuote(owner, { bid: 50, ask: 51, last: 50 });
    await pushQuote(fork.client, { bid: 119.9, ask: 120, last: 120 });
    await placeOrder(fork.client, portfolioId as string, {
      positionIntent: 'SELL_TO_CLOSE',
      quantity: 100,
      limitPrice: 105,
    });
    const body = await compared(fork.id, { variants: [{ name: 'same' }] });
    expect(body).toMatchObject({ status: 'DONE', baseMatches: true });
    expect(body.base).toMatchObject({ orders: { accepted: 2, filled: 2 }, realizedPnl: 1990 });
    expect(body.variants[0]).toMatchObject({ difference: 0 });
  });

  it('compares main based on the journal of the market', async () => {
    await pushQuote(owner, { bid: 1, ask: 1.01 });
    const { portfolioId } = await openPortfolio(owner, { initialCash: 50_000 });
    await pushQuote(owner);
    await placeOrder(owner, portfolioId as string, { quantity: 100 });
    await advance(owner, 'PT1H');
    await pushQuote(owner, { bid: 109.9, ask: 110, last: 110 });
    await placeOrder(owner, portfolioId as string, {
      positionIntent: 'SELL_TO_CLOSE',
      quantity: 100,
      limitPrice: 105,
    });
    await advance(owner, 'P1D');
    await pushQuote(owner, { bid: 119.9, ask: 120, last: 120 });
    const body = await compared('main', { variants: [{ name: 'same' }] });
    expect(body).toMatchObject({ status: 'DONE', baseMatches: true, simulationId: 'main' });
    expect(body.base).toMatchObject({ orders: { accepted: 2, filled: 2 }, realizedPnl: 990 });
    expect(body.variants[0]).toMatchObject({ difference: 0 });
  });

  it('executes many variants in two threads that read the journal independently, with the same figures', async () => {
    await test.close();
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-compared-'));
    try {
      test = await TestApp.open({ store: await openSqliteStore({ directory }) });
      owner = test.as({ tier: 'ENTERPRISE' });
      const sim = await simulation();
      await trade(sim);
      const by = { tier: 'ENTERPRISE' } as const;
      const opened = await test.simulations.directory.find(sim.id, 'tenant-1');
      const order = {
        portfolioId: sim.portfolioId,
        symbol: 'AAPL',
        assetClass: 'EQUITY',
        orderType: 'MARKET',
        positionIntent: 'BUY_TO_OPEN',
        quantity: Quantity.of(1),
        timeInForce: 'DAY',
      } as const;
      const orders = Array.from({ length: 150 }, () => ({ type: 'SubmitOrder', by, order }) as const);
      await opened?.submitAll<'SubmitOrder'>(orders);
      const brokers = (await owner.get('/v1/brokers')).body.data as Body[];
      // The two of a pair are dealt to different threads.
      const pairs = Array.from({ length: 13 }, (_, i) => brokers[i % brokers.length]?.brokerId as string);
      const variants = pairs.flatMap((brokerId, i) => [
        { name: `${i} one`, brokerId },
        { name: `${i} two`, brokerId },
      ]);
      const body = await compared(sim.id, { variants });
      expect(body, JSON.stringify(body.reason)).toMatchObject({ status: 'DONE', baseMatches: true });
      expect(body.base).toMatchObject({ orders: { accepted: 154 }, totalEquity: await equityOf(sim) });
      const rows = body.variants as Body[];
      expect(rows.map(({ name }) => name as string)).toEqual(variants.map(({ name }) => name));
      for (let i = 0; i < rows.length; i += 2)
        expect(rows[i]).toEqual({ ...rows[i + 1], name: `${i / 2} one` });
      expect(new Set(rows.map((row) => row.totalEquity as number)).size).toBeGreaterThan(1);
    } finally {
      await test.close();
      test = await TestApp.open();
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('refuses missing, future and unknown starting points', async () => {
    const sim = await simulation();
    await pushQuote(sim.client);
    const same = [{ name: 'a' }];
    const status = async (body: object, id = sim.id, by = owner) => (await compare(id, body, by)).status;
    expect(await status({ variants: [] })).toBe(400);
    expect(await status({ variants: 'some-brokers' })).toBe(400);
    expect(await status({ variants: Array.from({ length: 51 }, (_, i) => ({ name: `${i}` })) })).toBe(400);
    expect(await status({ variants: [...same, ...same] })).toBe(400);
    expect(await status({ variants: [{ name: 'a', brokerId: 'nobody' }] })).toBe(400);
    expect(await status({ variants: [{ name: 'a', latencyMs: 5, latencyProfile: 'RETAIL' }] })).toBe(400);
    expect(await status({ variants: same, from: {} })).toBe(400);
    expect(await status({ variants: same, from: { at: '2030-01-01' } })).toBe(400);
    expect(await status({ variants: same, until: { sequence: 1e9 } })).toBe(400);
    expect(await status({ variants: same, from: { sequence: 2 }, until: { sequence: 1 } })).toBe(400);
    expect(await status({ variants: same }, NOWHERE)).toBe(404);
    const stranger = test.as({ tenantId: 'tenant-2', tier: 'ENTERPRISE' });
    expect(await status({ variants: same }, sim.id, stranger)).toBe(404);
    const started = await compare(sim.id, { variants: same });
    const path = `/v1/comparisons/${started.body.comparisonId}`;
    expect((await stranger.get(path)).body).toMatchObject({
      statusCode: 404,
      message: 'Comparison not found',
    });
    expect((await stranger.delete(path)).status).toBe(404);
    expect((await owner.get(`${path}?wait=31`)).status).toBe(400);
    expect((await owner.get(`/v1/comparisons/${NOWHERE}`)).status).toBe(404);
  });

  it('runs one at a time, cancels waiting and running comparisons, and keeps results over a restart', async () => {
    const sim = await simulation();
    await trade(sim);
    const [one, two] = [
      await compare(sim.id, { variants: 'all-brokers' }),
      await compare(sim.id, { variants: 'all-brokers' }),
    ];
    expect([one.body.status, two.body.status]).toEqual(['RUNNING', 'QUEUED']);
    const path = (reply: Reply) => `/v1/comparisons/${reply.body.comparisonId}`;
    expect((await owner.delete(path(two))).body.status).toBe('CANCELED');
    expect((await owner.delete(path(one))).body.status).toBe('CANCELED');
    expect((await owner.get(`${path(one)}?wait=30`)).body.status).toBe('CANCELED');
    const body = await compared(sim.id, { variants: [{ name: 'same' }] });
    test = await test.restart();
    const again = test.as({ tier: 'ENTERPRISE' });
    const kept = await again.get(`/v1/comparisons/${body.comparisonId}`);
    expect(kept.body).toEqual(body);
    const csv = await test.app.inject({
      url: `/v1/comparisons/${body.comparisonId}`,
      headers: { authorization: `Bearer ${again.token}`, accept: 'text/csv' },
    });
    expect(csv.headers['content-type']).toContain('text/csv');
    expect(csv.body.split('\r\n')[1]).toMatch(/^base,DONE,,/);
    test.time.nowMs += 86_400_001;
    expect((await test.as({ tier: 'ENTERPRISE' }).get(`/v1/comparisons/${body.comparisonId}`)).status).toBe(
      404,
    );
  });
});
