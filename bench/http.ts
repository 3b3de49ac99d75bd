/**
 * Durable order placements over HTTP: `POST /v1/orders` on the real server process with the SQLite store. Each connection
 * trades for portfolios of its own; half of the orders fill at once (purchases, and the sales of what they bought), half rest at a limit. An
 * answer counts when it is a 201, which the server gives only for an order that is on disk.
 *
 * For comparison, alternating in the same run: a bare server with the same route, token check and validation (`http-bare.ts`). The ratio of
 * the two says what the brokerage and its durability cost; the load comes from a third process on the same machine, and uses the same share
 * of the cores for both.
 *
 * Leaves out: rate limits (raised out of the way), streams and other readers, new connections, TLS, the network; quotes are
 * pushed once and have no sizes. The disk is as honest about a sync as the machine's disk is.
 *
 *   npx tsc -b && npx tsx bench/http.ts      BENCH_CONNECTIONS, BENCH_ROUNDS, BENCH_SECONDS (a round)
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuMsOf, median, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import type { Load, LoadResult } from './http-load.js';
import { INITIAL_DOLLARS, symbolOf } from './orders.js';
import { call, environmentIn, START_MS, startBrokerage, stop, tokenFor } from './served.js';

const PORTFOLIOS_PER_CONNECTION = 4;
const SYMBOLS = 50;

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Round extends LoadResult {
  /** CPU time of the server for one order, all of its threads. */
  readonly serverMicros: number;
}

export async function measureHttp(): Promise<readonly Row[]> {
  const most = sizeOf('CONNECTIONS', 256);
  const rounds = sizeOf('ROUNDS', 3);
  const seconds = sizeOf('SECONDS', 6);
  return withDirectory(async (directory) => {
    const env = environmentIn(directory);
    const token = await tokenFor(env);
    const brokerage = await startBrokerage(env);
    const bare = fork(fileOf('http-bare.ts'), { env });
    try {
      const bodies = await prepare(brokerage.url, token, most);
      const example = await call(brokerage.url, token, 'POST', '/v1/orders', bodies[0]?.[1]);
      bare.send(example);
      const [{ port }] = (await once(bare, 'message')) as [{ port: number }];
      const fire = async (
        server: ChildProcess,
        url: string,
        howLong: number,
        connections: number,
        perSecond?: number,
      ): Promise<Round> => {
        const before = cpuMsOf(server.pid);
        const wish = { url, token, seconds: howLong, bodies: bodies.slice(0, connections) };
        const result = await load(perSecond === undefined ? wish : { ...wish, perSecond });
        return { ...result, serverMicros: ((cpuMsOf(server.pid) - before) * 1000) / result.accepted };
      };
      const bareUrl = `http://127.0.0.1:${port}`;
      // For the compilers.
      await fire(brokerage.process, brokerage.url, Math.max(1, seconds / 2), most);
      await fire(bare, bareUrl, Math.max(1, seconds / 2), most);
      const rows: Row[] = [];
      // Many clients for the rate, few for what one of them waits.
      for (const connections of [most, Math.max(1, most >> 4)]) {
        const ours: Round[] = [];
        const theirs: Round[] = [];
        for (let round = 0; round < rounds; round++) {
          ours.push(await fire(brokerage.process, brokerage.url, seconds, connections));
          theirs.push(await fire(bare, bareUrl, seconds, connections));
        }
        rows.push(...rowsOf(ours, theirs, { connections, rounds, seconds, isAim: connections === most }));
        if (connections !== most) continue;
        const rate = median(ours.map(({ perSecond }) => perSecond)) / 2;
        const half: Round[] = [];
        for (let round = 0; round < rounds; round++)
          half.push(await fire(brokerage.process, brokerage.url, seconds, connections, rate));
        rows.push(halfLoadRow(half, rate));
      }
      return rows;
    } finally {
      await Promise.all([stop(brokerage.process), stop(bare)]);
    }
  });
}

