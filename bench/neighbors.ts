/**
 * Effect of one tenant's batch on another: one tenant sends the same order for 1,000 of its accounts (`POST /v1/orders/batch`), another one
 * reads its own account and orders throughout. Reads are measured alone and while batches are under way; the time of the batches is
 * reported as well.
 *
 * Leaves out: everything else that a busy server does; TLS, the network.
 *
 *   npx tsc -b && npx tsx bench/neighbors.ts      BENCH_ACCOUNTS, BENCH_BATCHES
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { keepFull, quantile, runAlone, sizeOf } from './measure.js';
import type { Row } from './measure.js';
import { INITIAL_DOLLARS, symbolOf } from './orders.js';
import { SETTINGS } from './simulation.js';

const READ_EVERY_MS = 5;
/** Time that the other tenant reads alone, for comparison. */
const ALONE_MS = 2000;

type Caller = (method: string, path: string, body?: object) => Promise<unknown>;

export async function measureNeighbors(): Promise<readonly Row[]> {
  const accounts = sizeOf('ACCOUNTS', 1000);
  const batches = sizeOf('BATCHES', 5);
  return inDirectory(async (directory) => {
    const env = {
      ...SETTINGS,
      DATA_DIR: directory,
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: '1000000000',
    };
    const server = ServerProcess.launch(env);
    try {
      const url = await server.listening;
      const busy = await callerFor(url, env, 'busy');
      const quiet = await callerFor(url, env, 'quiet');
      await busy('PUT', '/v1/simulation/quotes', {
        quotes: [{ symbol: symbolOf(0), bid: 99.99, ask: 100.01, last: 100 }],
      });
      const ids = Array.from({ length: accounts }, (_, index) => idOf(index));
      await keepFull(accounts, 32, (index) => openPortfolio(busy, ids[index] ?? ''));
      await openPortfolio(quiet, idOf(0));
      const read = (): Promise<unknown> =>
        Promise.all([quiet('GET', `/v1/accounts/${idOf(0)}`), quiet('GET', `/v1/orders/account/${idOf(0)}`)]);
      // For the compilers.
      await timesOf(read, later(1000));
      const alone = await timesOf(read, later(ALONE_MS));
      const batchMs: number[] = [];
      const order = orderData();
      const send = async (): Promise<void> => {
        for (let batch = 0; batch < batches; batch++) {
          const began = performance.now();
          const { successful } = (await busy('POST', '/v1/orders/batch', {
            accountIds: ids,
            orderData: order,
          })) as { successful: unknown[] };
          if (successful.length !== accounts) throw new Error(`${successful.length} of ${accounts}`);
          batchMs.push(performance.now() - began);
          await later(100);
        }
      };
      const beside = await timesOf(read, send());
      const details = (times: readonly number[]): string =>
        `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms of ${times.length} reads`;
      const leavesOut = 'other load, TLS, network';
      return [
        {
          measure: "longest of a tenant's own reads, alone",
          value: alone.at(-1) ?? Number.NaN,
          unit: 'ms',
          details: details(alone),
          leavesOut,
        },
        {
          measure: `the same beside another tenant's batches of ${accounts} accounts`,
          value: beside.at(-1) ?? Number.NaN,
          unit: 'ms',
          details: `${details(beside)}; a batch took ${batchMs.map((ms) => ms.toFixed(0)).join(', ')} ms`,
          leavesOut,
        },
      ];
    } finally {
      await server.end('SIGTERM');
    }
  });
}

/** Times of the reads, one after the other until `until` settles; sorted. */
async function timesOf(read: () => Promise<unknown>, until: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  const state = { isOver: false };
  const over = until.finally(() => (state.isOver = true));
  while (!state.isOver) {
    const began = performance.now();
    await read();
    times.push(performance.now() - began);
    await later(READ_EVERY_MS);
  }
  await over;
  return times.sort((a, b) => a - b);
}

async function callerFor(url: string, env: NodeJS.ProcessEnv, tenantId: string): Promise<Caller> {
  const scope = 'trade read simulate admin';
  const issued = await issueToken(readSettings(env), { tenantId, tier: 'ENTERPRISE', scope }, Date.now());
  return async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${issued?.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
}

const idOf = (index: number): string => `11111111-1111-4111-8111-${String(index).padStart(12, '0')}`;

const openPortfolio = (caller: Caller, accountId: string): Promise<unknown> =>
  caller('POST', '/v1/accounts/portfolios', {
    accountId,
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: INITIAL_DOLLARS,
  });

const orderData = (): object => ({
  symbol: symbolOf(0),
  assetClass: 'EQUITY',
  orderType: 'MARKET',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 1,
  timeInForce: 'DAY',
});

await runAlone(import.meta.url, measureNeighbors);
