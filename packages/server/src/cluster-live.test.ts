/** Nodes of a cluster on a live source: one of them has the connection (D202). */
import { createHmac, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { ALPACA } from './feeds/live/testing/vendors.js';
import { cashPortfolioBody, restingOrderBody } from './testing/request-bodies.js';
import { inDirectory, ServerProcess } from './testing/server-process.js';
import { MONDAY_TEN } from './testing/simulations.js';
import { newDatabase } from './testing/test-database.js';
import { freePort } from './testing/free-port.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';
const WAIT = { timeout: 25_000, interval: 50 };

function token(): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const claims = { sub: 'bot', tier: 'ENTERPRISE', scope: 'trade read simulate admin', iat, exp: iat + 3600 };
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...claims, jti: randomUUID() })}`;
  return `${content}.${createHmac('sha256', JWT_SECRET).update(content).digest('base64url')}`;
}

it(
  'MARKET_FEED=live in a cluster: the market’s node is killed, another connects, and a resting order fills there',
  () =>
    inDirectory(async (directory) => {
      const fake = await ALPACA.start();
      const databaseUrl = await newDatabase();
      const headers = { authorization: `Bearer ${token()}`, 'content-type': 'application/json' };
      const call = async (url: string, method: string, path: string, body?: object) => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const node = response.headers.get('x-sandpit-node');
        return { status: response.status, node, body: (await response.json()) as Record<string, unknown> };
      };
      const launch = async (
        name: string,
      ): Promise<{ readonly server: ServerProcess; readonly url: string }> => {
        const port = await freePort();
        const server = ServerProcess.launch({
          DATABASE_URL: databaseUrl,
          DATA_DIR: `${directory}/${name}`,
          NODE_ID: name,
          PORT: String(port),
          NODE_URL: `http://127.0.0.1:${port}`,
          CLUSTER_SECRET: 'the secret of the nodes',
          JWT_SECRET,
          MARKET_FEED: 'live',
          MARKET_CLOCK: 'scaled',
          CLOCK_SPEED: '1',
          CLOCK_START: new Date(MONDAY_TEN).toISOString(),
          LOG_LEVEL: 'warn',
          ...ALPACA.settings(fake),
        });
        return { server, url: await server.listening };
      };
      fake.setSnapshot({ symbol: 'AAPL', atMs: MONDAY_TEN, bid: 100, ask: 100.02 });
      const first = await launch('a');
      const second = await launch('b');
      try {
        const feedOf = async (url: string): Promise<Record<string, unknown>> =>
          (await call(url, 'GET', '/v1/ready')).body.feed as Record<string, unknown>;
        await expect.poll(async () => (await feedOf(first.url)).status, WAIT).toBe('connected');
        expect(await call(second.url, 'GET', '/v1/ready')).toMatchObject({
          status: 200,
          body: { feed: { status: 'reconnecting', reason: 'the node of the market has the connection' } },
        });
        expect(fake.vendor.connections.size).toBe(1);
        const opened = await call(second.url, 'POST', '/v1/accounts/portfolios', cashPortfolioBody());
        expect([opened.status, opened.node]).toEqual([201, 'a']);
        const placed = await call(
          second.url,
          'POST',
          '/v1/orders',
          restingOrderBody(String(opened.body.portfolioId), { limitPrice: 90, timeInForce: 'DAY' }),
        );
        expect([placed.status, placed.node]).toEqual([201, 'a']);
        await expect.poll(() => [...fake.subscribed()], WAIT).toEqual(['AAPL']);
        await first.server.end('SIGKILL');
        await expect.poll(() => fake.vendor.connections.size, WAIT).toBe(0);
        // Without a request: the resting order subscribes its symbol at the new node.
        await expect.poll(() => [...fake.subscribed()], WAIT).toEqual(['AAPL']);
        expect(fake.vendor.connections.size).toBe(1);
        const path = `/v1/orders/${placed.body.orderId as string}`;
        const resting = await call(second.url, 'GET', path);
        expect([resting.node, resting.body.status]).toEqual(['b', 'ACTIVE']);
        const { now } = (await call(second.url, 'GET', '/v1/simulation/clock')).body;
        fake.quote({ symbol: 'AAPL', atMs: Date.parse(now as string), bid: 89.98, ask: 89.99 });
        await expect.poll(async () => (await call(second.url, 'GET', path)).body.status, WAIT).toBe('FILLED');
        expect((await feedOf(second.url)).status).toBe('connected');
      } finally {
        await Promise.all([first.server.end('SIGKILL'), second.server.end('SIGKILL')]);
        await fake.stop();
      }
    }),
  90_000,
);
