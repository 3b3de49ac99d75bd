/** One line for each request, marked if it grants or revokes rights; it contains no secret. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPortfolio, orderBody, TestApp } from '../testing/test-app.js';

let test: TestApp;
const lines: string[] = [];
const last = (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown>;

beforeEach(async () => {
  lines.length = 0;
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  test = await TestApp.open({ log, isAccessLogged: true });
});
afterEach(() => test.close());

it('access log: includes route template, status, tenant and request id', async () => {
  const client = test.as();
  const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
  lines.length = 0;
  await client.get(`/v1/accounts/portfolios/${portfolioId}/activities?limit=3`, { 'x-request-id': 'mine-7' });
  expect(lines).toHaveLength(1);
  const line = last();
  expect(line).toMatchObject({
    level: 30,
    msg: 'request',
    method: 'GET',
    route: '/v1/accounts/portfolios/:portfolioId/activities',
    status: 200,
    tenant: 'tenant-1',
    requestId: 'mine-7',
  });
  expect(line['ms']).toEqual(expect.any(Number));
  expect(line).not.toHaveProperty('audit');
  await test.app.inject({ url: '/nowhere' });
  expect(last()).toMatchObject({ route: 'none', status: 404 });
});

it('access log: marks refused logins, tokens and changes of the market', async () => {
  await test.withToken(undefined).get('/v1/accounts');
  expect(last()).toMatchObject({ status: 401, audit: 'refused login', address: '127.0.0.1' });
  await test.withToken(undefined).post('/v1/auth/token', { apiKey: 'wrong' });
  expect(last()).toMatchObject({ status: 401, audit: 'refused login', route: '/v1/auth/token' });
  await test.as().post('/v1/auth/agent-token', { level: 'read' });
  expect(last()).toMatchObject({ status: 201, audit: 'createAgentToken', tenant: 'tenant-1' });
  await test.as().post('/v1/simulation/clock/advance', { by: 'PT1S' });
  expect(last()).toMatchObject({ status: 200, audit: 'advanceClock' });
  await test.as().post('/v1/simulation/halts', { symbol: 'NOPE' });
  expect(last()).toMatchObject({ status: 400, audit: 'haltTrading' });
});

it('access log: includes no body, query or token', async () => {
  const canary = 'canary-4711';
  const client = test.as();
  const { apiKey } = await test.access.createKey({ tenantId: 'tenant-1', tier: 'PRO', scope: 'read' });
  const { body } = await test.withToken(undefined).post('/v1/auth/token', { apiKey });
  await client.get(`/v1/orders?symbol=${canary}`);
  await client.post('/v1/orders', orderBody(canary, { clientOrderId: canary }));
  await client.post(`/v1/${canary}`, { [canary]: canary });
  await test.app.inject({
    url: '/v1/accounts',
    headers: { authorization: `Bearer ${canary}`, 'x-request-id': '\u001b[2J' },
  });
  const text = lines.join('');
  for (const secret of [canary, apiKey, (body as { token: string }).token, client.token ?? '', '\u001b'])
    expect(text).not.toContain(secret);
});
