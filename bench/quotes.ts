/**
 * Quotes per second against 100,000 resting orders on 2,000 symbols that none of them touches: limits on both sides and stops.
 * One command per quote, as from a feed that brings them one by one, and in commands of fifty.
 *
 * Leaves out: the feed (quotes are made before), quotes that set something off, the journal (such quotes leave no record).
 *
 *   npx tsc -b && npx tsx bench/quotes.ts      BENCH_RESTING, BENCH_SYMBOLS, BENCH_QUOTES
 */
import { Brokerage, Instant, Price, Quantity } from '@sandpit/core';
import type { OrderRequest, Quote } from '@sandpit/core';
import { median, runAlone, sizeOf, stopwatch } from './measure.js';
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

const ROUNDS = 9;
const PER_COMMAND = 50;
/** Different quotes of a symbol; what rests is further away than the widest of them. */
const VARIANTS = 40;

export async function measureQuotes(): Promise<readonly Row[]> {
  const symbols = sizeOf('SYMBOLS', 2000);
  const resting = sizeOf('RESTING', 100_000);
  const quotes = sizeOf('QUOTES', 500_000);
  const brokerage = Brokerage.begin(await rulesFor(symbols), 7, MONDAY_TEN);
  rest(brokerage, symbols, resting);
  const made = Array.from({ length: symbols * VARIANTS }, (_, index) =>
    quoteOf(symbolOf((index * 7) % symbols), MONDAY_TEN, Math.floor(index / symbols) - VARIANTS / 2),
  );
  const single = made.map((quote) => [quote]);
  const many = Array.from({ length: Math.floor(made.length / PER_COMMAND) }, (_, index) =>
    made.slice(index * PER_COMMAND, (index + 1) * PER_COMMAND),
  );
  const leavesOut = 'the feed, quotes that set something off, the journal';
  const about = `${resting} resting orders, ${symbols} symbols`;
  const one = measure(brokerage, single, quotes);
  const batched = measure(brokerage, many, quotes);
  if (brokerage.state.orders.size !== resting) throw new Error('a quote has touched an order');
  return [
    {
      measure: 'quotes against resting orders they do not touch, one per command',
      value: one.wall,
      unit: 'quotes/s',
      aim: { atLeast: 1_000_000 },
      details: `${about}; median of ${ROUNDS} × ${quotes}; ${Math.round(one.cpu)} per second of CPU time`,
      leavesOut,
    },
    {
      measure: `the same, ${PER_COMMAND} per command`,
      value: batched.wall,
      unit: 'quotes/s',
      details: `${about}; median of ${ROUNDS} × ${quotes}; ${Math.round(batched.cpu)} per second of CPU time`,
      leavesOut,
    },
  ];
}

function rest(brokerage: Brokerage, symbols: number, resting: number): void {
  const opened = brokerage.execute<'OpenPortfolio'>(openPortfolio(), MONDAY_TEN).result;
  if ('code' in opened) throw new Error(opened.code);
  const { portfolioId } = opened.terms;
  const submit = (order: OrderRequest): void => {
    const { result } = brokerage.execute<'SubmitOrder'>(submitOrder(order), MONDAY_TEN);
    if ('code' in result) throw new Error(JSON.stringify(result));
  };
  for (let index = 0; index < symbols; index++) {
    const symbol = symbolOf(index);
    brokerage.execute(
      { type: 'UpdateMarket', quotes: [quoteOf(symbol, MONDAY_TEN)], pushed: false },
      MONDAY_TEN,
    );
    // Something to sell, for the orders that sell.
    submit({ ...marketOrder({ portfolioId, symbol }, 'BUY_TO_OPEN'), quantity: Quantity.of(1000) });
  }
  for (let index = 0; index < resting; index++) {
    const of = { portfolioId, symbol: symbolOf(index % symbols) };
    const level = Math.floor(index / symbols);
    if (level % 3 === 0) submit(restingOrder(of, 'BUY_TO_OPEN', level));
    else if (level % 3 === 1) submit(restingOrder(of, 'SELL_TO_CLOSE', level));
    else submit(stopOrder(of, level));
  }
}

function stopOrder(of: Pick<OrderRequest, 'portfolioId' | 'symbol'>, cents: number): OrderRequest {
  const order = marketOrder(of, 'SELL_TO_CLOSE');
  return {
    ...order,
    orderType: 'STOP',
    quantity: Quantity.of(1),
    stopPrice: Price.ofUnits((8000 - cents) * 1_000_000),
  };
}

function measure(
  brokerage: Brokerage,
  commands: readonly (readonly Quote[])[],
  quotes: number,
): { wall: number; cpu: number } {
  const walls: number[] = [];
  const cpus: number[] = [];
  let at = brokerage.state.now;
  // The first round is for the compiler.
  for (let round = 0; round <= ROUNDS; round++) {
    const elapsed = stopwatch();
    let done = 0;
    for (let index = 0; done < quotes; index++) {
      const command = commands[index % commands.length] ?? [];
      at = Instant.plusMs(at, index % 1000 === 0 ? 1 : 0);
      brokerage.execute({ type: 'UpdateMarket', quotes: command, pushed: false }, at);
      done += command.length;
    }
    const { wallMs, cpuMs } = elapsed();
    if (round === 0) continue;
    walls.push((done / wallMs) * 1000);
    cpus.push((done / cpuMs) * 1000);
  }
  return { wall: median(walls), cpu: median(cpus) };
}

await runAlone(import.meta.url, measureQuotes);
