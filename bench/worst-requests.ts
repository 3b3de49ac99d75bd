/**
 * Effect of the worst single request of a route on another tenant: one tenant repeats it, another places an order and reads its own account
 * throughout. Reports the p99 of the other's requests, and the time of the worst request itself.
 *
 * Leaves out: everything else that a busy server does; TLS, the network; routes whose work does not grow with anything (they are like an
 * order).
 *
 *   npx tsc -b && npx tsx bench/worst-requests.ts      BENCH_MS per route
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { keepFull, quantile, runAlone, sizeOf } from './measure.js';
import type { Row } from './measure.js';
import { SETTINGS } from './simulation.js';

const P99_MS = 25;
const LIST = 500;
const ACCOUNTS = 500;
const ORDERS = 3000;
const EVERY_MS = 4;

type Caller = (method: string, path: string, body?: object | string) => Promise<{ [name: string]: unknown }>;

export async function measureWorstRequests(): Promise<readonly Row[]> {
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
      for (const [name, request] of Object.entries(worst)) {
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

/** The worst single requests that a tenant can send, by name, for a tenant with many objects. */
async function worstRequests(url: string, busy: Caller): Promise<Record<string, () => Promise<unknown>>> {
  const ids = Array.from({ length: ACCOUNTS }, (_, index) => idOf(index));
  await keepFull(ACCOUNTS, 32, async (index) => {
    await openPortfolio(busy, ids[index] ?? '');
  });
  const created = await busy('POST', '/v1/simulations', {
    feed: 'synthetic',
    clock: 'manual',
    start: '2026-01-05T10:00:00-05:00',
    seed: 1,
  });
  const simulation = callerWith(url, String(created.token));
  const portfolioId = String(
    (await openPortfolio(simulation, idOf(0), { portfolioType: 'MARGIN', initialCash: 10_000_000 }))
      .portfolioId,
  );
  const symbols = ['AAPL', 'MSFT', 'NVDA', 'SPY'];
  await keepFull(ORDERS, 32, async (index) => {
    const limits = index % 2 === 0 ? { limitPrice: 1 } : { orderType: 'MARKET', limitPrice: undefined };
    await simulation(
      'POST',
      '/v1/orders',
      order(portfolioId, {
        symbol: symbols[index % 4],
        quantity: 1,
        timeInForce: index % 2 === 0 ? 'GTC' : 'DAY',
        ...limits,
      }),
    );
  });
  const { text } = await simulation('GET', `/v1/simulations/${String(created.simulationId)}/export`);
  const strikes = Array.from({ length: 40 }, (_, index) => 100 + index * 5);
  const holdings = strikes.flatMap((strike) =>
    ['C', 'P'].map((type, index) => ({
      symbol: `AAPL260320${type}${String(strike * 1000).padStart(8, '0')}`,
      quantity: index === 0 ? -1 : 1,
    })),
  );
  const quotes = Array.from({ length: 1000 }, (_, index) => quote(`ZZ${letters(index)}`, 10));
  return {
    'a batch of 500 accounts': () =>
      busy('POST', '/v1/orders/batch', {
        accountIds: ids,
        orderData: { ...order('', { limitPrice: 50 }), portfolioId: undefined },
      }),
    'a clock that is moved by a month with 1,500 open orders': () =>
      simulation('POST', '/v1/simulation/clock/advance', { by: 'P1M' }),
    'a push of 1,000 quotes': () => busy('PUT', '/v1/simulation/quotes', { quotes }),
    'requirements of 80 options': () =>
      simulation('POST', '/v1/margin/requirements', {
        marginType: 'REG_T',
        brokerId: 'default',
        positions: holdings,
        prices: Object.fromEntries([
          ['AAPL', 200],
          ...holdings.map(({ symbol }, index) => [symbol, 1 + index / 10] as const),
        ]) as Record<string, number>,
      }),
    'an option chain': () => simulation('GET', '/v1/market-data/options/SPY/chain'),
    'a list of 500 orders': () => simulation('GET', `/v1/orders?portfolioId=${portfolioId}&limit=${LIST}`),
    'a list of 500 ledger entries': () =>
      simulation('GET', `/v1/accounts/portfolios/${portfolioId}/ledger?limit=${LIST}`),
    performance: () => simulation('GET', `/v1/accounts/portfolios/${portfolioId}/performance`),
    'round trips': () => simulation('GET', `/v1/accounts/portfolios/${portfolioId}/trades?limit=${LIST}`),
    'an equity curve by the minute': () =>
      simulation('GET', `/v1/accounts/portfolios/${portfolioId}/equity?interval=5m`),
    'bars of a year by the minute': () =>
      simulation('GET', '/v1/market-data/bars/AAPL?timeframe=1Min&limit=1000'),
    'canceling all orders of an account': () => simulation('DELETE', `/v1/orders/account/${idOf(0)}`),
    'an export': () => simulation('GET', `/v1/simulations/${String(created.simulationId)}/export`),
    'an import': () => busy('POST', '/v1/simulations/import', String(text)),
  };
}

const letters = (index: number): string =>
  [index / 676, index / 26, index].map((part) => String.fromCharCode(65 + (Math.floor(part) % 26))).join('');

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

/** Refusals are answers, too, but each is reported once: the worst request must have an effect. */
function callerWith(url: string, token: string): Caller {
  const told = new Set<string>();
  return async (method, path, body) => {
    const isFile = typeof body === 'string';
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': isFile ? 'application/x-ndjson' : 'application/json' }),
      },
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const route = `${method} ${path.split('?')[0] ?? ''} ${response.status}`;
    if (!response.ok && !told.has(route)) {
      told.add(route);
      console.error(`${route}: ${text.slice(0, 300)}`);
    }
    if (response.headers.get('content-type')?.startsWith('application/json') !== true) return { text };
    return JSON.parse(text) as { [name: string]: unknown };
  };
}

const idOf = (index: number): string => `11111111-1111-4111-8111-${String(index).padStart(12, '0')}`;

const openPortfolio = (caller: Caller, accountId: string, more: object = {}) =>
  caller('POST', '/v1/accounts/portfolios', {
    accountId,
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 1_000_000,
    ...more,
  });

const quote = (symbol: string, last: number): object => ({ symbol, bid: last - 0.1, ask: last, last });

const order = (portfolioId: string, more: object): object => ({
  portfolioId,
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'LIMIT',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 1,
  timeInForce: 'DAY',
  ...more,
});

await runAlone(import.meta.url, measureWorstRequests);
