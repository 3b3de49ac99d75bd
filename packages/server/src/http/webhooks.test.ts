import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { webhooksIn } from '../store/webhooks.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { openPortfolio, orderBody, placeOrder, pushQuote, TestApp } from '../testing/test-app.js';
import type { Body, TestAppOptions, TestClient } from '../testing/test-app.js';
import { until, WebhookReceiver } from '../testing/webhook-receiver.js';

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

const SECOND = 1000;
const HOUR = 3_600_000;

interface Setup {
  readonly app: TestApp;
  readonly timers: ManualTimers;
  readonly receiver: WebhookReceiver;
  readonly client: TestClient;
}

async function setUp(options: TestAppOptions = {}): Promise<Setup> {
  const timers = new ManualTimers();
  const receiver = await WebhookReceiver.open();
  const app = await TestApp.open({
    webhookTimers: timers,
    ...options,
    settings: { WEBHOOK_ALLOW_PRIVATE: 'on', ...options.settings },
  });
  opened.push(receiver, app);
  return { app, timers, receiver, client: app.as() };
}

async function createWebhook(client: TestClient, url: string, more: object = {}): Promise<Body> {
  const reply = await client.post('/v1/webhooks', { url, ...more });
  expect(reply.text).toContain('webhookId');
  expect(reply.status).toBe(201);
  return reply.body;
}

const deliveriesOf = async (client: TestClient, webhookId: string, query = ''): Promise<Body[]> =>
  (await client.get(`/v1/webhooks/${webhookId}/deliveries${query}`)).body.data;

/** Waits until the deliveries of a webhook have these statuses, newest first. */
async function delivered(client: TestClient, webhookId: string, ...statuses: string[]): Promise<Body[]> {
  let found: Body[] = [];
  await until(async () => {
    found = await deliveriesOf(client, webhookId);
    return JSON.stringify(found.map(({ status }) => status)) === JSON.stringify(statuses);
  });
  return found;
}

async function fill(client: TestClient, portfolioId: string, more: object = {}): Promise<Body> {
  await pushQuote(client);
  return placeOrder(client, portfolioId, more);
}

