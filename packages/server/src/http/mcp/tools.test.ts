import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { AgentTokenBody } from '@sandpit/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyJournal } from '../../engine/recovery/verify.js';
import {
  ACCOUNT,
  type Body,
  openPortfolio,
  orderBody,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../testing/test-app.js';

let test: TestApp;
let owner: TestClient;
let portfolioId: string;
const clients: Client[] = [];

beforeEach(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '10000' } });
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  owner = test.as();
  ({ portfolioId } = (await openPortfolio(owner)) as { portfolioId: string });
  await pushQuote(owner, { bid: 99.9, ask: 100, last: 100 });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await test.close();
});

async function agentToken(body: AgentTokenBody, by = owner): Promise<string> {
  const reply = await by.post('/v1/auth/agent-token', body);
  expect(reply.status, reply.text).toBe(201);
  return (reply.body as { token: string }).token;
}

/** The SDK's own client, which holds every answer against the schema that the tool was listed with. */
async function connect(token: string): Promise<Client> {
  const { port } = test.app.server.address() as AddressInfo;
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  clients.push(client);
  await client.listTools();
  return client;
}

const agent = async (body: AgentTokenBody): Promise<Client> => connect(await agentToken(body));

async function call(client: Client, name: string, given: object = {}): Promise<Body> {
  const result = await client.callTool({ name, arguments: given as Record<string, unknown> });
  const told = result.structuredContent as Body;
  expect(told.simulated).toBe(true);
  expect((result.content as { text: string }[])[0]?.text).toMatch(/^SIMULATED/);
  expect(result.isError === true).toBe(told.error !== undefined);
  return told;
}

const buy = (more: object = {}): object => orderBody(portfolioId, { quantity: 10, limitPrice: 100, ...more });

describe('an agent that may read', () => {
  it('with a plain token gets read-only tools, and every answer is marked as simulated', async () => {
    const client = await connect(owner.token ?? '');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('get_portfolio');
    expect(tools.map(({ name }) => name)).not.toContain('place_order');
    for (const tool of tools) {
      expect(tool.annotations?.readOnlyHint, tool.name).toBe(true);
      expect(tool.outputSchema?.type, tool.name).toBe('object');
    }
    const { result, at } = await call(client, 'get_portfolio', { portfolioId });
    expect(result.totalEquity).toBe(100000);
    expect(at).toBe('2026-01-05T15:00:00.000Z');
    expect((await call(client, 'get_quotes', { symbols: ['AAPL'] })).result.quotes[0].ask).toBe(100);
    expect((await call(client, 'list_orders', { status: 'ACTIVE', limit: 5 })).result.data).toEqual([]);
  });

  it('a refusal shows the agent its limits', async () => {
    const client = await agent({ level: 'read' });
    const refused = await call(client, 'place_order', buy());
    expect(refused.error).toMatchObject({ statusCode: 403, code: 'LEVEL_TOO_LOW', requiredLevel: 'capped' });
    expect(refused.wouldPass).toContain('level capped');
    const missing = await call(client, 'get_order', { orderId: portfolioId });
    expect(missing.error.statusCode).toBe(404);
    const wrong = await call(client, 'list_orders', { limit: 0 });
    expect(wrong.error.statusCode).toBe(400);
    expect(wrong.wouldPass).toMatch(/^Correct the input: /);
    await expect(client.callTool({ name: 'rob_bank' })).rejects.toThrow('There is no tool rob_bank');
  });

  it('finds the rule pages as resources', async () => {
    const client = await agent({ level: 'read' });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('sandpit://rules/settlement');
    const { contents } = await client.readResource({ uri: 'sandpit://rules/settlement' });
    expect((contents[0] as { text: string }).text).toContain('settlement');
    const known = new Set(resources.map(({ uri }) => uri));
    for (const uri of known) {
      const page = await client.readResource({ uri });
      const { text } = page.contents[0] as { text: string };
      for (const [, target = ''] of text.matchAll(/\]\(([^)]+)\)/g))
        expect([uri, target, /^https?:/.test(target) || known.has(target.replace(/#.*/, ''))]).toEqual([
          uri,
          target,
          true,
        ]);
    }
  });
});

