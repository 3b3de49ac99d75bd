/**
 * CPU time of an order over HTTP by thread, compared with two baselines: a bare server, and a durable one that writes each request in a
 * group commit before it answers (`http-bare.ts`). CPU time is steadier than wall time on a machine that others use.
 *
 * All orders fill at once; with `BENCH_MIXED=1` half of them rest. Leaves out: rate limits, streams and readers, TLS, the network. Linux
 * only.
 *
 *   npx tsc -b && npx tsx bench/budget.ts      BENCH_CONNECTIONS, BENCH_SECONDS, BENCH_MIXED
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, prepare } from './http.js';
import { cpuMsOf, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { call, environmentIn, startBrokerage, stop, tokenFor } from './served.js';
import { cpuByThread, namingThreads } from './thread-cpu.js';

const WARM_ORDERS = 50_000;
const BARE = fileURLToPath(new URL('http-bare.ts', import.meta.url));

async function measureBudget(): Promise<readonly Row[]> {
  const connections = sizeOf('CONNECTIONS', 64);
  const seconds = sizeOf('SECONDS', 5);
  const isMixed = process.env['BENCH_MIXED'] === '1';
  return withDirectory(async (directory) => {
    const env = environmentIn(join(directory, 'data'));
    mkdirSync(env.DATA_DIR);
    const token = await tokenFor(env);
    const brokerage = await startBrokerage({ ...env, ...namingThreads(directory) });
    const durable = join(directory, 'bare.db');
    const floors = [fork(BARE, { env }), fork(BARE, { env: { ...env, BENCH_DURABLE: durable } })] as const;
    try {
      const prepared = await prepare(brokerage.url, token, connections);
      const bodies = isMixed ? prepared : prepared.map((all) => all.filter((_, index) => index % 2 === 0));
      const example = await call(brokerage.url, token, 'POST', '/v1/orders', prepared[0]?.[1]);
      const leavesOut = 'rate limits, streams and readers, TLS, network';
      const details = `${connections} connections, ${seconds} s, ${isMixed ? 'half of the orders rest' : 'filled market orders'}`;
      const rowOf = (measure: string, value: number): Row => ({
        measure,
        value,
        unit: 'µs CPU an order',
        details,
        leavesOut,
      });
      const fire = (url: string, howLong: number) => load({ url, token, seconds: howLong, bodies });
      // The compilers of Node are done after so many orders, however fast the machine is.
      for (let warm = 0; warm < WARM_ORDERS;) warm += (await fire(brokerage.url, seconds)).accepted;
      const before = cpuByThread(brokerage.process.pid, directory);
      const { accepted } = await fire(brokerage.url, seconds);
      const after = cpuByThread(brokerage.process.pid, directory);
      const threads = [...after]
        .map(([name, ms]) => [name, ((ms - (before.get(name) ?? 0)) * 1000) / accepted] as const)
        .filter(([, micros]) => micros >= 0.5)
        .sort(([, a], [, b]) => b - a);
      const total = threads.reduce((sum, [, micros]) => sum + micros, 0);
      const ours = [
        { ...rowOf('order: all threads', total), aim: { atMost: 105 } },
        ...threads.map(([name, micros]) => rowOf(`order: ${name}`, micros)),
      ];
      const bare: Row[] = [];
      for (const [index, server] of floors.entries()) {
        server.send(example);
        const [{ port }] = (await once(server, 'message')) as [{ port: number }];
        const url = `http://127.0.0.1:${port}`;
        await fire(url, 1);
        const began = cpuMsOf(server.pid);
        const result = await fire(url, seconds);
        const name = index === 0 ? 'bare server' : 'bare durable server';
        bare.push(rowOf(name, ((cpuMsOf(server.pid) - began) * 1000) / result.accepted));
      }
      return [...ours, ...bare];
    } finally {
      await Promise.all([brokerage.process, ...floors].map((child: ChildProcess) => stop(child)));
    }
  });
}

await runAlone(import.meta.url, measureBudget);
