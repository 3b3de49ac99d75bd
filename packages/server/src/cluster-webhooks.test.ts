/** Webhooks of a tenant whose owner changes during a try. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { freePort } from './testing/free-port.js';
import { cashPortfolioBody, restingOrderBody } from './testing/request-bodies.js';
import { inDirectory, ServerProcess } from './testing/server-process.js';
import { signToken } from './testing/test-app.js';
import { newDatabase } from './testing/test-database.js';
import { until, WebhookReceiver } from './testing/webhook-receiver.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';
const processes: ServerProcess[] = [];
afterAll(() => Promise.all(processes.map((server) => server.end('SIGKILL'))));

interface Node {
  readonly name: string;
  readonly url: string;
  readonly process: ServerProcess;
}

async function start(name: string, databaseUrl: string, directory: string): Promise<Node> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = ServerProcess.launch({
    DATABASE_URL: databaseUrl,
    DATA_DIR: `${directory}/${name}`,
    NODE_ID: name,
    NODE_URL: url,
    PORT: String(port),
    NODE_PORT: '0',
    CLUSTER_SECRET: 'the secret of the nodes',
    JWT_SECRET,
    MARKET_FEED: 'push',
    MARKET_CLOCK: 'manual',
    CLOCK_START: '2026-01-05T10:00:00-05:00',
    WEBHOOK_ALLOW_PRIVATE: 'on',
    LOG_LEVEL: 'warn',
  });
  processes.push(server);
  await server.listening;
  return { name, url, process: server };
}

interface Said {
  readonly status: number;
  readonly node: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

async function ask({ url }: Node, method: string, path: string, body?: object): Promise<Said> {
  const iat = Math.floor(Date.now() / 1000);
  const scope = 'trade read simulate admin operator';
  const token = signToken(
    { sub: 'tenant-1', tier: 'ENTERPRISE', scope, iat, exp: iat + 3600 },
    undefined,
    JWT_SECRET,
  );
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    node: response.headers.get('x-sandpit-node'),
    body: JSON.parse(text) as Said['body'],
  };
}

it('a tenant that changes its node during a try, by a kill or by a handover, gets that event again and no other', async () => {
  const receiver = await WebhookReceiver.open();
  const held: ServerResponse[] = [];
  const hold = (): void => {
    receiver.respond = (_, response) => void held.push(response);
  };
  const release = (): void => {
    receiver.answer(204);
    for (const response of held.splice(0)) response.writeHead(204).end();
  };
  const typesFrom = (first: number): readonly string[] => receiver.types.slice(first);
  await inDirectory(async (directory) => {
    const databaseUrl = await newDatabase();
    let nodes = [await start('a', databaseUrl, directory), await start('b', databaseUrl, directory)];
    const nodeOf = (name: string | null): Node => {
      const found = nodes.find((node) => node.name === name);
      if (found === undefined) throw new Error(`no node ${name ?? 'without a name'}`);
      return found;
    };
    const any = (): Node => nodeOf(nodes[0]?.name ?? null);
    const created = await ask(any(), 'POST', '/v1/webhooks', { url: receiver.url, events: ['order.*'] });
    expect(created.status).toBe(201);
    const opened = await ask(
      any(),
      'POST',
      '/v1/accounts/portfolios',
      cashPortfolioBody({ accountId: randomUUID() }),
    );
    expect(opened.status).toBe(201);
    const portfolioId = String(opened.body.portfolioId);
    const deliveries = `/v1/webhooks/${String(created.body.webhookId)}/deliveries`;
    const totalIs = (total: number): Promise<void> =>
      until(async () => {
        const { status, body } = await ask(any(), 'GET', deliveries);
        return status === 200 && (body.pagination as { readonly total: number }).total === total;
      });

    const first = await ask(any(), 'POST', '/v1/orders', restingOrderBody(portfolioId));
    expect(first.status).toBe(201);
    await totalIs(2);
    const sent = receiver.events.length;
    expect(typesFrom(0)).toEqual(['order.accepted', 'order.active']);
    hold();
    const second = await ask(any(), 'POST', '/v1/orders', restingOrderBody(portfolioId));
    await receiver.received(sent + 1);
    const killed = nodeOf(second.node);
    await killed.process.end('SIGKILL');
    nodes = nodes.filter((node) => node !== killed);
    // The other node acquires the tenant and continues its cursor, without a request.
    await receiver.received(sent + 2);
    release();
    await receiver.received(sent + 3);
    await totalIs(4);
    expect(typesFrom(sent)).toEqual(['order.accepted', 'order.accepted', 'order.active']);

    nodes = [...nodes, await start('c', databaseUrl, directory)];
    hold();
    const third = await ask(any(), 'POST', '/v1/orders', restingOrderBody(portfolioId));
    expect(third.status).toBe(201);
    await receiver.received(sent + 4);
    const leaving = nodeOf(third.node);
    const left = leaving.process.end('SIGTERM');
    nodes = nodes.filter((node) => node !== leaving);
    await receiver.received(sent + 5);
    release();
    await left;
    await receiver.received(sent + 6);
    await totalIs(6);
    expect(typesFrom(sent + 3)).toEqual(['order.accepted', 'order.accepted', 'order.active']);
  });
  await receiver.close();
}, 120_000);
