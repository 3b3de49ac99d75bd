import type { AddressInfo } from 'node:net';
import { validateBody, OrderUpdate, PortfolioUpdate, Quote } from '@sandpit/protocol';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  type Body,
  openPortfolio,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

interface Told {
  readonly id: string;
  readonly event: string;
  readonly data: Body;
}

/** A reader of a stream over a real socket. */
class Reader {
  readonly events: Told[] = [];
  isOver = false;
  readonly #abort = new AbortController();
  readonly #wake = new Set<() => void>();

  static async open(url: string, headers: Record<string, string>): Promise<Reader> {
    const reader = new Reader();
    const response = await fetch(url, { headers, signal: reader.#abort.signal });
    if (response.status !== 200 || response.body === null)
      throw new Error(`${response.status} ${await response.text()}`);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-ratelimit-limit')).not.toBeNull();
    void reader.#read(response.body);
    return reader;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = createParser({
      onEvent: ({ id = '', event = '', data }: EventSourceMessage) => {
        this.events.push({ id, event, data: JSON.parse(data) });
        for (const wake of this.#wake) wake();
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch {
      // The test hung up.
    }
    this.isOver = true;
    for (const wake of this.#wake) wake();
  }

  /** Resolves once the events so far are as wanted. */
  async until(isDone: (events: readonly Told[]) => boolean): Promise<readonly Told[]> {
    while (!isDone(this.events)) {
      if (this.isOver) throw new Error(`the stream ended after ${JSON.stringify(this.events)}`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#wake.delete(wake);
          resolve();
        };
        this.#wake.add(wake);
      });
    }
    return this.events;
  }

  async ended(): Promise<readonly Told[]> {
    while (!this.isOver) {
      await new Promise<void>((resolve) => {
        this.#wake.add(resolve);
      });
    }
    return this.events;
  }

  close(): void {
    this.#abort.abort();
  }
}

let test: TestApp;
let client: TestClient;
let portfolioId: string;
let base: string;
const readers: Reader[] = [];

async function start(settings: Record<string, string> = {}): Promise<void> {
  test = await TestApp.open({ settings });
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client)) as { portfolioId: string });
  await pushQuote(client);
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`;
}

beforeEach(() => start());
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await test.close();
});

async function follow(
  path: string,
  headers: Record<string, string> = {},
  token: string | null | undefined = client.token,
): Promise<Reader> {
  const reader = await Reader.open(`${base}${path}`, {
    ...(typeof token === 'string' && { authorization: `Bearer ${token}` }),
    ...headers,
  });
  readers.push(reader);
  return reader;
}

const transitions = (events: readonly Told[]): string[] => events.map(({ data }) => data.event as string);

describe('the order stream', () => {
  it.each(['/v1/stream/orders', '/v1/orders/stream'])('sends each step of an order: %s', async (path) => {
    const reader = await follow(path);
    const { orderId } = await placeOrder(client, portfolioId);
    const events = await reader.until((told) => told.length === 4);
    expect(transitions(events)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'FILLED']);
    for (const { data, event, id } of events) {
      expect(event).toBe('order-update');
      expect(id).toMatch(/^\d+-\d+$/);
      expect(data.orderId).toBe(orderId);
      expect(validateBody(OrderUpdate, data)).toMatchObject({ ok: true });
    }
    expect(events[3]?.data).toMatchObject({
      status: 'FILLED',
      filledQuantity: 10,
      averagePrice: 100,
      execution: { price: 100, quantity: 10 },
    });
    expect(events[0]?.data).not.toHaveProperty('execution');
  });

  it('updateOrder: the open leader of a pair sends an update with the new price of its stop (D215)', async () => {
    await placeOrder(client, portfolioId);
    const { orderId } = await placeOrder(client, portfolioId, {
      positionIntent: 'SELL_TO_CLOSE',
      limitPrice: 110,
      ocoConfig: { stopLoss: { orderType: 'STOP', stopPrice: 90 } },
    });
    const { body: open } = await client.get(`/v1/orders/portfolio/${portfolioId}?status=ACTIVE`);
    const [stop] = open.data;
    await client.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    const reader = await follow('/v1/stream/orders');
    await client.put(`/v1/orders/${stop.orderId}`, { stopPrice: 92 });
    const events = await reader.until((told) => told.length === 2);
    expect(events.map(({ data }) => [data.orderId, data.event])).toEqual([
      [stop.orderId, 'UPDATED'],
      [orderId, 'UPDATED'],
    ]);
    const { body: shown } = await client.get(`/v1/orders/${String(orderId)}`);
    expect(shown).toMatchObject({ ocoConfig: { stopLoss: { stopPrice: 92 } } });
    const { event: _, ...told } = events[1]?.data ?? {};
    expect(shown).toMatchObject(told);
    expect(shown.updatedAt > shown.createdAt).toBe(true);
  });

  it('resumes after any event, without gap or duplicate, while more happens', async () => {
    for (let i = 0; i < 3; i++) await placeOrder(client, portfolioId);
    const whole = await follow('/v1/stream/orders', { 'last-event-id': '0-0' });
    const all = [...(await whole.until((told) => told.length === 12))];
    const ids = all.map(({ id }) => id);
    for (const [i, id] of ids.entries()) {
      const reader = await follow('/v1/stream/orders', { 'last-event-id': id });
      if (i % 4 === 0) await placeOrder(client, portfolioId, { limitPrice: 90 });
      const grown = await whole.until((told) => told.length >= 12 + 3 * (Math.floor(i / 4) + 1));
      const rest = await reader.until((told) => told.length >= grown.length - i - 1);
      expect(rest).toEqual(grown.slice(i + 1));
    }
  });

  it('sends an order as of each event, to open and to resumed connections', async () => {
    await pushQuote(client, { ask: 101 });
    const live = await follow('/v1/stream/orders');
    const { orderId } = await placeOrder(client, portfolioId);
    await client.put(`/v1/orders/${orderId as string}`, { quantity: 8 });
    for (const askSize of [3, 5]) await pushQuote(client, { ask: 100, askSize });
    const all = [...(await live.until((told) => told.length === 6))];
    expect(all.map(({ data }) => [data.event, data.status, data.quantity, data.filledQuantity])).toEqual([
      ['PENDING', 'PENDING', 10, 0],
      ['RESERVING', 'RESERVING', 10, 0],
      ['ACTIVE', 'ACTIVE', 10, 0],
      ['UPDATED', 'ACTIVE', 8, 0],
      ['PARTIALLY_FILLED', 'ACTIVE', 8, 3],
      ['FILLED', 'FILLED', 8, 8],
    ]);
    for (const [i, { id }] of all.entries()) {
      const reader = await follow('/v1/stream/orders', { 'last-event-id': id });
      expect(await reader.until((told) => told.length === all.length - i - 1)).toEqual(all.slice(i + 1));
    }
  });

  it('reads and serializes past events once for all readers of the same range', async () => {
    for (let i = 0; i < 60; i++) await placeOrder(client, portfolioId, { quantity: 1 });
    const { history } = test.store;
    const read = history.streamEvents.bind(history);
    let reads = 0;
    history.streamEvents = (...args) => {
      reads += 1;
      return read(...args);
    };
    const resumed = await Promise.all(
      Array.from({ length: 20 }, () => follow('/v1/stream/orders', { 'last-event-id': '0-0' })),
    );
    const [first, ...others] = await Promise.all(
      resumed.map(async (reader) => [...(await reader.until((told) => told.length === 240))]),
    );
    for (const events of others) expect(events).toEqual(first);
    // Full pages are read once; the remainder, and the fact that there is no more, by each stream.
    expect(reads).toBeLessThan(20 * 3);
  });

  it('sends each reader of a shared page its own selection', async () => {
    const other = await openPortfolio(client, { accountId: '22222222-2222-4222-8222-222222222222' });
    for (let i = 0; i < 30; i++) {
      await placeOrder(client, portfolioId, { quantity: 1 });
      await placeOrder(client, other.portfolioId as string, { quantity: 1 });
    }
    const all = await follow('/v1/stream/orders', { 'last-event-id': '0-0' });
    const events = await all.until((told) => told.length === 240);
    for (const id of [portfolioId, other.portfolioId as string]) {
      const reader = await follow(`/v1/stream/orders?portfolioId=${id}`, { 'last-event-id': '0-0' });
      const own = await reader.until((told) => told.length === 120);
      expect(own).toEqual(events.filter(({ data }) => data.portfolioId === id));
    }
  });

  it('resumes by the query parameter lastEventId; the header takes precedence', async () => {
    await placeOrder(client, portfolioId);
    const whole = await follow('/v1/stream/orders?lastEventId=0-0');
    const told = await whole.until((events) => events.length === 4);
    const newer = await follow('/v1/stream/orders?lastEventId=0-0', { 'last-event-id': told[2]?.id ?? '' });
    expect(await newer.until((events) => events.length === 1)).toEqual(told.slice(3));
  });

  it.each(['nonsense', '999999-0', '-1'])('starts over when it cannot resume: %s', async (id) => {
    const reader = await follow('/v1/stream/orders', { 'last-event-id': id });
    const [reset] = await reader.until((told) => told.length === 1);
    expect(reset).toMatchObject({ event: 'reset', id: expect.stringMatching(/^\d+-\d+$/) as string });
    await placeOrder(client, portfolioId);
    const events = await reader.until((told) => told.length === 5);
    expect(transitions(events.slice(1))[0]).toBe('PENDING');
    // The events after the reset can be read again from it.
    const again = await follow('/v1/stream/orders', { 'last-event-id': reset?.id ?? '' });
    expect(await again.until((told) => told.length === 4)).toEqual(events.slice(1));
  });

  it('sends only the selected orders', async () => {
    const other = await openPortfolio(client, {
      accountId: '22222222-2222-4222-8222-222222222222',
    });
    const mine = await follow(`/v1/stream/orders?portfolioId=${portfolioId}`);
    const account = await follow(`/v1/stream/orders?accountId=${other.accountId as string}`);
    const stranger = await follow('/v1/stream/orders', {}, test.token({ tenantId: 'other' }));
    await placeOrder(client, portfolioId);
    await placeOrder(client, other.portfolioId as string);
    const told = await mine.until((events) => events.length === 4);
    expect(new Set(told.map(({ data }) => data.portfolioId as string))).toEqual(new Set([portfolioId]));
    const others = await account.until((events) => events.length === 4);
    expect(new Set(others.map(({ data }) => data.portfolioId as string))).toEqual(
      new Set([other.portfolioId]),
    );
    expect(stranger.events).toEqual([]);
  });

  it('sends the level of a trailing stop once a second, with the id of the previous event, and never again (D215)', async () => {
    const reader = await follow('/v1/stream/orders');
    await placeOrder(client, portfolioId, {
      orderType: 'TRAILING_STOP',
      limitPrice: undefined,
      trailingAmount: 1,
      timeInForce: 'GTC',
    });
    await pushQuote(client, { bid: 98, ask: 98.1, last: 98 });
    await pushQuote(client, { bid: 97.5, ask: 97.6, last: 97.5 });
    test.time.nowMs += 1000;
    await pushQuote(client, { bid: 97, ask: 97.1, last: 97 });
    await pushQuote(client, { bid: 99.5, ask: 99.6, last: 99.5 });
    const events = await reader.until((told) => transitions(told).includes('FILLED'));
    const lasting = ['PENDING', 'RESERVING', 'ACTIVE', 'TRIGGERED', 'FILLED'];
    expect(transitions(events)).toEqual([...lasting.slice(0, 3), 'TRAILED', 'TRAILED', ...lasting.slice(3)]);
    const [, , active, first, second] = events;
    expect(validateBody(OrderUpdate, first?.data)).toMatchObject({ ok: true });
    expect([first?.data.stopPrice, second?.data.stopPrice]).toEqual([99, 98]);
    expect([first?.id, second?.id]).toEqual([active?.id, active?.id]);
    expect(first?.data.updatedAt).toBe(active?.data.updatedAt);
    const later = await follow('/v1/stream/orders', { 'last-event-id': events[0]?.id ?? '' });
    const missed = await later.until((told) => transitions(told).includes('FILLED'));
    expect(transitions(missed)).toEqual(lasting.slice(1));
  });

  it('sends the latest price of a trailing stop that moves twice within a second, a second later (D215)', async () => {
    const reader = await follow('/v1/stream/orders');
    await placeOrder(client, portfolioId, {
      orderType: 'TRAILING_STOP',
      limitPrice: undefined,
      trailingAmount: 1,
      timeInForce: 'GTC',
    });
    await pushQuote(client, { bid: 98, ask: 98.1, last: 98 });
    await pushQuote(client, { bid: 97.5, ask: 97.6, last: 97.5 });
    test.time.nowMs += 1000;
    const events = await reader.until(
      (told) => transitions(told).filter((one) => one === 'TRAILED').length === 2,
    );
    expect(events.at(-1)?.data.stopPrice).toBe(98.5);
  });

  it('sends an open order whose reserved amounts a margin upgrade changes (D215)', async () => {
    const cash = (await openPortfolio(client, { portfolioType: 'CASH' })) as { portfolioId: string };
    await placeOrder(client, cash.portfolioId, { limitPrice: 90, timeInForce: 'GTC' });
    const reader = await follow(`/v1/stream/orders?portfolioId=${cash.portfolioId}`);
    await client.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    const upgraded = await client.put(`/v1/accounts/portfolios/${cash.portfolioId}/margin-upgrade`, {
      marginType: 'REG_T',
    });
    expect(upgraded.status).toBe(200);
    const [update] = await reader.until((told) => told.length === 1);
    expect(update?.data).toMatchObject({ event: 'UPDATED', updatedAt: '2026-01-05T15:01:00.000Z' });
  });
});

describe('the portfolio stream', () => {
  it.each(['/v1/stream/portfolios', '/v1/stream/portfolio'])(
    'begins with a snapshot and continues with changes: %s',
    async (path) => {
      const reader = await follow(`${path}?portfolioId=${portfolioId}`);
      const [first] = await reader.until((told) => told.length === 1);
      expect(first?.event).toBe('portfolio-update');
      expect(validateBody(PortfolioUpdate, first?.data)).toMatchObject({ ok: true });
      await placeOrder(client, portfolioId);
      test.time.nowMs += 1000;
      const [, second] = await reader.until((told) => told.length === 2);
      expect(second?.data.equities).toMatchObject([{ symbol: 'AAPL', pendingQuantity: 10, price: 100 }]);
      test.time.nowMs += 1000;
      await pushQuote(client, { bid: 110, ask: 110.1, last: 110 });
      const [, , third] = await reader.until((told) => told.length === 3);
      expect(third?.data).toMatchObject({ longMarketValue: 1100, totalEquity: 100100 });
      expect(new Set(reader.events.map(({ id }) => id)).size).toBe(3);
    },
  );

  it('sends all portfolios of an account, including later ones', async () => {
    const reader = await follow(`/v1/stream/portfolios?accountId=${ACCOUNT}`);
    await reader.until((told) => told.length === 1);
    const more = (await openPortfolio(client)) as { portfolioId: string };
    const events = await reader.until((told) => told.length === 2);
    expect(events[1]?.data.portfolioId).toBe(more.portfolioId);
  });

  it('sends the closing of a portfolio, and the closed portfolio to later readers (D142)', async () => {
    const reader = await follow(`/v1/stream/portfolios?portfolioId=${portfolioId}`);
    const [open] = await reader.until((told) => told.length === 1);
    expect(open?.data).not.toHaveProperty('status');
    await client.delete(`/v1/accounts/portfolios/${portfolioId}`);
    test.time.nowMs += 1000;
    const [, closed] = await reader.until((told) => told.length === 2);
    expect(open?.data).toMatchObject({ settledCash: 100_000, totalEquity: 100_000 });
    const paidOut = { status: 'CLOSED', settledCash: 0, totalEquity: 0, smaBalance: 0 };
    const without = { overnightBuyingPower: 0, dayTradeBuyingPower: 0 };
    expect(closed?.data).toEqual({ ...open?.data, ...paidOut, ...without });
    const later = await follow(`/v1/stream/portfolios?portfolioId=${portfolioId}`);
    const [seen] = await later.until((told) => told.length === 1);
    expect(seen?.data).toEqual(closed?.data);
  });

  it('ends with its account (D143)', async () => {
    const reader = await follow(`/v1/stream/portfolios?accountId=${ACCOUNT}`);
    await reader.until((told) => told.length === 1);
    await client.delete(`/v1/accounts/portfolios/${portfolioId}`);
    await client.delete(`/v1/accounts/${ACCOUNT}`);
    test.time.nowMs += 1000;
    const [, closed, end] = await reader.ended();
    expect(closed?.data).toMatchObject({ portfolioId, status: 'CLOSED' });
    expect(end).toMatchObject({ event: 'error', data: { statusCode: 404, message: 'Account not found' } });
  });

  it('sends several portfolios by id on one connection, and none if one of them is unknown', async () => {
    const { portfolioId: other } = (await openPortfolio(client)) as { portfolioId: string };
    const reader = await follow(`/v1/stream/portfolios?portfolioIds=${portfolioId},${other.toUpperCase()}`);
    const both = await reader.until((told) => told.length === 2);
    expect(new Set(both.map(({ data }) => data.portfolioId))).toEqual(new Set([portfolioId, other]));
    await client.delete(`/v1/accounts/portfolios/${other}`);
    test.time.nowMs += 1000;
    const [, , closed] = await reader.until((told) => told.length === 3);
    expect(closed?.data).toMatchObject({ portfolioId: other, status: 'CLOSED' });
    const unknown = '0192f0c0-11aa-7a01-b2c3-5d6e7f809102';
    const { status } = await client.get(`/v1/stream/portfolios?portfolioIds=${portfolioId},${unknown}`);
    expect(status).toBe(404);
  });

  it('requires one portfolio or account', async () => {
    expect((await client.get('/v1/stream/portfolios')).status).toBe(400);
    expect(
      (await client.get(`/v1/stream/portfolios?portfolioId=${portfolioId}&accountId=${ACCOUNT}`)).status,
    ).toBe(400);
  });
});

describe('every stream', () => {
  it('sends heartbeats', async () => {
    await test.close();
    await start({ STREAM_HEARTBEAT_MS: '10' });
    const reader = await follow('/v1/stream/orders');
    const [beat] = await reader.until((told) => told.length === 1);
    expect(beat).toMatchObject({
      event: 'heartbeat',
      data: { timestamp: new Date(test.time.nowMs).toISOString() },
    });
    expect(beat?.id).toMatch(/^\d+-\d+$/);
  });

  it('opens by a ticket, and never by a bearer in the address', async () => {
    const { body } = await client.post('/v1/stream/ticket');
    expect(body).toMatchObject({ expiresIn: 30 });
    const path = `/v1/stream/orders?ticket=${body.ticket as string}`;
    const reader = await follow(path, {}, null);
    const stranger = test.withToken(undefined);
    expect((await stranger.get(`/v1/stream/orders?ticket=${client.token ?? ''}`)).status).toBe(401);
    expect((await stranger.get('/v1/accounts?ticket=x')).status).toBe(401);
    await placeOrder(client, portfolioId);
    await reader.until((told) => told.length === 4);
    const late = await client.post('/v1/stream/ticket');
    test.time.nowMs += 30_000;
    expect((await stranger.get(`/v1/stream/orders?ticket=${late.body.ticket as string}`)).status).toBe(401);
  });

  it('opens again by its ticket, for a minute after it ended, with the same query only (D145, D163)', async () => {
    const ticket = ((await client.post('/v1/stream/ticket')).body as { ticket: string }).ticket;
    const path = `/v1/stream/orders?portfolioId=${portfolioId}&ticket=${ticket}`;
    const stranger = test.withToken(undefined);
    const first = await follow(path, {}, null);
    test.time.nowMs += 120_000;
    const second = await follow(path, {}, null);
    expect(await first.ended()).toMatchObject([{ event: 'error', data: { statusCode: 409 } }]);
    expect((await stranger.get(`/v1/stream/orders?ticket=${ticket}`)).status).toBe(401);
    expect(
      (await stranger.get(`/v1/stream/portfolios?portfolioId=${portfolioId}&ticket=${ticket}`)).status,
    ).toBe(401);
    await placeOrder(client, portfolioId);
    const [{ id } = { id: '' }] = await second.until((told) => told.length === 4);
    second.close();
    await second.ended();
    test.time.nowMs += 59_000;
    // A browser reconnects from its last event.
    const third = await follow(path, { 'last-event-id': id }, null);
    expect(transitions(await third.until((told) => told.length === 3))).toEqual([
      'RESERVING',
      'ACTIVE',
      'FILLED',
    ]);
    third.close();
  });

  it('ends with the token that opened it', async () => {
    const reader = await follow('/v1/stream/orders', {}, test.token({ notAfterMs: test.time.nowMs + 1500 }));
    test.time.nowMs += 2000;
    const events = await reader.ended();
    expect(events).toMatchObject([{ event: 'error', data: { statusCode: 401, message: 'Unauthorized' } }]);
  });

  it('ends with its simulation', async () => {
    const { body } = await client.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const reader = await follow('/v1/stream/orders', {}, body.token as string);
    await client.delete(`/v1/simulations/${body.simulationId as string}`);
    expect(await reader.ended()).toMatchObject([{ event: 'error', data: { statusCode: 404 } }]);
  });

  it('is limited to 100 at a time for a BASIC tenant, which affects no other tenant', async () => {
    const basic = test.token({ tenantId: 'basic', tier: 'BASIC' });
    const first = await follow('/v1/stream/orders', {}, basic);
    await Promise.all(Array.from({ length: 99 }, () => follow('/v1/stream/orders', {}, basic)));
    await expect(follow('/v1/stream/orders', {}, basic)).rejects.toThrow(/^429 /);
    await follow('/v1/stream/orders');
    first.close();
    // The server notices the end of a connection a moment later.
    await expect.poll(() => follow('/v1/stream/orders', {}, basic).then(() => 'open', String)).toBe('open');
  });

  it('ends when the server stops', async () => {
    const reader = await follow('/v1/stream/orders');
    await Promise.all([test.app.close(), reader.ended()]);
    expect(reader.events).toMatchObject([{ event: 'error', data: { statusCode: 503 } }]);
  });
});

describe('the stream of quotes (D150, D166)', () => {
  it('sends the quotes in force, then changes, under their own symbols', async () => {
    await pushQuote(client, { symbol: 'MSFT', bid: 50, ask: 50.1, last: 50 });
    const reader = await follow('/v1/stream/quotes?symbols=aapl,MSFT,NEW');
    const first = await reader.until((told) => told.length === 2);
    expect(first.map(({ event, data }) => [event, data.symbol, data.ask])).toEqual([
      ['quote', 'AAPL', 100],
      ['quote', 'MSFT', 50.1],
    ]);
    for (const { data } of first) expect(validateBody(Quote, data)).toMatchObject({ ok: true });
    await pushQuote(client, { ask: 100.02 });
    const { body: single } = await client.get('/v1/market-data/quote/AAPL');
    const more = await reader.until((told) => told.length === 3);
    expect(more[2]?.data).toEqual(single);
    await pushQuote(client, { symbol: 'NEW', bid: 7, ask: 7.5, last: 7 });
    expect((await reader.until((told) => told.length === 4))[3]?.data).toMatchObject({ symbol: 'NEW' });
  });

  it('sends an alert on a symbol of the stream when it fires, and none that fired before', async () => {
    await pushQuote(client, { bid: 99.9, ask: 100.1, last: 100 });
    await pushQuote(client, { symbol: 'MSFT', bid: 400, ask: 401, last: 400 });
    const set = async (symbol: string, price: number): Promise<unknown> =>
      (await client.post('/v1/alerts', { symbol, condition: 'ABOVE', price })).body.alertId;
    await set('AAPL', 99);
    const waiting = await set('AAPL', 101);
    await set('MSFT', 402);
    const reader = await follow('/v1/stream/quotes?symbols=AAPL');
    await reader.until((told) => told.length === 1);
    await pushQuote(client, { symbol: 'MSFT', bid: 403, ask: 404, last: 403 });
    await pushQuote(client, { bid: 101.4, ask: 101.6, last: 101.5 });
    const told = await reader.until((events) => events.length === 3);
    expect(told.slice(1)).toMatchObject([
      { event: 'alert', data: { alertId: waiting, status: 'FIRED', firedPrice: 101.5 } },
      { event: 'quote' },
    ]);
  });

  it('sends a halt and its end, of the whole market as well', async () => {
    const reader = await follow('/v1/stream/quotes?symbols=AAPL');
    await reader.until((told) => told.length === 1);
    await client.post('/v1/simulation/halts', { symbol: '*', reason: 'MWC1' });
    const halted = await reader.until((told) => told.length === 3);
    expect(halted.slice(1).map(({ event, data }) => [event, data.symbol])).toEqual([
      ['halt', 'AAPL'],
      ['quote', 'AAPL'],
    ]);
    expect(halted[1]?.data).toMatchObject({ reason: 'MWC1', until: expect.any(String) as string });
    expect(halted[2]?.data).toMatchObject({ halted: true, haltReason: 'MWC1' });
    await client.delete('/v1/simulation/halts/*');
    const resumed = await reader.until((told) => told.length === 5);
    expect(resumed[3]).toMatchObject({ event: 'resume', data: { symbol: 'AAPL' } });
    expect(resumed[4]?.data).not.toHaveProperty('halted');
  });

  it('sends at most ten quotes per second and symbol, always the latest', async () => {
    const reader = await follow('/v1/stream/quotes?symbols=AAPL');
    await reader.until((told) => told.length === 1);
    const began = performance.now();
    for (let cents = 1; cents <= 60; cents += 1) await pushQuote(client, { ask: 100 + cents / 100 });
    await reader.until((told) => told.at(-1)?.data.ask === 100.6);
    const seconds = (performance.now() - began) / 1000;
    expect(reader.events.length).toBeLessThanOrEqual(2 + Math.ceil(seconds * 10));
  });

  it('accepts 1 to 100 symbols', async () => {
    const many = Array.from({ length: 101 }, (_, i) => `S${i}`).join(',');
    for (const query of ['', '?symbols=', `?symbols=${many}`, '?symbols=A,,B']) {
      const reply = await client.get(`/v1/stream/quotes${query}`);
      expect([query, reply.status, reply.body.message[0]]).toEqual([
        query,
        400,
        'symbols must be 1 to 100 symbols, separated by commas',
      ]);
    }
  });
});