describe('levels', () => {
  it('apply to direct requests to /v1 as well', async () => {
    const reader = test.withToken(await agentToken({ level: 'read' }));
    expect((await reader.get(`/v1/accounts/portfolios/${portfolioId}`)).status).toBe(200);
    const order = await reader.post('/v1/orders', buy());
    expect(order.status).toBe(403);
    expect(order.body.error).toEqual({ code: 'LEVEL_TOO_LOW', level: 'read', requiredLevel: 'capped' });
    expect((await reader.post('/v1/orders/preview', buy())).body.error.requiredLevel).toBe('preview');
    const previewer = test.withToken(await agentToken({ level: 'preview' }));
    expect((await previewer.post('/v1/orders/preview', buy())).status).toBe(200);
    const full = test.withToken(await agentToken({ level: 'full' }));
    expect((await full.post('/v1/orders', buy())).status).toBe(201);
    for (const [path, body] of [
      ['/v1/auth/agent-token', { level: 'full' }],
      [`/v1/accounts/portfolios/${portfolioId}/key-pairs`, {}],
    ] as const)
      expect((await full.post(path, body)).body.error).toEqual({ code: 'LEVEL_TOO_LOW', level: 'full' });
    expect((await full.put('/v1/simulation/quotes', { quotes: [] })).body.error.requiredLevel).toBe(
      'control',
    );
  });

  it('never exceed the requesting token, and refuse unknown values', async () => {
    const readOnly = test.as({ scope: 'read' });
    const token = await agentToken({ level: 'full' }, readOnly);
    expect((await test.withToken(token).post('/v1/orders', buy())).body.error.code).toBe(
      'INSUFFICIENT_SCOPE',
    );
    expect((await owner.post('/v1/auth/agent-token', { level: 'capped' })).status).toBe(400);
    expect(
      (await owner.post('/v1/auth/agent-token', { level: 'full', caps: { maxNotional: 1 } })).status,
    ).toBe(400);
  });

  it('previews, trades and changes with the tools of each level', async () => {
    const previewer = await agent({ level: 'preview' });
    expect((await call(previewer, 'preview_order', buy())).result).toHaveProperty('rejections', []);
    const trader = await agent({ level: 'full' });
    const { result } = await call(trader, 'place_order', buy({ limitPrice: 90 }));
    expect(
      (await call(trader, 'update_order', { orderId: result.orderId, limitPrice: 91 })).result.status,
    ).toBe('ACTIVE');
    expect((await call(trader, 'cancel_order', { orderId: result.orderId })).result.status).toBe('CANCELED');
    const broke = await call(trader, 'place_order', buy({ quantity: 100000 }));
    expect(broke.error.code).toBe('INSUFFICIENT_FUNDS');
    expect(broke.wouldPass).toMatch(/Reduce the quantity from 100000 to about \d+/);
  });
});

