/** Nodes of a cluster on a live source: one of them has the connection, the others follow its quotes (D202). */
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

function tokenOf(tenantId: string): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    sub: tenantId,
    tier: 'ENTERPRISE',
    scope: 'trade read simulate admin operator',
    iat,
    exp: iat + 3600,
  };
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...claims, jti: randomUUID() })}`;
  return `${content}.${createHmac('sha256', JWT_SECRET).update(content).digest('base64url')}`;
}

async function call(tenantId: string, url: string, method: string, path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${tokenOf(tenantId)}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const node = response.headers.get('x-sandpit-node');
  return { status: response.status, node, body: (await response.json()) as Record<string, unknown> };
}

interface Node {
  readonly server: ServerProcess;
  readonly url: string;
}

/** A resting order of a tenant, as it is seen through one node. */
class RestingOrder {
  readonly #tenantId: string;
  readonly #path: string;

  private constructor(tenantId: string, path: string) {
    this.#tenantId = tenantId;
    this.#path = path;
  }

  static async place(tenantId: string, url: string, limitPrice: number): Promise<RestingOrder> {
    const opened = await call(tenantId, url, 'POST', '/v1/accounts/portfolios', cashPortfolioBody());
    const order = restingOrderBody(String(opened.body.portfolioId), { limitPrice, timeInForce: 'DAY' });
    const placed = await call(tenantId, url, 'POST', '/v1/orders', order);
    expect(placed.status).toBe(201);
    return new RestingOrder(tenantId, `/v1/orders/${placed.body.orderId as string}`);
  }

  async seenAt(url: string): Promise<{ readonly node: string | null; readonly status: unknown }> {
    const { node, body } = await call(this.#tenantId, url, 'GET', this.#path);
    return { node, status: body.status };
  }
}

it(
  'MARKET_FEED=live in a cluster: orders fill on every node by the quotes of one connection, also after the node with the connection was stopped and killed',
  () =>
    inDirectory(async (directory) => {
      const fake = await ALPACA.start();
      const databaseUrl = await newDatabase();
      const launch = async (name: string): Promise<Node> => {
        const port = await freePort();
        const server = ServerProcess.launch({
          DATABASE_URL: databaseUrl,
          DATA_DIR: `${directory}/${name}`,
          NODE_ID: name,
          PORT: String(port),
          NODE_URL: `http://127.0.0.1:${port}`,
          NODE_PORT: '0',
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
      const a = await launch('a');
      const b = await launch('b');
      try {
        const feedOf = async ({ url }: Node): Promise<unknown> =>
          ((await call('tenant-0', url, 'GET', '/v1/ready')).body.feed as Record<string, unknown>).status;
        /** A quote at the instant of a tenant's node. */
        const quote = async (tenantId: string, url: string, bid: number): Promise<void> => {
          const { now } = (await call(tenantId, url, 'GET', '/v1/simulation/clock')).body;
          fake.quote({ symbol: 'AAPL', atMs: Date.parse(now as string), bid, ask: bid + 0.01 });
        };
        for (const node of [a, b]) await expect.poll(() => feedOf(node), WAIT).toBe('connected');
        expect(fake.vendor.connections.size).toBe(1);
        // A new tenant at a time: those of the time before both nodes are seen to be alive all go to one of them.
        const owners = new Map<string | null, string>();
        let tenants = 0;
        await expect
          .poll(async () => {
            const tenant = `tenant-${(tenants += 1)}`;
            const path = '/v1/accounts/portfolios';
            owners.set((await call(tenant, a.url, 'POST', path, cashPortfolioBody())).node, tenant);
            return [...owners.keys()].toSorted();
          }, WAIT)
          .toEqual(['a', 'b']);
        const [ofA = '', ofB = ''] = [owners.get('a'), owners.get('b')];

        // An order on the node without the connection subscribes its symbol there, and fills by the quotes of the other node.
        const first = await RestingOrder.place(ofB, a.url, 90);
        await expect.poll(() => [...fake.subscribed()], WAIT).toEqual(['AAPL']);
        await quote(ofB, b.url, 89.98);
        await expect.poll(() => first.seenAt(a.url), WAIT).toEqual({ node: 'b', status: 'FILLED' });
        fake.quote({ symbol: 'AAPL', atMs: MONDAY_TEN + 60_000, bid: 100, ask: 100.02 });

        // The node with the connection is stopped. A quote that only it has received fills nothing, then or later.
        const orders = [await RestingOrder.place(ofA, a.url, 80), await RestingOrder.place(ofB, b.url, 80)];
        const seen = (url: string) => Promise.all(orders.map((order) => order.seenAt(url)));
        fake.connectionLimit = 2;
        a.server.child.kill('SIGSTOP');
        await quote(ofB, b.url, 79.5);
        await expect.poll(() => fake.vendor.connections.size, WAIT).toBe(2);
        const active = [
          { node: 'b', status: 'ACTIVE' },
          { node: 'b', status: 'ACTIVE' },
        ];
        await expect.poll(() => seen(b.url), WAIT).toEqual(active);
        a.server.child.kill('SIGCONT');
        // It begins again, without its own connection.
        await expect.poll(() => fake.vendor.connections.size, WAIT).toBe(1);
        await expect.poll(() => feedOf(a).catch(() => 'away'), WAIT).toBe('connected');
        expect((await seen(b.url)).map(({ status }) => status)).toEqual(['ACTIVE', 'ACTIVE']);

        // The node that has the connection now is killed: the other one connects, and subscribes without a request.
        await b.server.end('SIGKILL');
        await expect.poll(() => fake.vendor.connections.size, WAIT).toBe(0);
        await expect.poll(() => [...fake.subscribed()], WAIT).toEqual(['AAPL']);
        await quote(ofA, a.url, 79.98);
        const filled = [
          { node: 'a', status: 'FILLED' },
          { node: 'a', status: 'FILLED' },
        ];
        await expect.poll(() => seen(a.url), WAIT).toEqual(filled);
      } finally {
        a.server.child.kill('SIGCONT');
        await Promise.all([a.server.end('SIGKILL'), b.server.end('SIGKILL')]);
        await fake.stop();
      }
    }),
  120_000,
);
