/** Steps of simulations over HTTP (D174). */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyJournal } from '../engine/recovery/verify.js';
import {
  type Body,
  NOWHERE,
  openPortfolio,
  orderBody,
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

async function simulation(more: object = {}, by: TestClient = owner): Promise<Sim> {
  const made = await by.post('/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    start: '2026-01-05T15:00:00Z',
    seed: 7,
    ...more,
  });
  expect(made.status, made.text).toBe(201);
  const client = test.withToken(made.body.token as string);
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 1_000_000 });
  return { id: made.body.simulationId as string, client, portfolioId: portfolioId as string };
}

const step = (client: TestClient, body: object, key?: string): Promise<Reply> =>
  client.post('/v1/simulation/step', body, key === undefined ? {} : { 'idempotency-key': key });
const buy = (portfolioId: string, more: object = {}): object => orderBody(portfolioId, more);
const market = (portfolioId: string, more: object = {}): object => {
  const { limitPrice: _, ...order } = orderBody(portfolioId, { orderType: 'MARKET', ...more }) as Body;
  return order as object;
};
const aapl = (more: object = {}): object => ({ symbol: 'AAPL', bid: 99.9, ask: 100, last: 100, ...more });
const eventsOf = ({ body }: Reply): string[] => (body.events as Body[]).map(({ event }) => event as string);

/** Everything that was decided is in the journal, and repeats. */
async function verified({ id }: Sim): Promise<void> {
  expect((await verifyJournal(test.store, id)).problems).toEqual([]);
}

