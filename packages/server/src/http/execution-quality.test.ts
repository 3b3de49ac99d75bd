/** Transaction costs over the API (D188). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Body, NOWHERE, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;
let path: string;

const quote = (symbol: string, bid: number, ask: number) =>
  client.put('/v1/simulation/quotes', { quotes: [{ symbol, bid, ask }] });
const advance = (to: string) => client.post('/v1/simulation/clock/advance', { to });
const order = async (body: object): Promise<string> => {
  const reply = await client.post('/v1/orders', {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 10,
    timeInForce: 'DAY',
    ...body,
  });
  expect(reply.status, reply.text).toBe(201);
  return reply.body.orderId as string;
};
const quality = async (query = ''): Promise<Body> => {
  const { status, body, text } = await client.get(`${path}/execution-quality${query}`);
  expect(status, text).toBe(200);
  return body;
};
const qualityOf = async (orderId: string): Promise<Body> => {
  const { status, body, text } = await client.get(`/v1/orders/${orderId}/execution-quality`);
  expect(status, text).toBe(200);
  return body;
};
const near = (value: number): unknown => expect.closeTo(value, 9);

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { initialCash: 100_000 })) as { portfolioId: string });
  path = `/v1/accounts/portfolios/${portfolioId}`;
});
afterEach(() => test.close());

describe('execution quality of an order', () => {
  it('measures a market order against the quote in force when it was accepted, not later ones', async () => {
    await quote('AAPL', 99, 101);
    const id = await order({});
    await quote('AAPL', 199, 201);
    expect(await qualityOf(id)).toEqual({
      orders: 1,
      executions: 1,
      notional: 1010,
      arrivalMid: 100,
      slippageBps: near(100),
      implementationShortfall: 10,
      implementationShortfallBps: near(100),
      effectiveSpreadBps: near(200),
      quotedSpreadBps: near(200),
      priceImprovement: 0,
      priceImprovementRate: 0,
      fillRate: 1,
      timeToFirstFill: 0,
      timeToFill: 0,
      rejectRate: 0,
    });
  });

  it('is the same after its symbol was listed as an index', async () => {
    await quote('AAA', 99, 101);
    const id = await order({ symbol: 'AAA' });
    await order({ symbol: 'AAA', positionIntent: 'SELL_TO_CLOSE' });
    await advance('2026-01-06T15:00:00Z');
    const before = [await qualityOf(id), await quality()];
    const listed = await client.put('/v1/simulation/instruments', {
      instruments: [{ assetClass: 'INDEX', symbol: 'AAA' }],
    });
    expect(listed.status).toBe(200);
    expect([await qualityOf(id), await quality()]).toEqual(before);
  });

  it('shows the realized spread once five minutes have passed', async () => {
    await quote('AAPL', 99, 101);
    const id = await order({});
    expect(await qualityOf(id)).not.toHaveProperty('realizedSpreadBps');
    await advance('2026-01-05T15:04:00Z');
    await quote('AAPL', 100, 102);
    await advance('2026-01-05T15:06:00Z');
    await quote('AAPL', 120, 130);
    // 2 × (101 − 101) at the mid of the fourth minute.
    expect((await qualityOf(id)).realizedSpreadBps).toBe(0);
    const sale = await order({ positionIntent: 'SELL_TO_CLOSE' });
    await advance('2026-01-05T15:30:00Z');
    // No quote since: −2 × (120 − 125) / 125.
    expect((await qualityOf(sale)).realizedSpreadBps).toBeCloseTo(800, 9);
  });

  it('takes no quote from before the execution in a fork of main, which lacks quotes of symbols without an order', async () => {
    await quote('AAPL', 89, 91);
    const resting = await order({ orderType: 'LIMIT', limitPrice: 50 });
    await quote('AAPL', 79, 81);
    await client.put(`/v1/orders/${resting}/cancel`);
    await quote('AAPL', 99, 101);
    const id = await order({});
    await advance('2026-01-05T10:06:00-05:00');
    const fork = await client.post('/v1/simulations/main/forks', {});
    expect(fork.status, fork.text).toBe(201);
    const forked = await client.get(`/v1/orders/${id}/execution-quality`, {
      authorization: `Bearer ${String(fork.body.token)}`,
    });
    expect(forked.body).toEqual(await qualityOf(id));
    expect(forked.body.realizedSpreadBps).toEqual(near(200));
  });

  it('measures a stop against the quote that triggered it', async () => {
    await quote('AAPL', 99, 101);
    await order({});
    const id = await order({ orderType: 'STOP', positionIntent: 'SELL_TO_CLOSE', stopPrice: 90 });
    expect(await qualityOf(id)).toMatchObject({ executions: 0, notional: 0 });
    await advance('2026-01-05T16:00:00Z');
    await client.put('/v1/simulation/quotes', {
      quotes: [{ symbol: 'AAPL', bid: 88, ask: 90, last: 89 }],
    });
    const stopped = await qualityOf(id);
    expect(stopped).toMatchObject({ arrivalMid: 89, executions: 1 });
    expect(stopped.slippageBps).toBeCloseTo(((89 - 88) / 89) * 10_000, 9);
    expect(stopped.timeToFill).toBeGreaterThan(0);
  });

  it('measures an order that waited for the open against the first quote of the session', async () => {
    await quote('AAPL', 99, 101);
    await advance('2026-01-05T22:00:00Z');
    const id = await order({});
    await advance('2026-01-06T14:30:00Z');
    await quote('AAPL', 109, 111);
    const queued = await qualityOf(id);
    expect(queued).toMatchObject({ arrivalMid: 110, notional: 1110 });
    expect((await quality('?groupBy=hour')).groups).toMatchObject([{ key: '09', orders: 1 }]);
  });

  it('counts the missed quantity of an unfilled order', async () => {
    await quote('AAPL', 99, 101);
    const id = await order({ orderType: 'LIMIT', limitPrice: 98 });
    await quote('AAPL', 104, 106);
    const open = await qualityOf(id);
    expect(open).toMatchObject({ executions: 0, fillRate: 0, implementationShortfall: 50 });
    await client.put(`/v1/orders/${id}/cancel`);
    await quote('AAPL', 204, 206);
    // Measured at its end.
    expect((await qualityOf(id)).implementationShortfall).toBe(50);
    expect((await qualityOf(id)).implementationShortfallBps).toBeCloseTo(500, 9);
  });

  it('has no midpoint figures if the quote has only one side', async () => {
    await quote('AAPL', 0, 101);
    const id = await order({ orderType: 'LIMIT', limitPrice: 102 });
    const one = await qualityOf(id);
    for (const figure of ['arrivalMid', 'slippageBps', 'implementationShortfall', 'effectiveSpreadBps'])
      expect(one).not.toHaveProperty(figure);
    expect(one).toMatchObject({ executions: 1, priceImprovement: 0 });
  });

  it('measures the legs of a multi-leg order', async () => {
    const low = 'AAPL260116C00150000';
    const high = 'AAPL260116C00160000';
    await quote('AAPL', 154, 156);
    await quote(low, 7, 7.4);
    await quote(high, 2, 2.2);
    const id = await order({
      assetClass: 'OPTION',
      orderType: 'LIMIT',
      limitPrice: 6,
      quantity: 2,
      strategy: 'VERTICAL_SPREAD',
      legs: [
        { optionSymbol: low, positionIntent: 'BUY_TO_OPEN', quantity: 2 },
        { optionSymbol: high, positionIntent: 'SELL_TO_OPEN', quantity: 2 },
      ],
    });
    const combo = await qualityOf(id);
    expect(combo).toMatchObject({ orders: 1, executions: 2, notional: 1480 + 400 });
    // Half of each spread, times 200.
    const { body } = await client.get(`/v1/orders/${id}/executions`);
    let charges = 0;
    for (const { commission, fees } of body.data as Body[]) {
      charges += commission as number;
      for (const { amount } of fees as Body[]) charges += amount as number;
    }
    expect(combo.implementationShortfall).toBeCloseTo(40 + 20 + charges, 9);
    expect(combo).not.toHaveProperty('arrivalMid');
  });
});

describe('execution quality of a portfolio', () => {
  it('weights by executed value, and groups by symbol, type, hour and broker', async () => {
    await quote('AAPL', 99, 101);
    await quote('MSFT', 398, 402);
    await order({});
    await order({ symbol: 'MSFT', quantity: 5 });
    await order({ symbol: 'MSFT', orderType: 'LIMIT', limitPrice: 300, quantity: 5 });
    const all = await quality();
    expect(all).toMatchObject({ orders: 3, executions: 2, notional: 1010 + 2010 });
    expect(all.slippageBps).toBeCloseTo((100 * 1010 + 50 * 2010) / 3020, 9);
    expect(all.fillRate).toBeCloseTo((1000 + 2000) / (1000 + 2000 + 2000), 9);
    expect(all).not.toHaveProperty('groups');
    const bySymbol = await quality('?groupBy=symbol');
    expect(bySymbol.groups.map(({ key, orders }: Body) => [key, orders])).toEqual([
      ['AAPL', 1],
      ['MSFT', 2],
    ]);
    expect((await quality('?groupBy=orderType')).groups).toMatchObject([
      { key: 'LIMIT', fillRate: 0 },
      { key: 'MARKET', fillRate: 1 },
    ]);
    expect((await quality('?groupBy=hour')).groups).toMatchObject([{ key: '10', orders: 3 }]);
    expect((await quality('?groupBy=broker')).groups).toMatchObject([{ key: 'default', orders: 3 }]);
    await advance('2026-01-06T15:00:00Z');
    expect(await quality('?from=2026-01-06')).toEqual({ orders: 0, executions: 0, notional: 0 });
    expect(await quality('?to=2026-01-05')).toMatchObject({ orders: 3 });
  });

  it('is refused for another tenant, for parameters out of range, and for a period that ends before it begins', async () => {
    await quote('AAPL', 99, 101);
    const id = await order({});
    const other = test.as({ tenantId: 'tenant-2' });
    expect((await other.get(`/v1/orders/${id}/execution-quality`)).status).toBe(404);
    expect((await other.get(`${path}/execution-quality`)).status).toBe(404);
    expect((await client.get(`/v1/orders/${NOWHERE}/execution-quality`)).status).toBe(404);
    expect((await client.get(`/v1/accounts/portfolios/${NOWHERE}/execution-quality`)).status).toBe(404);
    for (const query of ['?groupBy=day', '?from=2026-01-06&to=2026-01-05', '?from=yesterday', '?limit=1'])
      expect((await client.get(`${path}/execution-quality${query}`)).status, query).toBe(400);
  });
});

/** A simulation of its own: orders of `main` cannot be scripted. */
const ownSimulation = async (more: object = {}): Promise<void> => {
  const config = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: '2026-01-05T15:00:00Z', ...more };
  const created = await client.post('/v1/simulations', config);
  expect(created.status, created.text).toBe(201);
  client = test.withToken(created.body.token as string);
  ({ portfolioId } = (await openPortfolio(client, { initialCash: 100_000 })) as { portfolioId: string });
  path = `/v1/accounts/portfolios/${portfolioId}`;
};
const script = async (outcome: object): Promise<void> => {
  const set = await client.post('/v1/simulation/outcomes', { match: {}, outcome });
  expect(set.status, set.text).toBe(201);
};

