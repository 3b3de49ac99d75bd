/**
 * Cost of portfolio analytics, to their caller and to other tenants: round trips of two tenants are placed at the store, then a server is
 * started on it and asked for performance, reports and CSV, while another tenant reads its own account all the while. Ten years of daily
 * points are those of a simulation of its own, whose clock is moved.
 *
 * The first answer after a start reads the history from disk; later ones read what came since. Leaves out: TLS, the network.
 *
 *   npx tsc -b && npx tsx bench/analytics.ts      BENCH_TRADES; BENCH_DIRECTORY keeps the journal for the next run
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { Quantity } from '@sandpit/core';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { cpuMsOf, median, quantile, runAlone, sizeOf, inKeptDirectory } from './measure.js';
import type { Row } from './measure.js';
import { BY, openPortfolio, submitOrder, symbolOf, TENANT } from './orders.js';
import { startBrokerage, stop } from './served.js';
import { pushQuotes, SETTINGS, withServerParts } from './simulation.js';

const SYMBOLS = 10;
const READ_EVERY_MS = 5;
/** Another one each time: the journal may be kept. */
const OTHERS = randomUUID();

/** Trades of the portfolio that a report is made of. */
const REPORTED = 10_000;
const LEAVES_OUT = 'TLS, the network';

export async function measureAnalytics(): Promise<readonly Row[]> {
  const trades = sizeOf('TRADES', 100_000);
  const reported = Math.min(trades, REPORTED);
  return inKeptDirectory(async (directory) => {
    const note = join(directory, 'bench.json');
    if (!existsSync(note)) writeFileSync(note, JSON.stringify(await place(directory, [trades, reported])));
    const [large = '', small = ''] = JSON.parse(readFileSync(note, 'utf8')) as readonly string[];
    const env = {
      ...SETTINGS,
      DATA_DIR: directory,
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: '1000000000',
      SANDBOX_LIMIT: '100',
    };
    const { process: server, url } = await startBrokerage(env);
    try {
      const own = await callerFor(url, env, TENANT);
      const reporter = await callerFor(url, env, REPORTER);
      const other = await callerFor(url, env, 'quiet');
      await other('POST', '/v1/accounts', { accountId: OTHERS, name: 'quiet' });
      const beside = new Probe(() => other('GET', `/v1/accounts/${OTHERS}`));
      // Warm-up of the server and of this process.
      await beside.during(() => later(2000));
      const alone = await beside.during(() => later(2000));
      const rows: Row[] = [quietRow('nothing', alone)];
      const timed = async (name: string, caller: Caller, path: string, aim?: number): Promise<void> => {
        const times: number[] = [];
        const cpus: number[] = [];
        let text = '';
        const p99 = await beside.during(async () => {
          for (let i = 0; i < REPEATED; i += 1) {
            const cpu = cpuMsOf(server.pid);
            const began = performance.now();
            text = await caller('GET', path);
            times.push(performance.now() - began);
            cpus.push(cpuMsOf(server.pid) - cpu);
          }
        });
        const [first = 0, ...others] = times;
        rows.push({
          measure: name,
          value: median(others),
          unit: 'ms',
          ...(aim !== undefined && { aim: { atMost: aim } }),
          details: `median of ${others.map((ms) => ms.toFixed(0)).join(', ')}; the first ${first.toFixed(0)}; CPU of the server, reads beside it included, ${cpus.map((ms) => ms.toFixed(0)).join(', ')} ms; ${(text.length / 1000).toFixed(0)} kB`,
          leavesOut: LEAVES_OUT,
        });
        rows.push(quietRow(name, p99));
      };
      const path = (portfolioId: string): string => `/v1/accounts/portfolios/${portfolioId}`;
      await timed(
        `performance, ${trades} trades`,
        own,
        `${path(large)}/performance`,
        trades >= 100_000 ? 500 : undefined,
      );
      await timed(`trades, one page of ${trades}`, own, `${path(large)}/trades?limit=50`);
      await timed(`report, ${reported} trades`, reporter, `${path(small)}/report.html`, 1000);
      await timed(
        `execution quality, ${trades} trades`,
        own,
        `${path(large)}/execution-quality?groupBy=symbol`,
      );
      await timed(`taxes, ${reported} trades`, reporter, `${path(small)}/realized-gains?limit=50`);
      const token = await tokenOf(env, TENANT);
      rows.push(...(await csvRows(url, token, `${path(large)}/ledger`, server.pid, beside)));
      rows.push(...(await csvRows(url, token, `${path(large)}/trades`, server.pid, beside)));
      rows.push(await tenYears(own));
      return rows;
    } finally {
      await stop(server);
    }
  });
}

