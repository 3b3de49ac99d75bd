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

it('a CUSTOM order: shows its shape, rolls several legs, and names the closing legs where it is rejected', async () => {
  const [next, last] = ['AAPL260116C00170000', 'AAPL260116C00180000'] as const;
  await client.put('/v1/simulation/quotes', {
    quotes: [
      { symbol: next, bid: 1, ask: 1.1 },
      { symbol: last, bid: 0.4, ask: 0.5 },
    ],
  });
  const leg = (optionSymbol: string, positionIntent: string) => ({
    optionSymbol,
    positionIntent,
    quantity: 1,
  });
  const spread = await order({
    strategy: 'CUSTOM',
    positionIntent: 'SELL_TO_OPEN',
    limitPrice: 2.9,
    legs: [leg(LOW, 'SELL_TO_OPEN'), leg(HIGH, 'BUY_TO_OPEN')],
  });
  expect(spread.body).toMatchObject({ strategy: 'CUSTOM', shape: 'CREDIT_SPREAD' });
  const roll = {
    strategy: 'CUSTOM',
    positionIntent: 'BUY_TO_OPEN',
    // 5.10 − 2.00 − 1.00 + 0.50.
    limitPrice: 2.6,
    legs: [
      leg(LOW, 'BUY_TO_CLOSE'),
      leg(HIGH, 'SELL_TO_CLOSE'),
      leg(next, 'SELL_TO_OPEN'),
      leg(last, 'BUY_TO_OPEN'),
    ],
  };
  const path = `/v1/accounts/portfolios/${portfolio.portfolioId}`;
  await client.post(`${path}/transfers`, { amount: -48_900 });
  const poor = await order(roll);
  expect(poor).toMatchObject({
    status: 400,
    body: { message: 'Insufficient funds', error: { code: 'INSUFFICIENT_FUNDS', closingLegs: [LOW, HIGH] } },
  });
  await client.post(`${path}/transfers`, { amount: 1000 });
  const { body } = await order(roll);
  const filled = (await client.get(`/v1/orders/${body.orderId}`)).body;
  expect(filled).toMatchObject({
    status: 'FILLED',
    averagePrice: 2.6,
    strategy: 'CUSTOM',
    shape: 'CREDIT_SPREAD',
  });
  const positions = (await client.get(`${path}/options`)).body;
  expect(positions.map(({ optionSymbol, quantity }: Body) => [optionSymbol, quantity])).toEqual([
    [next, -1],
    [last, 1],
  ]);
});

it('a CUSTOM order: refuses ratios beyond 1:3, repeated contracts, brackets and share legs', async () => {
  const leg = (optionSymbol: string, positionIntent: string, quantity: number) => ({
    optionSymbol,
    positionIntent,
    quantity,
  });
  const messages = async (legs: readonly object[], more: object = {}) =>
    (await order({ strategy: 'CUSTOM', legs, ...more })).body.message;
  const [buys, sells] = [leg(LOW, 'BUY_TO_OPEN', 1), leg(HIGH, 'SELL_TO_OPEN', 4)];
  expect(await messages([buys, sells])).toEqual(['legs must be in ratios between 1:3 and 3:1']);
  expect(await messages([buys, buys])).toEqual(['legs must be distinct contracts']);
  expect(await messages([buys])).toEqual(['legs must contain 2 to 4 elements']);
  expect(await messages([buys, leg('AAPL', 'BUY_TO_OPEN', 100)])).toBe('AAPL is not an option');
  expect(
    await messages([buys, leg(HIGH, 'SELL_TO_OPEN', 3)], {
      bracketConfig: { profitTarget: { orderType: 'LIMIT', limitPrice: 4 } },
    }),
  ).toEqual(['bracketConfig should not exist for multi-leg orders']);
  expect(await messages([buys, leg(HIGH, 'SELL_TO_OPEN', 2.5)])).toEqual([
    'legs.1.quantity must be a whole number',
  ]);
});
