/** Changes to webhooks, tenants and data while a delivery is under way. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { backUp } from '../store/sqlite/checks/backup.js';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import { webhooksIn } from '../store/webhooks.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { openPortfolio, placeOrder, pushQuote, TestApp } from '../testing/test-app.js';
import type { Body, TestAppOptions, TestClient } from '../testing/test-app.js';
import { until, WebhookReceiver } from '../testing/webhook-receiver.js';

const opened: { close: () => Promise<void> }[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const SETTINGS = { WEBHOOK_ALLOW_PRIVATE: 'on', RATE_LIMIT_DEFAULT: '1000000' };
const MANUAL = { feed: 'push', clock: 'manual', start: '2026-01-06T10:00:00-05:00' };
/** Rests, so that its acceptance and its activation are one record. */
const RESTING = { limitPrice: 1 };

/** A receiver that answers when told. */
class HoldingReceiver {
  readonly #receiver: WebhookReceiver;
  held: ServerResponse[] = [];

  constructor(receiver: WebhookReceiver) {
    this.#receiver = receiver;
    this.hold();
  }

  hold(): void {
    this.#receiver.respond = (_, response) => void this.held.push(response);
  }

  /** Answers what is held, and everything from now on. */
  release(): void {
    this.#receiver.answer(204);
    for (const response of this.held.splice(0)) response.writeHead(204).end();
  }
}

interface Setup {
  readonly app: TestApp;
  readonly timers: ManualTimers;
  readonly receiver: WebhookReceiver;
  readonly holding: HoldingReceiver;
  readonly client: TestClient;
}

async function setUp(options: TestAppOptions = {}): Promise<Setup> {
  const timers = new ManualTimers();
  const receiver = await WebhookReceiver.open();
  const app = await TestApp.open({ webhookTimers: timers, ...options, settings: SETTINGS });
  opened.push(receiver, app);
  return { app, timers, receiver, holding: new HoldingReceiver(receiver), client: app.as() };
}

async function createWebhook(client: TestClient, url: string, more: object = {}): Promise<string> {
  const { status, text, body } = await client.post('/v1/webhooks', { url, events: ['order.*'], ...more });
  expect(status, text).toBe(201);
  return (body as { readonly webhookId: string }).webhookId;
}

const rowsOf = (app: TestApp, webhookId: string) =>
  app.store.webhooks.deliveries({ webhookId, offset: 0, limit: 100 });

const idsOf = ({ events }: WebhookReceiver): string[] => events.map(({ data }) => data.id);

const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'sandpit-webhooks-'));
  folders.push(made);
  return made;
};