describe('an agent with caps', () => {
  it('stays within them with fifty concurrent calls, through tools and routes', async () => {
    const token = await agentToken({
      level: 'capped',
      caps: { maxNotional: 10_500, maxOrderNotional: 1000 },
    });
    const client = await connect(token);
    const direct = test.withToken(token);
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        if (index % 2 === 0) return (await call(client, 'place_order', buy())).error?.code ?? 'PLACED';
        const reply = await direct.post('/v1/orders', buy());
        return reply.status === 201 ? 'PLACED' : reply.body.error.code;
      }),
    );
    expect(outcomes.filter((outcome) => outcome === 'PLACED')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'CAP_EXCEEDED')).toHaveLength(40);
    const left = await call(client, 'place_order', buy());
    expect(left.error).toMatchObject({ cap: 'maxNotional', allowed: 10_500, left: 500, asked: 1000 });
    expect(left.wouldPass).toContain('at most $500.00');
    expect((await call(client, 'place_order', buy({ quantity: 5 }))).result.status).toBe('FILLED');
    const close = { positionIntent: 'SELL_TO_CLOSE', quantity: 105, limitPrice: 99 };
    expect((await call(client, 'place_order', buy(close))).result.positionIntent).toBe('SELL_TO_CLOSE');
  });

  it('is limited in order size, also by an update, in symbols, in rate and in loss', async () => {
    const sized = test.withToken(
      await agentToken({ level: 'capped', caps: { maxOrderNotional: 1000, maxNotional: 1500 } }),
    );
    const order = await sized.post('/v1/orders', buy({ limitPrice: 90 }));
    expect(order.status).toBe(201);
    const { orderId } = order.body as { orderId: string };
    expect((await sized.put(`/v1/orders/${orderId}`, { quantity: 20 })).body.error).toMatchObject({
      cap: 'maxOrderNotional',
      asked: 1800,
    });
    expect((await sized.put(`/v1/orders/${orderId}`, { quantity: 11 })).status).toBe(200);
    expect((await sized.post('/v1/orders', buy({ limitPrice: 60 }))).body.error).toMatchObject({ left: 510 });
    expect(
      (await sized.post('/v1/orders', buy({ orderType: 'MARKET', limitPrice: undefined, quantity: 11 }))).body
        .error,
      // The ask and the collar.
    ).toMatchObject({ cap: 'maxOrderNotional', asked: 1155 });
    const amount = { orderType: 'MARKET', limitPrice: undefined, quantity: undefined, notional: 1000.01 };
    expect((await sized.post('/v1/orders', buy(amount))).body.error).toMatchObject({
      cap: 'maxOrderNotional',
      asked: 1000.01,
    });

    const named = test.withToken(await agentToken({ level: 'capped', caps: { symbols: ['msft'] } }));
    expect((await named.post('/v1/orders', buy())).body.error).toMatchObject({
      cap: 'symbols',
      symbols: ['msft'],
    });

    const slow = test.withToken(await agentToken({ level: 'capped', caps: { maxOrdersPerMinute: 2 } }));
    const statuses = [];
    for (let i = 0; i < 3; i += 1)
      statuses.push((await slow.post('/v1/orders', buy({ limitPrice: 50 }))).status);
    expect(statuses).toEqual([201, 201, 403]);
    test.time.monotonicMs += 60_001;
    expect((await slow.post('/v1/orders', buy({ limitPrice: 50 }))).status).toBe(201);

    const careful = test.withToken(await agentToken({ level: 'capped', caps: { maxDailyLoss: 50 } }));
    expect((await careful.post('/v1/orders', buy())).status).toBe(201);
    await pushQuote(owner, { bid: 94, ask: 94.1, last: 94 });
    const lost = await careful.post('/v1/orders', buy());
    expect(lost.body.error).toEqual({ code: 'CAP_EXCEEDED', cap: 'maxDailyLoss', allowed: 50, asked: 60 });
    const close = buy({ positionIntent: 'SELL_TO_CLOSE', limitPrice: 90 });
    expect((await careful.post('/v1/orders', close)).status).toBe(201);
    expect((await careful.post('/v1/orders/batch', { orderData: {}, accountIds: [] })).status).toBe(403);
  });

  it('is limited after a restart too: its orders include its name', async () => {
    const first = test;
    const capped = await agentToken({ level: 'capped', caps: { maxNotional: 2500 } });
    expect((await first.withToken(capped).post('/v1/orders', buy())).status).toBe(201);
    const amount = { orderType: 'MARKET', limitPrice: undefined, quantity: undefined, notional: 700.5 };
    expect((await first.withToken(capped).post('/v1/orders', buy(amount))).status).toBe(201);
    test = await first.restart();
    const again = test.withToken(capped);
    expect((await again.post('/v1/orders', buy())).body.error).toMatchObject({
      cap: 'maxNotional',
      left: 799.5,
      asked: 1000,
    });
    expect((await again.post('/v1/orders', buy({ quantity: 7 }))).status).toBe(201);
    // Refusals and used budgets are in the journal, and are the same on re-execution.
    await test.main.durable();
    expect((await verifyJournal(test.store, test.main.id)).problems).toEqual([]);
  });

  it('cancels only its own orders and orders in its symbols', async () => {
    await pushQuote(owner, { symbol: 'MSFT', bid: 49.9, ask: 50, last: 50 });
    const rests = { limitPrice: 40 };
    const apple = (await owner.post('/v1/orders', buy(rests))).body.orderId as string;
    const microsoft = (await owner.post('/v1/orders', buy({ ...rests, symbol: 'MSFT' }))).body
      .orderId as string;
    const named = test.withToken(await agentToken({ level: 'capped', caps: { symbols: ['AAPL'] } }));
    const refused = await named.put(`/v1/orders/${microsoft}/cancel`);
    expect(refused.status).toBe(403);
    expect(refused.body.error).toEqual({ code: 'CAP_EXCEEDED', cap: 'symbols', symbols: ['AAPL'] });
    expect((await named.delete(`/v1/orders/account/${ACCOUNT}`)).body.canceledOrders).toEqual([apple]);
    expect((await owner.get(`/v1/orders/${microsoft}`)).body.status).toBe('ACTIVE');
  });

  it('retains its rate limit over a restart, from its orders and their changes', async () => {
    const caps = { level: 'capped', caps: { maxOrdersPerMinute: 3 } } as const;
    const rests = buy({ limitPrice: 50 });
    for (const config of [{}, { clock: 'wall' as const }]) {
      await test.close();
      test = await TestApp.open({ config });
      owner = test.as();
      ({ portfolioId } = (await openPortfolio(owner)) as { portfolioId: string });
      const token = await agentToken(caps);
      const first = await test.withToken(token).post('/v1/orders', { ...rests, portfolioId });
      await test.withToken(token).put(`/v1/orders/${String(first.body.orderId)}`, { limitPrice: 51 });
      test = await test.restart({ config });
      const again = test.withToken(token);
      const statusOf = async (): Promise<number> =>
        (await again.post('/v1/orders', { ...rests, portfolioId })).status;
      expect([await statusOf(), await statusOf()]).toEqual([201, 403]);
      test.time.monotonicMs += 60_000;
      expect(await statusOf()).toBe(201);
    }
  });

  it('starts with new daily caps on the next day', async () => {
    const capped = test.withToken(
      await agentToken({ level: 'capped', caps: { maxNotional: 1000 }, expiresIn: 3600 }),
    );
    expect((await capped.post('/v1/orders', buy())).status).toBe(201);
    expect((await capped.post('/v1/orders', buy())).status).toBe(403);
    await owner.post('/v1/simulation/clock/advance', { by: 'P1D' });
    await pushQuote(owner, { bid: 99.9, ask: 100, last: 100 });
    expect((await capped.post('/v1/orders', buy())).status).toBe(201);
  });
});

