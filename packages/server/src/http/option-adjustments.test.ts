/** Option adjustments for splits, over the API (D89): for pushed splits, and for Apple's of 2014-06-09 as recorded. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const SAMPLES = join(import.meta.dirname, '../../../../samples');

let test: TestApp;
afterEach(() => test.close());

const order = (portfolioId: string, symbol: string, more: object = {}) => ({
  portfolioId,
  symbol,
  assetClass: 'OPTION',
  orderType: 'MARKET',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 1,
  timeInForce: 'DAY',
  ...more,
});
const advance = (client: TestClient, to: string) => client.post('/v1/simulation/clock/advance', { to });
const chainOf = async (client: TestClient, expiration: string): Promise<[string, number?, number?][]> => {
  const { body } = await client.get(`/v1/market-data/options/AAPL/chain?expiration=${expiration}`);
  return body.contracts.map(({ optionSymbol, bid, ask }: Body) => [optionSymbol, bid, ask]);
};

describe('a split of pushed options', () => {
  const CALL = 'AAPL260116C00100000';
  const ADJUSTED = 'AAPL260116C00050000';

  const splitting = async (ratio: object) => {
    test = await TestApp.open();
    const client = test.as();
    await client.put('/v1/simulation/quotes', {
      quotes: [
        { symbol: 'AAPL', bid: 100, ask: 100 },
        { symbol: CALL, bid: 4, ask: 4.1 },
      ],
    });
    await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: '2026-01-06', ratio }],
    });
    const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 50_000 });
    await client.post('/v1/orders', order(portfolioId, CALL, { quantity: 2 }));
    const resting = await client.post(
      '/v1/orders',
      order(portfolioId, CALL, { orderType: 'LIMIT', limitPrice: 1.01, timeInForce: 'GTC' }),
    );
    await advance(client, '2026-01-06T10:00:00-05:00');
    const path = `/v1/accounts/portfolios/${portfolioId}`;
    return { client, portfolioId, path, orderId: resting.body.orderId as string };
  };

  it('of a whole ratio: positions, orders, the chain and the log have the new series', async () => {
    const { client, portfolioId, path, orderId } = await splitting({ new: 2, old: 1 });
    expect((await client.get(`${path}/options`)).body).toMatchObject([
      { symbol: 'AAPL', optionSymbol: ADJUSTED, quantity: 4, strike: 50, averageCost: 2.05 },
    ]);
    expect((await client.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      symbol: ADJUSTED,
      quantity: 2,
      limitPrice: 0.5,
      status: 'ACTIVE',
    });
    const found = await client.get(`/v1/orders/portfolio/${portfolioId}?symbol=${ADJUSTED}`);
    expect(found.body.data.map((one: Body) => one.orderId)).toEqual([orderId]);
    expect(await chainOf(client, '2026-01-16')).toEqual([[ADJUSTED, 2, 2.05]]);
    const [adjusted] = (await client.get(`${path}/activities?category=OPTION`)).body.data;
    expect(adjusted).toMatchObject({
      type: 'ADJUSTED',
      description: `${CALL} adjusted: 4 ${ADJUSTED}`,
      symbol: ADJUSTED,
      quantity: 4,
      price: 50,
      amount: 0,
    });
    const refused = await client.post('/v1/orders', order(portfolioId, CALL));
    expect(refused.body.error).toMatchObject({ code: 'INSTRUMENT_NOT_TRADABLE' });
    // A series that is listed later may have the name that is free.
    await client.put('/v1/simulation/quotes', { quotes: [{ symbol: CALL, bid: 0.1, ask: 0.2 }] });
    expect((await client.post('/v1/orders', order(portfolioId, CALL))).status).toBe(201);
  });

  it('of another ratio: the deliverable changes, the root gets a digit, orders are canceled', async () => {
    const { client, path, orderId } = await splitting({ new: 3, old: 2 });
    expect((await client.get(`${path}/options`)).body).toMatchObject([
      { symbol: 'AAPL', optionSymbol: 'AAPL1260116C00100000', quantity: 2, strike: 100, averageCost: 4.1 },
    ]);
    expect((await client.get(`/v1/orders/${orderId}`)).body).toMatchObject({
      symbol: CALL,
      status: 'CANCELED',
      cancelReason: 'CORPORATE_ACTION',
    });
    const exercised = await client.post(`${path}/options/AAPL1260116C00100000/exercise`);
    expect(exercised.body).toMatchObject({ shares: 300, strike: 100, cash: -20_000 });
  });
});

it('a recorded AAPL position lives through the 7:1 split of 2014-06-09', async () => {
  test = await TestApp.open({ settings: { REPLAY_PATH: SAMPLES } });
  const made = await test.as().post('/v1/simulations', {
    feed: 'replay',
    clock: 'manual',
    start: '2014-06-06T10:30:00-04:00',
    replay: 'AAPL',
  });
  const client = test.withToken(made.body.token);
  await advance(client, '2014-06-06T11:30:00-04:00');
  const before = await chainOf(client, '2014-06-21');
  expect(before.map(([symbol]) => symbol)).toEqual(['AAPL140621C00645000', 'AAPL140621P00645000']);
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 100_000 });
  const path = `/v1/accounts/portfolios/${portfolioId}`;
  await client.post('/v1/orders', order(portfolioId, 'AAPL140621C00645000', { quantity: 2 }));
  await client.post('/v1/orders', order(portfolioId, 'AAPL150117C00600000'));
  const [near, far] = (await client.get(`${path}/options`)).body;
  expect(near).toMatchObject({ optionSymbol: 'AAPL140621C00645000', quantity: 2, strike: 645 });
  await advance(client, '2014-06-06T16:00:00-04:00');
  const closing = (await client.get(path)).body;

  await advance(client, '2014-06-09T09:00:00-04:00');
  const [split, long] = (await client.get(`${path}/options`)).body;
  // 645 ÷ 7 is 92.142857, 600 ÷ 7 85.714286.
  expect(split).toMatchObject({ optionSymbol: 'AAPL140621C00092140', quantity: 14, strike: 92.14 });
  expect(long).toMatchObject({ optionSymbol: 'AAPL150117C00085710', quantity: 7, strike: 85.71 });
  expect(split.averageCost * 14).toBeCloseTo(near.averageCost * 2, 6);
  expect(long.averageCost * 7).toBeCloseTo(far.averageCost, 6);
  const morning = (await client.get(path)).body;
  expect(Math.abs(morning.totalEquity - closing.totalEquity)).toBeLessThan(0.01);
  expect((await chainOf(client, '2014-06-21')).map(([symbol]) => symbol)).toEqual([
    'AAPL140621C00092140',
    'AAPL140621P00092140',
  ]);
  expect((await client.get('/v1/market-data/options/AAPL/expirations')).body.expirations).toEqual([
    '2014-06-21',
    '2015-01-17',
  ]);

  // An hour after the bell the recording has quotes of its own for the new series.
  await advance(client, '2014-06-09T11:00:00-04:00');
  const [quoted] = await chainOf(client, '2014-06-21');
  expect(quoted![1]).toBeGreaterThan(1);
  const sold = await client.post(
    '/v1/orders',
    order(portfolioId, 'AAPL140621C00092140', { positionIntent: 'SELL_TO_CLOSE', quantity: 14 }),
  );
  expect((await client.get(`/v1/orders/${sold.body.orderId}`)).body).toMatchObject({
    status: 'FILLED',
    filledQuantity: 14,
    averagePrice: quoted![1],
  });
});
