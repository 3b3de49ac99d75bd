/** Options over the API: orders, positions, reservations (contract 2.3, D61, D74, D80, D81). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const CALL = 'AAPL260116C00150000';
const PUT = 'AAPL260116P00140000';

let test: TestApp;
let client: TestClient;
let portfolio: Body;

const quotes = (...all: object[]) => client.put('/v1/simulation/quotes', { quotes: all });
const order = (more: object) =>
  client.post('/v1/orders', {
    portfolioId: portfolio.portfolioId,
    symbol: CALL,
    assetClass: 'OPTION',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 2,
    timeInForce: 'DAY',
    ...more,
  });
const positions = async () =>
  (await client.get(`/v1/accounts/portfolios/${portfolio.portfolioId}/options`)).body;
const shown = async () => (await client.get(`/v1/accounts/portfolios/${portfolio.portfolioId}`)).body;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  portfolio = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 50_000 });
  await quotes(
    { symbol: 'AAPL', bid: 149.99, ask: 150.01 },
    { symbol: CALL, bid: 5, ask: 5.1 },
    { symbol: PUT, bid: 1.5, ask: 1.6 },
  );
});
afterEach(() => test.close());

describe('a call', () => {
  it('is bought by its padded symbol, shown without blanks, and held as documented', async () => {
    const { status, body } = await order({
      symbol: 'aapl  260116C00150000',
      orderType: 'LIMIT',
      limitPrice: 5.1,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ symbol: CALL, assetClass: 'OPTION', status: 'PENDING', quantity: 2 });
    const filled = (await client.get(`/v1/orders/${body.orderId}`)).body;
    expect(filled).toMatchObject({ status: 'FILLED', filledQuantity: 2, averagePrice: 5.1 });
    const [position, ...none] = await positions();
    expect(none).toEqual([]);
    expect(position).toEqual({
      symbol: 'AAPL',
      optionSymbol: CALL,
      quantity: 2,
      optionType: 'CALL',
      strike: 150,
      expiration: '2026-01-16',
      averageCost: 5.1,
      lastPrice: 5.05,
      marketValue: 1010,
      unrealizedPnL: -10,
      deltaPerContract: expect.any(Number),
      gammaPerContract: expect.any(Number),
      thetaPerContract: expect.any(Number),
      vegaPerContract: expect.any(Number),
      rhoPerContract: expect.any(Number),
    });
    expect(position.deltaPerContract).toBeGreaterThan(40);
    expect(position.thetaPerContract).toBeLessThan(0);
    expect(await shown()).toMatchObject({
      // The default broker's commission is 0.50 a contract.
      settledCash: 50_000 - 1020 - 1,
      longMarketValue: 1010,
      totalEquity: 50_000 - 10 - 1,
    });
    const { data } = (await client.get(`/v1/orders/${body.orderId}/executions`)).body;
    expect(data).toMatchObject([{ symbol: CALL, quantity: 2, price: 5.1, commission: 1 }]);
    const ledger = (await client.get(`/v1/accounts/portfolios/${portfolio.portfolioId}/ledger`)).body;
    expect(ledger.data.map(({ type }: Body) => type).sort()).toEqual(['COMMISSION', 'INITIAL_CASH', 'TRADE']);
    const equities = await client.get(`/v1/accounts/portfolios/${portfolio.portfolioId}/equities`);
    expect(equities.body).toEqual([]);
  });

  it('selling a naked call: is refused with 403 and both option levels', async () => {
    const { status, body } = await order({ positionIntent: 'SELL_TO_OPEN', quantity: 1 });
    expect(status).toBe(403);
    expect(body.error).toEqual({ code: 'OPTION_LEVEL', currentLevel: 3, requiredLevel: 4 });
  });

  it('requires whole contracts, prices on the tick and regular hours', async () => {
    expect((await order({ quantity: 1.5 })).body.message).toEqual([
      'quantity must be a whole number for OPTION orders',
    ]);
    expect((await order({ orderType: 'LIMIT', limitPrice: 5.01 })).body.message).toEqual([
      'limitPrice must be a multiple of 0.05',
    ]);
    const extended = await order({ orderType: 'LIMIT', limitPrice: 5, session: 'EXTENDED' });
    expect(extended.body.message).toEqual(['session EXTENDED is only allowed for EQUITY orders']);
    expect((await order({ symbol: 'AAPL260116C00151000' })).body.error.code).toBe('UNKNOWN_SYMBOL');
  });
});

it('a short put reserves cash for its strike', async () => {
  const { status } = await order({ symbol: PUT, positionIntent: 'SELL_TO_OPEN', quantity: 1 });
  expect(status).toBe(201);
  expect(await shown()).toMatchObject({
    reservedCash: 14_000,
    settledCash: 36_000,
    pendingCash: 149.5,
    shortMarketValue: 155,
  });
  expect(await positions()).toMatchObject([
    { quantity: -1, averageCost: 1.5, marketValue: -155, unrealizedPnL: -5 },
  ]);
});

it('on margin a long option uses twice its premium of the buying power, a short one its requirement', async () => {
  portfolio = await openPortfolio(client, { portfolioType: 'MARGIN', initialCash: 50_000 });
  await order({ quantity: 1 });
  expect(await shown()).toMatchObject({
    overnightBuyingPower: 2 * (50_000 - 510 - 0.5),
    houseRequirement: 0,
  });
  await order({ symbol: PUT, positionIntent: 'SELL_TO_OPEN', quantity: 1 });
  // 155 + max(20 % of 15,000 − 1,000, 10 % of 14,000).
  expect(await shown()).toMatchObject({ houseRequirement: 155 + 2000 });
});
