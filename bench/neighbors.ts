/**
 * Effect of the worst single request of a route on another tenant: one tenant repeats it, another places an order and reads its own account
 * throughout. Reports the p99 of the other's orders and of its reads, and the time of the worst request itself.
 *
 * Leaves out: everything else that a busy server does; TLS, the network; routes whose work does not grow with anything (they are like an
 * order).
 *
 *   npx tsc -b && npx tsx bench/neighbors.ts      BENCH_MS per route; names of requests to measure them alone
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { quantile, runAlone, sizeOf, startFlags } from './measure.js';
import type { Row } from './measure.js';
import { SETTINGS } from './simulation.js';
import { callerWith, idOf, openPortfolio, order, quote } from './worst-requests.js';

const P99_MS = 25;
const EVERY_MS = 4;

export async function measureNeighbors(): Promise<readonly Row[]> {
  const forMs = sizeOf('MS', 3000);
  return inDirectory(async (directory) => {
    const env = {
      ...SETTINGS,
      DATA_DIR: directory,
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: '1000000000',
    };
    const server = ServerProcess.launch(env, undefined, [...startFlags(), '--import', BLOCK_METER]);
    let busy: ChildProcess | undefined;
    // Sends and hears of the meter.
    server.child.channel?.ref();
    const longestBlock = (): Promise<number> =>
      new Promise((resolve) => {
        server.child.once('message', (ms) => resolve(Number(ms)));
        server.child.send('block');
      });
    try {
      const url = await server.listening;
      const quiet = callerWith(url, await tokenFor(env, 'quiet'));
      await quiet('PUT', '/v1/simulation/quotes', { quotes: [quote('AAPL', 100)] });
      const own = String((await openPortfolio(quiet, idOf(0))).portfolioId);
      const asks = [
        () => quiet('POST', '/v1/orders', order(own, { limitPrice: 50, timeInForce: 'IOC' })),
        () => quiet('GET', `/v1/accounts/${idOf(0)}`),
      ] as const;
      const { pid } = server.child;
      const timesOf = (until: Promise<unknown>): Promise<Times> =>
        timesUntil(until, asks, () => cpuMsOf(pid));
      const program = fileURLToPath(new URL('busy-tenant.ts', import.meta.url));
      busy = fork(program, [url, await tokenFor(env, 'busy')]);
      const names = await messageOf<readonly string[]>(busy);
      await timesOf(later(1500));
      await longestBlock();
      const alone = await timesOf(later(forMs));
      const rows: Row[] = [rowOf('nothing else', alone, undefined, await longestBlock())];
      const asked = process.argv.slice(2);
      for (const name of names) {
        if (asked.length > 0 && !asked.some((part) => name.includes(part))) continue;
        // Once before the measurement, so that its code is compiled.
        busy.send({ name, forMs: 0 });
        await messageOf(busy);
        await longestBlock();
        busy.send({ name, forMs });
        const answered = messageOf<number>(busy);
        const times = await timesOf(answered);
        rows.push(rowOf(name, times, await answered, await longestBlock()));
      }
      return rows;
    } finally {
      busy?.kill();
      await server.end('SIGTERM');
    }
  });
}

/** The next message of a process. Rejects if the process ends first. */
export const messageOf = <Message>(child: ChildProcess): Promise<Message> =>
  new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the client of the busy tenant has ended'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as Message);
    });
  });

/**
 * Runs in the server: the longest time of its main thread's CPU between two turns of a timer of 1 ms. Unlike a latency it does not grow with
 * what else the machine does. Linux only.
 */
export const BLOCK_METER = `data:text/javascript,${encodeURIComponent(`
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

function rowOf(
  name: string,
  { orders, reads, cpu }: Times,
  requestMs: number | undefined,
  blockMs: number,
): Row {
  const longest = requestMs === undefined ? '' : `; the request itself took up to ${requestMs.toFixed(0)} ms`;
  const shown = (share: number, times: readonly number[]): string => quantile(times, share).toFixed(1);
  return {
    measure: `p99 of another tenant's order, beside ${name}`,
    value: quantile(orders, 0.99),
    unit: 'ms',
    aim: { atMost: P99_MS },
    details:
      `p50 ${shown(0.5, orders)} ms, longest ${shown(1, orders)} ms, ${orders.length} orders; ` +
      `reads: p50 ${shown(0.5, reads)} ms, p99 ${shown(0.99, reads)} ms; ` +
      `p99 of the main thread's CPU within an order and a read ${shown(0.99, cpu)} ms, longest block ${blockMs.toFixed(1)} ms${longest}`,
    leavesOut: 'other load, TLS, network',
  };
}

/** Milliseconds, sorted. */
interface Times {
  readonly orders: readonly number[];
  readonly reads: readonly number[];
  /** Of the server's main thread during an order and a read: unlike the time it does not grow with other load of the machine. */
  readonly cpu: readonly number[];
}

/** Times of an order and a read, one after the other until `until` settles. */
export async function timesUntil(
  until: Promise<unknown>,
  [placeOrder, read]: readonly [() => Promise<unknown>, () => Promise<unknown>],
  cpuMs: () => number,
): Promise<Times> {
  const times = { orders: [] as number[], reads: [] as number[], cpu: [] as number[] };
  const state = { isOver: false };
  const over = until.finally(() => (state.isOver = true));
  // Awaited at the end.
  over.catch(() => undefined);
  while (!state.isOver) {
    const beforeMs = cpuMs();
    times.orders.push(await msOf(placeOrder));
    times.reads.push(await msOf(read));
    times.cpu.push(cpuMs() - beforeMs);
    await later(EVERY_MS);
  }
  await over;
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  return times;
}

async function msOf(ask: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await ask();
  return performance.now() - began;
}

/** CPU time of the main thread of a process, ms. Linux only. */
export const cpuMsOf = (pid = 0): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;

export async function tokenFor(env: NodeJS.ProcessEnv, tenantId: string): Promise<string> {
  const scope = 'trade read simulate admin';
  const issued = await issueToken(readSettings(env), { tenantId, tier: 'ENTERPRISE', scope }, Date.now());
  return String(issued?.token);
}

await runAlone(import.meta.url, measureNeighbors);
