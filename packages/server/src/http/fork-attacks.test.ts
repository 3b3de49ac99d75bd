/** Forks among everything else that a simulation can be in the middle of (D172 with D171, D174 to D180 and D191), and killed servers. */
import type { AddressInfo } from 'node:net';
import { stateHash as hashOf } from '@sandpit/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyJournal } from '../engine/recovery/verify.js';
import { credentialsIn, inDirectory, ServerProcess } from '../testing/server-process.js';
import {
  type Body,
  openPortfolio,
  orderBody,
  placeOrder,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';
import { until, WebhookReceiver } from '../testing/webhook-receiver.js';

const CALL = 'AAPL260116C00150000';

let test: TestApp;
let owner: TestClient;

interface Simulated {
  readonly id: string;
  readonly client: TestClient;
}

async function ok(reply: Promise<{ status: number; text: string; body: Body }>): Promise<Body> {
  const { status, text, body } = await reply;
  expect(status, text).toBeLessThan(300);
  return body;
}

const simulatedOf = ({ simulationId, token }: Body): Simulated => ({
  id: simulationId as string,
  client: test.withToken(token as string),
});
const made = async (body: object): Promise<Simulated> =>
  simulatedOf(await ok(owner.post('/v1/simulations', body)));
const forked = async (of: string, body: object = {}): Promise<Simulated> =>
  simulatedOf(await ok(owner.post(`/v1/simulations/${of}/forks`, body)));

const quotes = (
  client: TestClient,
  prices: Readonly<Record<string, readonly [number, number]>>,
): Promise<Body> =>
  ok(
    client.put('/v1/simulation/quotes', {
      quotes: Object.entries(prices).map(([symbol, [bid, ask]]) => ({ symbol, bid, ask, last: bid })),
    }),
  );
const advance = (client: TestClient, advanced: object): Promise<Body> =>
  ok(client.post('/v1/simulation/clock/advance', advanced));

const stateHash = async ({ id }: Simulated): Promise<string> => {
  const simulation = await test.simulations.directory.find(id, 'tenant-1');
  if (simulation === undefined) throw new Error('no simulation');
  return hashOf(simulation.brokerage.state);
};

describe('forks', () => {
  beforeEach(async () => {
    test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000', WEBHOOK_ALLOW_PRIVATE: 'on' } });
    owner = test.as({ tier: 'ENTERPRISE' });
  });
  afterEach(() => test.close());

  it('forks with the requests of their parent end in the same state: halts, splits, price bands, outcomes, auctions, expiration', async () => {
    const parent = await made({
      ...{ feed: 'push', clock: 'manual', calendar: 'XNYS', luld: true, seed: 5 },
      start: '2026-01-14T20:59:00Z',
    });
    const { client } = parent;
    const { portfolioId } = (await openPortfolio(client, { initialCash: 200_000 })) as {
      portfolioId: string;
    };
    const place = (of: TestClient, more: object): Promise<Body> =>
      ok(of.post('/v1/orders', orderBody(portfolioId, more)));
    const market = { orderType: 'MARKET', limitPrice: undefined };
    await ok(
      client.put('/v1/simulation/instruments', {
        instruments: [{ assetClass: 'EQUITY', symbol: 'TEST', luldTier: 1 }],
      }),
    );
    await quotes(client, {
      AAPL: [155, 155.02],
      MSFT: [400, 400.1],
      TEST: [99.99, 100.01],
      [CALL]: [5, 5.1],
    });
    await place(client, { ...market, symbol: CALL, assetClass: 'OPTION', quantity: 2 });
    await place(client, { ...market, symbol: 'MSFT', quantity: 5 });
    await place(client, { symbol: 'MSFT', limitPrice: 380, quantity: 3, timeInForce: 'GTC' });
    await ok(
      client.post('/v1/simulation/corporate-actions', {
        actions: [{ type: 'SPLIT', symbol: 'MSFT', exDate: '2026-01-16', ratio: { new: 4, old: 1 } }],
      }),
    );
    await advance(client, { to: '2026-01-15T15:00:00Z' });
    await quotes(client, { AAPL: [155, 155.02], TEST: [99.99, 100.01] });
    await ok(client.post('/v1/simulation/halts', { symbol: 'MSFT', reason: 'T1' }));
    await ok(
      client.post('/v1/simulation/outcomes', {
        match: { symbol: 'AAPL', clientOrderId: 'held*' },
        times: 2,
        outcome: { hold: { for: 'PT1H' } },
      }),
    );
    await place(client, { ...market, clientOrderId: 'held-1' });
    await place(client, { ...market, clientOrderId: '~fill:30%@1s,70%@5m', quantity: 10 });
    await place(client, { ...market, timeInForce: 'CLS', quantity: 4 });
    await advance(client, { by: 'PT1S' });
    // In the limit state: 15 seconds later trading pauses.
    await quotes(client, { TEST: [104.5, 107] });
    await place(client, { ...market, symbol: 'TEST', quantity: 1 });

    const during = async ({ client: of }: Simulated): Promise<void> => {
      await quotes(of, { TEST: [105, 107] });
      await advance(of, { by: 'PT20S' });
      expect((await ok(of.get('/v1/simulation/halts'))).data).toHaveLength(2);
      await place(of, { ...market, clientOrderId: 'held-2', quantity: 2 });
      await place(of, { ...market, clientOrderId: 'held-3', quantity: 3 });
    };
    const after = async ({ client: of }: Simulated): Promise<void> => {
      await advance(of, { to: '2026-01-15T20:59:00Z' });
      await quotes(of, { AAPL: [156, 156.02], TEST: [101, 101.02] });
      await advance(of, { to: '2026-01-16T15:00:00Z' });
      await ok(of.delete('/v1/simulation/halts/MSFT'));
      await quotes(of, { MSFT: [94.8, 94.9], AAPL: [160, 160.02], [CALL]: [10, 10.1] });
      await advance(of, { to: '2026-01-20T15:00:00Z' });
    };

    const fork = await forked(parent.id);
    expect(await ok(fork.client.get('/v1/simulation/outcomes'))).toMatchObject({ data: [{ used: 1 }] });
    await during(parent);
    await during(fork);
    const grandchild = await forked(fork.id);
    await after(parent);
    const expected = await stateHash(parent);
    const orders = await ok(client.get('/v1/orders?limit=100'));
    // The ancestors are no longer needed.
    for (const { id } of [fork, parent]) await ok(owner.delete(`/v1/simulations/${id}`));
    await after(grandchild);
    expect((await ok(grandchild.client.get('/v1/orders?limit=100'))).data).toEqual(orders.data);
    const states = (orders.data as Body[]).map(({ symbol, status }) => [symbol, status]);
    expect(states).toEqual(
      expect.arrayContaining([
        ['MSFT', 'FILLED'],
        ['TEST', 'FILLED'],
      ]),
    );
    const held = await ok(grandchild.client.get(`/v1/accounts/portfolios/${portfolioId}/equities`));
    // 20 shares after the split, 12 of the order that it adjusted, and 200 of the exercised calls.
    expect(held).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ symbol: 'MSFT', settledQuantity: 32 })]) as object,
    );
    expect(await stateHash(grandchild)).toBe(expected);
    expect((await verifyJournal(test.store, grandchild.id)).problems).toEqual([]);
  });

  it('are told to webhooks of all simulations under their own id, and inherit neither faults nor deliveries', async () => {
    const receiver = await WebhookReceiver.open();
    try {
      const parent = await made({ feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z' });
      await quotes(parent.client, { AAPL: [99.9, 100] });
      const { portfolioId } = (await openPortfolio(parent.client)) as { portfolioId: string };
      await ok(
        owner.post('/v1/webhooks', { url: receiver.url, simulationId: '*', events: ['order.filled'] }),
      );
      const filled = await placeOrder(parent.client, portfolioId);
      await until(() => receiver.events.length === 1);
      await ok(parent.client.post('/v1/simulation/faults', { match: {}, fault: { status: 503 }, times: 0 }));
      expect((await parent.client.get(`/v1/orders/${String(filled.orderId)}`)).status).toBe(503);
      const fork = await forked(parent.id);
      expect((await ok(fork.client.get('/v1/simulation/faults'))).data).toEqual([]);
      const own = await placeOrder(fork.client, portfolioId, { quantity: 2 });
      await until(() => receiver.events.length === 2);
      expect(receiver.events.map(({ data }) => data)).toMatchObject([
        { simulationId: parent.id, orderId: filled.orderId },
        { simulationId: fork.id, orderId: own.orderId },
      ]);
      // The parent is purged; the fork has everything, in a file too.
      await ok(owner.delete(`/v1/simulations/${parent.id}`));
      const file = await test.app.inject({
        method: 'GET',
        url: `/v1/simulations/${fork.id}/export`,
        headers: { authorization: `Bearer ${owner.token ?? ''}` },
      });
      expect(file.statusCode).toBe(200);
      const sent = await owner.inject({
        method: 'POST',
        url: '/v1/simulations/import',
        headers: { 'content-type': 'application/x-ndjson' },
        payload: file.body,
      });
      expect(sent.status, sent.text).toBe(202);
      const copy = simulatedOf(sent.body);
      await expect
        .poll(async () => (await owner.get(`/v1/simulations/${copy.id}`)).body.status as string)
        .toBe('READY');
      expect((await ok(copy.client.get('/v1/orders'))).data).toEqual(
        (await ok(fork.client.get('/v1/orders'))).data,
      );
    } finally {
      await receiver.close();
    }
  });

  it('resume streams from ids of their parent up to the point, on manual and scaled clocks and from main', async () => {
    await test.app.listen({ port: 0, host: '127.0.0.1' });
    const base = `http://127.0.0.1:${(test.app.server.address() as AddressInfo).port}`;
    /** The first events of a stream of orders. */
    const read = async ({ token }: TestClient, from: string, count: number): Promise<readonly string[]> => {
      const ending = new AbortController();
      const { body } = await fetch(`${base}/v1/stream/orders?lastEventId=${from}`, {
        headers: { authorization: `Bearer ${token ?? ''}` },
        signal: ending.signal,
      });
      let text = '';
      const decoder = new TextDecoder();
      const events = (): string[] => text.split('\n\n').filter((one) => one.includes('id: '));
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk, { stream: true });
        if (text.endsWith('\n\n') && events().length >= count) break;
      }
      ending.abort();
      return events();
    };
    const idOf = (event = ''): string => /^id: (.*)$/m.exec(event)?.[1] ?? '';
    for (const clock of ['manual', 'scaled', 'main'] as const) {
      const parent =
        clock === 'main'
          ? { id: 'main', client: owner }
          : await made({
              feed: 'push',
              clock,
              ...(clock === 'scaled' && { speed: 1 }),
              calendar: 'always-open',
            });
      await quotes(parent.client, { AAPL: [99.9, 100] });
      const { portfolioId } = (await openPortfolio(parent.client)) as { portfolioId: string };
      await placeOrder(parent.client, portfolioId);
      const before = await read(parent.client, '0-0', 2);
      const fork = await forked(parent.id, clock === 'scaled' ? { clock, speed: 2 } : {});
      await placeOrder(parent.client, portfolioId, { quantity: 2 });
      await placeOrder(fork.client, portfolioId, { quantity: 3 });
      const [first] = before;
      const ofParent = await read(parent.client, idOf(first), 3);
      const ofFork = await read(fork.client, idOf(first), 3);
      expect([clock, ofFork[0]]).toEqual([clock, before[1]]);
      expect(idOf(ofFork.at(-1))).toMatch(new RegExp(fork.id.slice(0, 8)));
      expect(ofFork.at(-1)).toContain('"quantity":3');
      for (const [one, foreign] of [
        [fork, ofParent],
        [parent, ofFork],
      ] as const)
        expect((await read(one.client, idOf(foreign.at(-1)), 1))[0]).toContain('event: reset');
    }
  });
});

