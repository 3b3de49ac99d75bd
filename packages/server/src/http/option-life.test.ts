/** Option events over the API: exercise, instructions, expiry and their messages (D85–D90). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Body, NOWHERE, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const CALL = 'AAPL260116C00150000';
const PADDED = 'AAPL%20%20260116C00150000';
const PUT = 'AAPL260116P00140000';

let test: TestApp;
let client: TestClient;
let path: string;

const buy = (symbol: string, quantity: number, portfolioId: string) =>
  client.post('/v1/orders', {
    portfolioId,
    symbol,
    assetClass: 'OPTION',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity,
    timeInForce: 'DAY',
  });
const activities = async () =>
  (await client.get(`${path}/activities?category=OPTION`)).body.data.map(
    ({ activityId: _id, at: _at, ...rest }: Body) => rest,
  );

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 50_000 });
  path = `/v1/accounts/portfolios/${portfolioId}`;
  await client.put('/v1/simulation/quotes', {
    quotes: [
      { symbol: 'AAPL', bid: 155, ask: 155 },
      { symbol: CALL, bid: 5, ask: 5.1 },
      { symbol: PUT, bid: 1.5, ask: 1.6 },
    ],
  });
  await buy(CALL, 3, portfolioId);
  await buy(PUT, 1, portfolioId);
});
afterEach(() => test.close());

describe('an exercise (D86)', () => {
  it('of the whole position, without a body and by the padded symbol, is complete when answered', async () => {
    const { status, body } = await client.post(`${path}/options/${PADDED}/exercise`);
    expect(status).toBe(200);
    expect(body).toEqual({
      optionSymbol: CALL,
      quantity: 3,
      underlying: 'AAPL',
      shares: 300,
      strike: 150,
      cash: -45_000,
      at: expect.any(String),
    });
    expect((await client.get(`${path}/equities`)).body).toMatchObject([
      { symbol: 'AAPL', settledQuantity: 0, pendingQuantity: 300, costBasis: 46_530 },
    ]);
    expect((await client.get(`${path}/options`)).body).toMatchObject([{ optionSymbol: PUT }]);
    expect(await activities()).toEqual([
      {
        category: 'OPTION',
        type: 'EXERCISED',
        description: `3 ${CALL} exercised`,
        symbol: CALL,
        quantity: 3,
        price: 150,
        amount: -45_000,
      },
    ]);
    const [entry] = (await client.get(`${path}/ledger`)).body.data;
    expect(entry).toMatchObject({ type: 'EXERCISE', description: `3 ${CALL} exercised` });
    expect(entry.postings).toEqual([
      { account: 'SETTLED_CASH', amount: -45_000 },
      { account: 'SECURITIES', amount: 45_000 },
    ]);
  });

  it('is refused with each possible reason', async () => {
    const refused = async (symbol: string, body?: object, to = path) => {
      const answer = await client.post(`${to}/options/${symbol}/exercise`, body);
      return [answer.status, answer.body.error.code ?? answer.body.message];
    };
    expect(await refused(CALL, { quantity: 4 })).toEqual([400, 'INSUFFICIENT_POSITION']);
    expect(await refused(CALL, { quantity: 0 })).toEqual([
      400,
      ['quantity must be an integer from 1 to 1000000000'],
    ]);
    expect(await refused('AAPL260116C00155000')).toEqual([400, 'INSUFFICIENT_POSITION']);
    expect(await refused(PUT)).toEqual([400, 'NOT_SHORTABLE']);
    expect(await refused(PUT, {}, `/v1/accounts/portfolios/${NOWHERE}`)).toEqual([
      404,
      'Portfolio not found',
    ]);
    await client.post(`${path}/transfers`, { amount: -40_000 });
    expect(await refused(CALL, { quantity: 1 })).toEqual([400, 'INSUFFICIENT_FUNDS']);
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-05T22:00:00.000Z' });
    expect(await refused(CALL, { quantity: 1 })).toEqual([400, 'MARKET_CLOSED']);
    expect((await test.as({ scope: 'read' }).post(`${path}/options/${CALL}/exercise`)).status).toBe(403);
  });
});

it('expires on its last day: contracts in the money are exercised unless instructed otherwise (D85)', async () => {
  const instructed = await client.post(`${path}/options/${CALL}/do-not-exercise`, { quantity: 2 });
  expect([instructed.status, instructed.body]).toEqual([200, { optionSymbol: CALL, quantity: 2 }]);
  await client.post('/v1/simulation/clock/advance', { to: '2026-01-16T21:00:00.000Z' });
  expect((await activities()).map(({ type, quantity, amount }: Body) => [type, quantity, amount])).toEqual([
    ['EXERCISED', 1, -15_000],
    ['EXPIRED', 1, 0],
    ['EXPIRED', 2, 0],
    ['DO_NOT_EXERCISE', 2, undefined],
  ]);
  expect((await activities()).at(-1)).toMatchObject({ type: 'DO_NOT_EXERCISE', price: 150 });
  expect((await client.get(`${path}/options`)).body).toEqual([]);
  const types = (await client.get(`${path}/ledger`)).body.data.map(({ type }: Body) => type);
  expect(types.slice(0, 3)).toEqual(['EXERCISE', 'EXPIRY', 'EXPIRY']);
});

describe('early assignment (D89)', () => {
  it('is configured for a new simulation; covered calls are assigned on the evening before an ex-date', async () => {
    expect((await client.get('/v1/simulations/main')).body.earlyAssignment).toBe('OFF');
    const wanted = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: '2026-01-07T10:00:00-05:00' };
    expect(
      (await client.post('/v1/simulations', { ...wanted, earlyAssignment: 'ALWAYS' })).body,
    ).toMatchObject({
      statusCode: 400,
      message: ['earlyAssignment must be one of OFF, DIVIDENDS, MODEL'],
    });
    const made = await client.post('/v1/simulations', { ...wanted, earlyAssignment: 'DIVIDENDS' });
    expect(made.body.earlyAssignment).toBe('DIVIDENDS');
    const early = test.withToken(made.body.token);
    await early.put('/v1/simulation/quotes', {
      quotes: [
        { symbol: 'AAPL', bid: 155, ask: 155 },
        { symbol: CALL, bid: 5.1, ask: 5.2, last: 5.1 },
      ],
    });
    await early.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: '2026-01-08', amountPerShare: 0.25 }],
    });
    const { portfolioId } = await openPortfolio(early, { portfolioType: 'CASH', initialCash: 50_000 });
    const own = `/v1/accounts/portfolios/${portfolioId}`;
    const order = { portfolioId, orderType: 'MARKET', timeInForce: 'DAY' };
    const shares = { symbol: 'AAPL', assetClass: 'EQUITY', positionIntent: 'BUY_TO_OPEN', quantity: 100 };
    const calls = { symbol: CALL, assetClass: 'OPTION', positionIntent: 'SELL_TO_OPEN', quantity: 1 };
    await early.post('/v1/orders', { ...order, ...shares });
    await early.post('/v1/orders', { ...order, ...calls });
    await early.post('/v1/simulation/clock/advance', { to: '2026-01-07T19:59:59-05:00' });
    expect((await early.get(`${own}/options`)).body).toMatchObject([{ optionSymbol: CALL, quantity: -1 }]);
    await early.post('/v1/simulation/clock/advance', { to: '2026-01-07T20:00:00-05:00' });
    expect((await early.get(`${own}/options`)).body).toEqual([]);
    const [assigned] = (await early.get(`${own}/activities?category=OPTION`)).body.data;
    expect(assigned).toMatchObject({
      at: '2026-01-08T01:00:00.000Z',
      type: 'ASSIGNED',
      description: `1 ${CALL} assigned`,
      symbol: CALL,
      quantity: 1,
      price: 150,
      amount: 15_000,
    });
    expect((await early.get(`${own}/ledger`)).body.data[0]).toMatchObject({ type: 'ASSIGNMENT' });
    await early.post('/v1/simulation/clock/advance', { to: '2026-01-08T09:30:00-05:00' });
    expect((await early.get(`${own}/equities`)).body).toEqual([]);
    // 50,000 − 15,500 + 510 − 0.50 + 15,000, and no dividend.
    expect((await early.get(own)).body).toMatchObject({ settledCash: 50_009.5, pendingCash: 0 });
  });
});
