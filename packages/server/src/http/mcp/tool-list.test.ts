/** The tools over HTTP: their number and size, their arguments, and the tools that stand for several operations. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type AgentLevel, plainSchemaOf, type Route, routes } from '@sandpit/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Body,
  openPortfolio,
  orderBody,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../testing/test-app.js';
import { placesOf } from './tool-schema.js';
import { TOOLS } from './tools.js';

/** Some hosts stop at 40 tools; the bounds leave room for those of other servers. */
const MOST_TOOLS = 30;
const MOST_TOKENS = 9000;
/** The usual estimate for English text and JSON. */
const CHARACTERS_PER_TOKEN = 4;

let test: TestApp;
let owner: TestClient;
let portfolioId: string;
let client: Client | undefined;

beforeAll(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '10000' } });
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  owner = test.as({ tier: 'ENTERPRISE' });
  await pushQuote(owner, { bid: 99.9, ask: 100, last: 100 });
});
beforeEach(async () => {
  ({ portfolioId } = (await openPortfolio(owner, { accountId: randomUUID() })) as { portfolioId: string });
});
afterEach(async () => {
  await client?.close();
  client = undefined;
});
afterAll(() => test.close());

async function connect(level: AgentLevel): Promise<Client> {
  const caps = level === 'capped' ? { caps: { maxNotional: 1000 } } : {};
  const { body } = await owner.post('/v1/auth/agent-token', { level, ...caps });
  const { port } = test.app.server.address() as AddressInfo;
  client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${String(body.token)}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

async function call(name: string, given: object = {}): Promise<Body> {
  const result = await client?.callTool({ name, arguments: given as Record<string, unknown> });
  return result?.structuredContent as Body;
}

const buy = (more: object = {}): object => orderBody(portfolioId, { quantity: 10, limitPrice: 100, ...more });

describe('tools/list', () => {
  it('stays within 30 tools and 9,000 tokens at level control, at four characters a token', async () => {
    const { tools } = await (await connect('control')).listTools();
    const tokens = JSON.stringify({ tools }).length / CHARACTERS_PER_TOKEN;
    expect(tools.length).toBeLessThanOrEqual(MOST_TOOLS);
    expect(tokens).toBeLessThanOrEqual(MOST_TOKENS);
    expect(tokens).toBeGreaterThan(MOST_TOKENS / 2);
  });

  it('requires no argument that the routes fill in', () => {
    for (const { name, inputSchema } of TOOLS)
      for (const argument of inputSchema.required) {
        const schema = inputSchema.properties[argument] as { default?: unknown };
        expect(schema.default, `${name} ${argument}`).toBeUndefined();
      }
    const requiredOf = (name: string): readonly string[] | undefined =>
      TOOLS.find((tool) => tool.name === name)?.inputSchema.required;
    expect(requiredOf('list_orders')).toEqual([]);
    expect(requiredOf('get_bars')).toEqual(['symbol']);
    expect(requiredOf('list_activities')).toEqual(['portfolioId']);
  });

  it('requires of a single operation all that its route requires, and accepts all but recordRefusal', () => {
    for (const id of ['createOrder', 'createSimulation', 'computeRequirements'] as const) {
      const { body }: Route = routes[id];
      const { required } = plainSchemaOf(body) as { required: string[] };
      const tool = { createOrder: 'place_order', createSimulation: 'create_simulation' }[id as string];
      const { inputSchema } =
        TOOLS.find(({ name }) => name === (tool ?? 'compute_margin_requirements')) ?? {};
      expect(inputSchema?.required).toEqual(required);
      const accepted = [...placesOf(id).keys()].filter((name) => name !== 'recordRefusal');
      expect(accepted.sort()).toEqual(Object.keys(inputSchema?.properties ?? {}).sort());
    }
  });

  it('hints which tools destroy something', async () => {
    const { tools } = await (await connect('control')).listTools();
    const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint === true);
    expect(destructive.map(({ name }) => name)).toEqual([
      'update_order',
      'cancel_order',
      'close_position',
      'update_portfolio',
      'reset_portfolio',
      'exercise_option',
      'simulations',
      'advance',
    ]);
    for (const { name, annotations } of tools) {
      const isRead = /^(get|list|find|preview|compute)_/.test(name);
      expect(annotations?.readOnlyHint, name).toBe(isRead);
      if (!isRead) expect(typeof annotations?.destructiveHint, name).toBe('boolean');
    }
  });
});

