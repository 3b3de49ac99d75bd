/**
 * How long a simulation of a million journal records takes to be there again: from its records alone, and from the checkpoint
 * that a clean stop leaves. Every record's hash is checked on the way.
 *
 * Leaves out: the start of the process and of the threads, opening the database, the feed. The operating system has the file in memory.
 *
 *   npx tsc -b && npx tsx bench/recovery.ts      BENCH_RECORDS, or BENCH_KEEP=directory that bench/closed-orders.ts has left
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stateHash } from '@sandpit/core';
import { recover } from '../packages/server/dist/engine/recovery.js';
import type { Recovered } from '../packages/server/dist/engine/recovery.js';
import { rulesNamed } from '../packages/server/dist/engine/rules-in-force.js';
import type { KeptConfig } from '../packages/server/dist/engine/simulations.js';
import { openSqliteStore } from '../packages/server/dist/store/sqlite/sqlite-store.js';
import { keepFull, runAlone, sizeOf, stopwatch, withDirectory } from './measure.js';
import type { Elapsed, Row } from './measure.js';
import { fillingOrder, submitOrder, symbolOf } from './orders.js';
import { openPortfolios, pushQuotes, withServerParts } from './simulation.js';

export async function measureRecovery(): Promise<readonly Row[]> {
  const kept = process.env['BENCH_KEEP'];
  if (kept !== undefined && existsSync(join(kept, 'sandpit.db'))) return recoverFrom(kept);
  return withDirectory(async (directory) => {
    await fill(directory, sizeOf('RECORDS', 1_000_000));
    return recoverFrom(directory);
  });
}

async function fill(directory: string, records: number): Promise<void> {
  await withServerParts(directory, async ({ simulations: { main } }) => {
    await pushQuotes(main, [symbolOf(0)]);
    const [portfolioId = ''] = await openPortfolios(main, 1);
    await keepFull(records, 1000, (index) =>
      main.submit(submitOrder(fillingOrder({ portfolioId, symbol: symbolOf(0) }, index))),
    );
  });
}

async function recoverFrom(directory: string): Promise<readonly Row[]> {
  const store = await openSqliteStore({ directory });
  try {
    const config = JSON.parse(store.registry.simulation('main')?.config ?? '{}') as KeptConfig;
    const rules = rulesNamed(store.registry, config.rules);
    const timed = (from: Parameters<typeof recover>[0]): Elapsed & Recovered => {
      const elapsed = stopwatch();
      const recovered = recover(from, 'main', rules, config);
      return { ...elapsed(), ...recovered };
    };
    const { journal } = store;
    const full = timed({ journal, checkpoints: { load: () => undefined } });
    const short = timed(store);
    if (stateHash(full.brokerage.state) !== stateHash(short.brokerage.state))
      throw new Error('two ways, two states');
    const leavesOut = 'process start, opening the database, feed; the file is in the page cache';
    return [
      {
        measure: `recovery of ${full.seq} records, all of them`,
        value: full.wallMs / 1000,
        unit: 's',
        aim: { atMost: 10 },
        details: `${Math.round(full.seq / (full.wallMs / 1000))} records/s; ${(full.cpuMs / 1000).toFixed(2)} s of CPU time`,
        leavesOut,
      },
      {
        measure: 'the same from the checkpoint of a clean stop',
        value: short.wallMs / 1000,
        unit: 's',
        aim: { atMost: 2 },
        details: `${short.wallMs.toFixed(0)} ms, the same state hash`,
        leavesOut,
      },
    ];
  } finally {
    await store.close();
  }
}

await runAlone(import.meta.url, measureRecovery);
