/** Price alerts over HTTP, on webhooks and in the journal (D281), and bars of several symbols. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { verifyJournal } from '../engine/recovery/verify.js';
import {
  openPortfolio,
  orderBody,
  pushQuote,
  TestApp,
  type Body,
  type TestClient,
} from '../testing/test-app.js';
import { until, WebhookReceiver } from '../testing/webhook-receiver.js';

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function begin(settings: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  const app = await TestApp.open({ settings: { WEBHOOK_ALLOW_PRIVATE: 'on', ...settings } });
  opened.push(app);
  return app;
}

async function created(
  app: TestApp,
  more: object = {},
): Promise<{ client: TestClient; simulationId: string }> {
  const { body, text } = await app.as().post('/v1/simulations', {
    feed: 'synthetic',
    seed: 7,
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T15:00:00Z',
    ...more,
  });
  expect(body.token, text).toBeTypeOf('string');
  return { client: app.withToken(body.token as string), simulationId: body.simulationId as string };
}

async function set(client: TestClient, body: object): Promise<Body> {
  const { status, text, body: alert } = await client.post('/v1/alerts', body);
  expect(status, text).toBe(201);
  return alert;
}

const listed = async (client: TestClient, query = ''): Promise<Body[]> =>
  (await client.get(`/v1/alerts${query}`)).body.data as Body[];

describe('price alerts', () => {
  it('are set, listed newest first, changed, fire once and are deleted', async () => {
    const app = await begin();
    const client = app.as();
    await pushQuote(client, { bid: 99.99, ask: 100.01, last: 100 });
    const above = await set(client, { symbol: 'aapl', condition: 'ABOVE', price: 101, note: 'breakout' });
    expect(above).toMatchObject({ symbol: 'AAPL', status: 'ACTIVE', note: 'breakout', price: 101 });
    const below = await set(client, { symbol: 'AAPL', condition: 'BELOW', price: 98.5 });
    expect((await listed(client)).map(({ alertId }) => alertId)).toEqual([below.alertId, above.alertId]);
    await pushQuote(client, { bid: 101.2, ask: 101.3, last: 101.25 });
    await pushQuote(client, { bid: 99.99, ask: 100.01, last: 100 });
    await pushQuote(client, { bid: 102.2, ask: 102.3, last: 102.25 });
    const { body: fired } = await client.get(`/v1/alerts/${above.alertId as string}`);
    expect(fired).toMatchObject({ status: 'FIRED', firedPrice: 101.25 });
    expect(await listed(client, '?status=ACTIVE')).toEqual([below]);
    const path = `/v1/alerts/${above.alertId as string}`;
    const armed = await client.put(path, { price: 110, note: 'later' });
    expect(armed.body).toMatchObject({ status: 'ACTIVE', price: 110, note: 'later' });
    expect(armed.body).not.toHaveProperty('firedAt');
    expect((await client.delete(path)).body).toEqual({ alertId: above.alertId, message: 'Alert deleted' });
    for (const method of ['GET', 'DELETE', 'PUT'])
      expect((await client.send(method as 'GET', path, method === 'PUT' ? {} : undefined)).status).toBe(404);
  });

  it.each([
    [{ condition: 'ABOVE', price: 1 }, /symbol/],
    [{ symbol: 'AAPL', condition: 'OVER', price: 1 }, /condition must be/],
    [{ symbol: 'AAPL', condition: 'ABOVE', price: 0 }, /price/],
    [{ symbol: 'AAPL', condition: 'ABOVE', price: '5' }, /price/],
    [{ symbol: 'AAPL', condition: 'ABOVE', price: 5, portfolioId: 'x' }, /portfolioId should not exist/],
    [{ symbol: 'NOPE', condition: 'ABOVE', price: 5 }, /Unknown symbol NOPE/],
    [{ symbol: 'AAPL', condition: 'ABOVE', price: 5, note: 'x'.repeat(201) }, /note/],
  ])('refuse %j', async (body, message) => {
    const app = await begin();
    await pushQuote(app.as());
    const reply = await app.as().post('/v1/alerts', body);
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(message)]);
  });

  it('are unknown to other tenants, and need the scope trade to be set', async () => {
    const app = await begin();
    await pushQuote(app.as());
    const { alertId } = await set(app.as(), { symbol: 'AAPL', condition: 'ABOVE', price: 1000 });
    const stranger = app.as({ tenantId: 'tenant-2' });
    expect(await listed(stranger)).toEqual([]);
    const path = `/v1/alerts/${alertId as string}`;
    expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.put(path, { price: 1 })).status).toBe(404);
    expect((await stranger.delete(path)).status).toBe(404);
    const reader = app.as({ scope: 'read' });
    expect((await reader.get(path)).status).toBe(200);
    expect((await reader.delete(path)).status).toBe(403);
  });

  it('send alert.fired to webhooks once, as they were, also after a deletion', async () => {
    const receiver = await WebhookReceiver.open();
    const app = await begin();
    opened.push(receiver);
    const client = app.as();
    await client.post('/v1/webhooks', { url: receiver.url, events: ['alert.*'] });
    await pushQuote(client, { bid: 99.99, ask: 100.01, last: 100 });
    const alert = await set(client, { symbol: 'AAPL', condition: 'BELOW', price: 99, note: 'stop' });
    const kept = await set(client, { symbol: 'AAPL', condition: 'BELOW', price: 98 });
    await pushQuote(client, { bid: 98.4, ask: 98.6, last: 98.5 });
    await client.delete(`/v1/alerts/${alert.alertId as string}`);
    await pushQuote(client, { bid: 97.4, ask: 97.6, last: 97.5 });
    await until(() => receiver.types.length === 2);
    expect(receiver.events).toMatchObject([
      {
        type: 'alert.fired',
        data: { ...alert, status: 'FIRED', firedPrice: 98.5, simulationId: 'main' },
      },
      { type: 'alert.fired', data: { alertId: kept.alertId, firedPrice: 97.5 } },
    ]);
  });

  it('fire on a computed market while the clock moves, without orders and positions, and re-execution repeats it', async () => {
    const app = await begin();
    const { client, simulationId } = await created(app);
    const { price } = (await client.get('/v1/market-data/quote/AAPL')).body as { price: number };
    const up = await set(client, { symbol: 'AAPL', condition: 'ABOVE', price: Math.ceil(price * 1.001) });
    const down = await set(client, { symbol: 'AAPL', condition: 'BELOW', price: Math.floor(price * 0.999) });
    await client.post('/v1/simulation/clock/advance', { by: 'P5D' });
    const found = await listed(client);
    const fired = found.filter(({ status }) => status === 'FIRED');
    expect(fired.length).toBeGreaterThan(0);
    for (const { alertId, condition, price: level, firedPrice, firedAt } of fired) {
      expect([up.alertId, down.alertId]).toContain(alertId);
      if (condition === 'ABOVE') expect(firedPrice).toBeGreaterThanOrEqual(level as number);
      else expect(firedPrice).toBeLessThanOrEqual(level as number);
      expect(Date.parse(firedAt as string)).toBeGreaterThan(Date.parse('2026-01-05T15:00:00Z'));
    }
    const { problems, records } = await verifyJournal(app.store, simulationId);
    expect(problems).toEqual([]);
    expect(records).toBeGreaterThan(2);

    // A fork has them as they were, and an exported file as they are.
    const fork = await app.as().post(`/v1/simulations/${simulationId}/forks`, {});
    const forked = app.withToken(fork.body.token as string);
    expect((await listed(forked)).map(({ price: level, status }) => [level, status])).toEqual(
      found.map(({ price: level, status }) => [level, status]),
    );
    const guest = app.as({ tenantId: 'tenant-2' });
    const headers = (one: TestClient) => ({ authorization: `Bearer ${one.token ?? ''}` });
    const file = await app.app.inject({
      url: `/v1/simulations/${simulationId}/export`,
      headers: headers(app.as()),
    });
    const received = await app.app.inject({
      method: 'POST',
      url: '/v1/simulations/import',
      payload: file.body,
      headers: { ...headers(guest), 'content-type': 'application/x-ndjson' },
    });
    expect(received.statusCode, received.body).toBe(202);
    const { simulationId: importedId } = received.json<{ simulationId: string }>();
    await vi.waitUntil(
      async () => (await guest.get(`/v1/simulations/${importedId}`)).body.status === 'READY',
      { timeout: 20_000, interval: 10 },
    );
    const token = await guest.post(`/v1/simulations/${importedId}/token`);
    const imported = await listed(app.withToken(token.body.token as string));
    expect(imported.map(({ price: level, firedAt }) => [level, firedAt])).toEqual(
      found.map(({ price: level, firedAt }) => [level, firedAt]),
    );
  });

  it('are kept over a restart, fire afterwards, and verify finds no difference', async () => {
    let app = await TestApp.open();
    try {
      await pushQuote(app.as(), { bid: 99.99, ask: 100.01, last: 100 });
      const { portfolioId } = await openPortfolio(app.as());
      await set(app.as(), { symbol: 'AAPL', condition: 'ABOVE', price: 100 });
      const waiting = await set(app.as(), { symbol: 'AAPL', condition: 'ABOVE', price: 105 });
      const before = await listed(app.as());
      app = await app.restart();
      expect(await listed(app.as())).toEqual(before);
      // A fill and an alert in one decision.
      await app.as().post('/v1/orders', orderBody(portfolioId as string, { limitPrice: 90, quantity: 1 }));
      await pushQuote(app.as(), { bid: 105.2, ask: 105.3, last: 105.25 });
      expect((await listed(app.as())).map(({ alertId, status }) => [alertId, status])).toEqual([
        [waiting.alertId, 'FIRED'],
        [before[1]?.alertId, 'FIRED'],
      ]);
      for (const { id } of app.store.registry.simulations())
        expect((await verifyJournal(app.store, id)).problems).toEqual([]);
    } finally {
      await app.close();
    }
  });

  it('fire in the main simulation of a tenant that has nothing else', async () => {
    const app = await begin();
    await pushQuote(app.as(), { bid: 99.99, ask: 100.01, last: 100 });
    const other = app.as({ tenantId: 'tenant-2' });
    await set(other, { symbol: 'AAPL', condition: 'ABOVE', price: 101 });
    await pushQuote(app.as(), { bid: 101.2, ask: 101.3, last: 101.25 });
    await pushQuote(app.as(), { bid: 99.99, ask: 100.01, last: 100 });
    expect(await listed(other)).toMatchObject([{ status: 'FIRED', firedPrice: 101.25 }]);
  });
});

describe('bars of several symbols', () => {
  it('are those of each symbol, with the unlisted ones named', async () => {
    const app = await begin();
    const { client } = await created(app, { start: '2026-01-06T18:00:00Z' });
    const query = { timeframe: '5Min', from: '2026-01-06', limit: 20 };
    const { status, body } = await client.post('/v1/market-data/bars/batch', {
      symbols: ['AAPL', 'nope', 'MSFT'],
      ...query,
    });
    expect(status).toBe(200);
    const one = (symbol: string) =>
      client.get(`/v1/market-data/bars/${symbol}?timeframe=5Min&from=2026-01-06&limit=20`);
    expect(body).toEqual({ data: [(await one('AAPL')).body, (await one('MSFT')).body], notFound: ['NOPE'] });
    expect((body.data as { bars: object[] }[])[0]?.bars).toHaveLength(20);
    const many = await client.post('/v1/market-data/bars/batch', {
      symbols: Array.from({ length: 51 }, () => 'A'),
    });
    expect(many.status).toBe(400);
  });
});
