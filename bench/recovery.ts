/**
 * Time to recover a simulation: after `kill -9` at the worst moment, when the next checkpoint is about to be complete, from the start of
 * the process to the first accepted order; and from all records. Also how long the event loop is blocked while checkpoints are made.
 *
 * Leaves out: disk reads; the operating system has the files in memory.
 *
 *   npx tsc -b && npx tsx bench/recovery.ts      BENCH_RECORDS, BENCH_OPEN, BENCH_KEEP=directory to fill, or that was filled
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stateHash } from '@sandpit/core';
import { compose } from '../packages/server/dist/compose.js';
import { readSettings } from '../packages/server/dist/config.js';
import { recover } from '../packages/server/dist/engine/recovery/recovery.js';
import type { Recovered } from '../packages/server/dist/engine/recovery/recovery.js';
import { MAIN } from '../packages/server/dist/engine/values/cell-names.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { NO_CHECKPOINTS } from '../packages/server/dist/store/checkpoints.js';
import { ServerProcess } from '../packages/server/src/testing/server-process.js';
import { median, runAlone, sizeOf, startFlags, stopwatch, withDirectory } from './measure.js';
import type { Elapsed, Row } from './measure.js';
import { BY, symbolOf, TENANT } from './orders.js';
import type { FillReport, FillWish } from './recovery-fill.js';
import { SETTINGS } from './simulation.js';

const STARTS = 3;
const LEAVES_OUT = 'the file is in the page cache';

/** Seconds of the fill process: those in which a checkpoint was under way, and the others. */
interface Pauses {
  readonly during: number[];
  readonly between: number[];
}

export async function measureRecovery(): Promise<readonly Row[]> {
  const kept = process.env['BENCH_KEEP'];
  // The mark is a sibling of the data directory, which may contain nothing else.
  if (kept !== undefined) return measureIn(kept, `${kept}.filled`);
  return withDirectory((directory) => measureIn(directory));
}

/** `filled`: a file that says that the directory has been filled already, or will. */
async function measureIn(directory: string, filled?: string): Promise<readonly Row[]> {
  const openOrders = sizeOf('OPEN', 100_000);
  const records = sizeOf('RECORDS', 1_000_000);
  const pauses: Pauses = { during: [], between: [] };
  if (filled === undefined || !existsSync(filled)) {
    await fillAndKill({ directory, openOrders, records }, pauses);
    if (filled !== undefined) writeFileSync(filled, '');
  }
  const starts: number[] = [];
  for (let start = 0; start < STARTS; start++) starts.push(await startMs(directory));
  const { full, short } = await recoveries(directory);
  const rows: Row[] = [
    {
      measure: `from the start of the process to the first accepted order, killed at the worst moment`,
      value: median(starts) / 1000,
      unit: 's',
      aim: { atMost: 3 },
      details:
        `median of ${STARTS} (${starts.map((ms) => (ms / 1000).toFixed(2)).join(', ')} s): ${full.seq} records, ` +
        `${full.brokerage.state.orders.size} open orders, ${full.seq - short.checkpointSeq} records behind the checkpoint`,
      leavesOut: LEAVES_OUT,
    },
    {
      measure: `recovery of the state alone, from that checkpoint`,
      value: short.wallMs / 1000,
      unit: 's',
      details: `${short.wallMs.toFixed(0)} ms, the same state hash as all records give`,
      leavesOut: `process start, opening the database; ${LEAVES_OUT}`,
    },
    {
      measure: `recovery of the state alone, from all ${full.seq} records`,
      value: full.wallMs / 1000,
      unit: 's',
      details: `${Math.round(full.seq / (full.wallMs / 1000))} records/s; ${(full.cpuMs / 1000).toFixed(2)} s of CPU time`,
      leavesOut: `process start, opening the database; ${LEAVES_OUT}`,
    },
  ];
  if (pauses.during.length > 0) {
    rows.push({
      measure: `longest pause of the event loop while checkpoints were made, ${openOrders} open orders, 64 orders under way`,
      value: Math.max(...pauses.during),
      unit: 'ms',
      aim: { atMost: 20 },
      details:
        `of each second, median ${median(pauses.during).toFixed(1)} ms; without a checkpoint under way ` +
        `longest ${Math.max(...pauses.between).toFixed(1)} ms, median ${median(pauses.between).toFixed(1)} ms`,
      leavesOut: 'HTTP',
    });
  }
  return rows;
}

