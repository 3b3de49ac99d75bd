/** Refused orders on record, over HTTP (D276). */
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { verifyJournal } from '../engine/recovery/verify.js';
import type { Store } from '../store/store.js';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import {
  ACCOUNT,
  type Body,
  openPortfolio,
  orderBody,
  pushQuote,
  type Reply,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';
import { until, WebhookReceiver } from '../testing/webhook-receiver.js';

const closed: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closed.splice(0).reverse()) await close();
});

interface Opened {
  readonly test: TestApp;
  readonly client: TestClient;
  readonly portfolioId: string;
}

/** A portfolio with 1,000 dollars; AAPL at 99.90 – 100.00. */
async function open(store?: Store): Promise<Opened> {
  const test = await TestApp.open({
    settings: { WEBHOOK_ALLOW_PRIVATE: 'on' },
    ...(store !== undefined && { store }),
  });
  closed.push(() => test.close());
  const client = test.as();
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 1000 });
  await pushQuote(client);
  return { test, client, portfolioId: portfolioId as string };
}

const refuse = (
  { client, portfolioId }: Pick<Opened, 'client' | 'portfolioId'>,
  more: object = {},
  headers?: Record<string, string>,
): Promise<Reply> =>
  client.post('/v1/orders', orderBody(portfolioId, { quantity: 20, recordRefusal: true, ...more }), headers);

const FUNDS = {
  code: 'INSUFFICIENT_FUNDS',
  message: 'Insufficient funds',
  availableCash: 1000,
  requiredAmount: 2000,
};

