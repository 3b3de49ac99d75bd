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

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

describe('an account', () => {
  it('is opened, read, renamed', async () => {
    const { status, body } = await client.post('/v1/accounts', {
      accountId: ACCOUNT.toUpperCase(),
      name: 'Main',
      firstName: 'Ada',
      accountType: 'IRA',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      accountId: ACCOUNT,
      id: ACCOUNT,
      name: 'Main',
      accountType: 'IRA',
      firstName: 'Ada',
      status: 'ACTIVE',
      createdAt: '2026-01-05T15:00:00.000Z',
      updatedAt: '2026-01-05T15:00:00.000Z',
    });
    const renamed = await client.put(`/v1/accounts/${ACCOUNT}`, { name: 'Other', lastName: 'L' });
    expect(renamed.body).toEqual({ ...body, name: 'Other', lastName: 'L' });
    expect((await client.get(`/v1/accounts/${ACCOUNT}`)).body).toEqual(renamed.body);
    expect((await client.post('/v1/accounts', { accountId: ACCOUNT })).body).toMatchObject({
      statusCode: 409,
      error: 'Conflict',
    });
    expect((await client.get(`/v1/accounts/${NOWHERE}`)).body).toEqual({
      statusCode: 404,
      message: 'Account not found',
      error: 'Not Found',
    });
  });

  it('gets an id from the seed where none is given: the same calls give the same ids', async () => {
    const ids = async (): Promise<string[]> => {
      const opened = await TestApp.open();
      const one = await opened.as().post('/v1/accounts', {});
      const two = await opened.as().post('/v1/accounts', {});
      const other = await opened.as({ tenantId: 'other' }).post('/v1/accounts', {});
      await opened.close();
      return [one, two, other].map(({ body }) => body.accountId as string);
    };
    const first = await ids();
    expect(new Set(first).size).toBe(3);
    expect(await ids()).toEqual(first);
  });

  it('is listed newest first', async () => {
    for (const name of ['a', 'b', 'c']) await client.post('/v1/accounts', { name });
    const { body } = await client.get('/v1/accounts?limit=2');
    expect(body.data.map(({ name }: Body) => name as string)).toEqual(['c', 'b']);
    expect(body.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 });
  });

  it('is one for BASIC', async () => {
    const basic = test.as({ tier: 'BASIC', tenantId: 'basic' });
    await openPortfolio(basic);
    const { status, body } = await basic.post('/v1/accounts', {});
    expect(status).toBe(403);
    expect(body.error).toEqual({ code: 'FEATURE_NOT_AVAILABLE', currentTier: 'BASIC', requiredTier: 'PRO' });
  });

  it('takes no orders while it is frozen, but cancels', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await pushQuote(client);
    const { orderId } = await placeOrder(client, portfolioId, { limitPrice: 90 });
    expect((await client.put(`/v1/accounts/${ACCOUNT}/freeze`)).body.status).toBe('FROZEN');
    const refused = await client.post('/v1/orders', orderBody(portfolioId));
    expect(refused.status).toBe(403);
    expect(refused.body.error.code).toBe('ACCOUNT_FROZEN');
    expect((await client.put(`/v1/orders/${orderId}`, { limitPrice: 91 })).body.error.code).toBe(
      'ACCOUNT_FROZEN',
    );
    expect((await client.put(`/v1/orders/${orderId}/cancel`)).status).toBe(200);
    expect((await client.put(`/v1/accounts/${ACCOUNT}/unfreeze`)).body.status).toBe('ACTIVE');
    expect((await client.post('/v1/orders', orderBody(portfolioId))).status).toBe(201);
  });
});