describe('a webhook, while an event is on its way', () => {
  it('an event has no row before its try has ended, and a try no commit of its own', async () => {
    const store = await openSqliteStore({ directory: directory() });
    const { app, receiver, holding, client } = await setUp({ store });
    const webhookId = await createWebhook(client, receiver.url);
    const { portfolioId } = await openPortfolio(client);
    await placeOrder(client, portfolioId, RESTING);
    await receiver.received(1);
    expect((await rowsOf(app, webhookId)).items).toEqual([]);
    holding.release();
    await receiver.received(2);
    await until(async () => (await rowsOf(app, webhookId)).total === 2);
    // The cursor stands at the end of the record, which was committed with the rows or behind them.
    const { cursors } = await app.store.webhooks.load([webhookId]);
    expect(cursors).toMatchObject([{ tried: [] }]);
  });

  it('deleteWebhook: the result of a try under way is not stored, and nothing of the webhook is left', async () => {
    const { app, receiver, holding, client } = await setUp();
    const webhookId = await createWebhook(client, receiver.url);
    await placeOrder(client, (await openPortfolio(client)).portfolioId, RESTING);
    await receiver.received(1);
    await client.delete(`/v1/webhooks/${webhookId}`);
    holding.release();
    await until(() => webhooksIn(app.store.registry).length === 0);
    expect((await rowsOf(app, webhookId)).total).toBe(0);
    expect(await app.store.webhooks.load([webhookId])).toEqual({ cursors: [], pending: new Map() });
    expect(receiver.events).toHaveLength(1);
  });

  it('deleteWebhook: a removal that was interrupted is finished at the next start, and the webhook is not shown', async () => {
    const { app, receiver, holding, client, timers } = await setUp();
    holding.release();
    const webhookId = await createWebhook(client, receiver.url);
    await placeOrder(client, (await openPortfolio(client)).portfolioId, RESTING);
    await until(async () => (await rowsOf(app, webhookId)).total === 2);
    const [stored] = webhooksIn(app.store.registry);
    await app.store.registry.saveSetting(
      `webhook/${webhookId}`,
      JSON.stringify({ ...stored, isDeleted: true }),
    );
    opened.splice(opened.indexOf(app), 1);
    const next = await app.restart({ webhookTimers: timers, settings: SETTINGS });
    opened.push(next);
    expect((await next.as().get('/v1/webhooks')).body.data).toEqual([]);
    await until(() => webhooksIn(next.store.registry).length === 0);
    expect((await rowsOf(next, webhookId)).total).toBe(0);
  });

  it('updateWebhook: a webhook disabled during a try forgets the try, and sends only what happens after it is enabled', async () => {
    const { app, receiver, holding, client } = await setUp();
    const webhookId = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    const { portfolioId } = await openPortfolio(client);
    await placeOrder(client, portfolioId, RESTING);
    await receiver.received(1);
    await client.put(`/v1/webhooks/${webhookId}`, { status: 'DISABLED' });
    holding.release();
    await placeOrder(client, portfolioId, RESTING);
    await client.put(`/v1/webhooks/${webhookId}`, { status: 'ENABLED' });
    const third = await placeOrder(client, portfolioId, RESTING);
    await receiver.received(2);
    expect(receiver.events[1]?.data.orderId).toBe(third.orderId);
    await until(async () => (await rowsOf(app, webhookId)).total === 1);
  });

  it('updateWebhook: a webhook disabled and enabled many times at once ends as the last request said, without repeats', async () => {
    const { app, receiver, holding, client } = await setUp();
    holding.release();
    const webhookId = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    const { portfolioId } = await openPortfolio(client);
    const changes = Array.from({ length: 9 }, (_, index) =>
      client.put(`/v1/webhooks/${webhookId}`, { status: index % 2 === 0 ? 'DISABLED' : 'ENABLED' }),
    );
    await Promise.all([...changes, placeOrder(client, portfolioId, RESTING)]);
    expect((await client.get(`/v1/webhooks/${webhookId}`)).body.status).toBe('DISABLED');
    await client.put(`/v1/webhooks/${webhookId}`, { status: 'ENABLED' });
    const last = await placeOrder(client, portfolioId, RESTING);
    await until(() => receiver.events.some(({ data }) => data.orderId === last.orderId));
    expect(new Set(idsOf(receiver)).size).toBe(receiver.events.length);
    expect(app.app.webhookFigures().enabled).toBe(1);
  });

  it('deleteTenant: the result of a try under way is not stored, and nothing of the tenant is left', async () => {
    const { app, receiver, holding, client } = await setUp();
    const webhookId = await createWebhook(client, receiver.url, { simulationId: '*' });
    const other = await createWebhook(app.as({ tenantId: 'other' }), receiver.url);
    const { portfolioId } = await openPortfolio(client);
    await placeOrder(client, portfolioId, RESTING);
    await receiver.received(1);
    // A result that is not stored yet, and one that is under way.
    for (const response of holding.held.splice(0)) response.writeHead(204).end();
    await receiver.received(2);
    await app.simulations.tenants.erase('tenant-1');
    holding.release();
    expect((await rowsOf(app, webhookId)).total).toBe(0);
    expect((await app.store.webhooks.load([webhookId])).cursors).toEqual([]);
    expect(webhooksIn(app.store.registry).map((one) => one.webhookId)).toEqual([other]);
    expect(app.app.webhookFigures()).toMatchObject({ backlog: 0, enabled: 1 });
  });

  it('a backup made during a try sends that event again and no other, and the rows of earlier ones are there', async () => {
    const data = directory();
    const store = await openSqliteStore({ directory: data });
    const { app, receiver, holding, client, timers } = await setUp({ store });
    holding.release();
    const webhookId = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    const { portfolioId } = await openPortfolio(client);
    await placeOrder(client, portfolioId, RESTING);
    await until(async () => (await rowsOf(app, webhookId)).total === 1);
    holding.hold();
    await placeOrder(client, portfolioId, RESTING);
    await receiver.received(2);
    const copy = join(directory(), 'copy');
    backUp(data, copy);
    holding.release();
    await placeOrder(client, portfolioId, RESTING);
    await until(async () => (await rowsOf(app, webhookId)).total === 3);
    const before = idsOf(receiver);
    const restored = await TestApp.open({
      store: await openSqliteStore({ directory: copy }),
      settings: SETTINGS,
      webhookTimers: timers,
    });
    opened.push(restored);
    await until(async () => {
      // The history of the copy may be made first: its reader asks again after a second.
      timers.advance(1000);
      return (await rowsOf(restored, webhookId)).total === 2;
    });
    expect(idsOf(receiver).slice(3)).toEqual([before[1]]);
  }, 120_000);

  it('a cursor after the end of a restored journal does not hide the events that follow', async () => {
    const { app, receiver, holding, client, timers } = await setUp();
    holding.release();
    const webhookId = await createWebhook(client, receiver.url, { events: ['order.accepted'] });
    const { portfolioId } = await openPortfolio(client);
    const [cursor] = (await app.store.webhooks.load([webhookId])).cursors;
    if (cursor === undefined) throw new Error('no cursor');
    opened.splice(opened.indexOf(app), 1);
    await app.app.close();
    await app.simulations.close();
    const position = { seq: 1_000_000, place: 1 };
    await app.store.webhooks.apply([{ change: 'save-cursor', cursor: { ...cursor, position } }]);
    const next = await TestApp.open({ store: app.store, settings: SETTINGS, webhookTimers: timers });
    opened.push(next);
    const order: Body = await placeOrder(next.as(), portfolioId, RESTING);
    await receiver.received(1);
    expect(receiver.events[0]?.data.orderId).toBe(order.orderId);
  });

  it('a fork and an import send their own events, not those of the past that they begin with', async () => {
    const { app, receiver, holding, client } = await setUp();
    holding.release();
    const made = (await client.post('/v1/simulations', MANUAL)).body;
    const parent = app.withToken(made.token);
    await pushQuote(parent);
    const { portfolioId } = await openPortfolio(parent);
    await placeOrder(parent, portfolioId, RESTING);
    await createWebhook(client, receiver.url, { simulationId: '*', events: ['order.accepted'] });
    const fork = (await client.post(`/v1/simulations/${made.simulationId}/forks`, {})).body;
    const file = await app.app.inject({
      method: 'GET',
      url: `/v1/simulations/${made.simulationId}/export`,
      headers: { authorization: `Bearer ${client.token}` },
    });
    const imported = await client.inject({
      method: 'POST',
      url: '/v1/simulations/import',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: file.body,
    });
    const { simulationId } = imported.body;
    await until(
      async () => (await client.get(`/v1/simulations/${simulationId}`)).body.status !== 'IMPORTING',
    );
    const token = (await client.post(`/v1/simulations/${simulationId}/token`, {})).body.token as string;
    const ids: string[] = [];
    for (const inside of [app.withToken(fork.token), app.withToken(token)])
      ids.push((await placeOrder(inside, portfolioId, RESTING)).orderId);
    await receiver.received(2);
    expect(receiver.events.map(({ data }) => data.simulationId).sort()).toEqual(
      [fork.simulationId, simulationId].sort(),
    );
    expect(receiver.events.map(({ data }) => data.orderId).sort()).toEqual(ids.sort());
  });

  it('a jump of the clock over thousands of events keeps them in the journal until the receiver takes them, each once and in order', async () => {
    const { app, receiver, holding, client } = await setUp();
    const made = (await client.post('/v1/simulations', { ...MANUAL, calendar: 'XNYS' })).body;
    const inside = app.withToken(made.token);
    await pushQuote(inside);
    const { portfolioId } = await openPortfolio(inside, { initialCash: 10_000_000 });
    const ORDERS = 600;
    const orders: string[] = [];
    for (let index = 0; index < ORDERS; index++)
      orders.push((await placeOrder(inside, portfolioId, RESTING)).orderId as string);
    const webhookId = await createWebhook(client, receiver.url, {
      simulationId: made.simulationId,
      events: ['order.canceled'],
    });
    const jump = await inside.post('/v1/simulation/clock/advance', { to: '2026-01-07T09:00:00-05:00' });
    expect(jump.status, jump.text).toBe(200);
    await receiver.received(1);
    // One try of a portfolio at a time: no other event has a row, and the rest waits in the journal.
    expect((await rowsOf(app, webhookId)).total).toBe(0);
    holding.release();
    await receiver.received(ORDERS);
    await until(async () => (await rowsOf(app, webhookId)).total === ORDERS);
    expect(new Set(receiver.events.map(({ data }) => data.orderId))).toEqual(new Set(orders));
    expect(receiver.events).toHaveLength(ORDERS);
    const order = idsOf(receiver).map((id) => id.split('-').map(Number));
    expect(order).toEqual(order.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0)));
  }, 120_000);

  it('a start inside a record sends its later events and repeats none that were tried, of whichever portfolio', async () => {
    const { app, receiver, client, timers } = await setUp();
    const held: string[] = [];
    const one = await openPortfolio(client);
    const two = await openPortfolio(client, { accountId: '22222222-2222-4222-8222-222222222222' });
    receiver.respond = ({ data }, response) => {
      if (data.portfolioId === one.portfolioId) held.push(data.id);
      else response.writeHead(204).end();
    };
    const webhookId = await createWebhook(client, receiver.url);
    await placeOrder(client, one.portfolioId, RESTING);
    await placeOrder(client, two.portfolioId, RESTING);
    // The events of the second portfolio are tried behind the cursor, which stands before the held one.
    await until(async () => (await rowsOf(app, webhookId)).total === 2);
    expect((await app.store.webhooks.load([webhookId])).cursors).toMatchObject([{ tried: [{}, {}] }]);
    const [first] = held;
    opened.splice(opened.indexOf(app), 1);
    const next = await app.restart({ webhookTimers: timers, settings: SETTINGS });
    opened.push(next);
    receiver.answer(204);
    await until(async () => (await rowsOf(next, webhookId)).total === 4);
    const again = receiver.events.slice(3);
    expect(again.map(({ data }) => data.portfolioId)).toEqual([one.portfolioId, one.portfolioId]);
    expect(again[0]?.data.id).toBe(first);
    await until(async () => {
      const [cursor] = (await next.store.webhooks.load([webhookId])).cursors;
      return cursor?.tried.length === 0;
    });
  });
});
