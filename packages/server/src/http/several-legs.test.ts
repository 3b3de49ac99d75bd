/** Orders of several options over the API (D28, D61, D75–D78). */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const [LOW, HIGH] = ['AAPL260116C00150000', 'AAPL260116C00160000'] as const;

let test: TestApp;
let client: TestClient;
let portfolio: Body;

const order = (more: object) =>
  client.post('/v1/orders', {
    portfolioId: portfolio.portfolioId,
    symbol: 'AAPL',
    assetClass: 'OPTION',
    orderType: 'LIMIT',
    positionIntent: 'BUY_TO_OPEN',
    timeInForce: 'DAY',
    limitPrice: 3.1,
    strategy: 'VERTICAL_SPREAD',
    legs: [
      { optionSymbol: 'AAPL  260116C00150000', positionIntent: 'BUY_TO_OPEN', quantity: 2 },
      { optionSymbol: HIGH, positionIntent: 'SELL_TO_OPEN', quantity: 2 },
    ],
    ...more,
  });

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  portfolio = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 50_000 });
  await client.put('/v1/simulation/quotes', {
    quotes: [
      { symbol: 'AAPL', bid: 149.99, ask: 150.01 },
      { symbol: LOW, bid: 5, ask: 5.1 },
      { symbol: HIGH, bid: 2, ask: 2.1 },
    ],
  });
});
afterEach(() => test.close());

it('a vertical is one order with two executions and reads back as sent', async () => {
  const { status, body } = await order({});
  expect(status).toBe(201);
  expect(body).toMatchObject({
    symbol: 'AAPL',
    quantity: 2,
    strategy: 'VERTICAL_SPREAD',
    limitPrice: 3.1,
    legs: [
      { optionSymbol: LOW, positionIntent: 'BUY_TO_OPEN', quantity: 2 },
      { optionSymbol: HIGH, positionIntent: 'SELL_TO_OPEN', quantity: 2 },
    ],
  });
  const filled = (await client.get(`/v1/orders/${body.orderId}`)).body;
  expect(filled).toMatchObject({ status: 'FILLED', filledQuantity: 2, averagePrice: 3.1 });
  const { data } = (await client.get(`/v1/orders/${body.orderId}/executions`)).body;
  const shown = data.map(({ symbol, quantity, price, commission }: Body) => [
    symbol,
    quantity,
    price,
    commission,
  ]);
  expect(shown.sort()).toEqual([
    [LOW, 2, 5.1, 1],
    [HIGH, 2, 2, 1],
  ]);
  const positions = (await client.get(`/v1/accounts/portfolios/${portfolio.portfolioId}/options`)).body;
  expect(positions.map(({ optionSymbol, quantity }: Body) => [optionSymbol, quantity])).toEqual([
    [LOW, 2],
    [HIGH, -2],
  ]);
  const value = (await client.get(`/v1/accounts/portfolios/${portfolio.portfolioId}`)).body;
  expect(value).toMatchObject({
    settledCash: 50_000 - 620 - 2,
    pendingCash: 0,
    reservedCash: 0,
    marginLoan: 0,
  });
});

it('a multi-leg order: waits for its net, and reports it', async () => {
  const { body } = await order({ limitPrice: 3 });
  expect((await client.get(`/v1/orders/${body.orderId}`)).body).toMatchObject({
    status: 'ACTIVE',
    waitingFor: 'net 3.10 above limit 3.00',
  });
  const canceled = await client.put(`/v1/orders/${body.orderId}/cancel`, {});
  expect(canceled.body.status).toBe('CANCELED');
});

it('a multi-leg order: reports every error', async () => {
  const messages = async (more: object) => (await order(more)).body.message;
  expect(await messages({ orderType: 'STOP', limitPrice: undefined, stopPrice: 3 })).toEqual([
    'orderType must be MARKET or LIMIT for multi-leg orders',
  ]);
  expect(await messages({ quantity: 3 })).toEqual(['quantity must agree with the legs']);
  expect(await messages({ strategy: 'STRADDLE' })).toEqual([
    'legs must be a call and a put',
    'legs must have the same strike',
    'legs must be on the same side',
  ]);
  expect(await messages({ limitPrice: -1 })).toEqual([
    'positionIntent must agree with the legs and limitPrice',
  ]);
});

it('a multi-leg preview: its buying power equals that after the fill, on margin', async () => {
  portfolio = await openPortfolio(client, {
    portfolioType: 'MARGIN',
    marginType: 'REG_T',
    initialCash: 50_000,
  });
  const credit = {
    positionIntent: 'SELL_TO_OPEN',
    limitPrice: 2.9,
    legs: [
      { optionSymbol: LOW, positionIntent: 'SELL_TO_OPEN', quantity: 1 },
      { optionSymbol: HIGH, positionIntent: 'BUY_TO_OPEN', quantity: 1 },
    ],
  };
  const path = `/v1/accounts/portfolios/${portfolio.portfolioId}`;
  const preview = await client.post('/v1/orders/preview', {
    portfolioId: portfolio.portfolioId,
    symbol: 'AAPL',
    assetClass: 'OPTION',
    orderType: 'LIMIT',
    timeInForce: 'DAY',
    strategy: 'VERTICAL_SPREAD',
    ...credit,
  });
  const { body } = await order(credit);
  expect((await client.get(`/v1/orders/${body.orderId}`)).body.status).toBe('FILLED');
  const after = (await client.get(path)).body;
  // The width of 1,000 is the requirement; 290 came in, less commission.
  expect(after.smaBalance).toBe(50_000 + 290 - preview.body.commission - 1000);
  expect(after.overnightBuyingPower).toBe(preview.body.buyingPower.after);
});

it('a refusal names the leg that it is about', async () => {
  const unlisted = 'AAPL260116C00165000';
  const withLeg = (optionSymbol: string, positionIntent: string) => ({
    legs: [
      { optionSymbol: LOW, positionIntent: 'BUY_TO_OPEN', quantity: 1 },
      { optionSymbol, positionIntent, quantity: 1 },
    ],
  });
  expect((await order(withLeg(unlisted, 'SELL_TO_OPEN'))).body.error).toEqual({
    code: 'UNKNOWN_SYMBOL',
    symbol: unlisted,
  });
  await order({
    legs: undefined,
    strategy: undefined,
    symbol: HIGH,
    orderType: 'MARKET',
    limitPrice: undefined,
    quantity: 1,
  });
  expect((await order(withLeg(HIGH, 'SELL_TO_OPEN'))).body.error).toEqual({
    code: 'POSITION_CONFLICT',
    symbol: HIGH,
  });
});