describe('POST /v1/simulation/step', () => {
  it('places, cancels, pushes, advances and observes, in that order', async () => {
    const sim = await simulation();
    const { client, portfolioId } = sim;
    const resting = await placeOrder(client, portfolioId, { limitPrice: 90 });
    const reply = await step(client, {
      orders: [buy(portfolioId), buy(portfolioId, { limitPrice: 95 })],
      cancels: [resting.orderId],
      quotes: [aapl()],
      advance: { by: 'PT1M' },
      observe: { symbols: ['AAPL', 'MSFT', 'NO.SUCH'], portfolios: [portfolioId], orders: true },
    });
    expect(reply.status, reply.text).toBe(200);
    const { body } = reply;
    expect(body.now).toBe('2026-01-05T15:01:00.000Z');
    expect(body.hasMore).toBe(false);
    expect(body.orders).toMatchObject([
      { statusCode: 201, order: { status: 'PENDING', symbol: 'AAPL' } },
      { statusCode: 201, order: { limitPrice: 95 } },
    ]);
    expect(body.cancels).toMatchObject([{ statusCode: 200, orderId: resting.orderId, status: 'CANCELED' }]);
    // The quote comes after the orders: they wait for it.
    expect(eventsOf(reply)).toEqual([
      'PENDING',
      'RESERVING',
      'ACTIVE',
      'PENDING',
      'RESERVING',
      'ACTIVE',
      'CANCELED',
      'FILLED',
    ]);
    expect(body.quotes).toMatchObject([{ symbol: 'AAPL', price: 100 }]);
    expect(body.portfolios).toMatchObject([
      {
        portfolioId,
        equities: [{ symbol: 'AAPL', pendingQuantity: 10 }],
        orders: [{ orderId: body.orders[1].order.orderId as string, waitingFor: expect.any(String) }],
      },
    ]);
    expect((await client.get('/v1/simulation/clock')).body.now).toBe('2026-01-05T15:01:00.000Z');
    expect((await client.get(`/v1/orders/${body.orders[0].order.orderId}`)).body.status).toBe('FILLED');
    await verified(sim);
  });

  it('refuses one order with the whole error and continues with the rest', async () => {
    const { client, portfolioId } = await simulation();
    const { body } = await step(client, {
      orders: [buy(portfolioId, { quantity: 1e6 }), buy(NOWHERE), buy(portfolioId)],
      cancels: [NOWHERE],
      quotes: [aapl()],
    });
    expect(body.orders).toMatchObject([
      {
        statusCode: 400,
        error: { statusCode: 400, error: { code: 'INSUFFICIENT_FUNDS', requiredAmount: 100_000_000 } },
      },
      { statusCode: 404, error: { statusCode: 404, message: 'Portfolio not found', error: 'Not Found' } },
      { statusCode: 201 },
    ]);
    expect(body.cancels).toMatchObject([
      { statusCode: 404, orderId: NOWHERE, error: { message: 'Order not found' } },
    ]);
    expect(body.events.at(-1)).toMatchObject({ event: 'FILLED', execution: { price: 100 } });
  });

  it('reports that a terminal order cannot be canceled, even if it ended in the same step', async () => {
    const { client, portfolioId } = await simulation();
    await step(client, { quotes: [aapl()] });
    const filled = await placeOrder(client, portfolioId);
    const first = await step(client, { cancels: [filled.orderId] });
    expect(first.body.cancels).toMatchObject([
      { statusCode: 409, error: { error: { code: 'ORDER_NOT_UPDATABLE', status: 'FILLED' } } },
    ]);
    const resting = await placeOrder(client, portfolioId, { limitPrice: 50 });
    const twice = await step(client, { cancels: [resting.orderId, resting.orderId] });
    expect(twice.body.cancels).toMatchObject([
      { statusCode: 200 },
      { statusCode: 409, error: { error: { code: 'ORDER_NOT_UPDATABLE', status: 'CANCELED' } } },
    ]);
  });

  it('changes nothing if the request is refused', async () => {
    const sim = await simulation();
    const { client, portfolioId } = sim;
    await step(client, { advance: { by: 'PT1M' } });
    const before = test.store.journal.lastSeq(sim.id);
    const order = buy(portfolioId);
    const wrong: readonly (readonly [object, number, unknown])[] = [
      [{ orders: [order], advance: { to: '2026-01-05T14:00:00Z' } }, 409, 'The clock cannot go back'],
      [
        { orders: [order], advance: { by: 'P11Y' } },
        400,
        ['advance.by must be within ten years of the present of the simulation'],
      ],
      [
        { orders: [order], advance: { by: 'PT1M', until: 'next-open' } },
        400,
        ['advance.until should not exist together with by'],
      ],
      [{ orders: [order], advance: {} }, 400, ['advance.to or by or until must be given']],
      [
        { orders: [order], quotes: [aapl({ timestamp: '2026-01-05T15:02:00Z' })] },
        400,
        ['quotes.0.timestamp must not be later than now'],
      ],
      [{ orders: [order], observe: { portfolios: [NOWHERE] } }, 404, 'Portfolio not found'],
      [{ orders: Array.from({ length: 101 }, () => order) }, 400, ['orders must contain 0 to 100 elements']],
      [
        { cancels: Array.from({ length: 101 }, () => NOWHERE) },
        400,
        ['cancels must contain 0 to 100 elements'],
      ],
      [{ orders: [{ ...order, quantity: -1 }] }, 400, ['orders.0.quantity must be a positive number']],
    ];
    for (const [body, status, message] of wrong)
      expect(await step(client, body), JSON.stringify(body)).toMatchObject({ status, body: { message } });
    expect(test.store.journal.lastSeq(sim.id)).toBe(before);
  });

  it('is accepted only for created simulations with a manual clock', async () => {
    expect(await step(owner, {})).toMatchObject({ status: 409 });
    const scaled = await simulation({ clock: 'scaled', speed: 1 });
    expect(await step(scaled.client, {})).toMatchObject({
      status: 409,
      body: { message: 'Only a created simulation with a manual clock can be stepped' },
    });
    const synthetic = await simulation({ feed: 'synthetic' });
    expect(await step(synthetic.client, { quotes: [aapl()] })).toMatchObject({ status: 409 });
  });

  it('requires the scopes of its parts', async () => {
    const { id, portfolioId } = await simulation();
    const as = (scope: string) => test.as({ tier: 'ENTERPRISE', scope, simulationId: id });
    const refused = { status: 403, body: { error: { code: 'INSUFFICIENT_SCOPE' } } };
    expect(await step(as('simulate'), {})).toMatchObject(refused);
    expect(await step(as('trade read'), {})).toMatchObject(refused);
    expect(await step(as('simulate read'), { orders: [buy(portfolioId)] })).toMatchObject(refused);
    expect((await step(as('simulate read'), {})).status).toBe(200);
    expect((await step(as('simulate read trade'), { orders: [buy(portfolioId)] })).status).toBe(200);
  });

  it('is done once for an Idempotency-Key, and answers the same, after a restart as well', async () => {
    const { id, client, portfolioId } = await simulation();
    const body = { orders: [buy(portfolioId)], quotes: [aapl()], advance: { by: 'PT1M' } };
    const first = await step(client, body, 'once');
    const second = await step(client, body, 'once');
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    const { token } = client;
    test = await test.restart();
    const third = await step(test.withToken(token), body, 'once');
    expect(third.text).toBe(first.text);
    expect((await test.withToken(token).get('/v1/orders')).body.pagination.total).toBe(1);
    expect((await verifyJournal(test.store, id)).problems).toEqual([]);
  });

  it('retains the time of the clock over a restart', async () => {
    const { client } = await simulation();
    await step(client, { advance: { by: 'P3D' } });
    const { token } = client;
    test = await test.restart();
    const { body } = await step(test.withToken(token), {});
    expect(body).toEqual({
      now: '2026-01-08T15:00:00.000Z',
      orders: [],
      cancels: [],
      events: [],
      hasMore: false,
    });
  });

  it('stops with event 1,000; the next step continues', async () => {
    const sim = await simulation();
    const { client, portfolioId } = sim;
    for (let i = 0; i < 11; i += 1) {
      const { body } = await step(client, {
        orders: Array.from({ length: 100 }, () => buy(portfolioId, { limitPrice: 1, quantity: 1 })),
      });
      expect(body.orders).toHaveLength(100);
    }
    const goal = { advance: { to: '2026-01-06T15:00:00Z' } };
    const first = await step(client, goal);
    expect(first.body).toMatchObject({ hasMore: true, now: '2026-01-05T21:00:00.000Z' });
    expect(new Set(eventsOf(first))).toEqual(new Set(['CANCELED']));
    expect(eventsOf(first).length).toBeGreaterThanOrEqual(1000);
    const second = await step(client, goal);
    expect(second.body).toMatchObject({ hasMore: false, now: '2026-01-06T15:00:00.000Z' });
    expect(eventsOf(first).length + eventsOf(second).length).toBe(1100);
    const ids = [...first.body.events, ...second.body.events].map((one: Body) => one.orderId as string);
    expect(new Set(ids).size).toBe(1100);
    await verified(sim);
  });

  it('makes a decision of more than 1,024 events in parts, and tells that there is more (D264)', async () => {
    const sim = await simulation();
    const { client, portfolioId } = sim;
    for (let i = 0; i < 11; i += 1)
      await step(client, {
        orders: Array.from({ length: 100 }, () => buy(portfolioId, { limitPrice: 50, quantity: 1 })),
      });
    const quotes = [{ symbol: 'AAPL', bid: 48.99, ask: 49 }];
    const first = await step(client, { quotes });
    expect(first.body.hasMore).toBe(true);
    expect(eventsOf(first).length).toBeGreaterThanOrEqual(1000);
    expect(eventsOf(first).length).toBeLessThanOrEqual(1024);
    const second = await step(client, {});
    expect(second.body).toMatchObject({ hasMore: false, now: first.body.now });
    expect(eventsOf(first).length + eventsOf(second).length).toBe(1100);
    await verified(sim);
  });

  it('does not count toward the rate limit', async () => {
    const { client } = await simulation();
    for (let i = 0; i < 1010; i += 1) expect((await step(client, {})).status).toBe(200);
    expect((await step(client, {})).headers['x-ratelimit-remaining']).toBe('1000');
  });

  it('executes steps of one simulation one at a time', async () => {
    const { client, portfolioId } = await simulation();
    await step(client, { quotes: [aapl()] });
    const replies = await Promise.all(
      Array.from({ length: 20 }, () =>
        step(client, { orders: [market(portfolioId, { quantity: 1 })], advance: { by: 'PT1M' } }),
      ),
    );
    expect(replies.map(({ body }) => body.now as string).sort()).toEqual(
      Array.from({ length: 20 }, (_, i) => new Date(Date.UTC(2026, 0, 5, 15, i + 1)).toISOString()),
    );
    for (const reply of replies) expect(eventsOf(reply).at(-1)).toBe('FILLED');
  });
});

