/**
 * Effect of many large bodies on another tenant (D232): 200 bodies of the greatest size, whole but for their last byte, then all last bytes
 * at once, by one tenant or by one address without a token. Reports the p99 of the other tenant's orders and reads meanwhile, the longest
 * block of the main thread, and the answers. In a cluster the bodies arrive at a node that does not own their tenant, and the other tenants
 * use that node: it owns one, and forwards the requests of the other to the node that receives the bodies from it.
 *
 * Leaves out: TLS, the network. The address is this machine's, which has no limits by address.
 *
 *   npx tsc -b && npx tsx bench/bodies.ts      BENCH_COUNT bodies; names of floods, or `foreign`, to measure them alone
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { PostgresServer } from '../packages/server/src/testing/postgres-server.js';
import type { Flood } from './body-sender.js';
import { startNode } from './cluster-nodes.js';
import type { BenchNode } from './cluster-nodes.js';
import { quantile, runAlone, sizeOf, startFlags } from './measure.js';
import type { Row } from './measure.js';
import { BLOCK_METER, cpuMsOf, messageOf, timesUntil, tokenFor } from './neighbors.js';
import { SETTINGS } from './simulation.js';
import { callerWith, idOf, openPortfolio, order, quote } from './worst-requests.js';

const P99_MS = 100;
const MIB = 1_048_576;

const floods = (count: number, token: string): Readonly<Record<string, Flood>> => ({
  'steps without contents': step(count, token, 'empty steps'),
  'steps of empty orders': step(count, token, 'steps of empty orders'),
  quotes: {
    ...of(count, token),
    method: 'PUT',
    path: '/v1/simulation/quotes',
    contents: 'quotes',
    bytes: MIB,
  },
  'a body without a list': {
    ...of(count, token),
    path: '/v1/accounts',
    contents: 'empty objects',
    bytes: MIB / 4,
  },
  'messages of JSON-RPC': { ...of(count, token), path: '/mcp', contents: 'messages', bytes: MIB },
  'calls of JSON-RPC': { ...of(count, token), path: '/mcp', contents: 'calls', bytes: MIB },
  'an exchange of keys': {
    ...of(count, undefined),
    path: '/v1/auth/token',
    contents: 'empty objects',
    bytes: 16_384,
  },
  'an exchange of keys, 1 MiB': {
    ...of(count, undefined),
    path: '/v1/auth/token',
    contents: 'empty steps',
    bytes: 1_040_000,
  },
});

const of = (count: number, token: string | undefined) => ({ count, token, method: 'POST' });

const step = (count: number, token: string, contents: Flood['contents']): Flood => ({
  ...of(count, token),
  path: '/v1/simulations/step',
  contents,
  bytes: 8 * MIB,
});

export async function measureBodies(): Promise<readonly Row[]> {
  const asked = process.argv.slice(2);
  const isWanted = (name: string): boolean => asked.length === 0 || asked.some((part) => name.includes(part));
  return [...(await measureServer(isWanted)), ...(await measureForeign(isWanted))];
}

type Wanted = (name: string) => boolean;

async function measureServer(isWanted: Wanted): Promise<readonly Row[]> {
  const count = sizeOf('COUNT', 200);
  return inDirectory(async (directory) => {
    const env = environment({ DATA_DIR: directory });
    const server = ServerProcess.launch(env, undefined, METERED);
    const sender = new Sender();
    try {
      const url = await server.listening;
      const quiet = await QuietTenant.open('another tenant', url, env, 'quiet', server);
      const rows: Row[] = [];
      for (const [name, flood] of Object.entries(floods(count, await tokenFor(env, 'busy'))))
        if (isWanted(name)) rows.push(...(await rowsBeside(name, flood, url, sender, [quiet])));
      return rows;
    } finally {
      sender.end();
      await server.end('SIGTERM');
    }
  });
}

/** Bodies through a node of a cluster that does not own their tenant. */
async function measureForeign(isWanted: Wanted): Promise<readonly Row[]> {
  const count = sizeOf('COUNT', 350);
  const names = [
    'foreign: quotes',
    'foreign: steps without contents',
    'foreign: a path without a route',
  ].filter(isWanted);
  if (names.length === 0) return [];
  const postgres = await PostgresServer.start();
  const nodes: BenchNode[] = [];
  const sender = new Sender();
  try {
    return await inDirectory(async (directory) => {
      const env = environment({ DATABASE_URL: await postgres.newDatabase() });
      for (const name of ['a', 'b']) nodes.push(await startNode(name, directory, env, METERED));
      const [owner, foreign] = nodes as [BenchNode, BenchNode];
      const tenants = new Map<string, string[]>();
      // The nodes know each other after a moment; from then on each gets half of the new tenants.
      for (let i = 0; (tenants.get('a')?.length ?? 0) < 2 || (tenants.get('b')?.length ?? 0) < 1; i += 1) {
        const node = await ownerOf(`tenant-${i}`, foreign.url, env);
        tenants.set(node, [...(tenants.get(node) ?? []), `tenant-${i}`]);
      }
      const [busy = '', forwarded = ''] = tenants.get('a') ?? [];
      const own = (tenants.get('b') ?? []).at(-1) ?? '';
      const quiet = [
        await QuietTenant.open('a tenant of that node', foreign.url, env, own, foreign.process),
        await QuietTenant.open('another tenant of the owner', foreign.url, env, forwarded, owner.process),
      ];
      const token = await tokenFor(env, busy);
      const all: Readonly<Record<string, Flood>> = {
        'foreign: quotes': {
          ...of(count, token),
          method: 'PUT',
          path: '/v1/simulation/quotes',
          contents: 'quotes',
          bytes: 1_000_000,
        },
        'foreign: steps without contents': step(count, token, 'empty steps'),
        'foreign: a path without a route': {
          ...of(count, token),
          path: '/v1/nothing',
          contents: 'empty objects',
          bytes: 1_000_000,
        },
      };
      const rows: Row[] = [];
      for (const [name, flood] of Object.entries(all))
        if (names.includes(name)) rows.push(...(await rowsBeside(name, flood, foreign.url, sender, quiet)));
      return rows;
    });
  } finally {
    sender.end();
    await Promise.all(nodes.map(({ process: node }) => node.end('SIGKILL')));
    await postgres.stop();
  }
}