describe('an agent in control', () => {
  it('has full control of simulations that it created, and reads others', async () => {
    const client = await agent({ level: 'control' });
    expect((await call(client, 'place_order', buy())).error.code).toBe('LEVEL_TOO_LOW');
    expect((await call(client, 'advance', { by: 'PT1H' })).error.code).toBe('LEVEL_TOO_LOW');
    const others = await owner.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const { simulationId: foreign } = others.body as { simulationId: string };
    expect((await call(client, 'simulations', { delete: foreign })).error.statusCode).toBe(404);
    expect((await call(client, 'advance', { simulationId: foreign, by: 'PT1H' })).error.statusCode).toBe(404);

    const made = await call(client, 'create_simulation', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
    });
    const { simulationId } = made.result as { simulationId: string };
    expect(made.result).not.toHaveProperty('token');
    const opened = await call(client, 'open_portfolio', {
      simulationId,
      accountId: '22222222-2222-4222-8222-222222222222',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
    });
    const mine = opened.result.portfolioId as string;
    await call(client, 'update_market', {
      simulationId,
      quotes: [{ symbol: 'AAPL', bid: 9.9, ask: 10, last: 10 }],
    });
    await call(client, 'place_order', { simulationId, ...orderBody(mine, { limitPrice: 10 }) });
    const { result, at } = await call(client, 'advance', { simulationId, by: 'PT1H' });
    expect(result.now).toBe(at);
    expect(
      (await call(client, 'get_portfolio', { simulationId, portfolioId: mine })).result.longMarketValue,
    ).toBe(100);
    const listed = await call(client, 'simulations');
    expect(listed.result.data.map((one: Body) => one.simulationId as string)).toEqual([simulationId]);
    expect((await call(client, 'simulations', { delete: simulationId })).result.simulationId).toBe(
      simulationId,
    );
  });
});