describe('advance.until', () => {
  const nowOf = async (sim: Sim, until: string): Promise<string> =>
    (await step(sim.client, { advance: { until } })).body.now as string;

  it('advances to opens, closes and the ends of one-minute bars of the regular session', async () => {
    const sim = await simulation({ start: '2026-01-05T14:00:00Z' });
    expect(await nowOf(sim, 'next-bar')).toBe('2026-01-05T14:31:00.000Z');
    expect(await nowOf(sim, 'next-bar')).toBe('2026-01-05T14:32:00.000Z');
    expect(await nowOf(sim, 'next-close')).toBe('2026-01-05T21:00:00.000Z');
    expect(await nowOf(sim, 'next-bar')).toBe('2026-01-06T14:31:00.000Z');
    expect(await nowOf(sim, 'next-open')).toBe('2026-01-07T14:30:00.000Z');
    // The Friday after Thanksgiving closes early.
    await step(sim.client, { advance: { to: '2026-11-27T17:59:30Z' } });
    expect(await nowOf(sim, 'next-bar')).toBe('2026-11-27T18:00:00.000Z');
    expect(await nowOf(sim, 'next-bar')).toBe('2026-11-30T14:31:00.000Z');
    await verified(sim);
  });

  it('next-quote keeps the clock when no quote can come', async () => {
    const sim = await simulation();
    const { body } = await step(sim.client, { advance: { until: 'next-quote' } });
    expect(body).toMatchObject({ now: '2026-01-05T15:00:00.000Z', hasMore: false, events: [] });
  });

  it('next-quote advances to the next quote of an observed symbol, overnight too', async () => {
    const sim = await simulation({ feed: 'synthetic', calendar: 'XNYS' });
    const body = { advance: { until: 'next-quote' }, observe: { symbols: ['AAPL'] } };
    const first = await step(sim.client, body);
    expect(first.body.now).toBe('2026-01-05T15:00:01.000Z');
    expect(first.body.quotes).toMatchObject([{ symbol: 'AAPL' }]);
    await step(sim.client, { advance: { to: '2026-01-06T01:30:00Z' } });
    const next = (await step(sim.client, body)).body.now as string;
    expect(next).toBe('2026-01-06T09:00:00.000Z');
    await verified(sim);
  });

  it('next-event advances to the next order event, and keeps the clock when none can come', async () => {
    const sim = await simulation();
    const { client, portfolioId } = sim;
    expect(await nowOf(sim, 'next-event')).toBe('2026-01-05T15:00:00.000Z');
    await step(client, { orders: [buy(portfolioId, { limitPrice: 1 })] });
    const reply = await step(client, { advance: { until: 'next-event' } });
    expect(reply.body).toMatchObject({ now: '2026-01-05T21:00:00.000Z', hasMore: false });
    expect(eventsOf(reply)).toEqual(['CANCELED']);
    await verified(sim);
  });

  it('is also accepted on the clock route, in main except for events', async () => {
    const sim = await simulation();
    const { client, portfolioId } = sim;
    const advance = (by: TestClient, until: string) => by.post('/v1/simulation/clock/advance', { until });
    expect((await advance(client, 'next-close')).body.now).toBe('2026-01-05T21:00:00.000Z');
    await placeOrder(client, portfolioId, { timeInForce: 'DAY', limitPrice: 1 });
    expect((await advance(client, 'next-event')).body.now).toBe('2026-01-06T14:30:00.000Z');
    expect((await advance(client, 'next-quote')).body.now).toBe('2026-01-06T14:30:00.000Z');
    expect((await advance(owner, 'next-close')).body.now).toBe('2026-01-05T21:00:00.000Z');
    expect(await advance(owner, 'next-event')).toMatchObject({ status: 409 });
    expect((await advance(client, 'never')).status).toBe(400);
    await verified(sim);
  });
});

