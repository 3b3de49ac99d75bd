import { stateHash } from '@sandpit/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  type Body,
  NOWHERE,
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
let url: string;

/** The lists of a portfolio's past. */
const LISTS = ['activities', 'ledger', 'day-trades', 'history'] as const;

async function open(options: Parameters<typeof TestApp.open>[0] = {}): Promise<void> {
  test = await TestApp.open(options);
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client)) as { portfolioId: string });
  url = `/v1/accounts/portfolios/${portfolioId}`;
  await pushQuote(client);
}

beforeEach(() => open());
afterEach(() => test.close());

const dayTrade = async (): Promise<string> => {
  await placeOrder(client, portfolioId);
  const { orderId } = await placeOrder(client, portfolioId, {
    positionIntent: 'SELL_TO_CLOSE',
    limitPrice: 99.9,
  });
  return orderId as string;
};

/** Lets everything settle that was traded on the first day. */
const settle = () => client.put('/v1/simulation/clock', { now: '2026-01-06T15:00:00Z' });

const read = async (path: string): Promise<Body> => {
  const { status, body } = await client.get(path);
  expect(status).toBe(200);
  return body;
};

const pastOf = async (): Promise<Record<string, Body>> => {
  const past: Record<string, Body> = { orders: await read(`/v1/orders/portfolio/${portfolioId}`) };
  for (const list of LISTS) past[list] = await read(`${url}/${list}`);
  return past;
};

const CLOSED = { statusCode: 409, message: 'Portfolio is closed', error: 'Conflict' };

describe('A reset (D142)', () => {
  it('leaves all records readable, and continues the numbering', async () => {
    await dayTrade();
    await client.post('/v1/simulation/clock/advance', { by: 'PT8H' });
    const before = await pastOf();
    await client.post(`${url}/reset`);
    const after = await pastOf();
    for (const list of ['orders', ...LISTS]) {
      expect(after[list].data.slice(-before[list].data.length)).toEqual(before[list].data);
      expect(before[list].data.length, list).toBeGreaterThan(0);
    }
  });

  it('keeps the day trades made before it', async () => {
    await dayTrade();
    await client.post(`${url}/reset`);
    await dayTrade();
    expect((await read(`${url}/day-trades`)).pagination.total).toBe(2);
  });
});