describe('POST /v1/orders with recordRefusal', () => {
  it('answers 201 with the rejected order, its code and its figures', async () => {
    const opened = await open();
    const { status, body } = await refuse(opened);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      portfolioId: opened.portfolioId,
      accountId: ACCOUNT,
      quantity: 20,
      limitPrice: 100,
      status: 'REJECTED',
      rejectReason: 'INSUFFICIENT_FUNDS',
      rejection: FUNDS,
    });
    const read = await opened.client.get(`/v1/orders/${body.orderId}`);
    expect(read).toMatchObject({
      status: 200,
      body: { status: 'REJECTED', filledQuantity: 0, rejectReason: 'INSUFFICIENT_FUNDS', rejection: FUNDS },
    });
    const portfolio = await opened.client.get(`/v1/accounts/portfolios/${opened.portfolioId}`);
    expect(portfolio.body).toMatchObject({ settledCash: 1000, reservedCash: 0 });
  });

  it('is refused as before without the field, or with false', async () => {
    const opened = await open();
    for (const more of [{ recordRefusal: undefined }, { recordRefusal: false }])
      expect(await refuse(opened, more)).toMatchObject({
        status: 400,
        body: { error: { code: 'INSUFFICIENT_FUNDS', availableCash: 1000, requiredAmount: 2000 } },
      });
    expect((await opened.client.get('/v1/orders')).body.pagination.total).toBe(0);
  });

  it.each([
    [400, { limitPrice: 100.001 }, 'an invalid price'],
    [400, { recordRefusal: 'yes' }, 'a wrong type'],
    [400, { symbol: 'NOSUCH' }, 'an unknown symbol'],
    [404, { portfolioId: '99999999-9999-4999-8999-999999999999' }, 'an unknown portfolio'],
  ])(
    'answers %s to %j: %s is no refusal of the brokerage',
    async (status: number, more: object, _: string) => {
      const opened = await open();
      expect((await refuse(opened, more)).status).toBe(status);
      expect((await opened.client.get('/v1/orders')).body.pagination.total).toBe(0);
    },
  );

  it('answers 404 to another tenant, for the portfolio and for the order', async () => {
    const opened = await open();
    const other = opened.test.as({ tenantId: 'tenant-2' });
    expect((await refuse({ ...opened, client: other })).status).toBe(404);
    const { body } = await refuse(opened);
    expect((await other.get(`/v1/orders/${body.orderId}`)).status).toBe(404);
  });

  it('uses up its clientOrderId', async () => {
    const opened = await open();
    const { body } = await refuse(opened, { clientOrderId: 'mine' });
    for (const more of [{}, { quantity: 1 }, { recordRefusal: false, quantity: 1 }])
      expect(await refuse(opened, { clientOrderId: 'mine', ...more })).toMatchObject({
        status: 409,
        body: { error: { code: 'DUPLICATE_CLIENT_ORDER_ID', orderId: body.orderId } },
      });
  });

  it('is placed once for one Idempotency-Key', async () => {
    const opened = await open();
    const key = { 'idempotency-key': 'one' };
    const first = await refuse(opened, {}, key);
    const again = await refuse(opened, {}, key);
    expect(again).toMatchObject({ status: 201, body: { orderId: first.body.orderId } });
    expect((await opened.client.get('/v1/orders')).body.pagination.total).toBe(1);
  });

  it('cannot be canceled or updated', async () => {
    const opened = await open();
    const { orderId } = (await refuse(opened)).body;
    for (const [path, body] of [
      [`/v1/orders/${orderId}/cancel`, undefined],
      [`/v1/orders/${orderId}`, { limitPrice: 50 }],
    ] as const)
      expect(await opened.client.put(path, body)).toMatchObject({
        status: 409,
        body: { error: { code: 'ORDER_NOT_UPDATABLE', status: 'REJECTED' } },
      });
  });

  it('shows the bracket or the pair that was asked for, and places none of their orders', async () => {
    const opened = await open();
    const bracketConfig = {
      profitTarget: { orderType: 'LIMIT', limitPrice: 110 },
      stopLoss: { orderType: 'STOP', stopPrice: 90 },
    };
    const ocoConfig = { stopLoss: { orderType: 'STOP', stopPrice: 90 } };
    const bracket = await refuse(opened, { bracketConfig });
    const pair = await refuse(opened, { positionIntent: 'SELL_TO_CLOSE', limitPrice: 110, ocoConfig });
    // Its number follows, so that it must not be taken for the stop of the pair.
    await refuse(opened, { quantity: 1, orderType: 'LIMIT', limitPrice: 50, recordRefusal: false });
    for (const [{ body }, more] of [
      [bracket, { bracketConfig, rejectReason: 'INSUFFICIENT_FUNDS' }],
      [pair, { ocoConfig, rejectReason: 'INSUFFICIENT_POSITION' }],
    ] as const)
      expect((await opened.client.get(`/v1/orders/${body.orderId}`)).body).toMatchObject(more);
    expect((await opened.client.get('/v1/orders')).body.pagination.total).toBe(3);
  });

  it('shows details of every kind of refusal', async () => {
    const { test, client, portfolioId } = await open();
    const basic = test.as({ tier: 'BASIC' });
    expect(
      (
        await refuse(
          { client: basic, portfolioId },
          { orderType: 'STOP', limitPrice: undefined, stopPrice: 110 },
        )
      ).body,
    ).toMatchObject({
      rejectReason: 'FEATURE_NOT_AVAILABLE',
      rejection: { code: 'FEATURE_NOT_AVAILABLE', currentTier: 'BASIC', requiredTier: 'PRO' },
    });
    await client.post('/v1/simulation/halts', { symbol: 'AAPL', reason: 'T1' });
    expect((await refuse({ client, portfolioId }, { timeInForce: 'IOC', quantity: 1 })).body).toMatchObject({
      rejectReason: 'TRADING_HALTED',
      rejection: { code: 'TRADING_HALTED', reason: 'T1' },
    });
  });
});

describe('orders by other ways with recordRefusal', () => {
  it('batch: lists the account as failed, with the order that is on record', async () => {
    const { client, portfolioId } = await open();
    const orderData = {
      ...orderBody(portfolioId),
      portfolioId: undefined,
      quantity: 20,
      recordRefusal: true,
    };
    const { status, body } = await client.post('/v1/orders/batch', { accountIds: [ACCOUNT], orderData });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        successful: [],
        failed: [{ accountId: ACCOUNT, statusCode: 400, error: { code: 'INSUFFICIENT_FUNDS' } }],
        message: '0 successful, 1 failed',
      },
    });
    expect((await client.get(`/v1/orders/${body.failed[0].orderId}`)).body.status).toBe('REJECTED');
  });

  it('preview: shows the refusal and records nothing', async () => {
    const { client, portfolioId } = await open();
    const order = orderBody(portfolioId, { quantity: 20, recordRefusal: true });
    const { status, body } = await client.post('/v1/orders/preview', order);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { rejections: [{ code: 'INSUFFICIENT_FUNDS' }] },
    });
    expect((await client.get('/v1/orders')).body.pagination.total).toBe(0);
  });

  it('step: answers 201 with the order and its event', async () => {
    const { test } = await open();
    const made = await test.as().post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const client = test.withToken(made.body.token as string);
    const { portfolioId } = await openPortfolio(client, {
      initialCash: 1000,
      portfolioType: 'CASH',
    });
    await pushQuote(client);
    const orders = [orderBody(portfolioId as string, { quantity: 20, recordRefusal: true })];
    const { body } = await client.post('/v1/simulation/step', { orders });
    expect(body).toMatchObject({
      orders: [{ statusCode: 201, order: { status: 'REJECTED', rejectReason: 'INSUFFICIENT_FUNDS' } }],
      events: [{ event: 'REJECTED', status: 'REJECTED', rejection: FUNDS }],
    });
  });
});

