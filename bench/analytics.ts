/**
 * What the analytics of a portfolio cost, and what they cost others: round trips of one portfolio are placed at the store, then a server is
 * started on it and asked for performance, a report and CSV, while another tenant reads its own account all the while. Ten years of daily
 * points are those of a simulation of its own, whose clock is moved.
 *
 * Leaves out: TLS, the network. The first answer after a start reads the history from disk.
 *
 *   npx tsc -b && npx tsx bench/analytics.ts      BENCH_TRADES
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as later } from 'node:timers/promises';
import { Quantity } from '@sandpit/core';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { cpuMsOf, keepFull, median, quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { BY, submitOrder, symbolOf } from './orders.js';
import { startBrokerage, stop } from './served.js';
import { openPortfolios, pushQuotes, SETTINGS, withServerParts } from './simulation.js';

const SYMBOLS = 10;
const READ_EVERY_MS = 5;
const OTHERS = '22222222-2222-4222-8222-222222222222';

export async function measureAnalytics(): Promise<readonly Row[]> {
  const trades = sizeOf('TRADES', 10_000);
  return withDirectory(async (directory) => {
    const portfolioId = await place(directory, trades);
    const env = {
      ...SETTINGS,
      DATA_DIR: directory,
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: '1000000000',
      SANDBOX_LIMIT: '100',
    };
    const { process: server, url } = await startBrokerage(env);
    try {
      const own = await callerFor(url, env, BY.tenantId);
      const other = await callerFor(url, env, 'quiet');
      await other('POST', '/v1/accounts', { accountId: OTHERS, name: 'quiet' });
      const path = `/v1/accounts/portfolios/${portfolioId}`;
      const beside = new Probe(() => other('GET', `/v1/accounts/${OTHERS}`));
      await beside.during(() => later(1000));
      const rows: Row[] = [];
      const timed = async (
        name: string,
        aim: number | undefined,
        ask: () => Promise<string>,
      ): Promise<void> => {
        const times: number[] = [];
        let text = '';
        const p99 = await beside.during(async () => {
          for (let i = 0; i < 3; i += 1) {
            const began = performance.now();
            text = await ask();
            times.push(performance.now() - began);
          }
        });
        rows.push({
          measure: `${name}, ${trades} trades`,
          value: median(times),
          unit: 'ms',
          ...(aim !== undefined && { aim: { atMost: aim } }),
          details: `median of ${times.map((ms) => ms.toFixed(0)).join(', ')}; ${(text.length / 1000).toFixed(0)} kB`,
          leavesOut: 'TLS, the network',
        });
        rows.push({
          measure: `another tenant's read beside it (${name}), p99`,
          value: p99,
          unit: 'ms',
          aim: { atMost: 25 },
          details: 'GET /v1/accounts/:accountId every 5 ms',
          leavesOut: 'TLS, the network',
        });
      };
      await timed('performance', trades === 100_000 ? 500 : undefined, () =>
        own('GET', `${path}/performance`),
      );
      await timed('trades, one page', undefined, () => own('GET', `${path}/trades?limit=50`));
      await timed('execution quality', undefined, () =>
        own('GET', `${path}/execution-quality?groupBy=symbol`),
      );
      await timed('report', trades <= 10_000 ? 1000 : undefined, () => own('GET', `${path}/report.html`));
      rows.push(await csvRow(url, await tokenOf(env, BY.tenantId), `${path}/ledger`, server.pid, beside));
      rows.push(await tenYears(own));
      return rows;
    } finally {
      await stop(server);
    }
  });
}

/** Buys and sells a share so many times; each pair is a round trip. */
function place(directory: string, trades: number): Promise<string> {
  return withServerParts(directory, async ({ store, simulations }) => {
    const main = await simulations.keepMain(BY.tenantId);
    await pushQuotes(
      main,
      Array.from({ length: SYMBOLS }, (_, index) => symbolOf(index)),
    );
    const [portfolioId = ''] = await openPortfolios(main, 1);
    for (const positionIntent of ['BUY_TO_OPEN', 'SELL_TO_CLOSE'] as const)
      await keepFull(trades, 64, async (index) => {
        const { result } = await main.submit<'SubmitOrder'>(
          submitOrder({
            portfolioId,
            symbol: symbolOf(index % SYMBOLS),
            assetClass: 'EQUITY',
            orderType: 'MARKET',
            positionIntent,
            quantity: Quantity.of(1),
            timeInForce: 'DAY',
          }),
        );
        if ('code' in result) throw new Error(JSON.stringify(result));
      });
    await main.durable();
    while (store.history.health().behind > 0) await later(20);
    return portfolioId;
  });
}