describe('A closed portfolio (D142)', () => {
  it('is returned in its last state, with status CLOSED', async () => {
    await client.post(`${url}/transfers`, { amount: -1000 });
    await dayTrade();
    expect((await client.delete(url)).body).toEqual({
      statusCode: 409,
      message: 'The portfolio cannot be closed: cash has not settled',
      error: {
        code: 'PORTFOLIO_NOT_EMPTY',
        reasons: [{ code: 'UNSETTLED_CASH', amount: 999, settlesOn: '2026-01-06' }],
      },
    });
    await settle();
    const before = await read(url);
    expect(before).not.toHaveProperty('status');
    // 100,000 less 1,000 out and ten shares bought at 100 and sold at 99.90.
    expect(before).toMatchObject({ totalEquity: 98999, settledCash: 98999, pendingCash: 0 });
    expect((await client.delete(url)).status).toBe(200);
    const closed = await read(url);
    expect(closed).toMatchObject({
      status: 'CLOSED',
      totalEquity: 0,
      settledCash: 0,
      pendingCash: 0,
      updatedAt: '2026-01-06T15:00:00.000Z',
    });
    expect((await read(`${url}/ledger`)).data[0]).toMatchObject({
      type: 'WITHDRAWAL',
      description: 'Cash paid out on closing',
    });
    await client.post('/v1/simulation/clock/advance', { by: 'P2D' });
    expect(await read(url)).toEqual(closed);
  });

  it('has no positions and no eligibility for portfolio margin', async () => {
    await client.delete(url);
    for (const kind of ['equities', 'options', 'futures']) expect(await read(`${url}/${kind}`)).toEqual([]);
    expect(await read(`${url}/margin-eligibility`)).toEqual({
      eligible: false,
      totalEquity: 0,
      requiredEquity: 110000,
      reasons: ['The portfolio is closed'],
      currentMarginType: 'REG_T',
    });
  });

  it('retains its activities, ledger, day trades, equity curve, orders and executions', async () => {
    const orderId = await dayTrade();
    await settle();
    const before = await pastOf();
    const order = await read(`/v1/orders/${orderId}`);
    const executions = await read(`/v1/orders/${orderId}/executions`);
    await client.delete(url);
    const after = await pastOf();
    for (const list of ['orders', 'day-trades', 'history']) expect(after[list], list).toEqual(before[list]);
    expect(after['activities'].data.slice(0, 2)).toMatchObject([
      { type: 'PORTFOLIO_CLOSED' },
      { type: 'WITHDRAWAL', category: 'CASH', amount: -99_999 },
    ]);
    expect(after['activities'].data.slice(2)).toEqual(before['activities'].data);
    expect(after['ledger'].data.slice(1)).toEqual(before['ledger'].data);
    expect(await read(`/v1/orders/${orderId}`)).toEqual(order);
    expect(await read(`/v1/orders/${orderId}/executions`)).toEqual(executions);
    expect((await read(`${url}/history?from=2026-01-05`)).data).toHaveLength(1);
    // Deleting its account changes nothing about that.
    await client.delete(`/v1/accounts/${ACCOUNT}`);
    expect(await pastOf()).toEqual(after);
    expect((await read(url)).status).toBe('CLOSED');
  });

  it('answers every change with 409, and does not change', async () => {
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 90 });
    await client.put(`/v1/orders/${orderId}/cancel`);
    await client.delete(url);
    const before = stateHash(test.main.brokerage.state);
    for (const reply of [
      await client.delete(url),
      await client.put(`${url}/broker`, { brokerId: 'default' }),
      await client.put(`${url}/broker`, { brokerId: 'nobody' }),
      await client.put(`${url}/margin-upgrade`, { marginType: 'PORTFOLIO' }),
      await client.post(`${url}/reset`),
      await client.post(`${url}/transfers`, { amount: 1 }),
      await client.post('/v1/orders', orderBody(portfolioId)),
      await client.post('/v1/orders/preview', orderBody(portfolioId)),
      await client.post('/v1/orders', orderBody(portfolioId), { 'idempotency-key': 'k' }),
      await client.post(`${url}/key-pairs`),
      await client.delete(`${url}/key-pairs/PKAAAAAAAAAAAAAAAAAA`),
    ]) {
      expect(reply.body).toEqual(CLOSED);
    }
    expect(await read(`${url}/key-pairs`)).toEqual([]);
    for (const reply of [
      await client.put(`/v1/orders/${orderId}`, { limitPrice: 91 }),
      await client.put(`/v1/orders/${orderId}/cancel`),
    ]) {
      expect(reply.body).toMatchObject({ statusCode: 409, error: { code: 'ORDER_NOT_UPDATABLE' } });
    }
    expect(stateHash(test.main.brokerage.state)).toBe(before);
  });

  it('is refused as closed before its closing is durable', async () => {
    const replies = await Promise.all([client.delete(url), client.delete(url), client.get(url)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 409, 200]);
    expect(replies[2].body.status).toBe('CLOSED');
  });

  it('does not exist for another tenant', async () => {
    await client.delete(url);
    const other = test.as({ tenantId: 'other' });
    const missing = { statusCode: 404, message: 'Portfolio not found', error: 'Not Found' };
    for (const reply of [
      await other.get(url),
      await other.get(`${url}/equities`),
      await other.get(`${url}/margin-eligibility`),
      await other.get(`${url}/ledger`),
      await other.get(`${url}/history?from=2026-01-05`),
      await other.get(`/v1/orders/portfolio/${portfolioId}`),
      await other.get(`/v1/stream/portfolios?portfolioId=${portfolioId}`),
      await other.get(`/v1/stream/orders?portfolioId=${portfolioId}`),
      await other.delete(url),
      await other.post(`${url}/reset`),
      await other.post(`${url}/transfers`, { amount: 1 }),
      await other.put(`${url}/broker`, { brokerId: 'default' }),
      await other.post('/v1/orders', orderBody(portfolioId)),
    ]) {
      expect(reply.body).toEqual(missing);
    }
    expect((await client.get(`/v1/accounts/portfolios/${NOWHERE}`)).body).toEqual(missing);
  });
});
