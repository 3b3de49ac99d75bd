import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Body,
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
  portfolioId = String((await openPortfolio(client, { initialCash: 10_000 }))['portfolioId']);
  await pushQuote(client);
});
afterEach(() => test.close());

const of = async (what: string): Promise<Body> =>
  (await client.get(`/v1/accounts/portfolios/${portfolioId}${what}`)).body;

const buy = (quantity: number): Promise<unknown> =>
  placeOrder(client, portfolioId, { orderType: 'MARKET', limitPrice: undefined, quantity });

describe('the margin of a portfolio', () => {
  it('is the requirement of a hypothetical book, with its equity', async () => {
    await buy(150);
    const margin = await of('/margin');
    expect(margin).toMatchObject({
      fedRequirement: 7500,
      houseRequirement: 3750,
      maintenanceRequirement: 3750,
      initialRequirement: 7500,
      marginEquity: 10_000,
      totalEquity: 10_000,
      maintenanceExcess: 6250,
      smaBalance: 2500,
      calls: [],
      accruedInterest: 0,
      accruedBorrowFees: 0,
    });
    expect(margin.groups).toHaveLength(1);
    expect(await of('/sma')).toMatchObject({
      data: [
        { event: 'EXECUTION', amount: -7500, balance: 2500 },
        { event: 'INITIAL_CASH', amount: 10_000, balance: 10_000 },
      ],
      pagination: { total: 2 },
    });
  });

  it('getPortfolio, getPortfolioMargin, listSma: show the same SMA, fractions of a cent included', async () => {
    await client.put('/v1/simulation/quotes', {
      quotes: [{ symbol: 'AAPL', bid: 99.99, ask: 100.01, last: 99.99 }],
    });
    await buy(1);
    const { smaBalance } = await of('');
    expect(smaBalance).toBe(10_000 - 50.005);
    expect((await of('/margin')).smaBalance).toBe(smaBalance);
    expect((await of('/sma')).data[0].balance).toBe(smaBalance);
  });

  it('a fall of the price leads to a call, which is listed, streamed and met by a deposit', async () => {
    await buy(180);
    await pushQuote(client, { bid: 54.9, ask: 55, last: 55 });
    await client.post('/v1/simulation/clock/advance', { by: 'PT2S' });
    const { calls } = await of('/margin');
    expect(calls).toMatchObject([{ type: 'MAINTENANCE', amount: 575, status: 'OPEN' }]);
    expect((await of('')).marginCallActive).toBe(true);
    const refused = await client.post('/v1/orders', orderBody(portfolioId));
    expect(refused.status).toBe(403);
    expect(refused.body.error).toEqual({ code: 'MARGIN_CALL_ACTIVE', callAmount: 575 });
    await client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount: 1000 });
    await client.post('/v1/simulation/clock/advance', { by: 'PT2S' });
    expect((await of('/margin-calls')).data).toMatchObject([{ callId: calls[0].callId, status: 'MET' }]);
    const types = (await of('/activities?category=MARGIN')).data.map((one: Body) => one.type as string);
    expect(types).toEqual(expect.arrayContaining(['CALL_ISSUED', 'CALL_MET']));
  });

  it('getPortfolioMargin, listMarginCalls: amountDue follows the market, and a deposit of it meets the call (D217)', async () => {
    await buy(180);
    await pushQuote(client, { bid: 54.9, ask: 55, last: 55 });
    await client.post('/v1/simulation/clock/advance', { by: 'PT2S' });
    // 180 shares at 50 with 8,000 borrowed: 2,250 are required of 1,000.
    await pushQuote(client, { bid: 49.9, ask: 50, last: 50 });
    const figures = { type: 'MAINTENANCE', amount: 575, amountDue: 1250, status: 'OPEN' };
    expect((await of('/margin')).calls).toMatchObject([figures]);
    expect((await of('/margin-calls')).data).toMatchObject([figures]);
    const refused = await client.post('/v1/orders', orderBody(portfolioId));
    expect(refused.body.error).toEqual({ code: 'MARGIN_CALL_ACTIVE', callAmount: 1250 });
    const pay = (amount: number) =>
      client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount });
    await pay(575);
    expect((await of('/margin')).calls).toMatchObject([{ ...figures, amountDue: 675 }]);
    await pay(674.99);
    expect((await of('/margin')).calls).toMatchObject([{ ...figures, amountDue: 0.01 }]);
    await pay(0.01);
    expect((await of('/margin')).calls).toEqual([]);
    const [met] = (await of('/margin-calls')).data;
    expect(met).toMatchObject({ amount: 575, status: 'MET' });
    expect(met).not.toHaveProperty('amountDue');
  });

  it('an unmet call is liquidated and stays readable', async () => {
    await buy(180);
    await pushQuote(client, { bid: 56.99, ask: 57, last: 57 });
    await client.post('/v1/simulation/clock/advance', { to: '2026-01-08T11:59:00-05:00' });
    await pushQuote(client, { bid: 56.99, ask: 57, last: 57 });
    await client.post('/v1/simulation/clock/advance', { by: 'PT2M' });
    expect((await of('/margin-calls')).data).toMatchObject([{ type: 'MAINTENANCE', status: 'LIQUIDATED' }]);
    const { data } = await of('/activities?category=MARGIN');
    expect(data.map((one: Body) => one.type as string)).toEqual(
      expect.arrayContaining(['CALL_ISSUED', 'CALL_DUE', 'LIQUIDATION']),
    );
    const orders = (await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.data;
    expect((await client.get(`/v1/orders/${orders[0].orderId}`)).body).toMatchObject({
      origin: 'LIQUIDATION',
      orderType: 'MARKET',
      status: 'FILLED',
    });
  });
});

describe('a preview (D42, D122)', () => {
  const preview = async (more: object): Promise<Body> => {
    const { status, body } = await client.post('/v1/orders/preview', orderBody(portfolioId, more));
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  };

  it('shows the result and places no order', async () => {
    const estimate = await preview({ quantity: 150, orderType: 'MARKET', limitPrice: undefined });
    expect(estimate).toMatchObject({
      accepted: true,
      rejections: [],
      estimatedPrice: 100,
      estimatedCost: 15_000,
      commission: 0,
      fees: [],
      cash: { before: 10_000, after: -5000 },
      initialMargin: { before: 0, after: 7500 },
      maintenanceMargin: { before: 0, after: 3750 },
      buyingPower: { before: 20_000, after: 5000 },
      dayTrade: { wouldCount: false, countInWindow: 0, restricted: false },
      settlementDate: '2026-01-06',
    });
    expect((await client.get(`/v1/orders/portfolio/${portfolioId}`)).body.pagination.total).toBe(0);
    await buy(150);
    expect(await of('')).toMatchObject({ overnightBuyingPower: 5000, houseRequirement: 3750 });
    expect(await preview({ positionIntent: 'SELL_TO_CLOSE', quantity: 10, limitPrice: 99 })).toMatchObject({
      estimatedPrice: 99.9,
      estimatedCost: -999,
      dayTrade: { wouldCount: true },
    });
  });

  it('lists every reason against an order', async () => {
    const { accepted, rejections } = await preview({ quantity: 5000, limitPrice: 100.001 });
    expect(accepted).toBe(false);
    expect(rejections.map(({ code }: Body) => code as string)).toEqual(['INVALID', 'INSUFFICIENT_FUNDS']);
    expect(rejections[1]).toMatchObject({ requiredAmount: expect.any(Number) as number });
    const missing = await client.post(
      '/v1/orders/preview',
      orderBody('99999999-9999-4999-8999-999999999999'),
    );
    expect(missing.status).toBe(404);
  });
});