describe('/mcp', () => {
  it('authenticates, and answers POST only', async () => {
    expect((await test.withToken(undefined).post('/mcp', {})).status).toBe(401);
    expect((await owner.get('/mcp')).status).toBe(405);
  });

  const rpc = (id: number, name: string, given: object = {}) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: given },
  });
  const post = async (body: unknown, headers: Record<string, string> = {}, token = owner.token ?? '') => {
    const { port } = test.app.server.address() as AddressInfo;
    const reply = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Body };
  };

  it('counts each call of a batch, and refuses single calls above the limit', async () => {
    const limited = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '5' } });
    await test.close();
    test = limited;
    await test.app.listen({ port: 0, host: '127.0.0.1' });
    const token = test.token();
    const batch = Array.from({ length: 8 }, (_, i) => rpc(i, 'simulations'));
    const { status, headers, body } = await post(batch, {}, token);
    expect(status).toBe(200);
    const answers = (body as { id: number; result: Body }[]).sort((a, b) => a.id - b.id);
    const refused = answers.filter(({ result }) => result.structuredContent.error?.code === 'RATE_LIMITED');
    expect(refused.map(({ id }) => id)).toEqual([5, 6, 7]);
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    expect((await post(rpc(1, 'simulations'), {}, token)).status).toBe(429);
    expect((await post(rpc(1, 'simulations'), {}, test.token({ tenantId: 'tenant-2' }))).status).toBe(200);
  });

  it('has the headers of every answer', async () => {
    const { headers } = await post(rpc(1, 'simulations'), { 'x-request-id': 'mine-1' });
    expect(headers.get('x-request-id')).toBe('mine-1');
    expect(headers.get('x-ratelimit-limit')).toBe('10000');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toContain('application/json');
  });

  it.each(['https://evil.example', 'null', 'http://localhost:1', 'http://127.0.0.1.evil.example'])(
    'is not for pages of another origin: %s',
    async (origin) => {
      expect((await post(rpc(1, 'simulations'), { origin })).status).toBe(403);
    },
  );

  it('accepts its own pages and the origins of CORS_ORIGINS', async () => {
    const { port } = test.app.server.address() as AddressInfo;
    const own = await post(rpc(1, 'simulations'), { origin: `http://127.0.0.1:${port}` });
    expect(own.status).toBe(200);
  });

  it.each([
    [
      'arguments',
      (deep: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_quote","arguments":{"symbol":${deep}}}}`,
    ],
    ['a batch', (deep: string) => deep],
  ])('refuses deeply nested bodies: %s', async (_, of) => {
    for (const deep of [
      '['.repeat(200_000) + ']'.repeat(200_000),
      '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000),
    ]) {
      const { status, body } = await post(of(deep));
      expect([status, body.message]).toEqual([400, 'Body must not be nested more than 64 levels deep']);
    }
    expect((await post(rpc(1, 'simulations', { note: '[['.repeat(500) }))).status).toBe(200);
  });
});