describe('place_order', () => {
  it('answers with the fill, with the reason to wait, and with the refusal', async () => {
    await connect('full');
    const filled = (await call('place_order', buy())).result;
    expect(filled).toMatchObject({ status: 'FILLED', filledQuantity: 10, averagePrice: 100 });
    expect(filled.executions).toMatchObject([{ quantity: 10, price: 100 }]);
    const waits = (await call('place_order', buy({ limitPrice: 99 }))).result;
    expect(waits).toMatchObject({ status: 'ACTIVE', waitingFor: 'ask 100.00 above limit 99.00' });
    expect(waits).not.toHaveProperty('executions');
    expect((await call('place_order', buy({ quantity: 1e6 }))).error.code).toBe('INSUFFICIENT_FUNDS');
  });
});

describe('list_accounts', () => {
  it('lists each account with its open portfolios', async () => {
    await connect('read');
    const { result } = await call('list_accounts');
    const listed = await owner.get('/v1/accounts');
    expect(result.pagination).toEqual(listed.body.pagination);
    const portfolios = (result.data as Body[]).flatMap((account) => account.portfolios as Body[]);
    expect(portfolios.map((one) => one.portfolioId as string)).toContain(portfolioId);
  });
});

describe('close_position', () => {
  it('sells unreserved shares, buys back shorts, and reports missing positions', async () => {
    await connect('full');
    expect((await call('close_position', { portfolioId, symbol: 'AAPL' })).error).toMatchObject({
      statusCode: 404,
      message: 'The portfolio holds no position in AAPL',
    });
    await call('place_order', buy());
    await call('place_order', buy({ positionIntent: 'SELL_TO_CLOSE', quantity: 4, limitPrice: 200 }));
    const closed = (await call('close_position', { portfolioId, symbol: 'aapl' })).result;
    expect(closed).toMatchObject({ status: 'FILLED', filledQuantity: 6, positionIntent: 'SELL_TO_CLOSE' });
    const nothingFree = (await call('close_position', { portfolioId, symbol: 'AAPL' })).error;
    expect(nothingFree).toMatchObject({ code: 'INSUFFICIENT_POSITION', availableQuantity: 0 });

    const margin = await openPortfolio(owner, {
      accountId: randomUUID(),
      portfolioType: 'MARGIN',
      marginType: 'REG_T',
    });
    const short = { portfolioId: margin.portfolioId, positionIntent: 'SELL_TO_OPEN', limitPrice: 99 };
    await call('place_order', buy(short));
    const part = { portfolioId: margin.portfolioId, symbol: 'AAPL', quantity: 3 };
    expect((await call('close_position', part)).result).toMatchObject({
      status: 'FILLED',
      positionIntent: 'BUY_TO_CLOSE',
      filledQuantity: 3,
    });
  });
});