describe('Webhook endpoints', () => {
  it('createWebhook: shows the secret once', async () => {
    const { client, receiver } = await setUp();
    const created = await createWebhook(client, receiver.url);
    expect(created).toMatchObject({
      url: receiver.url,
      events: ['*'],
      simulationId: 'main',
      status: 'ENABLED',
    });
    expect(created.secret).toMatch(/^whsec_/);
    const { secret: _, ...shown } = created;
    expect((await client.get(`/v1/webhooks/${created.webhookId}`)).body).toEqual(shown);
    expect((await client.get('/v1/webhooks')).body).toMatchObject({
      data: [shown],
      pagination: { total: 1 },
    });
  });

  it('createWebhook: repeats the secret for the same Idempotency-Key without storing it in the saved answer', async () => {
    const { app, client, receiver } = await setUp();
    const headers = { 'idempotency-key': 'once' };
    const first = await client.post('/v1/webhooks', { url: receiver.url }, headers);
    const again = await client.post('/v1/webhooks', { url: receiver.url }, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await client.get('/v1/webhooks')).body.pagination.total).toBe(1);
    const kept = await app.store.journal.findAnswer(
      'tenant-1',
      'main',
      'POST /v1/webhooks',
      'once',
      app.time.nowMs,
    );
    expect(kept?.body).toContain(first.body.webhookId);
    expect(kept?.body).not.toContain('whsec_');
  });

  it('createWebhook: refuses the 21st of a tenant with 409', async () => {
    const { app, client, receiver } = await setUp();
    const all = await Promise.all(
      Array.from({ length: 21 }, () => client.post('/v1/webhooks', { url: receiver.url })),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([...Array<number>(20).fill(201), 409]);
    await createWebhook(app.as({ tenantId: 'other' }), receiver.url);
  });

  it('createWebhook: reports the errors of a body', async () => {
    const { client } = await setUp();
    const post = async (body: object): Promise<unknown> =>
      (await client.post('/v1/webhooks', body)).body.message;
    expect(await post({})).toEqual(['url must be an http(s) URL']);
    expect(await post({ url: 'ftp://a.example/' })).toEqual(['url must be an http(s) URL']);
    expect(await post({ url: 'https://me:x@a.example/' })).toEqual(['url must not contain user information']);
    expect(await post({ url: 'https://a.example:25/' })).toEqual([
      'url must have port 80, 443 or 1024 and up',
    ]);
    expect(await post({ url: 'https://a.example/', events: ['order.gone'] })).toEqual([
      expect.stringContaining('events.0 must be one of'),
    ]);
    expect(await post({ url: 'https://a.example/', events: [] })).toEqual([
      expect.stringContaining('events'),
    ]);
    expect(await post({ url: 'https://a.example/', simulationId: 'nowhere' })).toBe('Simulation not found');
  });

  it('createWebhook, updateWebhook: keep the url as the URL parser writes it (D237)', async () => {
    const { client, receiver } = await setUp();
    const { port } = new URL(receiver.url);
    const given = `HTTP://127.0.0.1:${port}/hooks\r\n/../a b`;
    const kept = `http://127.0.0.1:${port}/a%20b`;
    const { webhookId, url } = await createWebhook(client, given);
    expect(url).toBe(kept);
    const updated = await client.put(`/v1/webhooks/${String(webhookId)}`, { url: `${given}?c\n` });
    expect(updated.body.url).toBe(`${kept}?c`);
  });

  it('listWebhooks: every route answers 404 to another tenant', async () => {
    const { app, client, receiver } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url);
    const other = app.as({ tenantId: 'other' });
    expect((await other.get('/v1/webhooks')).body.data).toEqual([]);
    const path = `/v1/webhooks/${webhookId}`;
    const nowhere = '99999999-9999-4999-8999-999999999999';
    for (const reply of [
      await other.get(path),
      await other.put(path, { events: ['*'] }),
      await other.delete(path),
      await other.post(`${path}/rotate-secret`),
      await other.post(`${path}/test`),
      await other.get(`${path}/deliveries`),
      await other.post(`${path}/deliveries/${nowhere}/redeliver`),
    ])
      expect([reply.status, reply.body.message]).toEqual([404, 'Webhook not found']);
    expect((await client.post(`${path}/deliveries/${nowhere}/redeliver`)).body.message).toBe(
      'Delivery not found',
    );
  });

  it('createWebhook: refuses an address that is not public, unless WEBHOOK_ALLOW_PRIVATE is on', async () => {
    const { client } = await setUp({ settings: { WEBHOOK_ALLOW_PRIVATE: 'off' } });
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0177.0.0.1',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      'localhost',
    ]) {
      const reply = await client.post('/v1/webhooks', { url: `http://${host}:8080/` });
      expect([host, reply.status, reply.body.error]).toEqual([
        host,
        400,
        { code: 'WEBHOOK_ADDRESS_REFUSED' },
      ]);
    }
  });
});

