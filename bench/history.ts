/**
 * Cost of projecting history from the journal: orders are placed as in `placements.ts`, while its lag and the time to catch up are
 * measured; afterwards all of it is derived again from the journal, alone on the machine.
 *
 * Leaves out: HTTP and reads. Half of the orders fill at once, half rest; each has a client order id.
 *
 *   npx tsc -b && npx tsx bench/history.ts      BENCH_ORDERS, BENCH_IN_FLIGHT
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { openSqliteStore } from '../packages/server/dist/store/sqlite/sqlite-store.js';
import type { Store } from '../packages/server/dist/store/store.js';
import { keepFull, runAlone, sizeOf, stopwatch, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { mixedOrder, submitOrder, symbolOf, TENANT } from './orders.js';
import { openPortfolios, pushQuotes, withServerParts } from './simulation.js';

const PORTFOLIOS = 256;
const SYMBOLS = 50;
const LOOK_MS = 10;

interface Placed {
  readonly records: number;
  readonly mostBehind: number;
  readonly caughtUpMs: number;
}

function place(directory: string, orders: number, inFlight: number): Promise<Placed> {
  return withServerParts(directory, async ({ store, simulations }) => {
    const main = await simulations.keepMain(TENANT);
    const symbols = Array.from({ length: SYMBOLS }, (_, index) => symbolOf(index));
    await pushQuotes(main, symbols);
    const portfolioIds = await openPortfolios(main, PORTFOLIOS);
    let mostBehind = 0;
    const looking = setInterval(() => {
      mostBehind = Math.max(mostBehind, store.history.health().behind);
    }, LOOK_MS);
    await keepFull(orders, inFlight, async (index) => {
      const who = index % PORTFOLIOS;
      const turn = Math.floor(index / PORTFOLIOS);
      const of = { portfolioId: portfolioIds[who] ?? '', symbol: symbolOf((who + (turn >> 2)) % SYMBOLS) };
      const order = { ...mixedOrder(of, turn), clientOrderId: `order-${index}` };
      const { result } = await main.submit<'SubmitOrder'>(submitOrder(order));
      if ('code' in result) throw new Error(JSON.stringify(result));
    });
    clearInterval(looking);
    const caughtUp = stopwatch();
    await settled(store);
    return { records: store.journal.lastSeq(main.id), mostBehind, caughtUpMs: caughtUp().wallMs };
  });
}

async function settled({ history }: Store): Promise<void> {
  for (;;) {
    const { status, behind } = history.health();
    if (status === 'ok' && behind === 0) return;
    await later(1);
  }
}

export async function measureHistory(): Promise<readonly Row[]> {
  const orders = sizeOf('ORDERS', 100_000);
  const inFlight = sizeOf('IN_FLIGHT', 256);
  return withDirectory(async (directory) => {
    const { records, mostBehind, caughtUpMs } = await place(directory, orders, inFlight);
    const leavesOut = 'HTTP, reads';
    const elapsed = stopwatch();
    const store = await openSqliteStore({ directory, isHistoryFresh: true });
    await settled(store);
    const { wallMs, cpuMs } = elapsed();
    await store.close();
    const bytes = statSync(join(directory, 'history.db')).size;
    return [
      {
        measure: 'history: most records behind while orders are placed',
        value: mostBehind,
        unit: 'records',
        details: `${orders} orders, ${inFlight} under way, ${PORTFOLIOS} portfolios; caught up ${caughtUpMs.toFixed(0)} ms after the last`,
        leavesOut,
      },
      {
        measure: 'history derived again: CPU of an order',
        value: (cpuMs * 1000) / orders,
        unit: 'µs',
        aim: { atMost: 40 },
        details: `${records} records in ${(wallMs / 1000).toFixed(2)} s, with opening the store and all of its threads`,
        leavesOut,
      },
      {
        measure: 'history on disk',
        value: bytes / orders,
        unit: 'bytes an order',
        details: `${(bytes / 1e6).toFixed(1)} MB`,
        leavesOut,
      },
    ];
  });
}

await runAlone(import.meta.url, measureHistory);
