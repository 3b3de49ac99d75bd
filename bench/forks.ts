/**
 * Forks and comparisons of long journals (D172, D173), over HTTP: time and disk space of a fork of a simulation with many records, the
 * memory of many forks of one parent, and the comparison of many orders under all brokers during another tenant's reads.
 *
 * Leaves out: TLS, the network; forks that trade (each then costs what it changes).
 *
 *   npx tsc -b && npx tsx bench/forks.ts
 *   BENCH_RECORDS, BENCH_OPEN_ORDERS, BENCH_FORKS, BENCH_COMPARED_ORDERS; BENCH_DIRECTORY keeps the journal for the next run
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { Instant } from '../packages/core/dist/index.js';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { ServerProcess } from '../packages/server/src/testing/server-process.js';
import {
  cpuMsOf,
  inKeptDirectory,
  keepFull,
  mainCpuMsOf,
  median,
  quantile,
  runAlone,
  sizeOf,
} from './measure.js';
import type { Row } from './measure.js';
import { fillingOrder, MONDAY_TEN, restingOrder, submitOrder, symbolOf, TENANT } from './orders.js';
import { openPortfolios, pushQuotes, SETTINGS, withServerParts } from './simulation.js';

const PORTFOLIOS = 20;
const SYMBOLS = 50;
const SINGLE_FORKS = 20;
const READ_EVERY_MS = 10;
const LEAVES_OUT = 'TLS, network, forks that trade';

interface Journals {
  readonly parent: string;
  readonly compared: string;
}

export async function measureForks(): Promise<readonly Row[]> {
  return inKeptDirectory(measureIn);
}

async function measureIn(directory: string): Promise<readonly Row[]> {
  const openOrders = sizeOf('OPEN_ORDERS', 1000);
  const records = sizeOf('RECORDS', 1_000_000);
  const comparedOrders = sizeOf('COMPARED_ORDERS', 100_000);
  const note = join(directory, 'bench.json');
  if (!existsSync(note))
    writeFileSync(note, JSON.stringify(await fill(directory, { openOrders, records, comparedOrders })));
  const journals = JSON.parse(readFileSync(note, 'utf8')) as Journals;
  const env = {
    ...SETTINGS,
    DATA_DIR: directory,
    JWT_SECRET: randomBytes(32).toString('hex'),
    RATE_LIMIT_DEFAULT: '1000000000',
  };
  const server = ServerProcess.launch(env);
  try {
    const url = await server.listening;
    const call = await callerFor(url, env, TENANT);
    const forks = await measureSingle(call, directory, server.child.pid, journals.parent, {
      records,
      openOrders,
    });
    const many = await measureMany(call, server.child.pid, journals.parent, openOrders);
    const neighbor = await callerFor(url, env, 'neighbor');
    const compared = await measureComparison(
      call,
      neighbor,
      server.child.pid,
      journals.compared,
      comparedOrders,
    );
    return [...forks, ...many, ...compared];
  } finally {
    await server.end('SIGTERM');
  }
}

/** A simulation with many records and open orders, and one with many orders. */
function fill(
  directory: string,
  sizes: { readonly openOrders: number; readonly records: number; readonly comparedOrders: number },
): Promise<Journals> {
  return withServerParts(directory, async ({ simulations }) => {
    const make = async (open: number, records: number): Promise<string> => {
      const simulation = await simulations.creation.create(TENANT, {
        feed: 'push',
        clock: 'manual',
        calendar: 'always-open',
        start: MONDAY_TEN,
        speed: 0,
      });
      const symbols = Array.from({ length: SYMBOLS }, (_, index) => symbolOf(index));
      await pushQuotes(simulation, symbols);
      const portfolios = await openPortfolios(simulation, PORTFOLIOS);
      const of = (index: number) => ({
        portfolioId: portfolios[index % PORTFOLIOS] ?? '',
        symbol: symbols[index % SYMBOLS] ?? '',
      });
      await keepFull(open, 1000, (index) =>
        simulation.submit(submitOrder(restingOrder(of(index), 'BUY_TO_OPEN', index % 1000))),
      );
      // The clock moves on now and then.
      while (simulation.published < records) {
        await keepFull(Math.min(records - simulation.published, 2000), 1000, (index) =>
          simulation.submit(submitOrder(fillingOrder(of(index), Math.floor(index / PORTFOLIOS)))),
        );
        await simulation.moveClock(Instant.plusMs(simulation.now(), 60_000));
      }
      return simulation.id;
    };
    return {
      parent: await make(sizes.openOrders, sizes.records),
      compared: await make(1, sizes.comparedOrders),
    };
  });
}

async function measureSingle(
  call: Caller,
  directory: string,
  pid: number | undefined,
  parent: string,
  { records, openOrders }: { readonly records: number; readonly openOrders: number },
): Promise<readonly Row[]> {
  const fork = async (): Promise<string> =>
    ((await call('POST', `/v1/simulations/${parent}/forks`, {})) as { simulationId: string }).simulationId;
  // The parent is opened, and compilers have seen it.
  for (let index = 0; index < 5; index++) await fork();
  const warm = await fork();
  // A list answers only after history includes the fills.
  await untilListed(call, warm);
  const before = sizeOnDisk(directory);
  const times: number[] = [];
  const forks: string[] = [];
  const cpu = cpuMsOf(pid);
  for (let index = 0; index < SINGLE_FORKS; index++) {
    const began = performance.now();
    forks.push(await fork());
    times.push(performance.now() - began);
  }
  const began = performance.now();
  for (const id of forks) await listed(call, id);
  const listedMs = performance.now() - began;
  const cpuMs = (cpuMsOf(pid) - cpu) / SINGLE_FORKS;
  const megabytes = Math.max(0, sizeOnDisk(directory) - before) / SINGLE_FORKS / 2 ** 20;
  const of = `a simulation with ${records} records and ${openOrders} open orders`;
  return [
    {
      measure: 'fork',
      value: median(times),
      unit: 'ms',
      aim: { atMost: 50 },
      details: `of ${of}: median of ${SINGLE_FORKS}, longest ${Math.max(...times).toFixed(1)} ms; ${cpuMs.toFixed(1)} ms of CPU with the first list of its orders; all first lists took ${listedMs.toFixed(0)} ms`,
      leavesOut: LEAVES_OUT,
    },
    {
      measure: 'disk of a fork',
      value: megabytes,
      unit: 'MB',
      aim: { atMost: 1 },
      details: `of ${of}, with what its history needs`,
      leavesOut: LEAVES_OUT,
    },
  ];
}