describe('Webhook delivery', () => {
  it('sends the events of an order in sequence, signed, with the bodies of the streams', async () => {
    const { client, receiver } = await setUp();
    const { webhookId, secret } = await createWebhook(client, receiver.url);
    const portfolio = await openPortfolio(client);
    const order = await fill(client, portfolio.portfolioId);
    const events = await receiver.received(3);
    expect(receiver.types).toEqual(['order.accepted', 'order.active', 'order.filled']);
    for (const { headers, text, data, timestamp } of events) {
      expect(data).toMatchObject({
        orderId: order.orderId,
        simulationId: 'main',
        portfolioId: portfolio.portfolioId,
      });
      expect(headers['webhook-id']).toBe(`evt_main_${data.id}`);
      expect(headers['content-type']).toBe('application/json');
      expect(timestamp).toBe('2026-01-05T15:00:00.000Z');
      // The reference library goes by the machine's clock: it signs for the time of the try.
      const at = new Date(Number(headers['webhook-timestamp']) * 1000);
      expect(headers['webhook-signature']).toBe(
        new Webhook(secret).sign(String(headers['webhook-id']), at, text),
      );
    }
    expect(events[2]?.data).toMatchObject({ event: 'FILLED', status: 'FILLED', execution: { price: 100 } });
    const found = await delivered(client, webhookId, 'DELIVERED', 'DELIVERED', 'DELIVERED');
    expect(found[0]).toMatchObject({ type: 'order.filled', attempts: [{ statusCode: 204 }] });
    expect(found[0].eventId).toBe(events[2]?.headers['webhook-id']);
  });

  it('sends only the requested events', async () => {
    const { client, receiver } = await setUp();
    await createWebhook(client, receiver.url, { events: ['order.filled', 'transfer.*'] });
    const { portfolioId } = await openPortfolio(client);
    await client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount: 500 });
    await fill(client, portfolioId);
    await receiver.received(2);
    expect(receiver.types).toEqual(['transfer.booked', 'order.filled']);
    expect(receiver.events[0]?.data).toMatchObject({ portfolioId, type: 'TRANSFER', amount: 500 });
  });

  it('sends no events of other tenants or simulations', async () => {
    const { app, client, receiver } = await setUp();
    await createWebhook(client, receiver.url);
    const other = app.as({ tenantId: 'other' });
    await fill(other, (await openPortfolio(other)).portfolioId);
    const made = await client.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
    });
    const inside = app.withToken(made.body.token);
    await fill(inside, (await openPortfolio(inside)).portfolioId);
    const { portfolioId } = await openPortfolio(client);
    await fill(client, portfolioId);
    await receiver.received(3);
    expect(new Set(receiver.events.map(({ data }) => data.portfolioId))).toEqual(new Set([portfolioId]));
  });

  it('sends events of simulations created later if the webhook follows all', async () => {
    const { app, client, receiver } = await setUp();
    await createWebhook(client, receiver.url, { simulationId: '*', events: ['order.filled'] });
    const made = await client.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
    });
    const inside = app.withToken(made.body.token);
    await fill(inside, (await openPortfolio(inside)).portfolioId);
    await fill(client, (await openPortfolio(client)).portfolioId);
    await receiver.received(2);
    expect(receiver.events.map(({ data }) => data.simulationId).sort()).toEqual(
      [made.body.simulationId, 'main'].sort(),
    );
  });

  it('keeps first attempts in order per portfolio, regardless of the receiver', async () => {
    const { client, receiver } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    const one = await openPortfolio(client);
    receiver.answer(500);
    const orders: string[] = [];
    for (let i = 0; i < 5; i++) orders.push((await placeOrder(client, one.portfolioId)).orderId);
    await receiver.received(5);
    expect(receiver.events.map(({ data }) => data.orderId)).toEqual(orders);
    await delivered(client, webhookId, ...Array<string>(5).fill('PENDING'));
  });

  it('retries after 5 seconds, with the same id and body and a new timestamp', async () => {
    const { client, receiver, timers } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    receiver.answer(503);
    await fill(client, (await openPortfolio(client)).portfolioId);
    const [failed] = await delivered(client, webhookId, 'PENDING');
    expect(failed.attempts).toMatchObject([{ statusCode: 503, error: 'The receiver answered 503' }]);
    const delay = Date.parse(failed.nextAttemptAt) - timers.nowMs();
    expect(delay).toBeGreaterThanOrEqual(5 * SECOND);
    expect(delay).toBeLessThanOrEqual(6 * SECOND);
    receiver.answer(200);
    timers.advance(6 * SECOND);
    const [first, second] = await receiver.received(2);
    expect(second?.text).toBe(first?.text);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(Number(second?.headers['webhook-timestamp'])).toBe(
      Number(first?.headers['webhook-timestamp']) + 6,
    );
    const [done] = await delivered(client, webhookId, 'DELIVERED');
    expect(done.attempts).toMatchObject([{ statusCode: 503 }, { statusCode: 200 }]);
    expect(done.nextAttemptAt).toBeUndefined();
  });

  it('does not follow redirects', async () => {
    const { client, receiver } = await setUp();
    const target = await WebhookReceiver.open();
    opened.push(target);
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    receiver.answer(307, { location: target.url });
    await fill(client, (await openPortfolio(client)).portfolioId);
    const [failed] = await delivered(client, webhookId, 'PENDING');
    expect(failed.attempts[0].error).toBe('The receiver answered 307; redirects are not followed');
    expect(target.events).toEqual([]);
  });

  it('waits at most 15 seconds for an answer of the receiver', async () => {
    const { client, receiver, timers } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    receiver.respond = () => undefined;
    await fill(client, (await openPortfolio(client)).portfolioId);
    await receiver.received(1);
    timers.advance(14_999);
    expect(await deliveriesOf(client, webhookId)).toEqual([]);
    timers.advance(1);
    const [failed] = await delivered(client, webhookId, 'PENDING');
    expect(failed.attempts[0].error).toBe('The receiver did not answer within 15 seconds');
  });

  it('reads at most 64 KiB of an endless answer, and uses its status', async () => {
    const { client, receiver } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    let written = 0;
    const isCut = new Promise<void>((resolve) => {
      receiver.respond = (_, response) => {
        response.writeHead(200);
        const write = (): void => {
          written += 16_384;
          if (response.destroyed) resolve();
          else if (response.write(Buffer.alloc(16_384))) setImmediate(write);
          else response.once('drain', write);
        };
        response.once('close', resolve);
        write();
      };
    });
    await fill(client, (await openPortfolio(client)).portfolioId);
    await delivered(client, webhookId, 'DELIVERED');
    await isCut;
    expect(written).toBeGreaterThan(65_536);
  });

  it('reports why a connection failed', async () => {
    const { client, receiver } = await setUp();
    const gone = await WebhookReceiver.open();
    const { url } = gone;
    await gone.close();
    const refused = await createWebhook(client, url, { events: ['order.filled'] });
    const cut = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    receiver.respond = (_, response) => response.destroy();
    await fill(client, (await openPortfolio(client)).portfolioId);
    expect((await delivered(client, refused.webhookId, 'PENDING'))[0].attempts[0].error).toBe(
      'The connection was refused',
    );
    expect((await delivered(client, cut.webhookId, 'PENDING'))[0].attempts[0].error).toBe(
      'The receiver closed the connection without an answer',
    );
  });

  it('a dead receiver delays no other', async () => {
    const { client, receiver, app } = await setUp();
    const dead = await WebhookReceiver.open();
    opened.push(dead);
    dead.respond = () => undefined;
    await createWebhook(client, dead.url);
    await createWebhook(client, receiver.url, { events: ['order.filled'] });
    const { portfolioId } = await openPortfolio(client);
    for (let i = 0; i < 20; i++) await fill(client, portfolioId);
    await receiver.received(20);
    expect(dead.events).toHaveLength(1);
    await until(() => app.app.webhookFigures().backlog === 60);
  });

  it('410 disables at once, with the reason', async () => {
    const { client, receiver } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    receiver.answer(410);
    const { portfolioId } = await openPortfolio(client);
    await fill(client, portfolioId);
    const [failed] = await delivered(client, webhookId, 'FAILED');
    expect(failed.nextAttemptAt).toBeUndefined();
    const shown = await client.get(`/v1/webhooks/${webhookId}`);
    expect(shown.body).toMatchObject({ status: 'DISABLED', reason: 'The receiver answered 410 Gone' });
    receiver.answer(204);
    await fill(client, portfolioId);
    const redelivered = await client.post(
      `/v1/webhooks/${webhookId}/deliveries/${failed.deliveryId}/redeliver`,
    );
    expect([redelivered.status, redelivered.body.message]).toEqual([
      409,
      'The webhook is disabled: enable it first',
    ]);
    await client.put(`/v1/webhooks/${webhookId}`, { status: 'ENABLED' });
    await fill(client, portfolioId);
    await receiver.received(2);
    expect((await client.get(`/v1/webhooks/${webhookId}`)).body).not.toHaveProperty('reason');
    // Events in between are not sent.
    await delivered(client, webhookId, 'DELIVERED', 'FAILED');
  });

  it('three days without a success disable, and FAILED deliveries can be redelivered', async () => {
    const { client, receiver, timers } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    receiver.answer(500);
    await fill(client, (await openPortfolio(client)).portfolioId);
    let [pending] = await delivered(client, webhookId, 'PENDING');
    let tries = 1;
    while (pending.status === 'PENDING') {
      timers.advance(Date.parse(pending.nextAttemptAt) - timers.nowMs());
      tries += 1;
      const expected = tries;
      await until(async () => {
        [pending] = await deliveriesOf(client, webhookId);
        return (
          pending.attempts.length === expected &&
          (pending.status === 'FAILED' || Date.parse(pending.nextAttemptAt) > timers.nowMs())
        );
      });
    }
    expect(pending.status).toBe('FAILED');
    expect(tries).toBe(10);
    const shown = await client.get(`/v1/webhooks/${webhookId}`);
    expect(shown.body).toMatchObject({ status: 'DISABLED', reason: 'No delivery succeeded for three days' });
    timers.advance(29 * 24 * HOUR);
    receiver.answer(204);
    await client.put(`/v1/webhooks/${webhookId}`, { status: 'ENABLED' });
    const again = await client.post(`/v1/webhooks/${webhookId}/deliveries/${pending.deliveryId}/redeliver`);
    expect(again.status).toBe(202);
    await receiver.received(11);
    await delivered(client, webhookId, 'DELIVERED');
    timers.advance(31 * 24 * HOUR);
    await until(async () => (await deliveriesOf(client, webhookId)).length === 0);
  });

  it('testWebhook: sends a test event and reports the answer of the receiver', async () => {
    const { client, receiver } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.filled'] });
    const reply = await client.post(`/v1/webhooks/${webhookId}/test`);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      type: 'webhook.test',
      status: 'DELIVERED',
      attempts: [{ statusCode: 204 }],
    });
    expect(receiver.types).toEqual(['webhook.test']);
    expect(receiver.events[0]?.headers['webhook-id']).toBe(reply.body.eventId);
    receiver.answer(404);
    expect((await client.post(`/v1/webhooks/${webhookId}/test`)).body).toMatchObject({ status: 'FAILED' });
    expect(await deliveriesOf(client, webhookId)).toHaveLength(2);
    expect(await deliveriesOf(client, webhookId, '?status=FAILED')).toHaveLength(1);
  });

  it('rotateWebhookSecret: both secrets sign for 24 hours', async () => {
    const { client, receiver, timers } = await setUp();
    const created = await createWebhook(client, receiver.url);
    const path = `/v1/webhooks/${created.webhookId}`;
    const rotated = await client.post(`${path}/rotate-secret`);
    expect(rotated.body.secret).not.toBe(created.secret);
    expect(Date.parse(rotated.body.previousSecretExpiresAt)).toBe(timers.nowMs() + 24 * HOUR);
    await client.post(`${path}/test`);
    timers.advance(24 * HOUR - 1);
    await client.post(`${path}/test`);
    timers.advance(1);
    await client.post(`${path}/test`);
    const signers = receiver.events.map(({ headers, text }) => {
      const at = new Date(Number(headers['webhook-timestamp']) * 1000);
      const by = (secret: string): string =>
        new Webhook(secret).sign(String(headers['webhook-id']), at, text);
      return String(headers['webhook-signature'])
        .split(' ')
        .map((signature) => [by(rotated.body.secret), by(created.secret)].indexOf(signature));
    });
    expect(signers).toEqual([[0, 1], [0, 1], [0]]);
  });

  it('deleteWebhook: sends no later event', async () => {
    const { client, receiver, timers } = await setUp();
    const other = await WebhookReceiver.open();
    opened.push(other);
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    await createWebhook(client, other.url, { events: ['order.filled'] });
    receiver.answer(500);
    const { portfolioId } = await openPortfolio(client);
    await client.post('/v1/orders', orderBody(portfolioId));
    await delivered(client, webhookId, 'PENDING');
    expect((await client.delete(`/v1/webhooks/${webhookId}`)).body.message).toBe('Webhook deleted');
    expect((await client.get(`/v1/webhooks/${webhookId}`)).status).toBe(404);
    timers.advance(HOUR);
    await pushQuote(client);
    await other.received(1);
    expect(receiver.events).toHaveLength(1);
  });

  it('deleteSimulation: deletes the webhooks of the simulation', async () => {
    const { app, client, receiver } = await setUp();
    const made = await client.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
    });
    const { simulationId } = made.body;
    const own = await createWebhook(client, receiver.url, { simulationId });
    const all = await createWebhook(client, receiver.url, { simulationId: '*' });
    const inside = app.withToken(made.body.token);
    await fill(inside, (await openPortfolio(inside)).portfolioId);
    await receiver.received(6);
    await delivered(client, all.webhookId, 'DELIVERED', 'DELIVERED', 'DELIVERED');
    await client.delete(`/v1/simulations/${simulationId}`);
    await until(async () => (await deliveriesOf(client, all.webhookId)).length === 0);
    expect((await client.get(`/v1/webhooks/${own.webhookId}`)).status).toBe(404);
    await until(() => webhooksIn(app.store.registry).length === 1);
  });
});