describe('tools for several operations', () => {
  it('get_portfolio adds the parts named by `include`', async () => {
    await connect('read');
    const include = ['margin', 'dayTrades', 'marginCalls', 'settlements'];
    const { result } = await call('get_portfolio', { portfolioId, include });
    expect(result).toMatchObject({ totalEquity: 100_000, dayTrades: [], marginCalls: [] });
    expect(result.margin).toMatchObject({ maintenanceRequirement: 0 });
    expect((await call('get_portfolio', { portfolioId, include: ['all'] })).error.statusCode).toBe(400);
    expect((await call('list_positions', { portfolioId })).result).toEqual({
      equities: [],
      options: [],
      futures: [],
    });
  });

  it('cancel_order cancels one order or all orders of an account, never both at once', async () => {
    await connect('full');
    const { orderId, accountId } = (await call('place_order', buy({ limitPrice: 90 }))).result;
    expect((await call('cancel_order', { orderId, accountId })).error.message).toBe(
      'exactly one of orderId and accountId must be given',
    );
    expect((await call('cancel_order', { accountId })).result.canceledCount).toBe(1);
    expect((await call('cancel_order', { orderId })).error.code).toBe('ORDER_NOT_UPDATABLE');
  });

  it('script sets, lists and deletes outcomes in a simulation of the agent; update_market halts and resumes', async () => {
    await connect('control');
    const made = (await call('create_simulation', { feed: 'push', clock: 'manual' })).result;
    const simulationId = made.simulationId as string;
    const set = (await call('script', { simulationId, outcome: { error: {} }, times: 0 })).result;
    expect(set).toMatchObject({ times: 0, used: 0, outcome: { error: {} } });
    expect((await call('script', { simulationId })).result.data).toMatchObject([
      { outcomeId: set.outcomeId },
    ]);
    expect((await call('script', { simulationId, outcome: {} })).error.statusCode).toBe(400);
    expect((await call('script', { simulationId, delete: set.outcomeId })).result.message).toBe(
      'Outcome deleted',
    );
    expect((await call('script', { simulationId, delete: 'all' })).result.deleted).toBe(0);
    const halts = [{ symbol: 'AAPL', reason: 'T1' }];
    expect((await call('update_market', { simulationId, halts })).result.halts).toMatchObject(halts);
    expect((await call('update_market', { simulationId, resume: ['AAPL'] })).error).toBeUndefined();
    expect((await call('update_market', { simulationId })).error.statusCode).toBe(400);
  });

  it('advance places orders, advances the clock and shows the observation, in a simulation or a fork of the agent', async () => {
    await connect('control');
    const made = (await call('create_simulation', { feed: 'push', clock: 'manual', calendar: 'always-open' }))
      .result;
    const simulationId = made.simulationId as string;
    const quotes = [{ symbol: 'AAPL', bid: 99.9, ask: 100 }];
    await call('update_market', { simulationId, quotes });
    const opened = (
      await call('open_portfolio', {
        simulationId,
        accountId: randomUUID(),
        portfolioType: 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
        initialCash: 10_000,
      })
    ).result;
    const own = { portfolioId: opened.portfolioId };
    const stepped = (
      await call('advance', {
        simulationId,
        orders: [buy(own), buy({ ...own, limitPrice: 90 }), buy({ ...own, quantity: 1e6 })],
        by: 'PT1M',
        observe: { portfolios: [opened.portfolioId], orders: true },
      })
    ).result;
    const codes = (stepped.orders as Body[]).map(({ statusCode }) => statusCode);
    expect(codes).toEqual([201, 201, 400]);
    expect((stepped.events as Body[]).map(({ event }) => event as string)).toContain('FILLED');
    const [portfolio] = stepped.portfolios as Body[];
    expect(portfolio).toMatchObject({ settledCash: 8100, reservedCash: 900, orders: [{ limitPrice: 90 }] });
    const [resting] = (portfolio?.orders ?? []) as Body[];
    expect(Date.parse(stepped.now as string) - Date.parse(made.now as string)).toBe(60_000);

    const fork = (await call('fork', { simulationId })).result;
    const inFork = { simulationId: fork.simulationId, cancels: [resting?.orderId] };
    expect((await call('advance', inFork)).result.cancels).toMatchObject([{ statusCode: 200 }]);
    expect((await call('get_order', { simulationId, orderId: resting?.orderId })).result.status).toBe(
      'ACTIVE',
    );
    expect((await call('advance', { simulationId, until: 'noon' })).error.statusCode).toBe(400);
    expect((await call('advance', { simulationId, speed: 2, until: 'next-open' })).error.message).toBe(
      'until should not exist together with speed',
    );
    expect((await call('advance', { orders: [] })).error.code).toBe('LEVEL_TOO_LOW');
    expect((await call('simulations', { delete: simulationId })).result.simulationId).toBe(simulationId);
  });

  it('compare shows a row for each broker, or for the variants that are named', async () => {
    await connect('control');
    const made = (await call('create_simulation', { feed: 'push', clock: 'manual', calendar: 'always-open' }))
      .result;
    const simulationId = made.simulationId as string;
    const all = (await call('compare', { simulationId })).result;
    expect(all).toMatchObject({ status: 'DONE', baseMatches: true });
    const brokers = (await call('list_brokers')).result.data as Body[];
    expect((all.variants as Body[]).map(({ name }) => name as string).sort()).toEqual(
      brokers.map(({ brokerId }) => brokerId as string).sort(),
    );
    const variants = [{ name: 'slow', latencyMs: 500 }];
    const one = (await call('compare', { simulationId, variants })).result;
    expect(one.variants).toMatchObject([{ name: 'slow', status: 'DONE' }]);
    const again = await call('compare', { comparisonId: one.comparisonId });
    expect(again.result.variants).toEqual(one.variants);
    expect((await call('compare', {})).error.statusCode).toBe(400);
  });

  it('name unknown and missing arguments', async () => {
    await connect('full');
    expect((await call('get_order', { id: 1 })).error.message).toEqual([
      'property id should not exist',
      'orderId must be given',
    ]);
    expect((await call('update_portfolio', { portfolioId })).error.statusCode).toBe(400);
  });

  it('refuse operations beyond the level one by one', async () => {
    await connect('capped');
    expect((await call('update_portfolio', { portfolioId, brokerId: 'default' })).error.code).toBe(
      'LEVEL_TOO_LOW',
    );
  });
});

describe('prompts', () => {
  it('are listed with their arguments and filled in', async () => {
    const agent = await connect('read');
    const { prompts } = await agent.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'review_portfolio',
      'plan_trade',
      'covered_call',
      'explain_order',
    ]);
    const { messages } = await agent.getPrompt({ name: 'explain_order', arguments: { orderId: 'o-1' } });
    expect(messages[0]?.content).toMatchObject({ text: expect.stringContaining('Explain order o-1.') });
    await expect(agent.getPrompt({ name: 'rob_bank' })).rejects.toThrow('There is no prompt rob_bank');
  });
});
