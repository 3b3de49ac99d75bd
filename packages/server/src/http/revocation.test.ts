/** A revoked credential is refused at once, whichever cache still holds it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inDirectory } from '../testing/server-process.js';
import { TestApp, type TestClient } from '../testing/test-app.js';
import { DashboardFiles } from './dashboard.js';

let test: TestApp;
let keyId: string;
let token: string;
let tokenId: string;
let client: TestClient;

beforeEach(async () => {
  test = await TestApp.open();
  const scope = 'trade read simulate admin operator';
  const created = await test.access.createKey({ tenantId: 'tenant-1', tier: 'PRO', scope });
  keyId = created.id;
  const { body } = await test.withToken(undefined).post('/v1/auth/token', { apiKey: created.apiKey });
  ({ token, tokenId } = body as { token: string; tokenId: string });
  client = test.withToken(token);
});
afterEach(() => test.close());

const statusOf = async (one: TestClient): Promise<number> => (await one.get('/v1/accounts')).status;

/** The token of a new simulation. */
async function simulationToken(from: TestClient): Promise<string> {
  const { body } = await from.post('/v1/simulations', { feed: 'push', clock: 'manual' });
  return (body as { token: string }).token;
}

const ways = {
  'its key': () => test.access.revokeKey(keyId),
  'the token itself': () => test.access.revokeToken(tokenId, test.time.nowMs + 86_400_000),
};
type Way = keyof typeof ways;

it.each(Object.keys(ways) as Way[])(
  'a token is refused with %s, together with all tokens made with it',
  async (way) => {
    const inside = test.withToken(await simulationToken(client));
    const further = test.withToken(await simulationToken(inside));
    const other = test.as();
    for (const one of [client, inside, further, other]) expect(await statusOf(one)).toBe(200);
    await ways[way]();
    for (const one of [client, inside, further]) expect(await statusOf(one)).toBe(401);
    expect(await statusOf(other)).toBe(200);
  },
);

it('a revoked token of the second generation revokes its own tokens, and not its parent', async () => {
  const second = await simulationToken(client);
  const third = await simulationToken(test.withToken(second));
  const agent = await test.withToken(second).post('/v1/auth/agent-token', { level: 'read' });
  const after = [
    third,
    await simulationToken(test.withToken(third)),
    (agent.body as { token: string }).token,
  ];
  const claims = JSON.parse(Buffer.from(second.split('.')[1] ?? '', 'base64url').toString()) as {
    jti: string;
  };
  for (const one of [second, ...after]) expect(await statusOf(test.withToken(one))).toBe(200);
  await test.access.revokeToken(claims.jti, test.time.nowMs + 86_400_000);
  for (const one of [second, ...after]) expect(await statusOf(test.withToken(one))).toBe(401);
  expect(await statusOf(client)).toBe(200);
});

it('POST /dashboard/logout: revokes its token and the tokens made with it', async () => {
  await inDirectory(async (directory) => {
    writeFileSync(join(directory, 'index.html'), '<p>');
    mkdirSync(join(directory, 'assets'));
    const app = await TestApp.open({ dashboard: DashboardFiles.in(directory) });
    try {
      const first = app.as();
      const second = app.withToken(await simulationToken(first));
      const third = app.withToken(await simulationToken(second));
      for (const one of [first, second, third]) expect(await statusOf(one)).toBe(200);
      // No route of the API: the dashboard's own.
      const logOut = async (token?: string): Promise<number> => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        return (await app.app.inject({ method: 'POST', url: '/dashboard/logout', headers })).statusCode;
      };
      expect(await logOut()).toBe(401);
      expect(await logOut(second.token)).toBe(200);
      for (const one of [second, third]) expect(await statusOf(one)).toBe(401);
      expect(await statusOf(first)).toBe(200);
      expect(await logOut(second.token)).toBe(401);
    } finally {
      await app.close();
    }
  });
});

it('a token is at most sixteen tokens away from the first', async () => {
  let last = client;
  for (let generation = 1; generation <= 16; generation += 1)
    last = test.withToken(await simulationToken(last));
  const agent = await last.post('/v1/auth/agent-token', { level: 'read' });
  expect([agent.status, agent.body.message]).toEqual([
    409,
    'A token is at most 16 tokens away from the one that an API key bought: ask with an earlier one',
  ]);
  expect((await client.post('/v1/auth/agent-token', { level: 'read' })).status).toBe(201);
});

it('a token of a revoked key is refused at its first use', async () => {
  await test.access.revokeKey(keyId);
  expect(await statusOf(client)).toBe(401);
});

it('a revoked key cannot be exchanged for a token', async () => {
  const { apiKey, id } = await test.access.createKey({ tenantId: 'tenant-1', tier: 'PRO', scope: 'read' });
  const exchange = () => test.withToken(undefined).post('/v1/auth/token', { apiKey });
  expect((await exchange()).status).toBe(200);
  await test.access.revokeKey(id);
  expect((await exchange()).body).toMatchObject({ statusCode: 401, message: 'Invalid API Key' });
});

it.each(Object.keys(ways) as Way[])('streams and tickets end with %s', async (way) => {
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = test.app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1/stream/orders`;
  const ticket = async () => (await client.post('/v1/stream/ticket')).body.ticket as string;
  const open = (address: string, bearer?: string) =>
    fetch(address, bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } });
  const unused = await ticket();
  const mine = await Promise.all([open(url, token), open(`${url}?ticket=${await ticket()}`)]);
  const other = await open(url, test.token());
  const texts = Promise.all(mine.map((response) => response.text()));
  await ways[way]();
  for (const text of await texts) expect(text).toMatch(/event: error\ndata: {"statusCode":401,/);
  expect((await open(`${url}?ticket=${unused}`)).status).toBe(401);
  expect(other.status).toBe(200);
  await other.body?.cancel();
});

it('a stream opened before its token was revoked ends', async () => {
  await test.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = test.app.server.address() as AddressInfo;
  const { main } = test;
  const { portfolioId } = (
    await client.post('/v1/accounts/portfolios', {
      accountId: '11111111-1111-4111-8111-111111111111',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
    })
  ).body as { portfolioId: string };
  const read = main.read.bind(main);
  // The key is revoked while the handler looks the portfolio up.
  main.read = async (...args: Parameters<typeof read>) => {
    await test.access.revokeKey(keyId).catch(() => undefined);
    return read(...args) as never;
  };
  const response = await fetch(`http://127.0.0.1:${port}/v1/stream/orders?portfolioId=${portfolioId}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await response.text()).toContain('"statusCode":401');
});
