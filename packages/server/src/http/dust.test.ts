/** Floating-point noise in requests (D151): 97.03999999999999 is 97.04 in every number. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  openPortfolio,
  orderBody,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client)) as { portfolioId: string });
});
afterEach(() => test.close());

it('an order and its update are stored without floating-point error', async () => {
  const { orderId } = await placeOrder(client, portfolioId, {
    limitPrice: 97.03999999999999,
    quantity: 20.000000000000004,
  });
  const url = `/v1/orders/${orderId}`;
  expect((await client.get(url)).body).toMatchObject({ limitPrice: 97.04, quantity: 20 });
  expect((await client.put(url, { limitPrice: 97.05000000000001 })).body.limitPrice).toBe(97.05);
});

it('the exits of a bracket are stored without floating-point error', async () => {
  const { bracketConfig } = await placeOrder(client, portfolioId, {
    limitPrice: 90,
    bracketConfig: {
      profitTarget: { orderType: 'LIMIT', limitPrice: 110.00999999999999 },
      stopLoss: { orderType: 'STOP', stopPrice: 80.03999999999999 },
    },
  });
  expect(bracketConfig).toMatchObject({
    profitTarget: { limitPrice: 110.01 },
    stopLoss: { stopPrice: 80.04 },
  });
});

it('a quote and a listing are accepted with floating-point error', async () => {
  expect(
    (await pushQuote(client, { bid: 97.03999999999999, ask: 97.05000000000001, last: 97.05 })).status,
  ).toBe(200);
  expect((await client.get('/v1/market-data/quote/AAPL')).body).toMatchObject({ bid: 97.04, ask: 97.05 });
  const { status } = await client.put('/v1/simulation/instruments', {
    instruments: [{ assetClass: 'EQUITY', symbol: 'DUST', tickSize: 0.30000000000000004 }],
  });
  expect(status).toBe(200);
  const wrong = await client.post('/v1/orders', orderBody(portfolioId, { symbol: 'DUST', limitPrice: 0.7 }));
  expect(wrong.status).toBe(400);
  expect(
    (await client.post('/v1/orders', orderBody(portfolioId, { symbol: 'DUST', limitPrice: 0.6 }))).status,
  ).toBe(201);
});

it('a transfer is stored without floating-point error', async () => {
  const { status } = await client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, {
    amount: 0.30000000000000004,
  });
  expect(status).toBe(201);
  expect((await client.get(`/v1/accounts/portfolios/${portfolioId}`)).body.settledCash).toBe(100_000.3);
});

it('any other number with too many decimals is refused', async () => {
  const place = (more: object) => client.post('/v1/orders', orderBody(portfolioId, more));
  expect((await place({ quantity: 0.3000001 })).body.message).toEqual([
    'quantity must have at most 6 decimal places',
  ]);
  expect((await place({ limitPrice: 0.123456789 })).body.message).toEqual([
    'limitPrice must have at most 8 decimal places',
  ]);
  const { body } = await client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount: 10.001 });
  expect(body.message).toEqual(['amount must have at most 2 decimal places']);
});
