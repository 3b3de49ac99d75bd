/**
 * Durable order placements per second without HTTP: `Simulation.submit` on the SQLite store, 64 orders under way at any time.
 * Half of them fill at once (purchases, and the sales of what they bought), half rest at a limit. An order counts when it is
 * on disk with everything it did.
 *
 * Leaves out: HTTP, tokens, validation, the answer's JSON, streams, a feed that makes quotes. The disk of the machine is as
 * fast as it is: a virtual one may say that it has synced when it has not.
 *
 *   npx tsc -b && npx tsx bench/placements.ts      BENCH_ORDERS, BENCH_IN_FLIGHT
 */
import { keepFull, median, quantile, runAlone, sizeOf, stopwatch, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { mixedOrder, submitOrder, symbolOf, TENANT } from './orders.js';
import { openPortfolios, pushQuotes, withServerParts } from './simulation.js';

const ROUNDS = 5;
const PORTFOLIOS = 256;
const SYMBOLS = 50;

export async function measurePlacements(): Promise<readonly Row[]> {
  const orders = sizeOf('ORDERS', 30_000);
  const inFlight = sizeOf('IN_FLIGHT', 64);
  const rates: number[] = [];
  const mainThread: number[] = [];
  const waits: number[] = [];
  await withDirectory((directory) =>
    withServerParts(directory, async ({ simulations }) => {
      const main = await simulations.keepMain(TENANT);
      const symbols = Array.from({ length: SYMBOLS }, (_, index) => symbolOf(index));
      await pushQuotes(main, symbols);
      const portfolioIds = await openPortfolios(main, PORTFOLIOS);
      // Each portfolio has a rotation of its own, so that it sells only shares that it has bought.
      const turns = portfolioIds.map(() => 0);
      const place = async (index: number): Promise<void> => {
        const who = index % PORTFOLIOS;
        const turn = (turns[who] ?? 0) % 1_000_000;
        turns[who] = turn + 1;
        const of = { portfolioId: portfolioIds[who] ?? '', symbol: symbolOf((who + (turn >> 2)) % SYMBOLS) };
        const asked = performance.now();
        const { result } = await main.submit<'SubmitOrder'>(submitOrder(mixedOrder(of, turn)));
        if ('code' in result) throw new Error(JSON.stringify(result));
        waits.push(performance.now() - asked);
      };
      await keepFull(orders, inFlight, place);
      waits.length = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const before = performance.eventLoopUtilization();
        const elapsed = stopwatch();
        await keepFull(orders, inFlight, place);
        rates.push((orders / elapsed().wallMs) * 1000);
        mainThread.push((performance.eventLoopUtilization(before).active * 1000) / orders);
      }
    }),
  );
  waits.sort((a, b) => a - b);
  return [
    {
      measure: 'durable placements without HTTP',
      value: median(rates),
      unit: 'orders/s',
      details:
        `median of ${ROUNDS} × ${orders}, ${inFlight} under way, ${PORTFOLIOS} portfolios; main thread ` +
        `${median(mainThread).toFixed(1)} µs each; p50 ${quantile(waits, 0.5).toFixed(1)} ms, p99 ${quantile(waits, 0.99).toFixed(1)} ms`,
      leavesOut: 'HTTP, tokens, validation, answers, streams, feed',
    },
  ];
}

await runAlone(import.meta.url, measurePlacements);
