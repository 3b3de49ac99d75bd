/**
 * Smallest memory limit under which a server accepts 100,000 orders over HTTP and then answers from its history. The limit is one of the system's
 * control groups (Linux; version 1 or 2, as root), in which the server starts, so that every page is charged: heaps, libraries, and files until they are
 * dropped. A server that needs more is killed by the system, and the row says after how many orders.
 *
 * Half of the orders fill at once, half stay open; with `BENCH_FILLED=1` all of them fill. Leaves out: readers and streams.
 *
 *   npx tsc -b && npx tsx bench/memory-limit.ts      BENCH_LIMITS (512,384,320,256), BENCH_ORDERS, BENCH_CONNECTIONS, BENCH_FILLED
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { load, prepare } from './http.js';
import { cpuMsOf, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { memoryGroup } from './memory-group.js';
import type { MemoryGroup } from './memory-group.js';
import { call, environmentIn, startBrokerage, stop, tokenFor } from './served.js';

const ROUND_SECONDS = 2;
const SAMPLE_MS = 50;
/** Time in which the end of a killed process is known. */
const EXIT_MS = 5_000;
const MEGABYTE = 1024 * 1024;

interface Outcome {
  readonly placed: number;
  readonly hasSurvived: boolean;
  /** Anonymous pages at their most, in bytes. */
  readonly anonymous: number;
  /** CPU time of an order, all threads. */
  readonly micros: number;
}

async function measureMemoryLimits(): Promise<readonly Row[]> {
  const limits = (process.env['BENCH_LIMITS'] ?? '512,384,320,256').split(',').map(Number);
  const orders = sizeOf('ORDERS', 100_000);
  const connections = sizeOf('CONNECTIONS', 64);
  const isFilled = process.env['BENCH_FILLED'] === '1';
  const rows: Row[] = [];
  for (const limit of limits) {
    const group = memoryGroup(`sandpit-bench-${process.pid}`, limit * MEGABYTE);
    if (group === undefined) {
      process.stdout.write(
        'skipped: the control groups of this system cannot be written; run it as root on Linux\n',
      );
      return [];
    }
    const { placed, hasSurvived, anonymous, micros } = await placeWithin(group, {
      orders,
      connections,
      isFilled,
    });
    rows.push({
      measure: `orders accepted within ${limit} MB`,
      value: placed,
      unit: 'orders',
      aim: { atLeast: orders },
      details:
        `${hasSurvived ? 'survived' : 'KILLED'}; anonymous pages ${Math.round(anonymous / MEGABYTE)} MB at the peak; ${Math.round(micros)} µs CPU an order; ` +
        `${isFilled ? 'all' : 'half of them'} filled, ${connections} connections`,
      leavesOut: 'readers, streams',
    });
  }
  return rows;
}

async function placeWithin(
  group: MemoryGroup,
  { orders, connections, isFilled }: { orders: number; connections: number; isFilled: boolean },
): Promise<Outcome> {
  return withDirectory(async (directory) => {
    // Environment of the image.
    const env = { ...environmentIn(directory), MALLOC_ARENA_MAX: '2' };
    const token = await tokenFor(env);
    const { process: server, url } = await startBrokerage(env, group);
    let anonymous = 0;
    let cpuMs = 0;
    const sampling = setInterval(() => {
      anonymous = Math.max(anonymous, group.anonymousBytes());
      cpuMs = cpuMsOf(server.pid) || cpuMs;
    }, SAMPLE_MS);
    let placed = 0;
    let hasSurvived = false;
    try {
      const all = await prepare(url, token, connections);
      const bodies = isFilled
        ? all.map((own) => own.filter((body) => 'orderType' in body && body.orderType === 'MARKET'))
        : all;
      while (placed < orders) {
        const { accepted, failed } = await load({ url, token, seconds: ROUND_SECONDS, bodies });
        placed += accepted;
        if (failed > 0) throw new Error(`${failed} orders were not accepted`);
      }
      // The reader of the history needs memory, too.
      await call(url, token, 'GET', '/v1/orders?limit=500');
      hasSurvived = true;
    } catch (error) {
      // A connection closes before the exit of its process is known.
      if (!(await hasBeenKilled(server))) throw error;
    } finally {
      clearInterval(sampling);
      await stop(server);
      group.remove();
    }
    return { placed, hasSurvived, anonymous, micros: (cpuMs * 1000) / placed };
  });
}

async function hasBeenKilled(child: ChildProcess): Promise<boolean> {
  if (child.exitCode === null && child.signalCode === null)
    await Promise.race([once(child, 'exit'), setTimeout(EXIT_MS, undefined, { ref: false })]);
  return child.signalCode === 'SIGKILL' || (child.exitCode ?? 0) !== 0;
}

await runAlone(import.meta.url, measureMemoryLimits);
