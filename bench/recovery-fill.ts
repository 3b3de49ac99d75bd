/** The process that bench/recovery.ts kills: fills a data directory with open orders and many records, and continues until it is ended. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Simulation } from '../packages/server/dist/engine/simulation/simulation.js';
import { keepFull } from './measure.js';
import { fillingOrder, restingOrder, submitOrder, symbolOf, TENANT } from './orders.js';
import { openPortfolios, pushQuotes, withServerParts } from './simulation.js';

export interface FillWish {
  readonly directory: string;
  readonly openOrders: number;
  readonly records: number;
}

export type FillReport =
  /** All records are written; further messages report every second. */
  { readonly filled: true } | { readonly longestPauseMs: number; readonly records: number };

const SYMBOLS = 50;
const PORTFOLIOS = 100;
const IN_FLIGHT = 64;

async function fill({ directory, openOrders, records }: FillWish): Promise<void> {
  await withServerParts(directory, async ({ simulations }) => {
    const main = await simulations.creation.keepMain(TENANT);
    const symbols = Array.from({ length: SYMBOLS }, (_, index) => symbolOf(index));
    await pushQuotes(main, symbols);
    const portfolios = await openPortfolios(main, PORTFOLIOS);
    const of = (index: number) => ({
      portfolioId: portfolios[index % PORTFOLIOS] ?? '',
      symbol: symbols[index % SYMBOLS] ?? '',
    });
    await keepFull(openOrders, 1000, (index) =>
      main.submit(submitOrder(restingOrder(of(index), 'BUY_TO_OPEN', index % 1000))),
    );
    const rest = Math.max(0, records - main.published);
    await keepFull(rest, 1000, (index) => place(main, of(index), Math.floor(index / PORTFOLIOS)));
    process.send?.({ filled: true } satisfies FillReport);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    setInterval(() => {
      process.send?.({ longestPauseMs: delay.max / 1e6, records: main.published } satisfies FillReport);
      delay.reset();
    }, 1000);
    for (;;)
      await keepFull(10_000, IN_FLIGHT, (index) => place(main, of(index), Math.floor(index / PORTFOLIOS)));
  });
}

const place = (main: Simulation, of: Parameters<typeof fillingOrder>[0], turn: number): Promise<unknown> =>
  main.submit(submitOrder(fillingOrder(of, turn)));

process.once('message', (wish: FillWish) => void fill(wish));