async function measureMany(
  call: Caller,
  pid: number | undefined,
  parent: string,
  openOrders: number,
): Promise<readonly Row[]> {
  const forks = sizeOf('FORKS', 1000);
  const before = residentMegabytes(pid);
  const began = performance.now();
  const ids: string[] = [];
  await keepFull(forks, 4, async () => {
    const made = (await call('POST', `/v1/simulations/${parent}/forks`, {})) as { simulationId: string };
    ids.push(made.simulationId);
  });
  const tookMs = performance.now() - began;
  const after = residentMegabytes(pid);
  for (const id of ids) await call('DELETE', `/v1/simulations/${id}`);
  return [
    {
      measure: `memory of ${forks} forks of one parent`,
      value: after - before,
      unit: 'MB',
      aim: { atMost: 300 },
      details: `resident size of the server before ${before.toFixed(0)} MB, after ${after.toFixed(0)} MB; ${openOrders} open orders; made in ${(tookMs / 1000).toFixed(1)} s`,
      leavesOut: LEAVES_OUT,
    },
  ];
}

async function measureComparison(
  call: Caller,
  neighbor: Caller,
  pid: number | undefined,
  simulationId: string,
  orders: number,
): Promise<readonly Row[]> {
  const read = (): Promise<unknown> => neighbor('GET', '/v1/orders?limit=1');
  for (let index = 0; index < 50; index++) await read();
  const began = performance.now();
  const cpu = [cpuMsOf(pid), mainCpuMsOf(pid)] as const;
  const started = (await call('POST', `/v1/simulations/${simulationId}/comparisons`, {
    variants: 'all-brokers',
  })) as { comparisonId: string };
  const state = { isOver: false };
  const done = (async () => {
    for (;;) {
      const found = (await call('GET', `/v1/comparisons/${started.comparisonId}?wait=30`)) as {
        status: string;
        reason?: string;
        baseMatches?: boolean;
      };
      if (found.status === 'DONE') return found;
      if (found.status === 'FAILED') throw new Error(found.reason);
    }
  })().finally(() => (state.isOver = true));
  const times: number[] = [];
  while (!state.isOver) {
    const sent = performance.now();
    await read();
    times.push(performance.now() - sent);
    await later(READ_EVERY_MS);
  }
  const { baseMatches } = await done;
  const seconds = (performance.now() - began) / 1000;
  const [all, main] = [cpuMsOf(pid) - cpu[0], mainCpuMsOf(pid) - cpu[1]].map((ms) => (ms / 1000).toFixed(1));
  times.sort((a, b) => a - b);
  return [
    {
      measure: `comparison of ${orders} orders under 22 brokers`,
      value: seconds,
      unit: 's',
      aim: { atMost: 60 },
      details: `in threads of its own; ${all} s of CPU, ${main} s of them the main thread with the reads; the base ${baseMatches === true ? 'matches' : 'does not match'} the journal`,
      leavesOut: LEAVES_OUT,
    },
    {
      measure: "p99 of another tenant's reads beside it",
      value: quantile(times, 0.99),
      unit: 'ms',
      aim: { atMost: 25 },
      details: `${times.length} reads, one after the other, ${READ_EVERY_MS} ms apart; longest ${(times.at(-1) ?? 0).toFixed(1)} ms`,
      leavesOut: LEAVES_OUT,
    },
  ];
}

/** The same for the first fork: its fills have to appear in the history. */
async function untilListed(call: Caller, simulationId: string): Promise<void> {
  for (let tries = 60; tries > 0; tries--)
    try {
      await listed(call, simulationId);
      return;
    } catch (error) {
      if (tries === 1) throw error;
    }
}

/** The first list of a fork's orders: its history is there. */
async function listed(call: Caller, simulationId: string): Promise<void> {
  const { token } = (await call('POST', `/v1/simulations/${simulationId}/token`, {})) as { token: string };
  await call('GET', '/v1/orders?limit=1', undefined, token);
}

type Caller = (method: string, path: string, body?: object, token?: string) => Promise<unknown>;

async function callerFor(url: string, env: NodeJS.ProcessEnv, tenantId: string): Promise<Caller> {
  const scope = 'trade read simulate admin';
  const issued = await issueToken(readSettings(env), { tenantId, tier: 'ENTERPRISE', scope }, Date.now());
  return async (method, path, body, token = issued?.token) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
}

const sizeOnDisk = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0);

/** Resident memory of a process, if the system reports it (Linux). */
function residentMegabytes(pid: number | undefined): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid ?? 'self'}/status`, 'utf8'))?.[1];
    return Number(kilobytes) / 1024;
  } catch {
    return Number.NaN;
  }
}

await runAlone(import.meta.url, measureForks);
