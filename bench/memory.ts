/**
 * Memory: heap growth per open order, per position and per portfolio of a brokerage; growth of a server per idle simulation, and the time
 * to create one (as a test suite does: push feed, manual clock, SQLite store).
 *
 * Leaves out: for orders, positions and portfolios everything outside the core (history is on disk; the store's caches have
 * their own limits). Heap deltas are taken after full collections; the resident size is what the system says, pages that the
 * allocator keeps included.
 *
 *   npx tsc -b && node --expose-gc --import tsx bench/memory.ts      BENCH_THINGS, BENCH_SIMULATIONS
 */
import { Brokerage } from '@sandpit/core';
import type { OrderRequest } from '@sandpit/core';
import { quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import {
  marketOrder,
  MONDAY_TEN,
  openPortfolio,
  quoteOf,
  restingOrder,
  rulesFor,
  submitOrder,
  symbolOf,
} from './orders.js';
import { withServerParts } from './simulation.js';

const MEGABYTE = 1024 * 1024;

export async function measureMemory(): Promise<readonly Row[]> {
  // Simulations first: their row measures the size of the whole process.
  const simulations = await measureSimulations();
  return [...(await measureState()), ...simulations];
}

/** Bytes of the heap in use after a full collection. */
function heapBytes(): number {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('start node with --expose-gc');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

async function measureState(): Promise<readonly Row[]> {
  const things = sizeOf('THINGS', 100_000);
  const brokerage = Brokerage.begin(await rulesFor(1000), 7, MONDAY_TEN);
  for (let index = 0; index < 1000; index++) {
    brokerage.execute(
      { type: 'UpdateMarket', quotes: [quoteOf(symbolOf(index), MONDAY_TEN)], pushed: true },
      MONDAY_TEN,
    );
  }
  const portfolioIds: string[] = [];
  const submit = (order: OrderRequest): void => {
    const { result } = brokerage.execute<'SubmitOrder'>(submitOrder(order), MONDAY_TEN);
    if ('code' in result) throw new Error(JSON.stringify(result));
  };
  const open = (): void => {
    const { result } = brokerage.execute<'OpenPortfolio'>(openPortfolio(), MONDAY_TEN);
    if ('code' in result) throw new Error(result.code);
    portfolioIds.push(result.terms.portfolioId);
  };
  const of = (index: number) => ({
    portfolioId: portfolioIds[index % portfolioIds.length] ?? '',
    symbol: symbolOf(Math.floor(index / portfolioIds.length) % 1000),
  });
  const portfolios = Math.ceil(things / 10);
  const row = (what: string, count: number, make: (index: number) => void): Row => {
    const before = heapBytes();
    for (let index = 0; index < count; index++) make(index);
    return {
      measure: `memory per ${what}`,
      value: Math.round((heapBytes() - before) / count),
      unit: 'bytes',
      details: `heap after collection, ${count} of them`,
      leavesOut: 'everything outside the core',
    };
  };
  return [
    row('portfolio', portfolios, open),
    row('position (one lot, not settled yet)', things, (index) =>
      submit(marketOrder(of(index), 'BUY_TO_OPEN')),
    ),
    row('open order', things, (index) => submit(restingOrder(of(index)))),
  ];
}

async function measureSimulations(): Promise<readonly Row[]> {
  const simulations = sizeOf('SIMULATIONS', 1000);
  return withDirectory((directory) =>
    withServerParts(directory, async (parts) => {
      const create = async (): Promise<number> => {
        const began = performance.now();
        await parts.simulations.create('bench', {
          feed: 'push',
          clock: 'manual',
          calendar: 'XNYS',
          start: MONDAY_TEN,
          speed: 1,
        });
        return performance.now() - began;
      };
      for (let index = 0; index < 20; index++) await create();
      const heapBefore = heapBytes();
      const before = process.memoryUsage().rss;
      const times: number[] = [];
      for (let index = 0; index < simulations; index++) times.push(await create());
      const heap = heapBytes() - heapBefore;
      const resident = process.memoryUsage().rss - before;
      times.sort((a, b) => a - b);
      const leavesOut = 'HTTP; nothing is in them yet';
      return [
        {
          measure: `memory of ${simulations} idle simulations`,
          value: resident / MEGABYTE,
          unit: 'MB',
          aim: { atMost: 256 },
          details: `resident size; of it heap ${(heap / MEGABYTE).toFixed(1)} MB, ${(heap / simulations / 1024).toFixed(1)} KB each`,
          leavesOut,
        },
        {
          measure: 'creating a simulation, 99th percentile',
          value: quantile(times, 0.99),
          unit: 'ms',
          aim: { atMost: 20 },
          details: `median ${quantile(times, 0.5).toFixed(2)} ms, one after the other, durable`,
          leavesOut,
        },
      ];
    }),
  );
}

await runAlone(import.meta.url, measureMemory);