describe('execution quality over a split', () => {
  const announce = async (numerator: number, denominator: number, exDate: string): Promise<void> => {
    const actions = [{ type: 'SPLIT', symbol: 'AAPL', exDate, ratio: { new: numerator, old: denominator } }];
    expect((await client.post('/v1/simulation/corporate-actions', { actions })).status).toBe(201);
  };
  const resting = { orderType: 'LIMIT', limitPrice: 100.1, timeInForce: 'GTC' };

  it.each([
    [2, 1, 200, 50],
    [3, 2, 66, 100 / 1.5],
  ])(
    '%i:%i restates the mid five minutes later of an order at work',
    async (numerator, denominator, quantity, mid) => {
      await ownSimulation();
      await announce(numerator, denominator, '2026-01-06');
      await quote('AAPL', 99.9, 100.1);
      await script({ fill: [{ percent: 50, price: 100.1 }], rest: 'hold' });
      const id = await order({ ...resting, quantity });
      await advance('2026-01-05T16:00:00Z');
      expect(await qualityOf(id)).toMatchObject({ arrivalMid: near(100), realizedSpreadBps: near(20) });
      await advance('2026-01-06T15:00:00Z');
      await quote('AAPL', mid - 0.05, mid + 0.05);
      const filled = (quantity / 2) * (numerator / denominator);
      expect(await qualityOf(id)).toMatchObject({
        notional: near((quantity / 2) * 100.1),
        arrivalMid: near(mid),
        slippageBps: near(10),
        effectiveSpreadBps: near(20),
        realizedSpreadBps: near(20),
        implementationShortfall: near(Math.round(filled * mid * 0.001 * 10_000) / 10_000),
        fillRate: 0.5,
      });
    },
  );

  it('a split that cancels an order ends it at the quote before the split', async () => {
    await announce(1, 4, '2026-01-06');
    await quote('AAPL', 99, 101);
    const id = await order({ ...resting, quantity: 100, limitPrice: 90 });
    await advance('2026-01-06T15:00:00Z');
    await quote('AAPL', 396, 404);
    expect(await qualityOf(id)).toMatchObject({ arrivalMid: 100, implementationShortfall: 0, fillRate: 0 });
  });

  it('within five minutes of an execution counts the later mid in the units of the execution', async () => {
    await ownSimulation({ calendar: 'always-open', start: '2026-01-06T07:57:00Z' });
    await announce(2, 1, '2026-01-06');
    await quote('AAPL', 99.9, 100.1);
    const id = await order({ ...resting, quantity: 100 });
    await advance('2026-01-06T08:01:00Z');
    await quote('AAPL', 49.95, 50.05);
    await advance('2026-01-06T08:10:00Z');
    expect(await qualityOf(id)).toMatchObject({ arrivalMid: near(100), realizedSpreadBps: near(20) });
  });
});

