/**
 * Effect of the worst single request of a route on another tenant: one tenant repeats it, another places an order and reads its own account
 * throughout. Reports the p99 of the other's requests, and the time of the worst request itself.
 *
 * Leaves out: everything else that a busy server does; TLS, the network; routes whose work does not grow with anything (they are like an
 * order).
 *
 *   npx tsc -b && npx tsx bench/neighbors.ts      BENCH_MS per route; names of requests to measure them alone
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { quantile, runAlone, sizeOf } from './measure.js';
import type { Row } from './measure.js';
import { SETTINGS } from './simulation.js';
import { callerWith, idOf, openPortfolio, order, quote, worstRequests } from './worst-requests.js';

const P99_MS = 25;
const EVERY_MS = 4;

export async function measureNeighbors(): Promise<readonly Row[]> {
  const forMs = sizeOf('MS', 1200);
  return inDirectory(async (directory) => {
    const env = {
      ...SETTINGS,
      DATA_DIR: directory,
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: '1000000000',
    };
    const server = ServerProcess.launch(env, undefined, ['--import', BLOCK_METER]);
    // Sends and hears of the meter.
    server.child.channel?.ref();
    const longestBlock = (): Promise<number> =>
      new Promise((resolve) => {
        server.child.once('message', (ms) => resolve(Number(ms)));
        server.child.send('block');
      });
    try {
      const url = await server.listening;
      const tokens = { busy: await tokenFor(env, 'busy'), quiet: await tokenFor(env, 'quiet') };
      const busy = callerWith(url, tokens.busy);
      const quiet = callerWith(url, tokens.quiet);
      await quiet('PUT', '/v1/simulation/quotes', { quotes: [quote('AAPL', 100)] });
      const own = String((await openPortfolio(quiet, idOf(0))).portfolioId);
      const ask = async (): Promise<void> => {
        await quiet('POST', '/v1/orders', order(own, { limitPrice: 50, timeInForce: 'IOC' }));
        await quiet('GET', `/v1/accounts/${idOf(0)}`);
      };
      const worst = await worstRequests(url, busy);
      await timesOf(ask, later(1500));
      await longestBlock();
      const alone = await timesOf(ask, later(forMs));
      const rows: Row[] = [rowOf('nothing else', alone, [], await longestBlock())];
      const asked = process.argv.slice(2);
      for (const [name, request] of Object.entries(worst)) {
        if (asked.length > 0 && !asked.some((part) => name.includes(part))) continue;
        const took: number[] = [];
        const end = performance.now() + forMs;
        const repeat = async (): Promise<void> => {
          do {
            const began = performance.now();
            await request();
            took.push(performance.now() - began);
          } while (performance.now() < end);
        };
        const times = await timesOf(ask, repeat());
        rows.push(rowOf(name, times, took, await longestBlock()));
      }
      return rows;
    } finally {
      await server.end('SIGTERM');
    }
  });
}

/**
 * Runs in the server: the longest time of its main thread's CPU between two turns of a timer of 1 ms. Unlike a latency it does not grow with
 * what else the machine does. Linux only.
 */
const BLOCK_METER = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync } from 'node:fs';
  const cpuMs = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'latin1').split(' ')[0]) / 1e6;
  let longest = 0;
  let before = cpuMs();
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1).unref();
  process.on('message', () => {
    process.send(longest);
    longest = 0;
  });
  process.channel?.unref();
`)}`;

function rowOf(name: string, times: readonly number[], took: readonly number[], blockMs: number): Row {
  const longest =
    took.length === 0 ? '' : `; the request itself took up to ${Math.max(...took).toFixed(0)} ms`;
  return {
    measure: `p99 of another tenant's order and read, beside ${name}`,
    value: quantile(times, 0.99),
    unit: 'ms',
    aim: { atMost: P99_MS },
    details: `p50 ${quantile(times, 0.5).toFixed(1)} ms, longest ${(times.at(-1) ?? Number.NaN).toFixed(1)} ms, ${times.length} pairs; longest block of the main thread ${blockMs.toFixed(1)} ms of its CPU${longest}`,
    leavesOut: 'other load, TLS, network',
  };
}

/** Times of the pairs of requests, one after the other until `until` settles; sorted. */
async function timesOf(ask: () => Promise<unknown>, until: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  const state = { isOver: false };
  const over = until.finally(() => (state.isOver = true));
  while (!state.isOver) {
    const began = performance.now();
    await ask();
    times.push(performance.now() - began);
    await later(EVERY_MS);
  }
  await over;
  return times.sort((a, b) => a - b);
}

async function tokenFor(env: NodeJS.ProcessEnv, tenantId: string): Promise<string> {
  const scope = 'trade read simulate admin';
  const issued = await issueToken(readSettings(env), { tenantId, tier: 'ENTERPRISE', scope }, Date.now());
  return String(issued?.token);
}

await runAlone(import.meta.url, measureNeighbors);