const METERED = [...startFlags(), '--import', BLOCK_METER];

const environment = <More extends object>(more: More) => ({
  ...SETTINGS,
  JWT_SECRET: randomBytes(32).toString('hex'),
  RATE_LIMIT_DEFAULT: '1000000000',
  ...more,
});

/** The node that a new tenant is placed on. */
async function ownerOf(tenantId: string, url: string, env: NodeJS.ProcessEnv): Promise<string> {
  const headers = { authorization: `Bearer ${await tokenFor(env, tenantId)}` };
  const path = `${url}/v1/accounts/portfolios`;
  const answered = await fetch(path, { method: 'POST', headers, body: '{}' });
  await later(100);
  return String(answered.headers.get('x-sandpit-node'));
}

/** A tenant that places orders and reads its account, and the node that answers. */
class QuietTenant {
  readonly name: string;
  readonly asks: readonly [() => Promise<unknown>, () => Promise<unknown>];
  readonly #server: ServerProcess;

  private constructor(name: string, asks: QuietTenant['asks'], server: ServerProcess) {
    this.name = name;
    this.asks = asks;
    this.#server = server;
    server.child.channel?.ref();
  }

  static async open(
    name: string,
    url: string,
    env: NodeJS.ProcessEnv,
    tenantId: string,
    server: ServerProcess,
  ): Promise<QuietTenant> {
    const call = callerWith(url, await tokenFor(env, tenantId));
    await call('PUT', '/v1/simulation/quotes', { quotes: [quote('AAPL', 100)] });
    const own = String((await openPortfolio(call, idOf(0))).portfolioId);
    const tenant = new QuietTenant(
      name,
      [
        () => call('POST', '/v1/orders', order(own, { limitPrice: 50, timeInForce: 'IOC' })),
        () => call('GET', `/v1/accounts/${idOf(0)}`),
      ],
      server,
    );
    await timesUntil(later(1500), tenant.asks, () => tenant.cpuMs());
    return tenant;
  }

  cpuMs(): number {
    return cpuMsOf(this.#server.child.pid);
  }

  /** Longest block of the node since the last call, ms. */
  longestBlock(): Promise<number> {
    const { child } = this.#server;
    return new Promise((resolve) => {
      child.once('message', (ms) => resolve(Number(ms)));
      child.send('block');
    });
  }

  get peakMib(): number {
    return peakMibOf(this.#server.child.pid);
  }
}

/** The client that sends the bodies. */
class Sender {
  readonly #child = fork(fileURLToPath(new URL('body-sender.ts', import.meta.url)));

  send(flood: Flood, url: string): Promise<{ answers: Record<string, number>; ms: number }> {
    this.#child.send({ ...flood, port: Number(new URL(url).port) });
    return messageOf(this.#child);
  }

  end(): void {
    this.#child.kill();
  }
}

/** The times of other tenants next to a flood, a row for each. */
async function rowsBeside(
  name: string,
  flood: Flood,
  url: string,
  sender: Sender,
  others: readonly QuietTenant[],
): Promise<readonly Row[]> {
  for (const other of others) await other.longestBlock();
  const ended = sender.send(flood, url);
  const times = await Promise.all(others.map((other) => timesUntil(ended, other.asks, () => other.cpuMs())));
  const { answers, ms } = await ended;
  const rows: Row[] = [];
  for (const [index, other] of others.entries()) {
    const { orders = [], reads = [] } = times[index] ?? {};
    rows.push({
      measure: `p99 of the requests of ${other.name}, beside ${flood.count} bodies: ${name}`,
      value: Math.max(quantile(orders, 0.99), quantile(reads, 0.99)),
      unit: 'ms',
      aim: { atMost: P99_MS },
      details:
        `p50 of orders ${quantile(orders, 0.5).toFixed(1)} ms, longest ${quantile(orders, 1).toFixed(1)} ms, ${orders.length} orders; ` +
        `longest block of its node ${(await other.longestBlock()).toFixed(1)} ms; answers ${JSON.stringify(answers)} in ${(ms / 1000).toFixed(1)} s; ` +
        `memory of its node ${other.peakMib} MiB at most`,
      leavesOut: 'TLS, network',
    });
  }
  // The window of the bytes of a tenant.
  await later(10_000);
  return rows;
}

/** Linux only. */
const peakMibOf = (pid = 0): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024);

await runAlone(import.meta.url, measureBodies);
