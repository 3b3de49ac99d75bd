import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPortfolio, placeOrder, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { portfolioType: 'CASH' })) as { portfolioId: string });
  await pushQuote(client);
});
afterEach(() => test.close());

describe('a closing order with ocoConfig', () => {
  const place = async () => {
    await placeOrder(client, portfolioId, { limitPrice: 100 });
    return client.post('/v1/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      positionIntent: 'SELL_TO_CLOSE',
      quantity: 10,
      limitPrice: 110,
      timeInForce: 'GTC',
      ocoConfig: { stopLoss: { orderType: 'STOP_LIMIT', stopPrice: 90, limitPrice: 89.5 } },
    });
  };

  it('is one of two orders; the stop names it as its parent', async () => {
    const { status, body } = await place();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      orderType: 'LIMIT',
      status: 'PENDING',
      ocoConfig: { stopLoss: { orderType: 'STOP_LIMIT', stopPrice: 90, limitPrice: 89.5 } },
    });
    const { body: list } = await client.get(`/v1/orders/portfolio/${portfolioId}?status=ACTIVE`);
    const [stop, limit] = list.data;
    expect(limit.orderId).toBe(body.orderId);
    expect(stop).toMatchObject({
      orderType: 'STOP_LIMIT',
      parentOrderId: limit.orderId,
      stopPrice: 90,
      quantity: 10,
    });
    await client.put(`/v1/orders/${stop.orderId}`, { stopPrice: 92 });
    expect((await client.get(`/v1/orders/${limit.orderId}`)).body.ocoConfig.stopLoss.stopPrice).toBe(92);
    const { body: equities } = await client.get(`/v1/accounts/portfolios/${portfolioId}/equities`);
    expect(equities[0]).toMatchObject({ reservedQuantity: 10 });
    await client.put(`/v1/orders/${stop.orderId}/cancel`);
    expect((await client.get(`/v1/orders/${limit.orderId}`)).body).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'USER',
    });
  });

  it('ends the other when it fills', async () => {
    const { body } = await place();
    await pushQuote(client, { bid: 110, ask: 110.1, last: 110 });
    const { body: list } = await client.get(`/v1/orders/portfolio/${portfolioId}`);
    const [stop, limit] = list.data;
    expect(limit).toMatchObject({ orderId: body.orderId, status: 'FILLED', averagePrice: 110 });
    expect(stop).toMatchObject({ status: 'CANCELED', cancelReason: 'OCO' });
  });
});

describe('an order with a notional', () => {
  it('shows the amount and the filled value', async () => {
    const order = {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      timeInForce: 'DAY',
      notional: 333.33,
    };
    const { body: preview } = await client.post('/v1/orders/preview', order);
    expect(preview).toMatchObject({ accepted: true, estimatedCost: 333.33 });
    const { status, body } = await client.post('/v1/orders', order);
    expect([status, body.notional, body.quantity]).toEqual([201, 333.33, 3.3333]);
    const { body: filled } = await client.get(`/v1/orders/${body.orderId}`);
    expect(filled).toMatchObject({ status: 'FILLED', filledQuantity: 3.3333, notional: 333.33 });
    const { body: portfolio } = await client.get(`/v1/accounts/portfolios/${portfolioId}`);
    expect(portfolio.settledCash).toBe(100_000 - 333.33);
  });

  it('is refused without a price', async () => {
    const { status, body } = await client.post('/v1/orders', {
      portfolioId,
      symbol: 'MSFT',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      timeInForce: 'DAY',
      notional: 100,
    });
    expect([status, body.error.code]).toEqual([400, 'INSTRUMENT_NOT_TRADABLE']);
  });
});