describe('a recorded refusal is shown wherever orders are', () => {
  it('lists: full, of an account, of a portfolio, by status, as CSV, in activities', async () => {
    const opened = await open();
    const { client, portfolioId } = opened;
    const { orderId } = (await refuse(opened)).body;
    await refuse(opened, { quantity: 1, limitPrice: 50 });
    for (const list of [
      `/v1/orders?status=REJECTED`,
      `/v1/orders/account/${ACCOUNT}?status=REJECTED`,
      `/v1/orders/portfolio/${portfolioId}?status=REJECTED`,
    ])
      expect((await client.get(list)).body).toMatchObject({
        data: [{ orderId, status: 'REJECTED' }],
        pagination: { total: 1 },
      });
    const activities = await client.get(`/v1/accounts/portfolios/${portfolioId}/activities?category=ORDER`);
    expect(activities.body.data.map(({ type }: Body) => type as string)).toEqual(['CREATED', 'REJECTED']);
    expect(activities.body.data[1]).toMatchObject({
      category: 'ORDER',
      orderId,
      symbol: 'AAPL',
      quantity: 20,
      description: expect.stringContaining('Insufficient funds') as string,
    });
    const csv = await csvOf(opened, `/v1/accounts/portfolios/${portfolioId}/activities`);
    expect(csv).toContain('REJECTED');
    expect((await client.get(`/v1/orders/${orderId}/executions`)).body.data).toEqual([]);
  });

  it('stream: one order-update, live and after a reconnection', async () => {
    const opened = await open();
    await opened.test.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = opened.test.app.server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/v1/stream/orders`;
    const read = async (headers: Record<string, string>, then: () => Promise<unknown>): Promise<string> => {
      const abort = new AbortController();
      const authorization = `Bearer ${String(opened.client.token)}`;
      const response = await fetch(url, { headers: { authorization, ...headers }, signal: abort.signal });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await then();
      let text = '';
      while (!/data: .*"orderId".*\n/.test(text))
        text += Buffer.from((await reader.read()).value ?? []).toString();
      abort.abort();
      return text;
    };
    const live = await read({}, () => refuse(opened));
    const again = await read({ 'last-event-id': '0-0' }, () => Promise.resolve());
    for (const text of [live, again]) {
      expect(text.match(/event: order-update/g)).toHaveLength(1);
      expect(text).toContain('"event":"REJECTED"');
      expect(text).toContain('"rejectReason":"INSUFFICIENT_FUNDS"');
    }
  });

  it('webhook: order.rejected, and no order.accepted', async () => {
    const receiver = await WebhookReceiver.open();
    closed.push(() => receiver.close());
    const opened = await open();
    expect((await opened.client.post('/v1/webhooks', { url: receiver.url })).status).toBe(201);
    const { orderId } = (await refuse(opened)).body;
    await refuse(opened, { quantity: 1, limitPrice: 50 });
    await until(() => receiver.events.some(({ type }) => type === 'order.accepted'));
    const orders = receiver.events.filter(({ type }) => type.startsWith('order.'));
    expect(orders[0]).toMatchObject({
      type: 'order.rejected',
      data: { orderId, event: 'REJECTED', rejection: FUNDS },
    });
    expect(orders.filter(({ data }) => data.orderId === orderId)).toHaveLength(1);
  });

  it('execution quality: counts as rejected, and of the order itself', async () => {
    const opened = await open();
    const { orderId } = (await refuse(opened)).body;
    await refuse(opened, { quantity: 1, limitPrice: 100 });
    const path = `/v1/accounts/portfolios/${opened.portfolioId}/execution-quality`;
    expect((await opened.client.get(path)).body).toMatchObject({ orders: 2, rejectRate: 0.5 });
    const { status, body } = await opened.client.get(`/v1/orders/${orderId}/execution-quality`);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { orders: 1, rejectRate: 1, executions: 0 },
    });
    expect(
      (await opened.client.get(`/v1/accounts/portfolios/${opened.portfolioId}/performance`)).status,
    ).toBe(200);
  });
});

describe('a recorded refusal in the journal', () => {
  it('is decided again by verify, with and without a script', async () => {
    const { test } = await open();
    const made = await test.as().post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const client = test.withToken(made.body.token as string);
    const { portfolioId } = await openPortfolio(client, {
      initialCash: 1000,
      portfolioType: 'CASH',
    });
    await pushQuote(client);
    await refuse({ client, portfolioId: portfolioId as string });
    await client.post('/v1/simulation/outcomes', {
      match: {},
      outcome: { reject: { code: 'OPTION_LEVEL', message: 'No', currentLevel: 1, requiredLevel: 3 } },
    });
    const scripted = await refuse({ client, portfolioId: portfolioId as string }, { quantity: 1 });
    expect(scripted.body).toMatchObject({
      rejectReason: 'OPTION_LEVEL',
      rejection: { code: 'OPTION_LEVEL', message: 'No', currentLevel: 1, requiredLevel: 3 },
    });
    const simulation = await test.simulations.directory.find(made.body.simulationId as string, 'tenant-1');
    const report = await verifyJournal(test.store, String(simulation?.id));
    expect(report.problems).toEqual([]);
  });

  it('is equal after a restart of a server on a disk', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-refused-'));
    closed.push(() => {
      rmSync(directory, { recursive: true });
    });
    const first = await open(await openSqliteStore({ directory }));
    const { orderId } = (await refuse(first, { clientOrderId: 'mine' })).body;
    const before = await first.client.get(`/v1/orders/${orderId}`);
    closed.pop();
    await first.test.close();
    const again = await TestApp.open({ store: await openSqliteStore({ directory }) });
    closed.push(() => again.close());
    expect((await again.as().get(`/v1/orders/${orderId}`)).body).toEqual(before.body);
    const next = await refuse({ client: again.as(), portfolioId: first.portfolioId }, { quantity: 1 });
    expect(next.body.orderId).not.toBe(orderId);
    const used = await refuse(
      { client: again.as(), portfolioId: first.portfolioId },
      { clientOrderId: 'mine' },
    );
    expect(used.status).toBe(409);
  });

  it('is read by a fork, and may be accepted under the rules of a comparison', async () => {
    const { test } = await open();
    const owner = test.as({ tier: 'ENTERPRISE' });
    const made = await owner.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const client = test.withToken(made.body.token as string);
    const { portfolioId } = await openPortfolio(client, {
      initialCash: 1000,
      portfolioType: 'CASH',
      brokerId: 'default',
    });
    await pushQuote(client);
    const own = { client, portfolioId: portfolioId as string };
    const { orderId } = (await refuse(own, { timeInForce: 'DAY' })).body;
    await refuse(own, { quantity: 1 });
    const id = String(made.body.simulationId);
    const forked = await owner.post(`/v1/simulations/${id}/forks`, {});
    const fork = test.withToken(forked.body.token as string);
    expect((await fork.get(`/v1/orders/${orderId}`)).body).toMatchObject({ status: 'REJECTED' });
    const started = await owner.post(`/v1/simulations/${id}/comparisons`, { variants: [{ name: 'same' }] });
    let body: Body;
    do ({ body } = await owner.get(`/v1/comparisons/${started.body.comparisonId}?wait=30`));
    while (['QUEUED', 'RUNNING'].includes(body.status as string));
    expect(body).toMatchObject({
      status: 'DONE',
      baseMatches: true,
      base: { orders: { accepted: 1, rejected: 1 } },
      variants: [{ orders: { accepted: 1, rejected: 1 }, difference: 0 }],
    });
  });
});

async function csvOf({ test, client }: Opened, url: string): Promise<string> {
  const reply = await test.app.inject({
    method: 'GET',
    url,
    headers: { authorization: `Bearer ${String(client.token)}`, accept: 'text/csv' },
  });
  return reply.body;
}
