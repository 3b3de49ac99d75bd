/** Names of portfolios (D257). */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Body, TestApp, type TestClient } from '../testing/test-app.js';

const ACCOUNT = '7b0c6f2e-6a94-4f0e-8a35-0d2f3f7a9c11';

let test: TestApp;
let client: TestClient;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

const opened = async (more: object = {}): Promise<string> => {
  const { status, body } = await client.post('/v1/accounts/portfolios', {
    accountId: ACCOUNT,
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    ...more,
  });
  expect(status).toBe(201);
  return body.portfolioId as string;
};
const path = (id: string): string => `/v1/accounts/portfolios/${id}`;
const nameOf = async (id: string): Promise<unknown> => (await client.get(path(id))).body.name;

it('a portfolio without a name shows the present name of its account', async () => {
  await client.post('/v1/accounts', { accountId: ACCOUNT, name: 'Mia' });
  const id = await opened();
  expect(await nameOf(id)).toBe('Mia');
  await client.put(`/v1/accounts/${ACCOUNT}`, { name: 'Mia B.' });
  expect(await nameOf(id)).toBe('Mia B.');
  const named = await opened({ name: 'Momentum' });
  expect(await nameOf(named)).toBe('Momentum');
});

it('updatePortfolio: names a portfolio, answers every field, and null removes the name', async () => {
  await client.post('/v1/accounts', { accountId: ACCOUNT, name: 'Mia' });
  const id = await opened({ name: 'First' });
  const { status, body } = await client.put(path(id), { name: 'Second' });
  expect([status, body.name]).toEqual([200, 'Second']);
  expect(body).toMatchObject({ portfolioId: id, totalEquity: 100_000, maintenanceMarginRequirement: 0 });
  expect(await nameOf(id)).toBe('Second');
  // Names need not be unique.
  expect((await client.put(path(await opened()), { name: 'Second' })).status).toBe(200);
  expect((await client.put(path(id), { name: null })).body.name).toBe('Mia');
  expect(await nameOf(id)).toBe('Mia');
});

it('updatePortfolio: the present name is no change', async () => {
  const id = await opened({ name: 'First' });
  const { updatedAt } = (await client.get(path(id))).body;
  await client.post('/v1/simulation/clock/advance', { by: 'PT1M' });
  expect((await client.put(path(id), { name: 'First' })).body.updatedAt).toBe(updatedAt);
  expect((await client.put(path(id), { name: 'Other' })).body.updatedAt).not.toBe(updatedAt);
});

it('updatePortfolio, createPortfolio: refuse other names', async () => {
  const id = await opened();
  const messages = async (body: object): Promise<unknown> => {
    const reply = await client.put(path(id), body);
    expect(reply.status).toBe(400);
    return reply.body.message;
  };
  expect(await messages({})).toEqual(['name must be a string']);
  expect(await messages({ name: 7 })).toEqual(['name must be a string']);
  expect(await messages({ name: '\u3164' })).toEqual(['name must contain a letter or a digit']);
  expect(await messages({ name: 'x'.repeat(81) })).toEqual(['name must be at most 80 characters']);
  expect(await messages({ name: 'x', brokerId: 'default' })).toEqual(['property brokerId should not exist']);
  const created = await client.post('/v1/accounts/portfolios', {
    accountId: ACCOUNT,
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    name: 'x'.repeat(81),
  });
  expect([created.status, created.body.message]).toEqual([400, ['name must be at most 80 characters']]);
  expect((await client.put(path(id), { name: 'x'.repeat(80) })).status).toBe(200);
});

it('updatePortfolio: 403 in a frozen account, 409 for a closed portfolio, 404 for those of other tenants', async () => {
  const id = await opened({ name: 'First' });
  await client.put(`/v1/accounts/${ACCOUNT}/freeze`, {});
  expect(await client.put(path(id), { name: 'Second' })).toMatchObject({
    status: 403,
    body: { error: { code: 'ACCOUNT_FROZEN' } },
  });
  await client.put(`/v1/accounts/${ACCOUNT}/unfreeze`, {});
  await client.put(path(id), { name: 'Last' });
  expect((await client.delete(path(id))).status).toBe(200);
  expect((await client.put(path(id), { name: 'Again' })).status).toBe(409);
  expect(await nameOf(id)).toBe('Last');
  const other = test.as({ tenantId: 'other' });
  expect((await other.put(path(id), { name: 'Mine' })).status).toBe(404);
});

it('a renamed portfolio keeps its name over a restart and a reset', async () => {
  const id = await opened({ name: 'First' });
  await client.put(path(id), { name: 'Second' });
  await client.post(`${path(id)}/reset`, {});
  test = await test.restart();
  client = test.as();
  expect(await nameOf(id)).toBe('Second');
  const listed = (await client.get(`/v1/accounts/${ACCOUNT}/portfolios`)).body as Body[];
  expect(listed.map((one) => Object.keys(one))).not.toContain('name');
});