describe('Webhooks after a restart', () => {
  it('lose no event, and repeat only deliveries in progress', async () => {
    const { app, client, receiver, timers } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    const { portfolioId } = await openPortfolio(client);
    await placeOrder(client, portfolioId);
    await delivered(client, webhookId, 'DELIVERED');
    receiver.respond = () => undefined;
    await placeOrder(client, portfolioId);
    await placeOrder(client, portfolioId);
    await receiver.received(2);
    receiver.answer(204);
    opened.splice(opened.indexOf(app), 1);
    const next = await app.restart({ webhookTimers: timers, settings: { WEBHOOK_ALLOW_PRIVATE: 'on' } });
    opened.push(next);
    await receiver.received(4);
    await delivered(next.as(), webhookId, 'DELIVERED', 'DELIVERED', 'DELIVERED');
    const ids = receiver.events.map(({ data }) => data.id);
    expect(new Set(ids).size).toBe(3);
    expect(ids.slice(2)).toEqual([ids[1], ids[3]]);
  });

  it('continue with pending retries', async () => {
    const { app, client, receiver, timers } = await setUp();
    const { webhookId } = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    const { portfolioId } = await openPortfolio(client);
    receiver.answer(500);
    await placeOrder(client, portfolioId);
    await delivered(client, webhookId, 'PENDING');
    receiver.answer(204);
    opened.splice(opened.indexOf(app), 1);
    const next = await app.restart({ webhookTimers: timers, settings: { WEBHOOK_ALLOW_PRIVATE: 'on' } });
    opened.push(next);
    expect(receiver.events).toHaveLength(1);
    await until(() => next.app.webhookFigures().backlog === 1);
    await placeOrder(next.as(), portfolioId);
    await receiver.received(2);
    timers.advance(6 * SECOND);
    await receiver.received(3);
    await delivered(next.as(), webhookId, 'DELIVERED', 'DELIVERED');
  });
});
