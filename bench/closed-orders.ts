/**
 * Cost of an order in a portfolio with 0, 10⁵ and 10⁶ closed orders: through a simulation on the SQLite store, all of them fill at once,
 * with 64 in flight. The cost that must stay flat is that of the main thread, which has the core and the engine; the time per order is
 * given as well, because the store's indexes grow.
 *
 * Leaves out: HTTP, and reads of the past.
 *
 *   npx tsc -b && npx tsx bench/closed-orders.ts      BENCH_CLOSED, BENCH_ORDERS, BENCH_KEEP=directory for bench/recovery.ts
 */
import { mkdirSync } from 'node:fs';
import { keepFull, median, runAlone, sizeOf, stopwatch, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { fillingOrder, submitOrder, symbolOf, TENANT } from './orders.js';
import { openPortfolios, pushQuotes, withServerParts } from './simulation.js';
import type { Simulation } from '../packages/server/dist/engine/simulation.js';

const IN_FLIGHT = 64;
const ROUNDS = 5;
/** The one portfolio that all orders are of. */
const SYMBOL = symbolOf(0);

interface Cost {
  readonly behind: number;
  readonly mainMicros: number;
  readonly wallMicros: number;
}

export async function measureClosedOrders(): Promise<readonly Row[]> {
  const most = sizeOf('CLOSED', 1_000_000);
  const perRound = sizeOf('ORDERS', 4000);
  const keep = process.env['BENCH_KEEP'];
  const inDirectory = async (directory: string): Promise<Cost[]> => placeMany(directory, most, perRound);
  const costs = keep === undefined ? await withDirectory(inDirectory) : await inDirectory(made(keep));
  const first = costs[0];
  if (first === undefined) return [];
  return costs.map((cost) => ({
    measure: `main-thread cost of an order with ${cost.behind} closed orders behind it`,
    value: cost.mainMicros,
    unit: 'µs',
    ...(cost !== first && { aim: { atMost: Number((first.mainMicros * 1.2).toFixed(1)) } }),
    details:
      `median of ${ROUNDS} × ${perRound}, one portfolio; ${(1e6 / cost.wallMicros).toFixed(0)} orders/s with ${IN_FLIGHT} under way ` +
      `(${(cost.wallMicros / first.wallMicros).toFixed(2)} × the time of the first row)`,
    leavesOut: 'HTTP, reads of the past',
  }));
}

function made(directory: string): string {
  mkdirSync(directory, { recursive: true });
  return directory;
}

async function placeMany(directory: string, most: number, perRound: number): Promise<Cost[]> {
  return withServerParts(directory, async ({ simulations }) => {
    const main = await simulations.keepMain(TENANT);
    await pushQuotes(main, [SYMBOL]);
    const [warm = '', portfolioId = ''] = await openPortfolios(main, 2);
    // For the compiler: orders of another portfolio.
    await place(main, warm, 3 * perRound);
    const costs: Cost[] = [];
    let behind = 0;
    for (const wanted of [0, most / 10, most]) {
      await place(main, portfolioId, even(wanted - behind));
      behind += even(wanted - behind);
      const rounds: Cost[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        rounds.push({ behind: wanted, ...(await place(main, portfolioId, even(perRound))) });
        behind += even(perRound);
      }
      costs.push({
        behind: wanted,
        mainMicros: median(rounds.map(({ mainMicros }) => mainMicros)),
        wallMicros: median(rounds.map(({ wallMicros }) => wallMicros)),
      });
    }
    return costs;
  });
}

/** A purchase and its sale go together. */
const even = (orders: number): number => Math.max(0, 2 * Math.floor(orders / 2));

async function place(
  simulation: Simulation,
  portfolioId: string,
  orders: number,
): Promise<Omit<Cost, 'behind'>> {
  const before = performance.eventLoopUtilization();
  const elapsed = stopwatch();
  await keepFull(orders, IN_FLIGHT, async (index) => {
    const order = fillingOrder({ portfolioId, symbol: SYMBOL }, index);
    const { result } = await simulation.submit<'SubmitOrder'>(submitOrder(order));
    if ('code' in result) throw new Error(JSON.stringify(result));
  });
  return {
    mainMicros: (performance.eventLoopUtilization(before).active * 1000) / orders,
    wallMicros: (elapsed().wallMs * 1000) / orders,
  };
}

await runAlone(import.meta.url, measureClosedOrders);
