/** Webhook messages about events of a simulation (D191), and the receivers that are refused (D193). */
import { afterEach, describe, expect, it } from 'vitest';
import { ManualTimers } from '../testing/manual-timers.js';
import {
  type Body,
  openPortfolio,
  orderBody,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';
import { type ReceivedEvent, until, WebhookReceiver } from '../testing/webhook-receiver.js';

const CALL = 'AAPL260116C00150000';
const PUT = 'AAPL260116P00140000';
const SHORT_PUT = 'AAPL260116P00160000';

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function begin(): Promise<{ app: TestApp; client: TestClient; receiver: WebhookReceiver }> {
  const receiver = await WebhookReceiver.open();
  const app = await TestApp.open({ settings: { WEBHOOK_ALLOW_PRIVATE: 'on' } });
  opened.push(receiver, app);
  const client = app.as();
  const { status } = await client.post('/v1/webhooks', { url: receiver.url });
  expect(status).toBe(201);
  return { app, client, receiver };
}

const quotes = (client: TestClient, prices: Readonly<Record<string, readonly [number, number]>>) =>
  client.put('/v1/simulation/quotes', {
    quotes: Object.entries(prices).map(([symbol, [bid, ask]]) => ({ symbol, bid, ask })),
  });

async function ok(reply: Promise<{ status: number; text: string; body: Body }>): Promise<Body> {
  const { status, text, body } = await reply;
  expect(status, text).toBeLessThan(300);
  return body;
}

const dataOf = (events: readonly ReceivedEvent[], type: string): readonly object[] =>
  events.filter((event) => event.type === type).map(({ data }) => data);

describe('webhook events', () => {
  it('report options, corporate actions, transfers and halts of held symbols', async () => {
    const { client, receiver } = await begin();
    const { portfolioId } = await openPortfolio(client, { initialCash: 60_000 });
    const path = `/v1/accounts/portfolios/${portfolioId}`;
    await ok(
      quotes(client, { AAPL: [155, 155], [CALL]: [5, 5.1], [PUT]: [1.5, 1.6], [SHORT_PUT]: [6, 6.1] }),
    );
    const trade = (symbol: string, positionIntent: string) =>
      ok(
        client.post('/v1/orders', {
          portfolioId,
          symbol,
          assetClass: 'OPTION',
          orderType: 'MARKET',
          positionIntent,
          quantity: 1,
          timeInForce: 'DAY',
        }),
      );
    await trade(CALL, 'BUY_TO_OPEN');
    await trade(PUT, 'BUY_TO_OPEN');
    await trade(SHORT_PUT, 'SELL_TO_OPEN');
    await ok(client.post(`${path}/options/${CALL}/exercise`));
    await ok(client.post('/v1/simulation/halts', { symbol: 'AAPL', reason: 'T1' }));
    await ok(client.delete('/v1/simulation/halts/AAPL'));
    // No portfolio holds it.
    await ok(quotes(client, { MSFT: [400, 400] }));
    await ok(client.post('/v1/simulation/halts', { symbol: 'MSFT', reason: 'T1' }));
    await ok(client.delete('/v1/simulation/halts/MSFT'));
    await ok(client.post(`${path}/transfers`, { amount: -250 }));
    await ok(
      client.post('/v1/simulation/corporate-actions', {
        actions: [
          {
            type: 'CASH_DIVIDEND',
            symbol: 'AAPL',
            exDate: '2026-01-08',
            payDate: '2026-01-12',
            amountPerShare: 0.25,
          },
        ],
      }),
    );
    await ok(client.post('/v1/simulation/clock/advance', { to: '2026-01-08T10:00:00-05:00' }));
    await ok(quotes(client, { AAPL: [155, 155] }));
    await ok(client.post('/v1/simulation/clock/advance', { to: '2026-01-20T10:00:00-05:00' }));
    await until(
      () => receiver.types.includes('position.assigned') && receiver.types.includes('position.expired'),
    );
    const { events } = receiver;
    expect(dataOf(events, 'position.exercised')).toMatchObject([{ portfolioId, symbol: CALL, quantity: 1 }]);
    expect(dataOf(events, 'position.assigned')).toMatchObject([
      { portfolioId, symbol: SHORT_PUT, quantity: 1 },
    ]);
    expect(dataOf(events, 'position.expired')).toMatchObject([{ portfolioId, symbol: PUT, quantity: 1 }]);
    expect(dataOf(events, 'market.halted')).toMatchObject([
      { symbol: 'AAPL', reason: 'T1', simulationId: 'main' },
    ]);
    expect(dataOf(events, 'market.resumed')).toMatchObject([{ symbol: 'AAPL' }]);
    expect(dataOf(events, 'transfer.booked')).toMatchObject([{ portfolioId, amount: -250 }]);
    expect(dataOf(events, 'corporate-action.applied')).toMatchObject([
      { portfolioId, type: 'DIVIDEND', symbol: 'AAPL', amount: 25 },
    ]);
    expect(new Set(events.map(({ headers }) => headers['webhook-id'])).size).toBe(events.length);
  });

  it('report changes of orders, but not the moves of a trailing stop', async () => {
    const { client, receiver } = await begin();
    const { portfolioId } = await openPortfolio(client);
    await ok(
      client.put('/v1/simulation/quotes', {
        quotes: [{ symbol: 'AAPL', bid: 99.9, ask: 100, bidSize: 500, askSize: 4 }],
      }),
    );
    const bought = await ok(client.post('/v1/orders', orderBody(portfolioId, { limitPrice: 100 })));
    await ok(client.put(`/v1/orders/${bought.orderId}`, { limitPrice: 100.5 }));
    await ok(client.put(`/v1/orders/${bought.orderId}/cancel`));
    const stop = orderBody(portfolioId, {
      orderType: 'TRAILING_STOP',
      positionIntent: 'SELL_TO_CLOSE',
      quantity: 4,
      limitPrice: undefined,
      trailingAmount: 5,
    });
    await ok(client.post('/v1/orders', stop));
    for (const price of [101, 102, 103]) await ok(quotes(client, { AAPL: [price, price] }));
    await ok(quotes(client, { AAPL: [97, 97] }));
    await until(() => receiver.types.filter((type) => type === 'order.filled').length === 1);
    const types = receiver.types.filter((type) => type.startsWith('order.'));
    expect(types.slice(0, 5)).toEqual([
      'order.accepted',
      'order.active',
      'order.partially-filled',
      'order.updated',
      'order.canceled',
    ]);
    expect(receiver.events.map(({ data }) => data['event'])).not.toContain('TRAILED');
    expect(receiver.events.map(({ data }) => data['event'])).not.toContain('RESERVING');
  });

  it('report rejected orders with the reason', async () => {
    const { app, client: tenant, receiver } = await begin();
    // Scripts work there without a setting.
    const { token, simulationId } = await ok(
      tenant.post('/v1/simulations', { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z' }),
    );
    await ok(tenant.post('/v1/webhooks', { url: receiver.url, simulationId }));
    const client = app.withToken(token);
    const { portfolioId } = await openPortfolio(client);
    await ok(quotes(client, { AAPL: [99, 100] }));
    const clientOrderId = '~reject-later:INSUFFICIENT_FUNDS@2s';
    const placed = await ok(client.post('/v1/orders', orderBody(portfolioId, { clientOrderId })));
    await ok(client.post('/v1/simulation/clock/advance', { by: 'PT2S' }));
    await until(() => receiver.types.includes('order.rejected'));
    expect(dataOf(receiver.events, 'order.rejected')).toMatchObject([
      {
        orderId: placed.orderId,
        portfolioId,
        simulationId,
        event: 'REJECTED',
        status: 'REJECTED',
        rejectReason: { code: 'INSUFFICIENT_FUNDS' },
      },
    ]);
  });

  it('report margin calls that are opened, met and liquidated', async () => {
    const { client, receiver } = await begin();
    const portfolios = [];
    for (let i = 0; i < 2; i++) {
      const { portfolioId } = await openPortfolio(client, { initialCash: 10_000, marginType: 'REG_T' });
      await ok(quotes(client, { AAPL: [155, 155] }));
      await ok(client.post('/v1/orders', orderBody(portfolioId, { quantity: 100, limitPrice: 155 })));
      portfolios.push(String(portfolioId));
    }
    await ok(client.post('/v1/simulation/clock/advance', { to: '2026-01-06T10:00:00-05:00' }));
    await ok(quotes(client, { AAPL: [70, 70] }));
    await ok(client.post('/v1/simulation/clock/advance', { by: 'PT2M' }));
    await until(() => dataOf(receiver.events, 'margin-call.opened').length === 2);
    await ok(client.post(`/v1/accounts/portfolios/${portfolios[0] ?? ''}/transfers`, { amount: 5000 }));
    await until(() => dataOf(receiver.events, 'margin-call.met').length === 1);
    for (let day = 7; day < 16; day++) {
      await ok(
        client.post('/v1/simulation/clock/advance', {
          to: `2026-01-${String(day).padStart(2, '0')}T10:00:00-05:00`,
        }),
      );
      await ok(quotes(client, { AAPL: [70, 70] }));
    }
    await until(() => dataOf(receiver.events, 'margin-call.liquidated').length === 1);
    expect(dataOf(receiver.events, 'margin-call.opened')[0]).toMatchObject({
      type: 'MAINTENANCE',
      status: 'OPEN',
    });
    expect(dataOf(receiver.events, 'margin-call.met')).toMatchObject([
      { portfolioId: portfolios[0], status: 'MET' },
    ]);
    expect(dataOf(receiver.events, 'margin-call.liquidated')).toMatchObject([{ portfolioId: portfolios[1] }]);
  });
});

describe('addresses of webhooks', () => {
  const PUBLIC = { address: '93.184.215.14', family: 4 } as const;
  const LOCAL = { address: '127.0.0.1', family: 4 } as const;

  it('a name that resolves to another address after its check is refused at the connection', async () => {
    const receiver = await WebhookReceiver.open();
    const asked: string[] = [];
    const app = await TestApp.open({
      resolve: (hostname) => {
        asked.push(hostname);
        return Promise.resolve(asked.length === 1 ? [PUBLIC] : [LOCAL]);
      },
    });
    opened.push(receiver, app);
    const client = app.as();
    const created = await client.post('/v1/webhooks', { url: `http://rebound.example:${receiver.port}/` });
    expect(created.status).toBe(201);
    const reply = await client.post(`/v1/webhooks/${created.body.webhookId}/test`);
    expect(reply.body.attempts).toMatchObject([
      { error: 'The server sends no events to this address', durationMs: 0 },
    ]);
    expect(asked).toEqual(['rebound.example', 'rebound.example']);
    expect(receiver.events).toEqual([]);
    const now = await client.post('/v1/webhooks', { url: `http://rebound.example:${receiver.port}/` });
    expect(now.body.error).toEqual({ code: 'WEBHOOK_ADDRESS_REFUSED' });
  });

  it('the connection uses the checked address, with the name in Host', async () => {
    const receiver = await WebhookReceiver.open();
    const app = await TestApp.open({
      settings: { WEBHOOK_ALLOW_PRIVATE: 'on' },
      resolve: () => Promise.resolve([LOCAL]),
    });
    opened.push(receiver, app);
    const client = app.as();
    const host = `hooks.example.com:${receiver.port}`;
    const created = await client.post('/v1/webhooks', { url: `http://${host}/in?key=1` });
    const reply = await client.post(`/v1/webhooks/${created.body.webhookId}/test`);
    expect(reply.body.status).toBe('DELIVERED');
    expect(receiver.events[0]?.headers.host).toBe(host);
  });
});

describe('simulations that webhooks follow', () => {
  const config = { feed: 'push', clock: 'wall', calendar: 'always-open' };

  it('are opened at start if a delivery may be due, without a request', async () => {
    const receiver = await WebhookReceiver.open();
    const timers = new ManualTimers();
    const settings = { WEBHOOK_ALLOW_PRIVATE: 'on' };
    const app = await TestApp.open({ settings, webhookTimers: timers });
    const client = app.as();
    const watched = await ok(client.post('/v1/simulations', config));
    await ok(client.post('/v1/simulations', config));
    await ok(client.post('/v1/webhooks', { url: receiver.url, simulationId: watched.simulationId }));
    const next = await app.restart({ settings, webhookTimers: timers });
    opened.push(receiver, next);
    // The main of the tests, and the one that is followed.
    await until(async () => (await next.simulations.directory.figures()).count === 2);
  });

  it('receive an event that was in flight at the stop after another one of its record, without a request', async () => {
    const receiver = await WebhookReceiver.open();
    const timers = new ManualTimers();
    const settings = { WEBHOOK_ALLOW_PRIVATE: 'on' };
    const app = await TestApp.open({ settings, webhookTimers: timers });
    const client = app.as();
    const manual = { feed: 'push', clock: 'manual', start: '2026-01-06T10:00:00-05:00' };
    const created = await ok(client.post('/v1/simulations', manual));
    const fork = await ok(client.post(`/v1/simulations/${created.simulationId}/forks`, {}));
    const cells = [created, fork];
    for (const { simulationId } of cells)
      await ok(client.post('/v1/webhooks', { url: receiver.url, simulationId, events: ['order.*'] }));
    // The order's acceptance and activation are one record; the receiver answers the first event only.
    receiver.respond = ({ type }, response) => {
      if (type === 'order.accepted') response.writeHead(204).end();
    };
    for (const { token } of cells) {
      const inside = app.withToken(token);
      await pushQuote(inside);
      const { portfolioId } = await openPortfolio(inside);
      await placeOrder(inside, portfolioId, { orderType: 'LIMIT', limitPrice: 1 });
    }
    await receiver.received(4);
    const told = receiver.events.filter(({ type }) => type === 'order.active');
    expect(told).toHaveLength(2);
    const next = await app.restart({ settings, webhookTimers: timers });
    opened.push(receiver, next);
    receiver.answer(204);
    await receiver.received(6);
    const again = receiver.events.slice(4);
    expect(again.map(({ data }) => data.id).sort()).toEqual(told.map(({ data }) => data.id).sort());
  });
});
