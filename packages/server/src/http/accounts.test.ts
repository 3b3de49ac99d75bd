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

  it('has an id derived from the seed if none is given: the same calls produce the same ids', async () => {
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

  it('is limited to one on the BASIC tier', async () => {
    const basic = test.as({ tier: 'BASIC', tenantId: 'basic' });
    await openPortfolio(basic);
    const { status, body } = await basic.post('/v1/accounts', {});
    expect(status).toBe(403);
    expect(body.error).toEqual({ code: 'FEATURE_NOT_AVAILABLE', currentTier: 'BASIC', requiredTier: 'PRO' });
  });

  it('refuses orders while it is frozen, but accepts cancels', async () => {
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

  it.each(['IRA', 'ROTH_IRA'])(
    'created as %s holds portfolios of that type only (D140)',
    async (accountType) => {
      await client.post('/v1/accounts', { accountId: ACCOUNT, accountType });
      const body = { accountId: ACCOUNT, portfolioType: 'CASH', brokerId: 'default' };
      const refused = await client.post('/v1/accounts/portfolios', { ...body, accountType: 'INDIVIDUAL' });
      expect(refused.body).toEqual({
        statusCode: 400,
        message: [`accountType must be ${accountType}, that of the account`],
        error: 'Bad Request',
      });
      expect((await client.post('/v1/accounts/portfolios', { ...body, accountType })).status).toBe(201);
    },
  );

  it('refuses changes but not reads while it is frozen (D141)', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    await client.put(`/v1/accounts/${ACCOUNT}/freeze`);
    const portfolio = `/v1/accounts/portfolios/${portfolioId}`;
    const before = stateHash(test.main.brokerage.state);
    for (const reply of [
      await client.post(`${portfolio}/transfers`, { amount: 1 }),
      await client.post(`${portfolio}/reset`),
      await client.put(`${portfolio}/broker`, { brokerId: 'default' }),
      await client.put(`${portfolio}/margin-upgrade`, { marginType: 'PORTFOLIO' }),
      await client.delete(portfolio),
      await client.delete(`/v1/accounts/${ACCOUNT}`),
    ]) {
      expect(reply.body).toMatchObject({
        statusCode: 403,
        error: { code: 'ACCOUNT_FROZEN', accountId: ACCOUNT },
      });
    }
    expect(stateHash(test.main.brokerage.state)).toBe(before);
    for (const url of [portfolio, `${portfolio}/ledger`, `/v1/accounts/${ACCOUNT}/portfolios`]) {
      expect((await client.get(url)).status).toBe(200);
    }
  });

  it('is deleted once its portfolios are closed (D143)', async () => {
    const url = `/v1/accounts/${ACCOUNT}`;
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    expect((await client.delete(url)).body).toEqual({
      statusCode: 409,
      message: 'Account still has open portfolios',
      error: 'Conflict',
    });
    await client.delete(`/v1/accounts/portfolios/${portfolioId}`);
    expect((await test.as({ tenantId: 'other' }).delete(url)).status).toBe(404);
    expect((await client.delete(url)).body).toEqual({
      accountId: ACCOUNT,
      message: 'Account deleted successfully',
    });
    const gone = { statusCode: 404, message: 'Account not found', error: 'Not Found' };
    for (const reply of [
      await client.get(url),
      await client.put(url, { name: 'n' }),
      await client.put(`${url}/freeze`),
      await client.get(`${url}/portfolios`),
      await client.get(`/v1/orders/account/${ACCOUNT}`),
      await client.delete(`/v1/orders/account/${ACCOUNT}`),
      await client.delete(url),
    ]) {
      expect(reply.body).toEqual(gone);
    }
    expect((await client.get('/v1/accounts')).body.data).toEqual([]);
  });

  it('has a unique id, different from the generated id of a deleted account', async () => {
    const chosen = async (): Promise<string> =>
      (await client.post('/v1/accounts', {})).body.accountId as string;
    const deleted = await chosen();
    await client.delete(`/v1/accounts/${deleted}`);
    expect(await chosen()).not.toBe(deleted);
  });
});
