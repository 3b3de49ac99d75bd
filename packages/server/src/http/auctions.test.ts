/** Orders for the auctions of the open and the close, over HTTP (D180). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPortfolio, placeOrder, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  // 10:00 in New York.
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { portfolioType: 'CASH' })) as { portfolioId: string });
  await pushQuote(client);
});
afterEach(() => test.close());

const market = { orderType: 'MARKET', limitPrice: undefined };
const order = (id: unknown) => client.get(`/v1/orders/${String(id)}`);

describe('orders for the auctions', () => {
  it('execute at the close, with their rule', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { ...market, timeInForce: 'CLS' });
    expect((await order(orderId)).body).toMatchObject({
      status: 'ACTIVE',
      timeInForce: 'CLS',
      waitingFor: 'closing auction 2026-01-05T16:00:00-05:00',
    });
    await client.put('/v1/simulation/clock', { now: '2026-01-05T15:55:00-05:00' });
    expect(await client.put(`/v1/orders/${String(orderId)}/cancel`)).toMatchObject({
      status: 409,
      body: { error: { code: 'ORDER_NOT_UPDATABLE' } },
    });
    await client.put('/v1/simulation/clock', { now: '2026-01-05T16:00:00-05:00' });
    expect((await order(orderId)).body).toMatchObject({ status: 'FILLED', averagePrice: 100 });
    const { body } = await client.get(`/v1/orders/${String(orderId)}/executions`);
    expect(body.data).toMatchObject([{ price: 100, explanation: { rule: 'CLOSING_AUCTION' } }]);
  });

  it('are refused after the cutoff, with the cutoff', async () => {
    const late = await client.post('/v1/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'OPG',
    });
    expect(late).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'AUCTION_CLOSED',
          cutoff: '2026-01-05T09:28:00-05:00',
          opensAt: '2026-01-05T19:00:00-05:00',
        },
      },
    });
  });

  it.each([
    [{ orderType: 'STOP', stopPrice: 101 }, 'timeInForce CLS is only allowed for MARKET and LIMIT orders'],
    [{ orderType: 'MARKET', quantity: 1.5 }, 'quantity must be a whole number for CLS orders'],
    [
      { orderType: 'LIMIT', limitPrice: 100, session: 'EXTENDED' },
      'session EXTENDED is only allowed for DAY and GTC orders',
    ],
    [{ orderType: 'MARKET', quantity: undefined, notional: 100 }, 'notional is only allowed for DAY orders'],
    [
      {
        orderType: 'MARKET',
        bracketConfig: { profitTarget: { orderType: 'LIMIT', limitPrice: 110 } },
      },
      'bracketConfig should not exist for CLS orders',
    ],
  ])('refuse %j', async (more, message) => {
    const reply = await client.post('/v1/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'CLS',
      ...more,
    });
    expect(reply.body).toMatchObject({ statusCode: 400, message: [message] });
  });
});
