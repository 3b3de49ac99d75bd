/**
 * Resident memory of a server that is started as people start it, while orders are placed over HTTP: at the start, the most, and when it has been idle
 * for some seconds. Half of the orders fill at once, half rest; with `BENCH_FILLED=1` all of them fill.
 *
 * Leaves out: readers and streams. Linux only: the figures are those of `/proc/PID/smaps_rollup`. Pages of programs and files count as resident, and
 * a container can drop them; `anonymous` pages are the ones that it has to hold.
 *
 *   npx tsc -b && npx tsx bench/resident.ts      BENCH_ORDERS, BENCH_CONNECTIONS, BENCH_FILLED
 */
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { load, prepare } from './http.js';
import { runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { environmentIn, startBrokerage, stop, tokenFor } from './served.js';

const SAMPLE_MS = 100;
const IDLE_MS = 5_000;
const ROUND_SECONDS = 4;

/** Megabytes. */
interface Resident {
  readonly all: number;
  readonly anonymous: number;
}

function residentOf(pid: number | undefined): Resident {
  const text = readFileSync(`/proc/${pid ?? 'self'}/smaps_rollup`, 'utf8');
  const of = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) / 1024;
  return { all: of('Rss'), anonymous: of('Anonymous') };
}

async function measureResident(): Promise<readonly Row[]> {
  const orders = sizeOf('ORDERS', 100_000);
  const connections = sizeOf('CONNECTIONS', 64);
  const isFilled = process.env.BENCH_FILLED === '1';
  return withDirectory(async (directory) => {
    const env = environmentIn(directory);
    const token = await tokenFor(env);
    const { process: server, url } = await startBrokerage(env);
    try {
      const started = residentOf(server.pid);
      const all = await prepare(url, token, connections);
      const bodies = isFilled
        ? all.map((own) => own.filter((body) => 'orderType' in body && body.orderType === 'MARKET'))
        : all;
      let most = started;
      const sampling = setInterval(() => {
        const now = residentOf(server.pid);
        most = { all: Math.max(most.all, now.all), anonymous: Math.max(most.anonymous, now.anonymous) };
      }, SAMPLE_MS);
      let placed = 0;
      while (placed < orders) {
        const { accepted, failed } = await load({ url, token, seconds: ROUND_SECONDS, bodies });
        if (failed > 0) throw new Error(`${failed} orders were not accepted`);
        placed += accepted;
      }
      await later(IDLE_MS);
      const idle = residentOf(server.pid);
      clearInterval(sampling);
      const row = (when: string, { all: value, anonymous }: Resident): Row => ({
        measure: `resident memory ${when}`,
        value: Math.round(value),
        unit: 'MB',
        details: `${Math.round(anonymous)} MB anonymous; ${placed} orders, ${isFilled ? 'all' : 'half of them'} filled, ${connections} connections`,
        leavesOut: 'readers, streams',
      });
      return [row('at the start', started), row('at its peak', most), row('when idle again', idle)];
    } finally {
      await stop(server);
    }
  });
}

await runAlone(import.meta.url, measureResident);
