/**
 * Steps of a simulation over HTTP on the real server process with the SQLite store, from this process: one client on one connection, one
 * request after the other; then the same work in separate requests (order, quote, clock); then batches over 256 simulations. Each step places
 * an order that fills, pushes a quote and advances a minute; it is durable when it is answered. Before that the floor: a bare server that
 * appends and syncs for each request (`bare-append.ts`). At the end the first row again, with the journal of all that in between.
 *
 * Leaves out: other clients, streams, TLS, the network. The load shares the cores with the server.
 *
 *   npx tsc -b && npx tsx bench/steps.ts      BENCH_SECONDS (a part), BENCH_SIMULATIONS, BENCH_EPHEMERAL=1 (in memory alone)
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.js';
import { quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { call, environmentIn, startBrokerage, stop, tokenFor } from './served.js';
import { cpuByThread, namingThreads } from './thread-cpu.js';

const IS_EPHEMERAL = process.env['BENCH_EPHEMERAL'] === '1';

/** Size of a page of the write-ahead log. */
const SYNCED_BYTES = 4096;

interface Sim {
  readonly simulationId: string;
  readonly token: string;
  readonly portfolioId: string;
}

interface Rate {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function create(url: string, token: string): Promise<Sim> {
  const made = (await call(url, token, 'POST', '/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    calendar: 'always-open',
    start: '2026-01-05T15:00:00Z',
    ...(IS_EPHEMERAL && { ephemeral: true }),
  })) as { simulationId: string; token: string };
  const { portfolioId } = (await call(url, made.token, 'POST', '/v1/accounts/portfolios', {
    accountId: '11111111-1111-4111-8111-111111111111',
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 1_000_000_000,
  })) as { portfolioId: string };
  return { ...made, portfolioId };
}

const orderOf = ({ portfolioId }: Sim): object => ({
  portfolioId,
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'MARKET',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 1,
  timeInForce: 'DAY',
});

/** After so many steps V8 compiles hardly anything anew. */
const COMPILED_STEPS = 2_500;

const quote = (i: number): object => ({ symbol: 'AAPL', bid: 100 + (i % 10), ask: 100.1 + (i % 10) });

const stepOf = (sim: Sim, i: number): object => ({
  orders: [orderOf(sim)],
  quotes: [quote(i)],
  advance: { by: 'PT1M' },
  observe: { symbols: ['AAPL'], portfolios: [sim.portfolioId] },
});

