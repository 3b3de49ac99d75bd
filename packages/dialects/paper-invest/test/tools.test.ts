import { randomUUID } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Body, pushQuote, TestApp } from '../../../server/src/testing/test-app.js';

/** Requests that the vendor's own MCP server sends for each of its tools, by its public list, and the answer fields that clients read. */
describe("Paper Invest's tools", () => {
  let test: TestApp;
  let token: string;
  const accountId = randomUUID();

  beforeAll(async () => {
    test = await TestApp.open();
    const { apiKey } = await test.access.createKey({
      tenantId: 'tenant-1',
      tier: 'ENTERPRISE',
      scope: 'trade read simulate',
    });
    const reply = await test.app.inject({
      method: 'POST',
      url: '/paperinvest/v1/auth/token',
      payload: { apiKey },
    });
    const tokens = reply.json();
    expect(tokens.accessToken).toBe(tokens.token);
    expect(tokens.access_token).toBe(tokens.token);
    token = tokens.token as string;
    await pushQuote(test.as());
    await send('POST', '/accounts', { accountId, accountType: 'INDIVIDUAL', portfolioType: 'MARGIN' });
  });
  afterAll(() => test.close());

  const call = (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<LightMyRequestResponse> =>
    test.app.inject({
      method,
      url: `/paperinvest/v1${path}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { payload: body }),
    });

  async function send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Body> {
    const reply = await call(method, path, body);
    if (reply.statusCode >= 400) throw new Error(`${method} ${path}: ${reply.body}`);
    return reply.json();
  }

  it('work, all 23 of them', async () => {
    expect((await send('GET', `/accounts/${accountId}`)).id).toBe(accountId);
    expect((await send('PUT', `/accounts/${accountId}`, { name: 'mine' })).name).toBe('mine');
    const opened = await send('POST', '/accounts/portfolios', {
      accountId,
      name: 'first',
      type: 'INDIVIDUAL',
    });
    expect(opened).toMatchObject({ portfolioType: 'CASH', accountType: 'INDIVIDUAL', brokerId: 'default' });
    const { portfolioId } = opened;
    expect((await send('GET', `/accounts/portfolios/${portfolioId}`)).name).toBe('first');
    expect(await send('GET', `/accounts/${accountId}/portfolios`)).toHaveLength(1);
    const upgraded = await send('PUT', `/accounts/portfolios/${portfolioId}/margin-upgrade`, {
      marginAgreement: true,
    });
    expect(upgraded.portfolio.marginType).toBe('REG_T');

    const order = {
      accountId,
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      quantity: 10,
      side: 'BUY_TO_OPEN',
      type: 'MARKET',
      timeInForce: 'DAY',
      session: 'REGULAR',
      notes: 'not shown here',
    };
    const placed = await send('POST', '/orders', order);
    expect(placed).not.toHaveProperty('notes');
    expect(placed).toMatchObject({
      type: 'MARKET',
      side: 'BUY_TO_OPEN',
      orderType: 'MARKET',
      id: placed.orderId,
    });
    const found = await send('GET', `/orders/${placed.orderId}`);
    expect(found).toMatchObject({ status: 'FILLED', filledAvgPrice: 100, averagePrice: 100 });
    expect(found.filledAt).toBe(found.executedAt);
    const batch = await send('POST', '/orders/batch', [
      { portfolioId, symbol: 'AAPL', quantity: 1, side: 'BUY_TO_OPEN', type: 'MARKET' },
      { portfolioId, symbol: 'NOPE', quantity: 1, side: 'BUY_TO_OPEN', type: 'MARKET' },
    ]);
    expect([batch.successful.length, batch.failed.length]).toEqual([1, 1]);
    expect(batch.failed[0].error.code).toBe('UNKNOWN_SYMBOL');
    const rests = await send('POST', '/orders', { ...order, type: 'LIMIT', limitPrice: 90 });
    expect((await send('PUT', `/orders/${rests.orderId}/cancel`)).status).toBe('CANCELED');
    const listed = await send('GET', `/orders/account/${accountId}?page=1&limit=10`);
    expect(listed.orders).toEqual(listed.data);
    expect(listed.orders).toHaveLength(3);
    await send('POST', '/orders', { ...order, type: 'LIMIT', limitPrice: 90 });
    expect((await send('DELETE', `/orders/account/${accountId}`)).canceledCount).toBe(1);
    const filled = await send('GET', '/orders/filled/today?page=1&limit=10');
    expect(filled.orders.map((one: Body) => one.filledAvgPrice)).toEqual([100, 100]);

    const [held] = await send('GET', `/accounts/portfolios/${portfolioId}/equities`);
    expect(held).toMatchObject({ quantity: 11, lastPrice: 100, symbol: 'AAPL' });
    expect(await send('GET', `/accounts/portfolios/${portfolioId}/options`)).toEqual([]);
    expect(
      (await send('GET', `/accounts/portfolios/${portfolioId}/day-trades?page=1&limit=50`)).data,
    ).toEqual([]);
    expect((await send('GET', `/activity-log/portfolio/${portfolioId}?page=1&limit=20`)).data).not.toEqual(
      [],
    );

    expect((await send('GET', '/market-data/quote/AAPL')).price).toBe(100);
    expect((await send('POST', '/market-data/quotes/batch', { symbols: ['AAPL'] })).quotes).toHaveLength(1);
    expect((await send('GET', '/market-data/market-hours/NYSE')).isOpen).toBe(true);
    expect((await send('GET', '/market-data/is-market-open/AAPL')).isOpen).toBe(true);

    expect((await send('POST', `/accounts/portfolios/${portfolioId}/reset`)).success).toBe(true);
    expect((await send('PUT', `/accounts/${accountId}/freeze`)).status).toBe('FROZEN');
  });

  it('Paper Invest tools: return the errors of `/v1`', async () => {
    const reply = await call('POST', '/orders', { type: 'MARKET' });
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({ statusCode: 400, error: 'Bad Request' });
    expect((await call('POST', '/orders/batch', [])).statusCode).toBe(400);
    expect((await call('GET', '/accounts/nope')).statusCode).toBe(400);
  });

  it('do not loosen the validation of `/v1`', async () => {
    const strict = await test.withToken(token).post('/v1/orders', { type: 'MARKET', side: 'BUY_TO_OPEN' });
    expect(strict.status).toBe(400);
  });
});
