/** Names that people see (D237), wherever they can be given. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ACCOUNT, TestApp } from '../testing/test-app.js';
import type { TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

const BLANK = ['\u2800', '\u3164', '\u115F\u1160', '\uFFA0', '!!!', '★'];
const GOOD = ['Mia', '7', '口座', 'é', '٣'];

const portfolio = (name: string): object => ({
  accountId: ACCOUNT,
  portfolioType: 'CASH',
  accountType: 'INDIVIDUAL',
  brokerId: 'default',
  name,
});
const DOORS: readonly (readonly [string, string, (name: string) => object])[] = [
  ['createAccount', '/v1/accounts', (name) => ({ name })],
  ['createPortfolio', '/v1/accounts/portfolios', portfolio],
  ['createSimulation', '/v1/simulations', (name) => ({ name, feed: 'push', clock: 'manual' })],
  ['forkSimulation', '/v1/simulations/main/forks', (name) => ({ name })],
];

it.each(DOORS)('%s: a name has a letter or a digit', async (_, url, body) => {
  for (const name of BLANK) {
    const reply = await client.post(url, body(name));
    expect([reply.status, reply.body.message]).toEqual([400, ['name must contain a letter or a digit']]);
  }
  for (const name of GOOD) expect((await client.post(url, body(name))).status, name).toBe(201);
});

it('updateAccount, createCompetition: a name has a letter or a digit', async () => {
  const { accountId } = (await client.post('/v1/accounts', { name: 'Mia' })).body;
  const renamed = await client.put(`/v1/accounts/${String(accountId)}`, { name: '\u3164' });
  expect([renamed.status, renamed.body.message]).toEqual([400, ['name must contain a letter or a digit']]);
  const created = await client.post('/v1/competitions', { name: '\u2800' });
  expect(created.status).toBe(400);
  expect(created.body.message).toContain('name must contain a letter or a digit');
});
