/** Nodes of a cluster as their own processes on one real PostgreSQL, as their clients see them. */
import { EventName, IBApi } from '@stoqey/ib';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { EXIT } from './exit-codes.js';
import { digestOf, signedHeaders } from './http/cluster/node-auth.js';
import { CuttingProxy } from './testing/cutting-proxy.js';
import { execute } from './testing/database-copies.js';
import { freePort } from './testing/free-port.js';
import { cashPortfolioBody, restingOrderBody } from './testing/request-bodies.js';
import { inDirectory, ServerProcess } from './testing/server-process.js';
import { newDatabase } from './testing/test-database.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';
const TENANTS = Array.from({ length: 12 }, (_, index) => `tenant-${index}`);

const PORTED = 12;

interface Node {
  readonly name: string;
  readonly url: string;
  readonly process: ServerProcess;
}

interface Said {
  readonly status: number;
  /** `X-Sandpit-Node`. */
  readonly node: string | null;
  readonly body: unknown;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(
  tenantId: string,
  simulationId?: string,
  scope = 'trade read simulate admin operator',
): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    sub: tenantId,
    tier: 'ENTERPRISE',
    scope,
    ...(simulationId !== undefined && { sim: simulationId }),
    iat,
    exp: iat + 3_600,
    jti: randomUUID(),
  };
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${content}.${createHmac('sha256', JWT_SECRET).update(content).digest('base64url')}`;
}

async function ask(
  { url }: Pick<Node, 'url'>,
  token: string,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const said: unknown = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
  return { status: response.status, node: response.headers.get('x-sandpit-node'), body: said };
}

async function openPortfolio(node: Node, token: string): Promise<string> {
  const { status, body } = await ask(
    node,
    token,
    'POST',
    '/v1/accounts/portfolios',
    cashPortfolioBody({ accountId: randomUUID() }),
  );
  expect(status).toBe(201);
  return (body as { readonly portfolioId: string }).portfolioId;
}

async function queryDatabase(url: string, text: string, values: readonly string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Nodes that take tenants, by name. */
async function liveNodes(node: Pick<Node, 'url'>): Promise<string[]> {
  const { body } = await ask(node, tokenOf('tenant-0'), 'GET', '/v1/cluster');
  const { nodes = [] } = body as { nodes?: { nodeId: string; status: string; reasons: string[] }[] };
  return nodes
    .filter(({ status, reasons }) => status === 'LIVE' && reasons.length === 0)
    .map(({ nodeId }) => nodeId)
    .sort();
}

/** A WebSocket with what it has been told. */
class Socket {
  text = '';
  readonly #socket: WebSocket;
  readonly #opened: Promise<unknown>;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#opened = once(this.#socket, 'open');
    this.#socket.on('message', (data: Buffer) => (this.text += data.toString()));
  }

  send(message: object): void {
    void this.#opened.then(() => this.#socket.send(JSON.stringify(message)));
  }

  told(text: string): Promise<void> {
    return expect.poll(() => this.text, { timeout: 10_000 }).toContain(text);
  }

  close(): void {
    this.#socket.terminate();
  }
}

/** A connection to a port of TWS, with its answers and errors; its client is the published one. */
class TwsSocket {
  readonly errors: string[] = [];
  hasEnded = false;
  readonly #client: IBApi;

  constructor(port: number) {
    this.#client = new IBApi({ host: '127.0.0.1', port, clientId: 1 });
    this.#client.on(EventName.error, (error, code) => this.errors.push(`${code} ${error.message}`));
    // The client reports errors without a request so.
    this.#client.on(EventName.info, (message, code) => this.errors.push(`${code} ${message}`));
    this.#client.on(EventName.disconnected, () => (this.hasEnded = true));
  }

  /** Connects. The next order id; undefined if the connection ended before it. */
  connect(): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.#client.once(EventName.nextValidId, resolve);
      this.#client.once(EventName.disconnected, () => resolve(undefined));
      this.#client.connect();
    });
  }

  /** The number of open orders; undefined if the connection ended before the answer. */
  openOrders(): Promise<number | undefined> {
    return new Promise((resolve) => {
      let count = 0;
      this.#client.on(EventName.openOrder, () => (count += 1));
      this.#client.once(EventName.openOrderEnd, () => resolve(count));
      this.#client.once(EventName.disconnected, () => resolve(undefined));
      this.#client.reqAllOpenOrders();
    });
  }

  close(): void {
    this.#client.disconnect();
  }
}

describe('Three nodes on one database', () => {
  let databaseUrl: string;
  let directory: string;
  let end: () => void;
  let nodes: Node[] = [];
  const processes: ServerProcess[] = [];

  /** Portfolios with a port of TWS at each of the nodes `b` and `c`. */
  const ported: { readonly tenantId: string; readonly portfolioId: string }[] = [];
  /** Numbers of these ports, in the order of the portfolios. */
  const portsOf: Record<string, readonly number[]> = {};
  const twsPorts = (name: string): string =>
    (portsOf[name] ?? []).map((port, i) => `${port}:${ported[i]?.portfolioId ?? ''}`).join(',');

  async function launch(name: string, more: Readonly<Record<string, string>> = {}): Promise<Node> {
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
      RATE_LIMIT_DEFAULT: '1000000',
      LOG_LEVEL: 'warn',
      ...(portsOf[name] !== undefined && { TWS_PORTS: twsPorts(name) }),
      ...more,
    });
    processes.push(server);
    return { name, url, process: server };
  }

  async function start(name: string, more: Readonly<Record<string, string>> = {}): Promise<Node> {
    const node = await launch(name, more);
    await node.process.listening;
    return node;
  }

  const named = (name: string | null): Node => {
    const found = nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`no node ${name ?? 'without a name'}`);
    return found;
  };
  const others = (name: string | null): Node[] => nodes.filter((node) => node.name !== name);
  const anyOther = (name: string | null): Node => {
    const [other] = others(name);
    if (other === undefined) throw new Error('no other node');
    return other;
  };

  beforeAll(async () => {
    const ready = new Promise<string>((resolve) => {
      void inDirectory((made) => {
        resolve(made);
        return new Promise<void>((over) => (end = over));
      });
    });
    directory = await ready;
    databaseUrl = await newDatabase();
    const first = await start('a');
    // Enough tenants that at least one of them is placed on b or c.
    for (let i = 0; i < PORTED; i++) {
      const tenantId = `tenant-of-port-${i}`;
      ported.push({ tenantId, portfolioId: await openPortfolio(first, tokenOf(tenantId)) });
    }
    for (const name of ['b', 'c']) portsOf[name] = await Promise.all(ported.map(() => freePort()));
    nodes = [first, ...(await Promise.all([start('b'), start('c')]))];
    // Each tenant is placed once if all nodes know each other.
    for (const node of nodes)
      await vi.waitFor(async () => expect(await liveNodes(node)).toEqual(['a', 'b', 'c']), 10_000);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(processes.map((server) => server.end('SIGKILL')));
    end();
  });

  it('X-Sandpit-Node: every node accepts every request, and the owner of the tenant answers', async () => {
    const [a, b, c] = [named('a'), named('b'), named('c')];
    const owners = new Set<string | null>();
    for (const tenantId of TENANTS) {
      const token = tokenOf(tenantId);
      const portfolioId = await openPortfolio(a, token);
      const path = `/v1/accounts/portfolios/${portfolioId}`;
      const seen = await Promise.all([a, b, c].map((node) => ask(node, token, 'GET', path)));
      expect(seen.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(seen.map(({ node }) => node)).size).toBe(1);
      owners.add(seen[0]?.node ?? null);
    }
    expect(owners.size).toBeGreaterThan(1);
    const { status, body } = await ask(b, tokenOf('tenant-0'), 'GET', '/v1/cluster?tenantId=tenant-0');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      nodeId: 'b',
      durability: 'LOCAL',
      tenantCount: expect.any(Number) as number,
      cells: [{ simulationId: 'main', epoch: 1 }],
    });
    const known = body as { nodes: { nodeId: string; status: string; reasons: string[] }[] };
    expect(known.nodes.map(({ nodeId, status: is, reasons }) => [nodeId, is, reasons]).sort()).toEqual([
      ['a', 'LIVE', []],
      ['b', 'LIVE', []],
      ['c', 'LIVE', []],
    ]);
    const exported = async (name: string | null): Promise<ServerProcess> => {
      const program = ServerProcess.tenant(
        // The environment of the node, as in its container.
        {
          DATABASE_URL: databaseUrl,
          DATA_DIR: `${directory}/${name}`,
          CLUSTER_SECRET: 'the secret of the nodes',
          NODE_ID: name ?? '',
          NODE_URL: named(name).url,
        },
        'export',
        'tenant-0',
      );
      await program.exited;
      return program;
    };
    const ownerNow = async (): Promise<string | null> =>
      (await ask(a, tokenOf('tenant-0'), 'GET', '/v1/orders')).node;
    // The tenant may move once to the node that joined last.
    await expect
      .poll(async () => (await exported(await ownerNow())).out.length, { timeout: 15_000 })
      .toBeGreaterThan(3);
    const owner = await ownerNow();
    expect((await exported(anyOther(owner).name)).err.join('\n')).toContain(
      `Tenant tenant-0 is served by node ${owner}; run the command there`,
    );
    const visitor = await fetch(`${c.url}/v1/orders`);
    expect([visitor.status, visitor.headers.get('x-sandpit-node')]).toEqual([401, 'c']);
  });

  it('a token of a tenant without data: reads and refused requests store nothing for the tenant, its first change does', async () => {
    const ghost = `ghost-${randomUUID()}`;
    const stored = async (): Promise<number> => {
      const text = `SELECT (SELECT count(*) FROM sandpit.placement WHERE tenant = $1)
        + (SELECT count(*) FROM sandpit.registry WHERE strpos(name || value, $1) > 0) AS stored`;
      const [row] = await queryDatabase(databaseUrl, text, [ghost]);
      return Number((row as { readonly stored: string }).stored);
    };
    const all = tokenOf(ghost);
    const reading = tokenOf(ghost, undefined, 'read');
    const ticket = `${'A'.repeat(43)}.${Buffer.from(ghost).toString('base64url')}`;
    for (const node of nodes) {
      for (const [token, method, path, status] of [
        [all, 'GET', '/v1/orders', 200],
        [all, 'GET', '/v1/simulations', 200],
        [all, 'GET', '/v1/market-data/quote/AAPL', 404],
        [all, 'GET', '/v1/simulation/clock', 200],
        [all, 'GET', '/v1/nothing', 404],
        [all, 'POST', '/v1/nothing', 404],
        [all, 'PUT', '/v1/orders', 405],
        [reading, 'POST', '/v1/orders', 403],
        [reading, 'POST', '/paperinvest/v1/orders', 403],
        [reading, 'PUT', '/v1/simulation/quotes', 403],
        [tokenOf(ghost, randomUUID()), 'POST', '/v1/orders', 401],
        [all, 'POST', '/v1/margin/requirements', 400],
      ] as const)
        expect((await ask(node, token, method, path, method === 'GET' ? undefined : {})).status, path).toBe(
          status,
        );
      const visitor = await fetch(`${node.url}/v1/stream/orders?ticket=${ticket}`);
      expect(visitor.status).toBe(401);
      const posted = await fetch(`${node.url}/v1/orders?ticket=${ticket}`, { method: 'POST', body: '{}' });
      expect(posted.status).toBe(401);
    }
    expect(await stored()).toBe(0);
    const path = `/v1/accounts/portfolios/${await openPortfolio(named('b'), all)}`;
    expect(await stored()).toBeGreaterThan(1);
    for (const node of nodes) expect((await ask(node, all, 'GET', path)).status).toBe(200);
  });

  it('setServerLimits: a limit that one node changes is soon in force at every node', async () => {
    const limitAt = async ({ url }: Node): Promise<string | null> => {
      const response = await fetch(`${url}/v1/orders`, {
        headers: { authorization: `Bearer ${tokenOf('tenant-0')}` },
      });
      return response.headers.get('x-ratelimit-limit');
    };
    const configured = await limitAt(nodes[1]!);
    for (const [perMinute, shown] of [
      [123_456, '123456'],
      [null, configured],
    ]) {
      const body = { requestsPerMinute: perMinute };
      const { status } = await ask(nodes[0]!, tokenOf('tenant-0'), 'PUT', '/v1/server/limits', body);
      expect(status).toBe(200);
      for (const node of nodes) await expect.poll(() => limitAt(node)).toBe(shown);
    }
  });

  it('pushQuotes, advanceClock: every node has applied the change of the market when they answer (D202)', async () => {
    const quotes = [{ symbol: 'AAPL', bid: 99.9, ask: 100, last: 100 }];
    const token = tokenOf('tenant-0');
    expect((await ask(named('c'), token, 'PUT', '/v1/simulation/quotes', { quotes })).status).toBe(200);
    const shown = await Promise.all(
      TENANTS.map((tenantId, index) =>
        ask(named(['a', 'b', 'c'][index % 3] ?? 'a'), tokenOf(tenantId), 'GET', '/v1/market-data/quote/AAPL'),
      ),
    );
    expect(new Set(shown.map(({ node }) => node)).size).toBeGreaterThan(1);
    for (const { body } of shown) expect(JSON.stringify(body)).toContain('"ask":100');
    const moved = await ask(named('a'), token, 'POST', '/v1/simulation/clock/advance', { by: 'PT1M' });
    expect(moved.status).toBe(200);
    const { now } = moved.body as { readonly now: string };
    for (const tenantId of TENANTS.slice(0, 6)) {
      const clock = await ask(named('b'), tokenOf(tenantId), 'GET', '/v1/simulation/clock');
      expect((clock.body as { readonly now: string }).now).toBe(now);
    }
  });

  it('joinInvitation: a link is joined through every node, holds its capacity, and its roster has the members of all nodes', async () => {
    const teacher = tokenOf('teacher');
    const body = {
      name: 'Class',
      capacity: 6,
      portfolio: { ...cashPortfolioBody({}), accountId: undefined },
    };
    const made = await ask(named('a'), teacher, 'POST', '/v1/invitations', body);
    expect([made.status, made.body]).toMatchObject([201, { capacity: 6 }]);
    const { invitationId, code } = made.body as Record<string, string>;
    const path = `/v1/invitations/${String(invitationId)}`;
    const enter = async ({ url }: Node, displayName: string): Promise<Said> =>
      ask({ url }, '', 'POST', '/v1/invitations/join', { code, displayName });
    const joined: Record<string, string>[] = [];
    for (const [index, node] of [...nodes, ...nodes].entries()) {
      const said = await enter(node, `Student ${index + 1}`);
      expect([said.status, said.body]).toMatchObject([201, {}]);
      joined.push(said.body as Record<string, string>);
    }
    for (const node of nodes) expect((await enter(node, 'Late')).status).toBe(409);
    const owners = new Set<string | null>();
    for (const { token = '', portfolioId = '' } of joined)
      for (const node of nodes) {
        const read = await ask(node, token, 'GET', `/v1/accounts/portfolios/${portfolioId}`);
        expect([read.status, read.body]).toMatchObject([200, { portfolioId }]);
        owners.add(read.node);
      }
    // Members are placed like other tenants: the roster asks their nodes.
    expect(owners.size).toBeGreaterThan(1);
    for (const node of nodes) {
      const roster = await ask(node, teacher, 'GET', `${path}/members`);
      expect((roster.body as { data: object[] }).data).toMatchObject(
        joined.map(({ tenantId, portfolioId }) => ({ tenantId, portfolioId, equity: 100_000, orders: 0 })),
      );
    }
    const [first] = joined;
    const back = await ask(named('b'), '', 'POST', '/v1/invitations/return', {
      code: first?.returnUrl?.split('/').at(-1) ?? '',
    });
    expect([back.status, back.body]).toMatchObject([201, { tenantId: first?.tenantId }]);
    const { data } = (await ask(named('c'), teacher, 'GET', `${path}/members`)).body as {
      data: { memberId: string }[];
    };
    for (const { memberId } of data)
      expect((await ask(named('c'), teacher, 'DELETE', `${path}/members/${memberId}`)).status).toBe(200);
    for (const { token = '' } of joined)
      for (const node of nodes)
        await expect.poll(async () => (await ask(node, token, 'GET', '/v1/accounts')).status).toBe(401);
  }, 60_000);

  it('enterCompetition, listCompetitions: a competition is entered through any node once it exists, and every node lists it', async () => {
    const body = {
      name: 'Cup',
      market: {
        feed: 'push',
        clock: 'manual',
        start: '2026-01-05T09:30:00-05:00',
        end: '2026-01-06T16:00:00-05:00',
      },
      rules: { initialCash: 1_000, portfolioType: 'CASH', brokerId: 'default', assetClasses: ['EQUITY'] },
      ...{ scoring: 'TOTAL_RETURN', entry: 'OPEN', visibility: 'PUBLIC' },
    };
    const organizer = tokenOf('tenant-0');
    const made = await ask(named('a'), organizer, 'POST', '/v1/competitions', body);
    expect(made.status).toBe(201);
    const path = `/v1/competitions/${(made.body as { readonly competitionId: string }).competitionId}`;
    const entered = await Promise.all(
      nodes.map((node, index) =>
        ask(node, tokenOf(`tenant-${index + 1}`), 'POST', `${path}/entries`, { displayName: node.name }),
      ),
    );
    expect(entered.map(({ status }) => status)).toEqual([201, 201, 201]);
    for (const [action, shown] of [
      ['start', { status: 'RUNNING', paused: false }],
      ['pause', { status: 'RUNNING', paused: true }],
      ['finish', { status: 'FINISHED' }],
    ] as const) {
      expect((await ask(named('b'), organizer, 'POST', `${path}/${action}`)).status).toBe(200);
      for (const { url } of nodes)
        await expect
          .poll(
            async () => ((await (await fetch(`${url}/v1/competitions`)).json()) as { data: unknown }).data,
          )
          .toMatchObject([{ name: 'Cup', entries: 3, ...shown }]);
    }
  });

  it('putInstruments: refuses another class of a symbol that is ordered on any node (D202)', async () => {
    const byNode = new Map<string | null, string>();
    for (const tenantId of TENANTS)
      byNode.set((await ask(named('a'), tokenOf(tenantId), 'GET', '/v1/orders')).node, tenantId);
    expect(byNode.size).toBeGreaterThan(1);
    const symbols = [...byNode.values()].map((_, index) => `ON${'ABC'[index] ?? ''}`);
    const quotes = symbols.map((symbol) => ({ symbol, bid: 99.9, ask: 100, last: 100 }));
    expect(
      (await ask(named('b'), tokenOf('tenant-0'), 'PUT', '/v1/simulation/quotes', { quotes })).status,
    ).toBe(200);
    for (const [index, tenantId] of [...byNode.values()].entries()) {
      const token = tokenOf(tenantId);
      const portfolioId = await openPortfolio(named('a'), token);
      const order = { ...restingOrderBody(portfolioId), symbol: symbols[index] };
      expect((await ask(named('a'), token, 'POST', '/v1/orders', order)).status).toBe(201);
    }
    const instruments = symbols.map((symbol) => ({ assetClass: 'INDEX', symbol }));
    const refused = await ask(named('c'), tokenOf('tenant-0'), 'PUT', '/v1/simulation/instruments', {
      instruments,
    });
    expect(refused.status).toBe(400);
    for (const symbol of symbols)
      expect(JSON.stringify(refused.body)).toContain(`${symbol} is held or ordered`);
  });

  it('a WebSocket of the Alpaca dialect works at every node', async () => {
    const token = tokenOf('tenant-5');
    const portfolioId = await openPortfolio(named('a'), token);
    const created = await ask(named('b'), token, 'POST', `/v1/accounts/portfolios/${portfolioId}/key-pairs`);
    expect(created.status).toBe(201);
    const { keyId, secretKey } = created.body as { readonly keyId: string; readonly secretKey: string };
    const opened = nodes.map(async ({ url }) => {
      const at = url.replace('http', 'ws');
      const updates = new Socket(`${at}/alpaca/stream`);
      updates.send({ action: 'auth', key: keyId, secret: secretKey });
      await updates.told('"status":"authorized"');
      updates.send({ action: 'listen', data: { streams: ['trade_updates'] } });
      await updates.told('"listening"');
      const quotes = new Socket(`${at}/alpaca/v2/iex`);
      quotes.send({ action: 'auth', key: keyId, secret: secretKey });
      await quotes.told('"msg":"authenticated"');
      expect(quotes.text.match(/"msg":"connected"/g)).toHaveLength(1);
      return [updates, quotes] as const;
    });
    const sockets = await Promise.all(opened);
    const placed = await ask(named('c'), token, 'POST', '/v1/orders', restingOrderBody(portfolioId));
    expect(placed.status).toBe(201);
    await Promise.all(sockets.map(([updates]) => updates.told('"event":"new"')));
    for (const socket of sockets.flat()) socket.close();
    const wrong = new Socket(`${named('a').url.replace('http', 'ws')}/alpaca/stream`);
    wrong.send({ action: 'auth', key: keyId, secret: 'wrong' });
    await wrong.told('"status":"unauthorized"');
    wrong.close();
  });

  /** A tenant with ports of TWS at its owner and at another node, once one has moved from the first node. */
  const portedTenant = () => vi.waitFor(portedNow, 20_000);
  async function portedNow() {
    for (const [index, { tenantId, portfolioId }] of ported.entries()) {
      const token = tokenOf(tenantId);
      const { node: owner } = await ask(named('a'), token, 'GET', '/v1/orders');
      if (owner === 'b' || owner === 'c') return { index, owner, portfolioId, token };
    }
    throw new Error('b and c own none of the tenants');
  }

  it('TWS_PORTS: the owner of the tenant serves its port, another node refuses it with error 1100', async () => {
    const { index, owner } = await portedTenant();
    const own = new TwsSocket(portsOf[owner]?.[index] ?? 0);
    expect(await own.connect(), own.errors.join()).toBe(1);
    const other = new TwsSocket(portsOf[owner === 'b' ? 'c' : 'b']?.[index] ?? 0);
    expect(await other.connect()).toBeUndefined();
    expect(other.errors.join()).toContain(
      '1100 Connectivity between client and server has been lost. Another node of the cluster serves the portfolio',
    );
    expect(own.hasEnded).toBe(false);
    own.close();
    other.close();
  });

  it('repeat a forwarded request with a lost answer if it has an Idempotency-Key, otherwise answer 503', async () => {
    const created = await ask(named('a'), tokenOf('tenant-1'), 'POST', '/v1/simulations', {
      feed: 'push',
      clock: 'manual',
    });
    const { simulationId } = created.body as { readonly simulationId: string };
    const token = tokenOf('tenant-1', simulationId);
    const node = anyOther(created.node);
    const portfolioId = await openPortfolio(node, token);
    const loseNext = async (): Promise<void> => {
      const fault = await ask(node, token, 'POST', '/v1/simulation/faults', {
        match: { method: 'POST', path: '/v1/orders' },
        fault: { drop: 'after' },
        times: 1,
      });
      expect(fault.status).toBe(201);
    };
    await loseNext();
    const unkeyed = await ask(node, token, 'POST', '/v1/orders', restingOrderBody(portfolioId));
    expect(unkeyed.status).toBe(503);
    await loseNext();
    const keyed = await ask(node, token, 'POST', '/v1/orders', restingOrderBody(portfolioId), {
      'idempotency-key': randomUUID(),
    });
    expect(keyed.status).toBe(201);
    const { body } = await ask(node, token, 'GET', '/v1/orders');
    // Both were done, each once.
    expect(JSON.stringify(body).match(/"orderId"/g)).toHaveLength(2);
  });

  it('refuse requests not signed with their CLUSTER_SECRET; a node with another secret owns no tenants', async () => {
    const { body: state } = await ask(named('a'), tokenOf('tenant-0'), 'GET', '/v1/cluster');
    const forNodes = (name: string): { url: string; incarnation: number } => {
      const found = (state as { nodes: { nodeId: string; url: string; incarnation: number }[] }).nodes.find(
        ({ nodeId }) => nodeId === name,
      );
      if (found === undefined) throw new Error(`no node ${name}`);
      return found;
    };
    const unsigned = { 'x-sandpit-forwarded': 'e30', 'x-sandpit-signature': 'AAAA' };
    for (const path of ['market', 'take', 'status', 'source', 'classes'].map((name) => `/cluster/${name}`)) {
      const forged = await ask(forNodes('a'), tokenOf('tenant-0'), 'POST', path, {}, unsigned);
      expect([forged.status, forged.body]).toMatchObject([403, { statusCode: 403, error: 'Forbidden' }]);
      for (const node of nodes)
        expect((await ask(node, tokenOf('tenant-0'), 'POST', path, {}, unsigned)).status).toBe(404);
    }
    // A client's headers of nodes mean nothing.
    expect(
      (await ask(named('a'), tokenOf('tenant-0'), 'GET', '/v1/orders', undefined, unsigned)).status,
    ).toBe(200);
    // Two nodes that take each other for the owner would forward a request in a circle: the second one answers 421.
    const { node: owner } = await ask(named('a'), tokenOf('tenant-0'), 'GET', '/v1/orders');
    const other = anyOther(owner);
    const { url: at, incarnation: to } = forNodes(other.name);
    const key = {
      secret: 'the secret of the nodes',
      incarnation: forNodes(owner ?? '').incarnation,
      nowMs: Date.now,
    };
    const circling = await ask(
      { url: at },
      tokenOf('tenant-0'),
      'GET',
      '/v1/orders',
      undefined,
      signedHeaders(key, 'GET', '/v1/orders', {
        kind: 'client',
        to,
        tenantId: 'tenant-0',
        client: '127.0.0.1',
        body: { digest: digestOf(undefined) },
      }),
    );
    expect([circling.status, circling.node]).toEqual([421, other.name]);
    const [stranger, different] = await Promise.all([
      start('d', { CLUSTER_SECRET: 'another secret' }),
      start('e', { MARKET_COLLAR: '0.2' }),
    ]);
    const { body } = await ask(stranger, tokenOf('tenant-0'), 'GET', '/v1/cluster');
    const { nodes: known } = body as { nodes: { nodeId: string; reasons: string[]; tenants?: number }[] };
    const reasonsOf = (name: string) => known.find(({ nodeId }) => nodeId === name)?.reasons;
    expect(reasonsOf('d')).toEqual(['CLUSTER_SECRET differs from that of node a']);
    expect(reasonsOf('e')).toEqual(['rules differs from that of node a']);
    // It forwards, as it serves none; the others refuse what it signs.
    expect((await ask(stranger, tokenOf('tenant-0'), 'GET', '/v1/orders')).status).toBe(503);
    expect((await ask(different, tokenOf('tenant-0'), 'GET', '/v1/orders')).status).toBe(200);
    const log = [...stranger.process.out, ...stranger.process.err].join('\n');
    expect(log).toContain('This node takes no cells: CLUSTER_SECRET differs');
    expect(log).toContain('refuses the CLUSTER_SECRET of this one');
    await Promise.all([stranger.process.end('SIGKILL'), different.process.end('SIGKILL')]);
    const signing = await launch('f', { JWT_SECRET: `another ${JWT_SECRET}` });
    expect((await signing.process.exited).code).toBe(EXIT.SETTINGS);
    expect(signing.process.err.join('\n')).toMatch(
      /^sandpit: JWT_SECRET: node \w signs tokens with another secret/,
    );
  });

  it('hand over a tenant: a stream continues without a gap on the same connection', async () => {
    // The test of putInstruments places orders for some of TENANTS, depending on their owners.
    const token = tokenOf('tenant-handed-over');
    const portfolioId = await openPortfolio(named('a'), token);
    const { node: owner } = await ask(named('a'), token, 'GET', '/v1/orders');
    const via = anyOther(owner);
    const issued = await ask(named('b'), token, 'POST', '/v1/stream/ticket');
    expect(issued.status).toBe(201);
    const { ticket } = issued.body as { readonly ticket: string };
    const stream = await fetch(`${via.url}/v1/stream/orders?ticket=${ticket}`);
    expect(stream.status).toBe(200);
    const told: string[] = [];
    const reading = (async () => {
      for await (const piece of stream.body ?? []) told.push(Buffer.from(piece as Uint8Array).toString());
    })();
    reading.catch(() => undefined);
    const placed = async (): Promise<Said> =>
      ask(via, token, 'POST', '/v1/orders', restingOrderBody(portfolioId), {
        'idempotency-key': randomUUID(),
      });
    const created = await ask(via, token, 'POST', '/v1/simulations', { feed: 'push', clock: 'scaled' });
    const { simulationId } = created.body as { readonly simulationId: string };
    const inCell = tokenOf('tenant-handed-over', simulationId);
    const resting = await ask(
      via,
      inCell,
      'POST',
      '/v1/orders',
      restingOrderBody(await openPortfolio(via, inCell)),
    );
    expect(resting.status).toBe(201);
    /** Start of the server that runs the clock of the simulation; undefined = the clock stands still. */
    const sessionOf = async (): Promise<string | undefined> => {
      const rows = await queryDatabase(databaseUrl, 'SELECT value FROM sandpit.registry WHERE name = $1', [
        `clock/${simulationId}`,
      ]);
      return /session\W+([0-9a-f-]+)/.exec(JSON.stringify(rows))?.[1];
    };
    const firstSession = await sessionOf();
    expect(firstSession).toBeDefined();
    const before = await placed();
    const leaving = named(owner);
    const ended = leaving.process.end('SIGTERM');
    const quotes = [{ symbol: 'AAPL', bid: 99.9, ask: 100, last: 100 }];
    // A node that stops forwards what it is asked until its listener closes.
    const pushed: number[] = [];
    for (;;) {
      const said = await ask(leaving, token, 'PUT', '/v1/simulation/quotes', { quotes }).catch(
        () => undefined,
      );
      if (said === undefined) break;
      pushed.push(said.status);
    }
    expect((await ended).code).toBe(EXIT.STOPPED);
    expect([...new Set(pushed)]).toEqual([200]);
    for (const { process } of others(owner))
      expect(process.out.join('\n')).not.toContain('has not applied a change of the market');
    const after = await placed();
    expect([before.status, after.status]).toEqual([201, 201]);
    expect(before.node).toBe(owner);
    expect(after.node).not.toBe(owner);
    const { body } = await ask(via, token, 'GET', '/v1/orders');
    expect(JSON.stringify(body).match(/"orderId"/g)).toHaveLength(2);
    const { orderId } = after.body as { readonly orderId: string };
    await expect.poll(() => told.join(''), { timeout: 10_000 }).toContain(orderId);
    const ids = [...told.join('').matchAll(/^id: (.*)\nevent: order-update/gm)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(told.join('')).not.toContain('event: error');
    // The ticket is a row: the node that acquired the tenant did not issue it. It is bound to its stream.
    const bound = await fetch(`${via.url}/v1/stream/quotes?symbols=AAPL&ticket=${ticket}`);
    expect(bound.status).toBe(401);
    const resumed = new AbortController();
    const again = await fetch(`${via.url}/v1/stream/orders?ticket=${ticket}`, { signal: resumed.signal });
    expect(again.status).toBe(200);
    resumed.abort();
    // No request names the simulation: the next owner opens it, because its clock runs (D201).
    await expect
      .poll(async () => ![undefined, firstSession].includes(await sessionOf()), { timeout: 10_000 })
      .toBe(true);
    nodes = [...others(owner), await start(leaving.name)];
  }, 60_000);

  it('replace an owner paused for longer than its lease, which answers no request from its old state and restarts', async () => {
    const { index, owner, portfolioId, token } = await portedTenant();
    const paused = named(owner);
    const via = anyOther(owner);
    const port = portsOf[owner]?.[index] ?? 0;
    const tws = new TwsSocket(port);
    expect(await tws.connect(), tws.errors.join()).toBe(1);
    expect(await tws.openOrders()).toBe(0);
    paused.process.child.kill('SIGSTOP');
    const began = performance.now();
    const placed = await ask(via, token, 'POST', '/v1/orders', restingOrderBody(portfolioId), {
      'idempotency-key': randomUUID(),
    });
    expect(placed.status).toBe(201);
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(placed.node).not.toBe(owner);
    const toldOnPort = tws.openOrders();
    paused.process.child.kill('SIGCONT');
    // Not the orders as this node knew them.
    expect(await toldOnPort).toBeUndefined();
    // Whatever it answers from here on is the new owner's.
    await expect
      .poll(
        async () => {
          const said = await ask(paused, token, 'GET', '/v1/orders').catch(() => undefined);
          if (said?.status === 200 && said.node === owner)
            expect(JSON.stringify(said.body)).toContain('"orderId"');
          return said?.status;
        },
        { timeout: 20_000 },
      )
      .toBe(200);
    await expect
      .poll(
        async () => {
          const { body } = await ask(via, token, 'GET', '/v1/cluster');
          const { nodes: known } = body as {
            nodes: { nodeId: string; incarnation: number; reasons: string[] }[];
          };
          return known.some(({ nodeId, reasons }) => nodeId === owner && reasons.length === 0);
        },
        { timeout: 20_000 },
      )
      .toBe(true);
    const { body } = await ask(paused, token, 'GET', '/v1/orders');
    expect(JSON.stringify(body).match(/"orderId"/g)).toHaveLength(1);
    expect(paused.process.child.exitCode).toBeNull();
    tws.close();
  }, 90_000);

  it('go on with the market after the node that led it has lost its cell', async () => {
    const token = tokenOf('tenant-0');
    const push = (price: number): Promise<number> => {
      const quotes = [{ symbol: 'AAPL', bid: price - 0.1, ask: price, last: price }];
      return ask(named('b'), token, 'PUT', '/v1/simulation/quotes', { quotes }).then(({ status }) => status);
    };
    // The market is the first cell of an installation.
    await execute(
      databaseUrl,
      'UPDATE sandpit.head SET epoch = epoch + 1 WHERE cell = (SELECT min(cell) FROM sandpit.head)',
    );
    expect(await push(101)).toBe(503);
    await expect.poll(() => push(102), { timeout: 15_000 }).toBe(200);
    for (const node of nodes)
      await expect.poll(() => liveNodes(node), { timeout: 15_000 }).toEqual(['a', 'b', 'c']);
    for (const tenantId of TENANTS) {
      const seen = await ask(named('c'), tokenOf(tenantId), 'GET', '/v1/market-data/quote/AAPL');
      expect(JSON.stringify(seen.body)).toContain('"ask":102');
    }
  }, 60_000);

  it('hand their tenants over when the database answers again, if it does not answer while they stop', async () => {
    const direct = new URL(databaseUrl);
    const proxy = await CuttingProxy.to(Number(direct.port));
    const viaProxy = databaseUrl.replace(`:${direct.port}/`, `:${proxy.port}/`);
    try {
      const leaving = await start('d', { DATABASE_URL: viaProxy, LOG_LEVEL: 'info' });
      await expect.poll(() => liveNodes(named('a')), { timeout: 15_000 }).toEqual(['a', 'b', 'c', 'd']);
      let token = '';
      let owner: string | null = null;
      for (let index = 0; owner !== 'd'; index++) {
        token = tokenOf(`tenant-of-d-${index}`);
        ({ node: owner } = await ask(leaving, token, 'POST', '/v1/orders', {}));
      }
      const portfolioId = await openPortfolio(leaving, token);
      proxy.interrupt();
      const ended = leaving.process.end('SIGTERM');
      const log = (): string => leaving.process.out.join('\n');
      await expect.poll(log, { timeout: 10_000 }).toContain('"draining"');
      await vi.waitFor(() => expect(proxy.refused).toBeGreaterThan(3), 10_000);
      proxy.restore();
      expect(await ended).toEqual({ code: EXIT.STOPPED, signal: null });
      expect(log()).not.toContain('tenants were not handed over');
      const path = `/v1/accounts/portfolios/${portfolioId}`;
      const { status: found, node } = await ask(named('a'), token, 'GET', path);
      expect(found).toBe(200);
      expect(node).not.toBe('d');
    } finally {
      await proxy.close();
    }
  }, 60_000);
});