describe('POST /v1/simulations/step', () => {
  const steps = (client: TestClient, parts: readonly object[], key?: string): Promise<Reply> =>
    client.post(
      '/v1/simulations/step',
      { steps: parts },
      key === undefined ? {} : { 'idempotency-key': key },
    );

  it('executes a step in each simulation; each part succeeds or fails independently', async () => {
    const [one, two] = [await simulation(), await simulation()];
    const wall = await simulation({ clock: 'scaled', speed: 1 });
    const stranger = test.as({ tenantId: 'tenant-2', tier: 'ENTERPRISE' });
    const foreign = await simulation({}, stranger);
    const reply = await steps(owner, [
      { simulationId: one.id, orders: [buy(one.portfolioId)], quotes: [aapl()], advance: { by: 'PT1M' } },
      { simulationId: NOWHERE },
      { simulationId: foreign.id, advance: { by: 'P1D' } },
      { simulationId: wall.id },
      { simulationId: 'main' },
      { simulationId: two.id, advance: { to: '2020-01-01' } },
    ]);
    expect(reply.status, reply.text).toBe(200);
    const { results } = reply.body as { results: Body[] };
    expect(results[0]).toMatchObject({
      simulationId: one.id,
      now: '2026-01-05T15:01:00.000Z',
      hasMore: false,
    });
    expect(results[0].events.at(-1)).toMatchObject({ event: 'FILLED' });
    const notFound = { error: { statusCode: 404, message: 'Simulation not found', error: 'Not Found' } };
    expect(results.slice(1)).toMatchObject([
      { simulationId: NOWHERE, ...notFound },
      { simulationId: foreign.id, ...notFound },
      { simulationId: wall.id, error: { statusCode: 409 } },
      { simulationId: 'main', error: { statusCode: 409 } },
      { simulationId: two.id, error: { statusCode: 409, message: 'The clock cannot go back' } },
    ]);
    expect((await foreign.client.get('/v1/simulation/clock')).body.now).toBe('2026-01-05T15:00:00.000Z');
    await verified(one);
  });

  it('refuses no parts, too many, and two of one simulation', async () => {
    const sim = await simulation();
    expect((await steps(owner, [])).status).toBe(400);
    const many = Array.from({ length: 257 }, () => ({ simulationId: sim.id }));
    expect((await steps(owner, many)).status).toBe(400);
    expect((await steps(owner, many.slice(0, 2))).body.message).toEqual([
      'steps.1.simulationId must not name a simulation twice',
    ]);
  });

  it('accepts bodies above 1 MiB, and refuses bodies above 8 MiB', async () => {
    const sim = await simulation();
    const parts = [{ simulationId: sim.id }];
    const body = JSON.stringify({ steps: parts });
    const padded = (bytes: number) =>
      owner.send('POST', '/v1/simulations/step', body.padEnd(bytes), {
        'content-type': 'application/json',
      });
    expect((await padded(3_000_000)).status).toBe(200);
    expect((await padded(8 * 1_048_576 + 1)).status).toBe(413);
  });

  it('is done once for an Idempotency-Key, and does not wait for itself', async () => {
    const [one, two] = [await simulation(), await simulation()];
    const parts = [one, two].map(({ id }) => ({ simulationId: id, advance: { by: 'PT1M' } }));
    const first = await steps(owner, parts, 'k');
    expect((await steps(owner, parts, 'k')).text).toBe(first.text);
    const key = randomUUID();
    const both = await Promise.all([
      steps(owner, parts, `${key}-1`),
      steps(owner, parts.toReversed(), `${key}-2`),
    ]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect((await one.client.get('/v1/simulation/clock')).body.now).toBe('2026-01-05T15:03:00.000Z');
  });

  it('does not change main while it pushes quotes to other simulations', async () => {
    const sim = await simulation();
    await pushQuote(owner, { bid: 1, ask: 2 });
    await steps(owner, [{ simulationId: sim.id, quotes: [aapl()] }]);
    expect((await owner.get('/v1/market-data/quote/AAPL')).body).toMatchObject({ bid: 1, ask: 2 });
  });
});