function rowsOf(
  ours: readonly Round[],
  theirs: readonly Round[],
  run: { connections: number; rounds: number; seconds: number; isAim: boolean },
): readonly Row[] {
  const { connections, rounds, seconds, isAim } = run;
  const failed = [...ours, ...theirs].reduce((sum, result) => sum + result.failed, 0);
  if (failed > 0) throw new Error(`${failed} requests were not answered with 201`);
  const of = (results: readonly Round[], key: 'perSecond' | 'p50Ms' | 'p99Ms' | 'serverMicros'): number =>
    median(results.map((result) => result[key]));
  const ratios = ours.map(
    (result, round) => (result.perSecond / (theirs[round]?.perSecond ?? Number.NaN)) * 100,
  );
  const detailsOf = (results: readonly Round[]): string =>
    `median of ${rounds} rounds of ${seconds} s; p50 ${of(results, 'p50Ms').toFixed(1)} ms, ` +
    `p99 ${of(results, 'p99Ms').toFixed(1)} ms; ${of(results, 'serverMicros').toFixed(0)} µs of the server's CPU time each`;
  const leavesOut = 'rate limits, streams and readers, new connections, TLS, network';
  return [
    {
      measure: `durable placements over HTTP, ${connections} connections`,
      value: of(ours, 'perSecond'),
      unit: 'orders/s',
      details: detailsOf(ours),
      leavesOut,
    },
    {
      measure: `bare server: same route, token check and validation, ${connections} connections`,
      value: of(theirs, 'perSecond'),
      unit: 'requests/s',
      details: `${detailsOf(theirs)}; in turns with the row above`,
      leavesOut: 'everything a brokerage does',
    },
    {
      measure: `durable placements as a part of the bare server, ${connections} connections`,
      value: median(ratios),
      unit: '%',
      ...(isAim && { aim: { atLeast: 50 } }),
      details: `median of the rounds: ${ratios.map((ratio) => ratio.toFixed(0)).join(', ')}`,
      leavesOut,
    },
  ];
}

/** At a rate that does not depend on the answers: the wait of a request for a connection counts. */
function halfLoadRow(rounds: readonly Round[], rate: number): Row {
  return {
    measure: 'durable placements over HTTP at half of that rate: p99',
    value: median(rounds.map(({ p99Ms }) => p99Ms)),
    unit: 'ms',
    aim: { atMost: 15 },
    details:
      `${rate.toFixed(0)} orders/s were sent, ${median(rounds.map(({ perSecond }) => perSecond)).toFixed(0)} answered; ` +
      `p50 ${median(rounds.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms; median of ${rounds.length} rounds`,
    leavesOut: 'rate limits, streams and readers, new connections, TLS, network',
  };
}

/** Lists the symbols, opens the portfolios; what each connection will send. */
export async function prepare(url: string, token: string, connections: number): Promise<object[][]> {
  const quotes = Array.from({ length: SYMBOLS }, (_, index) => ({
    symbol: symbolOf(index),
    bid: 99.99,
    ask: 100.01,
    last: 100,
  }));
  await call(url, token, 'PUT', '/v1/simulation/quotes', { quotes });
  return Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      const bodies: object[] = [];
      for (let index = 0; index < PORTFOLIOS_PER_CONNECTION; index++) {
        const portfolio = (await call(url, token, 'POST', '/v1/accounts/portfolios', {
          accountId: '11111111-1111-4111-8111-111111111111',
          portfolioType: 'CASH',
          accountType: 'INDIVIDUAL',
          brokerId: 'default',
          initialCash: INITIAL_DOLLARS,
        })) as { readonly portfolioId: string };
        const symbol = symbolOf((connection * PORTFOLIOS_PER_CONNECTION + index) % SYMBOLS);
        bodies.push(...ordersOf(portfolio.portfolioId, symbol));
      }
      return bodies;
    }),
  );
}

/** Request bodies of a trader's orders in rotation: half fill at once (a purchase, later its sale), half rest. */
function ordersOf(portfolioId: string, symbol: string): object[] {
  const order = { portfolioId, symbol, assetClass: 'EQUITY' };
  const market = { ...order, orderType: 'MARKET', quantity: 10, timeInForce: 'DAY' };
  const limit = {
    ...order,
    orderType: 'LIMIT',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    timeInForce: 'GTC',
  };
  return [
    { ...market, positionIntent: 'BUY_TO_OPEN' },
    { ...limit, limitPrice: 50 },
    { ...market, positionIntent: 'SELL_TO_CLOSE' },
    { ...limit, limitPrice: 49.5 },
  ];
}

export async function load(what: Load): Promise<LoadResult> {
  const child = fork(fileOf('http-load.ts'));
  const deadline = setTimeout(() => child.kill('SIGKILL'), what.seconds * 1000 + START_MS);
  try {
    child.send(what);
    const message = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => undefined)]);
    if (message === undefined) throw new Error('the load generator has ended');
    return message[0] as LoadResult;
  } finally {
    clearTimeout(deadline);
  }
}

await runAlone(import.meta.url, measureHttp);
