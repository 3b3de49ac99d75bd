/** The service in the calling process (D256). */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedService, openEmbedded } from '../embedded.js';
import { StoreInUse } from '../store/journal.js';

const ORIGIN = 'https://any.origin.example';
const MARKET = { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z', seed: 7 };

/** Bodies are looked into by tests that know what they expect. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
type Body = any;

interface Reply {
  readonly status: number;
  readonly body: Body;
}

const client =
  ({ fetch }: EmbeddedService, token: string) =>
  async (method: string, path: string, body?: object): Promise<Reply> => {
    const response = await fetch(ORIGIN + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  };

type Client = ReturnType<typeof client>;

/** A simulation with a portfolio and a quote. */
async function traded(
  broker: EmbeddedService,
  more: object = {},
): Promise<{ id: string; token: string; call: Client; portfolioId: string }> {
  const { body } = await client(broker, broker.token)('POST', '/v1/simulations', { ...MARKET, ...more });
  const { simulationId: id, token } = body as { simulationId: string; token: string };
  const call = client(broker, token);
  const opened = await call('POST', '/v1/accounts/portfolios', {
    accountId: '11111111-1111-4111-8111-111111111111',
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 100_000,
  });
  const { portfolioId } = opened.body as { portfolioId: string };
  await call('PUT', '/v1/simulation/quotes', { quotes: [{ symbol: 'AAPL', bid: 99.9, ask: 100 }] });
  return { id, token, call, portfolioId };
}

const marketOrder = (portfolioId: string): object => ({
  portfolioId,
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'MARKET',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 10,
  timeInForce: 'DAY',
});

describe('an embedded broker in memory', () => {
  let broker: EmbeddedService;
  beforeAll(async () => {
    broker = await openEmbedded({ settings: { SEED: '7', DIALECTS: 'alpaca' } });
  });
  afterAll(() => broker.close());

  it('fetch: answers a Request of any origin, and a URL with a query', async () => {
    const health = await broker.fetch(new Request('http://elsewhere/v1/health'));
    expect(health.status).toBe(200);
    expect(health.headers.get('content-type')).toContain('application/json');
    const listed = await broker.fetch(new URL('https://x/v1/simulations?limit=1'), {
      headers: new Headers({ authorization: `Bearer ${broker.token}` }),
    });
    expect(await listed.json()).toMatchObject({ pagination: { limit: 1 } });
    const head = await broker.fetch('http://x/v1/health', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await broker.fetch('http://x/v1/nothing')).status).toBe(404);
    expect((await broker.fetch('http://x/v1/simulations')).status).toBe(401);
  });

  it('fetch: answers a Response whose body is read once, in any form', async () => {
    const ask = (): Promise<Response> => broker.fetch('http://x/v1/nothing');
    const read = await ask();
    expect([read instanceof Response, read.ok, read.bodyUsed]).toEqual([true, false, false]);
    const text = await read.text();
    const { message } = JSON.parse(text) as { readonly message: string };
    expect([message, read.bodyUsed]).toEqual(['Route not found', true]);
    await expect(read.text()).rejects.toThrow(TypeError);
    await expect(read.json()).rejects.toThrow(TypeError);
    expect(() => read.clone()).toThrow(TypeError);
    const copied = await ask();
    const copy = copied.clone();
    expect(await Promise.all([copied.json(), copy.json()])).toEqual([JSON.parse(text), JSON.parse(text)]);
    const bytes = Buffer.from(await (await ask()).arrayBuffer());
    expect(bytes.toString()).toBe(text);
    expect(await (await ask()).blob().then((blob) => blob.text())).toBe(text);
    expect(await new Response((await ask()).body).text()).toBe(text);
  });

  it('fetch: serves the tools of agents', async () => {
    const tools = await broker.fetch('http://x/mcp', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${broker.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(tools.status).toBe(200);
    expect(await tools.text()).toContain('list_orders');
  });

  it('fetch: refuses what the service refuses, whatever the body is', async () => {
    const send = async (body: RequestInit['body']): Promise<number> =>
      (
        await broker.fetch('http://x/v1/simulations', {
          method: 'POST',
          headers: { authorization: `Bearer ${broker.token}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body }),
          ...(body instanceof ReadableStream && { duplex: 'half' }),
        })
      ).status;
    expect(await send('{"feed":')).toBe(400);
    expect(await send('')).toBe(400);
    expect(await send(new Uint8Array(Buffer.from(JSON.stringify(MARKET))))).toBe(201);
    expect(await send(new Blob([JSON.stringify(MARKET)]).stream())).toBe(201);
    expect(await send(`{"name":"${'x'.repeat(2_000_000)}"}`)).toBe(413);
    await expect(broker.fetch('not a url')).rejects.toThrow(TypeError);
  });

  it('fetch: fills orders, and lists and analytics have them', async () => {
    const { call, portfolioId, id } = await traded(broker, { ephemeral: true });
    const { body } = await call('POST', '/v1/orders', marketOrder(portfolioId));
    expect((await call('GET', `/v1/orders/${body.orderId as string}`)).body.status).toBe('FILLED');
    expect((await call('GET', `/v1/orders/portfolio/${portfolioId}`)).body.data).toHaveLength(1);
    const performance = await call('GET', `/v1/accounts/portfolios/${portfolioId}/performance`);
    expect(performance.status).toBe(200);
    const owner = client(broker, broker.token);
    const { body: begun } = await owner('POST', `/v1/simulations/${id}/comparisons`, {
      variants: 'all-brokers',
    });
    await expect
      .poll(async () => (await owner('GET', `/v1/comparisons/${begun.comparisonId as string}`)).body)
      .toMatchObject({ status: 'DONE', baseMatches: true });
  });

  it('importSimulation: reads and verifies an exported file in this process', async () => {
    const { id, call, portfolioId } = await traded(broker, { ephemeral: true });
    await call('POST', '/v1/orders', marketOrder(portfolioId));
    const headers = { authorization: `Bearer ${broker.token}` };
    const file = await broker.fetch(`http://x/v1/simulations/${id}/export`, { headers });
    const imported = await broker.fetch('http://x/v1/simulations/import', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: await file.text(),
    });
    expect(imported.status).toBe(202);
    const { simulationId, ephemeral } = (await imported.json()) as Body;
    expect(ephemeral).toBeUndefined();
    const owner = client(broker, broker.token);
    await expect
      .poll(async () => (await owner('GET', `/v1/simulations/${simulationId as string}`)).body.status)
      .toBe('READY');
    const refused = await broker.fetch('http://x/v1/simulations/import', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: '{"type":"header"}\n',
    });
    expect(refused.status).toBe(400);
  });

  it('fetch: streams events until it is aborted, and ends with the deletion of the simulation', async () => {
    const { call, portfolioId, token, id } = await traded(broker, { ephemeral: true });
    const ended = new AbortController();
    const follow = async (signal: AbortSignal): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
      const response = await broker.fetch(`http://x/v1/stream/orders?portfolioId=${portfolioId}`, {
        headers: { authorization: `Bearer ${token}` },
        signal,
      });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      if (response.body === null) throw new Error('no body');
      return response.body.getReader();
    };
    const [first, second] = [await follow(ended.signal), await follow(new AbortController().signal)];
    await call('POST', '/v1/orders', marketOrder(portfolioId));
    const until = async (reader: typeof first, text: string): Promise<string> => {
      let read = '';
      while (!read.includes(text)) {
        const { done, value } = await reader.read();
        if (done) break;
        read += Buffer.from(value).toString();
      }
      return read;
    };
    expect(await until(first, 'FILLED')).toContain('FILLED');
    ended.abort();
    await expect(until(first, 'never')).rejects.toMatchObject({ name: 'AbortError' });
    await client(broker, broker.token)('DELETE', `/v1/simulations/${id}`);
    expect(await until(second, 'never')).toContain('event: error');
  });

  it('fetch: an aborted signal rejects without a request', async () => {
    const aborted = broker.fetch('http://x/v1/health', { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('openEmbedded: refuses settings of servers', async () => {
    await expect(openEmbedded({ settings: { PORT: '1' } })).rejects.toThrow('PORT is no setting');
  });
});

describe('close', () => {
  it('ends streams, rejects later calls and settles those under way; a second call resolves too', async () => {
    const broker = await openEmbedded({ settings: { DIALECTS: 'alpaca' } });
    const { portfolioId, token, call } = await traded(broker, { ephemeral: true });
    const stream = await broker.fetch(`http://x/v1/stream/orders?portfolioId=${portfolioId}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const underWay = Array.from({ length: 5 }, () => call('POST', '/v1/orders', marketOrder(portfolioId)));
    const closed = broker.close();
    const statuses = (await Promise.allSettled(underWay)).map((settled) =>
      settled.status === 'fulfilled' ? settled.value.status : 'rejected',
    );
    for (const status of statuses) expect([201, 503, 'rejected']).toContain(status);
    await closed;
    await broker.close();
    expect(await stream.text()).toContain('event: error');
    await expect(broker.fetch('http://x/v1/health')).rejects.toThrow('The broker is closed');
  });
});

describe('an embedded broker with a data directory', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sandpit-embedded-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const open = (): Promise<EmbeddedService> =>
    openEmbedded({ dataDir: directory, settings: { DIALECTS: 'alpaca' } });

  it('has what was answered after a close, and nothing of ephemeral simulations', async () => {
    const broker = await open();
    await expect(open()).rejects.toThrow(StoreInUse);
    const stored = await traded(broker);
    const { body } = await stored.call('POST', '/v1/orders', marketOrder(stored.portfolioId));
    const ephemeral = await traded(broker, { ephemeral: true });
    await broker.close();
    expect(existsSync(join(directory, 'journal.db'))).toBe(true);

    const again = await open();
    const owner = client(again, again.token);
    expect((await owner('GET', `/v1/simulations/${ephemeral.id}`)).status).toBe(404);
    const call = client(again, stored.token);
    const order = await call('GET', `/v1/orders/${body.orderId as string}`);
    expect(order.body).toMatchObject({ status: 'FILLED', filledQuantity: 10 });
    expect((await call('GET', `/v1/orders/portfolio/${stored.portfolioId}`)).body.data).toHaveLength(1);
    await again.close();
  });
});