/** Rows a second of the CSV of a ledger, with what the server grows by meanwhile. */
async function csvRow(
  url: string,
  token: string,
  path: string,
  pid: number | undefined,
  beside: Probe,
): Promise<Row> {
  let rows = 0;
  let ms = 0;
  const cpu = cpuMsOf(pid);
  const p99 = await beside.during(async () => {
    const began = performance.now();
    const reply = await fetch(url + path, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/csv' },
    });
    for await (const chunk of reply.body ?? [])
      for (const byte of chunk as Uint8Array) if (byte === 10) rows += 1;
    ms = performance.now() - began;
  });
  return {
    measure: 'CSV of the ledger',
    value: (rows / ms) * 1000,
    unit: 'rows/s',
    aim: { atLeast: 50_000 },
    details: `${rows} rows in ${ms.toFixed(0)} ms, ${(cpuMsOf(pid) - cpu).toFixed(0)} ms of CPU; another tenant's read beside it: p99 ${p99.toFixed(1)} ms`,
    leavesOut: 'TLS, the network',
  };
}

async function tenYears(own: Caller): Promise<Row> {
  const { token } = JSON.parse(
    await own('POST', '/v1/simulations', {
      name: 'ten years',
      feed: 'push',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2012-01-03T10:00:00-05:00',
      seed: 1,
    }),
  ) as { token: string };
  const inside = own.as(token);
  const { portfolioId } = JSON.parse(
    await inside('POST', '/v1/accounts/portfolios', {
      accountId: OTHERS,
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      initialCash: 100_000,
    }),
  ) as { portfolioId: string };
  await inside('POST', '/v1/simulation/clock/advance', { to: '2022-01-03T10:00:00-05:00' });
  const path = `/v1/accounts/portfolios/${portfolioId}/performance`;
  const times: number[] = [];
  for (let i = 0; i < 9; i += 1) {
    const began = performance.now();
    await inside('GET', path);
    times.push(performance.now() - began);
  }
  return {
    measure: 'performance, ten years of daily points',
    value: median(times),
    unit: 'ms',
    aim: { atMost: 50 },
    details: `median of 9, the first ${(times[0] ?? 0).toFixed(0)} ms; nothing is held`,
    leavesOut: 'TLS, the network',
  };
}

interface Caller {
  (method: string, path: string, body?: object): Promise<string>;
  readonly as: (token: string) => Caller;
}

const tokenOf = async (env: NodeJS.ProcessEnv, tenantId: string): Promise<string> => {
  const grant = { tenantId, tier: 'ENTERPRISE', scope: 'trade read simulate admin' } as const;
  const issued = await issueToken(readSettings(env), grant, Date.now());
  if (issued === undefined) throw new Error('no token');
  return issued.token;
};

const callerFor = async (url: string, env: NodeJS.ProcessEnv, tenantId: string): Promise<Caller> =>
  callerWith(url, await tokenOf(env, tenantId));

function callerWith(url: string, token: string): Caller {
  const call = async (method: string, path: string, body?: object): Promise<string> => {
    const reply = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text;
  };
  return Object.assign(call, { as: (other: string) => callerWith(url, other) });
}

/** Reads again and again while something else is done. */
class Probe {
  readonly #read: () => Promise<unknown>;

  constructor(read: () => Promise<unknown>) {
    this.#read = read;
  }

  /** The 99th percentile of the reads meanwhile, ms. */
  async during(act: () => Promise<unknown>): Promise<number> {
    const over = new AbortController();
    const done = act().finally(() => over.abort());
    const times: number[] = [];
    while (!over.signal.aborted) {
      const began = performance.now();
      await this.#read();
      times.push(performance.now() - began);
      await later(READ_EVERY_MS);
    }
    await done;
    return quantile(
      times.sort((a, b) => a - b),
      0.99,
    );
  }
}

await runAlone(import.meta.url, measureAnalytics);