/** Fills a directory in another process, and ends that when a checkpoint is nearly complete. */
async function fillAndKill(wish: FillWish, pauses: Pauses): Promise<void> {
  const child = fork(fileURLToPath(new URL('recovery-fill.ts', import.meta.url)), {
    execArgv: [...startFlags(), '--import', 'tsx'],
  });
  const exited = once(child, 'exit');
  child.send(wish);
  await Promise.race([
    onceFilled(child),
    exited.then(() => Promise.reject(new Error('the filling has ended'))),
  ]);
  const folder = join(wish.directory, 'checkpoints');
  const isMaking = (): boolean =>
    existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.new'));
  const state = { wasMaking: false, made: 0 };
  child.on('message', (message: FillReport) => {
    if (!('longestPauseMs' in message)) return;
    (state.wasMaking ? pauses.during : pauses.between).push(message.longestPauseMs);
    state.wasMaking = isMaking();
  });
  // One is made while pauses are measured; the next is never complete.
  while (state.made < 2) {
    await later(5);
    if (!isMaking()) continue;
    state.wasMaking = true;
    state.made += 1;
    if (state.made < 2) while (isMaking()) await later(5);
  }
  child.kill('SIGKILL');
  await exited;
}

function onceFilled(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', (message: FillReport) => {
      if ('filled' in message) resolve();
    });
  });
}

/** A server on this directory, until it accepts an order; then it is killed again. */
async function startMs(directory: string): Promise<number> {
  const env = { ...SETTINGS, DATA_DIR: directory, JWT_SECRET: randomBytes(32).toString('hex') };
  const grant = { tenantId: TENANT, tier: BY.tier, scope: 'trade read simulate' } as const;
  const token = (await issueToken(readSettings(env), grant, Date.now()))?.token ?? '';
  const began = performance.now();
  const server = ServerProcess.launch(env, undefined, startFlags());
  try {
    const url = await server.listening;
    const call = async (method: string, path: string, body?: object): Promise<Response> =>
      fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const account = '11111111-1111-4111-8111-111111111111';
    const answer = await call('GET', `/v1/accounts/${account}/portfolios`);
    const [portfolio] = (await answer.json()) as { portfolioId: string }[];
    const placed = await call('POST', '/v1/orders', {
      portfolioId: portfolio?.portfolioId,
      symbol: symbolOf(0),
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'GTC',
      limitPrice: 50,
    });
    if (placed.status !== 201) throw new Error(await placed.text());
    return performance.now() - began;
  } finally {
    await server.end('SIGKILL');
  }
}

async function recoveries(
  directory: string,
): Promise<{ readonly full: Elapsed & Recovered; readonly short: Elapsed & Recovered }> {
  const settings = readSettings({ ...SETTINGS, DATA_DIR: directory });
  const { store, simulations } = await compose(settings, (error) => {
    throw error;
  });
  try {
    const main = await simulations.directory.find(MAIN, TENANT);
    if (main === undefined) throw new Error('nothing was filled in');
    const { rules, state } = main.brokerage;
    const origin = { seed: state.seed, start: 0, idSecret: state.idSecret };
    const timed = async (from: Parameters<typeof recover>[0]): Promise<Elapsed & Recovered> => {
      const elapsed = stopwatch();
      const recovered = await recover(from, main.id, rules, origin);
      return { ...elapsed(), ...recovered };
    };
    const { journal, checkpoints } = store;
    const short = await timed({ journal, checkpoints });
    const full = await timed({ journal, checkpoints: NO_CHECKPOINTS });
    if (stateHash(full.brokerage.state) !== stateHash(short.brokerage.state))
      throw new Error('two ways, two states');
    return { full, short };
  } finally {
    await simulations.close();
    await store.close();
  }
}

await runAlone(import.meta.url, measureRecovery);
