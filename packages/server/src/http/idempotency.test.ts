import { routeEntries, takesIdempotencyKey } from '@sandpit/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holdAppends } from '../testing/hold-appends.js';
import { openPortfolio, orderBody, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client)) as { portfolioId: string });
  await pushQuote(client);
});
afterEach(() => test.close());

const place = (key: string, more: object = {}) =>
  client.post('/v1/orders', orderBody(portfolioId, more), { 'idempotency-key': key });
const placed = async (): Promise<number> =>
  (await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.pagination.total as number;

describe('an idempotency key', () => {
  it('replays the answer byte for byte', async () => {
    const first = await place('k');
    const again = await place('k');
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(await placed()).toBe(1);
  });

  it('recognizes the request with its fields in any order', async () => {
    await place('k');
    const body = Object.fromEntries(Object.entries(orderBody(portfolioId)).reverse());
    const again = await client.post('/v1/orders', body, { 'idempotency-key': 'k' });
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('refuses another request', async () => {
    await place('k');
    expect((await place('k', { quantity: 11 })).body).toMatchObject({
      statusCode: 422,
      error: 'Unprocessable Entity',
    });
    expect(await placed()).toBe(1);
  });

  it('stores a business refusal', async () => {
    const first = await place('k', { quantity: 1_000_000 });
    expect(first.status).toBe(400);
    const again = await place('k', { quantity: 1_000_000 });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
  });

  it('does not store the answer to an invalid request', async () => {
    expect((await place('k', { quantity: -1 })).status).toBe(400);
    expect((await place('k')).status).toBe(201);
  });

  it('refuses a second request while the first is in progress', async () => {
    const release = holdAppends(test.store);
    const first = place('k');
    const second = place('k');
    // The first one is under way for as long as its record is not durable.
    expect((await second).status).toBe(409);
    release();
    expect((await first).status).toBe(201);
    expect((await place('k')).text).toBe((await first).text);
    expect(await placed()).toBe(1);
  });

  it('is scoped to a tenant, a route and a day', async () => {
    await place('k');
    const other = test.as({ tenantId: 'other' });
    const opened = await other.post('/v1/accounts', {}, { 'idempotency-key': 'k' });
    expect(opened.headers).not.toHaveProperty('idempotent-replayed');
    expect((await client.post('/v1/accounts', {}, { 'idempotency-key': 'k' })).status).toBe(201);
    test.time.nowMs += 86_400_001;
    client = test.as();
    const later = await place('k');
    expect(later.headers).not.toHaveProperty('idempotent-replayed');
    expect(await placed()).toBe(2);
  });

  it.each(['', 'with blank', 'x'.repeat(256), 'ü'])('has to be visible: %j', async (key) => {
    expect((await place(key)).body.message).toEqual(['Idempotency-Key must be 1 to 255 visible characters']);
  });

  it('works on every POST, and on the margin upgrade', async () => {
    const key = { 'idempotency-key': 'k' };
    const url = `/v1/accounts/portfolios/${portfolioId}`;
    const requests: (() => ReturnType<TestClient['post']>)[] = [
      () => client.post('/v1/accounts', { name: 'a' }, key),
      () => client.post(`${url}/reset`, undefined, key),
      () => client.post(`${url}/transfers`, { amount: 5 }, key),
      () => client.post('/v1/simulation/clock/advance', { by: 'PT1M' }, key),
      () =>
        client.post(
          '/v1/orders/batch',
          { accountIds: ['22222222-2222-4222-8222-222222222222'], orderData: orderBody(portfolioId) },
          key,
        ),
      () => client.put(`${url}/margin-upgrade`, { marginType: 'REG_T' }, key),
    ];
    for (const request of requests) {
      const first = await request();
      const again = await request();
      expect(again.headers['idempotent-replayed'], first.text).toBe('true');
      expect(again.text).toBe(first.text);
    }
  });
});

describe('secrets are issued for each answer and never stored', () => {
  const key = { 'idempotency-key': 'k' };
  const storedFor = async (route: string): Promise<string> =>
    (await test.store.journal.findAnswer('tenant-1', 'main', route, 'k', test.time.nowMs))?.body ??
    'nothing stored';
  const payloadOf = (token: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
  const create = (as: TestClient) => as.post('/v1/simulations', { feed: 'push', clock: 'manual' }, key);

  it('the token of a simulation: the same simulation, another token', async () => {
    const first = await create(client);
    const again = await create(client);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.status).toBe(201);
    const { token, ...simulation } = first.body as { token: string };
    const { token: another, ...same } = again.body as { token: string };
    expect(same).toEqual(simulation);
    expect(another).not.toBe(token);
    expect((await test.withToken(another).get('/v1/simulation/clock')).status).toBe(200);
    const stored = await storedFor('POST /v1/simulations');
    expect(JSON.parse(stored)).toEqual(simulation);
    expect((await client.get('/v1/simulations')).body.pagination.total).toBe(1);
  });

  it('the token of a fork', async () => {
    const { simulationId } = (await create(client)).body as { simulationId: string };
    const fork = () => client.post(`/v1/simulations/${simulationId}/forks`, {}, key);
    const [first, again] = [await fork(), await fork()];
    expect([first.status, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(again.body.simulationId).toBe(first.body.simulationId);
    expect(again.body.token).not.toBe(first.body.token);
    expect(JSON.parse(await storedFor('POST /v1/simulations/:simulationId/forks'))).not.toHaveProperty(
      'token',
    );
  });

  it('the token of a simulation: a replay has the scopes and lifetime of its own caller', async () => {
    await create(client);
    const notAfterMs = test.time.nowMs + 60_000;
    const lesser = test.as({ scope: 'simulate', tier: 'BASIC', notAfterMs });
    const { body } = await create(lesser);
    const { scope, tier, exp } = payloadOf(body.token as string);
    expect({ scope, tier, exp }).toEqual({
      scope: 'simulate',
      tier: 'BASIC',
      exp: Math.floor(notAfterMs / 1000),
    });
  });

  it('the ticket of a stream', async () => {
    const first = await client.post('/v1/stream/ticket', undefined, key);
    test.time.nowMs += 60_000;
    const again = await client.post('/v1/stream/ticket', undefined, key);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body.ticket).not.toBe(first.body.ticket);
    // Good for thirty seconds from now, not from the first time.
    expect(Date.parse(again.body.expiresAt as string)).toBe(test.time.nowMs + 30_000);
    expect(await storedFor('POST /v1/stream/ticket')).toBe('{}');
  });

  it('the list of operations that issue secrets is complete', () => {
    const opening = routeEntries.filter(
      ([, route]) =>
        takesIdempotencyKey(route) && /"(token|ticket|secret|apiKey)":/.test(JSON.stringify(route.responses)),
    );
    expect(opening.map(([id]) => id).sort()).toEqual([
      'createAgentToken',
      'createCompetition',
      'createEntryToken',
      'createMemberToken',
      'createSimulation',
      'createSimulationToken',
      'createStreamTicket',
      'createWebhook',
      'enterCompetition',
      'enterEvaluation',
      'forkSimulation',
      'rotateWebhookSecret',
    ]);
  });
});
