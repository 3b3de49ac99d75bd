/**
 * Effect of many large bodies on another tenant (D232): 200 bodies of the greatest size, whole but for their last byte, then all last bytes
 * at once, by one tenant or by one address without a token. Reports the p99 of the other tenant's orders and reads meanwhile, the longest
 * block of the main thread, and the answers.
 *
 * Leaves out: TLS, the network. The address is this machine's, which has no limits by address.
 *
 *   npx tsc -b && npx tsx bench/bodies.ts      BENCH_COUNT bodies; names of floods to measure them alone
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import type { Flood } from './body-sender.js';
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
  const count = sizeOf('COUNT', 200);
  return inDirectory(async (directory) => {
    const env = {
      ...SETTINGS,
      DATA_DIR: directory,
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: '1000000000',
    };
    const server = ServerProcess.launch(env, undefined, [...startFlags(), '--import', BLOCK_METER]);
    const sender = fork(fileURLToPath(new URL('body-sender.ts', import.meta.url)));
    server.child.channel?.ref();
    const longestBlock = (): Promise<number> =>
      new Promise((resolve) => {
        server.child.once('message', (ms) => resolve(Number(ms)));
        server.child.send('block');
      });
    try {
      const url = await server.listening;
      const { pid } = server.child;
      const quiet = callerWith(url, await tokenFor(env, 'quiet'));
      await quiet('PUT', '/v1/simulation/quotes', { quotes: [quote('AAPL', 100)] });
      const own = String((await openPortfolio(quiet, idOf(0))).portfolioId);
      const asks = [
        () => quiet('POST', '/v1/orders', order(own, { limitPrice: 50, timeInForce: 'IOC' })),
        () => quiet('GET', `/v1/accounts/${idOf(0)}`),
      ] as const;
      await timesUntil(later(1500), asks, () => cpuMsOf(pid));
      const rows: Row[] = [];
      const asked = process.argv.slice(2);
      for (const [name, flood] of Object.entries(floods(count, await tokenFor(env, 'busy')))) {
        if (asked.length > 0 && !asked.some((part) => name.includes(part))) continue;
        await longestBlock();
        sender.send({ ...flood, port: Number(new URL(url).port) });
        const ended = messageOf<{ answers: Record<string, number>; ms: number }>(sender);
        const { orders, reads } = await timesUntil(ended, asks, () => cpuMsOf(pid));
        const { answers, ms } = await ended;
        rows.push({
          measure: `p99 of another tenant's requests, beside ${count} bodies: ${name}`,
          value: Math.max(quantile(orders, 0.99), quantile(reads, 0.99)),
          unit: 'ms',
          aim: { atMost: P99_MS },
          details:
            `p50 of orders ${quantile(orders, 0.5).toFixed(1)} ms, longest ${quantile(orders, 1).toFixed(1)} ms, ${orders.length} orders; ` +
            `longest block ${(await longestBlock()).toFixed(1)} ms; answers ${JSON.stringify(answers)} in ${(ms / 1000).toFixed(1)} s; ` +
            `memory ${peakMibOf(pid)} MiB at most`,
          leavesOut: 'TLS, network',
        });
        // The window of the bytes of a tenant.
        await later(10_000);
      }
      return rows;
    } finally {
      sender.kill();
      await server.end('SIGTERM');
    }
  });
}

/** Linux only. */
const peakMibOf = (pid = 0): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024);

await runAlone(import.meta.url, measureBodies);