/** Work of the server at which it is killed. */
const MOMENTS = ['a deletion', 'a step'] as const;

it('a server that is killed while a parent is deleted or a step runs keeps forks and acknowledged steps whole', async () => {
  await inDirectory(async (directory) => {
    const environment = { DATA_DIR: directory, MARKET_FEED: 'push', RATE_LIMIT_DEFAULT: '1000000' };
    let server = ServerProcess.launch(environment);
    let baseUrl = await server.listening;
    const { token } = credentialsIn(directory);
    const send = async (method: string, path: string, body?: object, of = token): Promise<Body> => {
      const response = await fetch(`${baseUrl}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${of}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return response.json() as Promise<Body>;
    };
    const parent = await send('POST', '/simulations', {
      ...{ feed: 'push', clock: 'manual', calendar: 'always-open', start: '2026-01-05T15:00:00Z' },
    });
    const own = parent.token as string;
    const { portfolioId } = await send(
      'POST',
      '/accounts/portfolios',
      {
        accountId: '11111111-1111-4111-8111-111111111111',
        portfolioType: 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
        initialCash: 10_000_000,
      },
      own,
    );
    const order = orderBody(portfolioId as string, {
      orderType: 'MARKET',
      limitPrice: undefined,
      quantity: 1,
    });
    const step = {
      orders: [order, order],
      quotes: [{ symbol: 'AAPL', bid: 99, ask: 100 }],
      advance: { by: 'PT1M' },
    };
    for (let i = 0; i < 50; i += 1) await send('POST', '/simulation/step', step, own);
    const fork = await send('POST', `/simulations/${parent.simulationId as string}/forks`, {});
    const child = await send('POST', `/simulations/${fork.simulationId as string}/forks`, {});
    const sims = [fork, child].map(({ token: one }) => one as string);
    const count = async (of: string): Promise<number> =>
      (await send('GET', '/orders?limit=1', undefined, of)).pagination.total as number;
    let acknowledged = 0;
    for (const moment of MOMENTS) {
      const next = ServerProcess.prepare(environment);
      if (moment === 'a deletion') {
        const deleting = [parent, fork].map(({ simulationId }) =>
          send('DELETE', `/simulations/${simulationId as string}`).catch(() => undefined),
        );
        await Promise.race(deleting);
        server.child.kill('SIGKILL');
        await Promise.all(deleting);
      } else {
        const stepping = (async () => {
          for (;;) {
            await send('POST', '/simulation/step', step, sims[1]);
            acknowledged += 1;
          }
        })().catch(() => undefined);
        await expect.poll(() => acknowledged, { interval: 1 }).toBeGreaterThanOrEqual(30);
        server.child.kill('SIGKILL');
        await stepping;
      }
      await server.exited;
      next.go();
      server = next;
      baseUrl = await next.listening;
      const orders = await count(sims[1] ?? '');
      // Two orders a step, all or none of it; at most one step was not acknowledged.
      expect(orders % 2).toBe(0);
      expect([100 + 2 * acknowledged, 102 + 2 * acknowledged]).toContain(orders);
    }
    await server.end('SIGTERM');
    const verified = ServerProcess.verify(environment, directory);
    await verified.exited;
    expect(verified.err).toEqual([]);
    expect(verified.out.at(-1)).toBe('sound');
  });
});