const REPEATED = 4;

const quietRow = (name: string, p99: number): Row => ({
  measure: `another tenant's read beside it (${name}), p99`,
  value: p99,
  unit: 'ms',
  aim: { atMost: 25 },
  details: 'GET /v1/accounts/:accountId every 5 ms',
  leavesOut: LEAVES_OUT,
});

/** Orders of one batch. */
const BATCH = 1000;

/** The tenant of the report, with a journal of its own. */
const REPORTER = 'reporter';

/** Buys and sells a share so many times in a portfolio of each of the two tenants; each pair is a round trip. */
function place(directory: string, counts: readonly number[]): Promise<readonly string[]> {
  return withServerParts(directory, async ({ store, simulations }) => {
    const portfolios: string[] = [];
    for (const [index, tenantId] of [TENANT, REPORTER].entries()) {
      const main = await simulations.keepMain(tenantId);
      const by = { ...BY, tenantId };
      if (index === 0)
        await pushQuotes(
          main,
          Array.from({ length: SYMBOLS }, (_, symbol) => symbolOf(symbol)),
        );
      const { result } = await main.submit<'OpenPortfolio'>({ ...openPortfolio(), by });
      if ('code' in result) throw new Error(result.code);
      const { portfolioId } = result.terms;
      portfolios.push(portfolioId);
      for (let first = 0; first < (counts[index] ?? 0); first += BATCH / 2) {
        const trades = Math.min(BATCH / 2, (counts[index] ?? 0) - first);
        const batch = Array.from({ length: trades * 2 }, (_, order) => ({
          ...submitOrder({
            portfolioId,
            symbol: symbolOf((first + (order >> 1)) % SYMBOLS),
            assetClass: 'EQUITY',
            orderType: 'MARKET',
            positionIntent: order % 2 === 0 ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
            quantity: Quantity.of(1),
            timeInForce: 'DAY',
          }),
          by,
        }));
        for (const outcome of await main.submitAll<'SubmitOrder'>(batch))
          if ('code' in outcome.result) throw new Error(JSON.stringify(outcome.result));
      }
      await main.durable();
    }
    while (store.history.health().behind > 0) await later(20);
    return portfolios;
  });
}

/** Rows a second of the CSV of a list, and what the server grows by meanwhile. */
async function csvRows(
  url: string,
  token: string,
  path: string,
  pid: number | undefined,
  beside: Probe,
): Promise<readonly Row[]> {
  const name = `CSV of ${path.slice(path.lastIndexOf('/') + 1)}`;
  let rows = 0;
  let ms = 0;
  const sizes: number[] = [];
  const cpu = cpuMsOf(pid);
  const p99 = await beside.during(async () => {
    const began = performance.now();
    const reply = await fetch(url + path, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/csv' },
    });
    let bytes = 0;
    for await (const chunk of reply.body ?? []) {
      const part = Buffer.from(chunk as Uint8Array);
      for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) rows += 1;
      bytes += part.length;
      if (bytes < LOOK_EVERY) continue;
      bytes = 0;
      sizes.push(residentMb(pid));
    }
    ms = performance.now() - began;
  });
  const half = sizes.slice(sizes.length >> 1);
  return [
    {
      measure: name,
      value: (rows / ms) * 1000,
      unit: 'rows/s',
      aim: { atLeast: 50_000 },
      details: `${rows} rows in ${ms.toFixed(0)} ms, ${(cpuMsOf(pid) - cpu).toFixed(0)} ms of CPU`,
      leavesOut: LEAVES_OUT,
    },
    {
      measure: `${name}, growth of the server in its second half`,
      value: half.length === 0 ? 0 : Math.max(...half) - (half[0] ?? 0),
      unit: 'MB',
      details: `resident ${sizes.map((mb) => mb.toFixed(0)).join(', ')} MB`,
      leavesOut: LEAVES_OUT,
    },
    quietRow(name, p99),
  ];
}

const NEWLINE = 10;
/** Bytes between two readings of the server's memory. */
const LOOK_EVERY = 10_000_000;

/** Resident memory of a process (Linux). */
function residentMb(pid: number | undefined): number {
  const [, kb] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid ?? 'self'}/status`, 'utf8')) ?? [];
  return Number(kb) / 1000;
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