async function during(
  seconds: number,
  stepsEach: number,
  work: (i: number) => Promise<unknown>,
): Promise<Rate> {
  for (let i = 0; i < 50; i += 1) await work(i);
  const times: number[] = [];
  const began = performance.now();
  for (let i = 0; performance.now() - began < seconds * 1000; i += 1) {
    const at = performance.now();
    await work(i);
    times.push(performance.now() - at);
  }
  const perSecond = (times.length * stepsEach * 1000) / (performance.now() - began);
  times.sort((a, b) => a - b);
  return { perSecond, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

const details = ({ p50Ms, p99Ms }: Rate, what: string): string =>
  `${what}; p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms a request`;

/** Appends to a file that has room for them, each synced: the disk alone. */
function measureSyncs(directory: string, seconds: number): Promise<Rate> {
  const file = openSync(join(directory, 'syncs'), 'w+');
  const record = Buffer.alloc(SYNCED_BYTES, 'r');
  writeSync(file, Buffer.alloc(SYNCED_BYTES * 1024));
  return during(seconds, 1, (i) => {
    writeSync(file, record, 0, SYNCED_BYTES, (i % 1024) * SYNCED_BYTES);
    fdatasyncSync(file);
    return Promise.resolve();
  }).finally(() => closeSync(file));
}

interface Floor {
  readonly answered: Rate;
  readonly synced: Rate;
}

/** Requests of a server that answers at once, and of one that syncs before. */
async function measureFloor(directory: string, seconds: number): Promise<Floor> {
  const server = fork(fileURLToPath(new URL('./bare-append.ts', import.meta.url)));
  try {
    server.send(join(directory, 'floor'));
    const [{ port }] = (await once(server, 'message')) as [{ port: number }];
    const connection = await Connection.open(`http://127.0.0.1:${port}`);
    const send = (path: string): Promise<unknown> =>
      connection.send('none', 'POST', path, { advance: { by: 'PT1M' } });
    const answered = await during(seconds, 1, () => send('/v1/none'));
    const synced = await during(seconds, 1, () => send('/v1/simulation/step'));
    connection.close();
    return { answered, synced };
  } finally {
    server.disconnect();
    await once(server, 'exit');
  }
}

export async function measureSteps(): Promise<readonly Row[]> {
  const seconds = sizeOf('SECONDS', 5);
  const count = sizeOf('SIMULATIONS', 256);
  return withDirectory(async (directory) => {
    const env = {
      ...environmentIn(directory),
      EPHEMERAL_MAX_BYTES: '4294967296',
      ...namingThreads(directory),
    };
    const token = await tokenFor(env);
    const syncs = await measureSyncs(directory, seconds);
    const floor = await measureFloor(directory, seconds);
    const { url, process: server } = await startBrokerage(env);
    const connection = await Connection.open(url);
    const send = (token: string, method: string, path: string, body: object): Promise<unknown> =>
      connection.send(token, method, path, body).then((text) => JSON.parse(text) as unknown);
    try {
      const sims: Sim[] = [];
      for (let i = 0; i < count; i += 1) sims.push(await create(url, token));
      const [one, two] = sims;
      if (one === undefined || two === undefined) throw new Error('no simulations');
      const stepEmpty = (): Promise<unknown> =>
        send(one.token, 'POST', '/v1/simulation/step', { advance: { by: 'PT1M' } });
      let steps = 0;
      const step = (i: number): Promise<unknown> => {
        steps += 1;
        return send(one.token, 'POST', '/v1/simulation/step', stepOf(one, i));
      };
      while (steps < COMPILED_STEPS) await step(steps);
      const empty = await during(seconds, 1, stepEmpty);
      const before = cpuByThread(server.pid, directory);
      steps = 0;
      const single = await during(seconds, 1, step);
      const cpu = [...cpuByThread(server.pid, directory)]
        .map(([name, ms]) => [name, ((ms - (before.get(name) ?? 0)) * 1000) / steps] as const)
        .filter(([, us]) => us >= 1)
        .sort(([, a], [, b]) => b - a);
      const apart = await during(seconds, 1, async (i) => {
        await send(two.token, 'POST', '/v1/orders', orderOf(two));
        await send(two.token, 'PUT', '/v1/simulation/quotes', { quotes: [quote(i)] });
        await send(two.token, 'POST', '/v1/simulation/clock/advance', { by: 'PT1M' });
        await send(two.token, 'POST', '/v1/market-data/quotes/batch', { symbols: ['AAPL'] });
      });
      const batch = await during(seconds, count, (i) =>
        send(token, 'POST', '/v1/simulations/step', {
          steps: sims.map(({ simulationId }) => ({
            simulationId,
            quotes: [quote(i)],
            advance: { by: 'PT1M' },
            observe: { symbols: ['AAPL'] },
          })),
        }),
      );
      const later = await during(seconds, 1, stepEmpty);
      const leavesOut = 'other clients, streams, TLS, network';
      return [
        {
          measure: 'floor: appends of 4 KiB, each synced',
          value: syncs.perSecond,
          unit: 'appends/s',
          details: `no server; p50 ${syncs.p50Ms.toFixed(2)} ms, p99 ${syncs.p99Ms.toFixed(2)} ms an append`,
          leavesOut,
        },
        {
          measure: 'floor: requests of a bare server, one connection',
          value: floor.answered.perSecond,
          unit: 'requests/s',
          details: details(floor.answered, 'no sync'),
          leavesOut,
        },
        {
          measure: 'floor: requests of a bare server, each with an append that is synced, one connection',
          value: floor.synced.perSecond,
          unit: 'requests/s',
          details: details(floor.synced, 'one sync; the journal needs two, one of them after the answer'),
          leavesOut,
        },
        {
          measure: 'steps that advance a minute, one connection',
          value: empty.perSecond,
          unit: 'steps/s',
          details: details(empty, 'no orders, nothing observed'),
          aim: { atLeast: 2000 },
          leavesOut,
        },
        {
          measure: 'steps with an order that fills, a quote, a minute and a portfolio, one connection',
          value: single.perSecond,
          unit: 'steps/s',
          details: details(single, 'p99 is to be at most 2 ms'),
          aim: { atLeast: 2000 },
          leavesOut,
        },
        {
          measure: 'CPU of the server for such a step',
          value: cpu.reduce((sum, [, us]) => sum + us, 0),
          unit: 'µs',
          details: cpu.map(([name, us]) => `${name} ${us.toFixed(0)}`).join(', '),
          leavesOut,
        },
        {
          measure: 'the same work in separate requests, without the portfolio',
          value: apart.perSecond,
          unit: 'rounds/s',
          details: details(apart, 'order, quote, clock, quotes; a round is four requests'),
          leavesOut,
        },
        {
          measure: `steps in batches of ${count} simulations, one connection`,
          value: batch.perSecond,
          unit: 'steps/s',
          details: details(batch, 'each a quote, a minute and an observed symbol'),
          aim: { atLeast: 20_000 },
          leavesOut,
        },
        {
          measure: 'steps that advance a minute, one connection, after all that',
          value: later.perSecond,
          unit: 'steps/s',
          details: details(later, 'the first of the rows of steps again: the journal is longer by now'),
          leavesOut,
        },
      ];
    } finally {
      connection.close();
      await stop(server);
    }
  });
}

await runAlone(import.meta.url, measureSteps);