describe('rejectRate (D253)', () => {
  it('counts orders rejected later and refusals by a scripted rule: (1 + 1) / (4 + 1)', async () => {
    await ownSimulation();
    await quote('AAPL', 99, 101);
    for (let count = 0; count < 3; count += 1) await order({});
    await script({ rejectLater: { code: 'INSUFFICIENT_FUNDS' } });
    await order({});
    await script({ reject: { code: 'INSUFFICIENT_FUNDS' } });
    const body = { portfolioId, symbol: 'AAPL', assetClass: 'EQUITY', orderType: 'LIMIT', limitPrice: 100 };
    const refused = await client.post('/v1/orders', {
      ...body,
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'DAY',
    });
    expect(refused.status).toBe(400);
    // Refused without a record: not counted.
    const without = { ...body, positionIntent: 'SELL_TO_CLOSE', quantity: 1_000, timeInForce: 'DAY' };
    expect((await client.post('/v1/orders', without)).status).toBe(400);
    await advance('2026-01-05T15:10:00Z');
    const found = await quality('?groupBy=orderType');
    expect(found).toMatchObject({ orders: 4, rejectRate: 0.4 });
    expect(found.groups.map(({ key, orders, rejectRate }: Body) => [key, orders, rejectRate])).toEqual([
      ['LIMIT', 0, 1],
      ['MARKET', 4, 0.25],
    ]);
  });
});
