/**
 * Orders per second that the core alone processes through their whole life: accepted, funds reserved, executed at the market, posted to the
 * ledger, and settled on the next business day. Half are purchases of ten shares, half their sales; a day of orders, then the night with
 * its settlement and its close, several days.
 *
 * Leaves out: everything around the core. No journal, no JSON, no store, no HTTP, no feed; one quote per symbol and day. There are no reads
 * and no other resting orders in the books.
 *
 *   npx tsc -b && npx tsx bench/core.ts        BENCH_ORDERS (a day), BENCH_DAYS
 */
import { Brokerage, Instant } from '@sandpit/core';
import { median, runAlone, sizeOf, stopwatch } from './measure.js';
import type { Elapsed, Row } from './measure.js';
import {
  fillingOrder,
  MONDAY_TEN,
  openPortfolio,
  quoteOf,
  rulesFor,
  submitOrder,
  symbolOf,
} from './orders.js';

const PORTFOLIOS = 1000;
const SYMBOLS = 50;
const NIGHT_MS = 24 * 3_600_000;

export async function measureCore(): Promise<readonly Row[]> {
  const orders = sizeOf('ORDERS', 100_000);
  const days = sizeOf('DAYS', 9);
  const brokerage = Brokerage.begin(await rulesFor(SYMBOLS), 7, MONDAY_TEN);
  const portfolioIds = openPortfolios(brokerage);
  const measured: Elapsed[] = [];
  let morning = MONDAY_TEN;
  // The first day is for the compiler.
  for (let day = 0; day <= days; day++) {
    const elapsed = stopwatch();
    morning = trade(brokerage, portfolioIds, orders, morning);
    if (day > 0) measured.push(elapsed());
  }
  const wall = median(measured.map(({ wallMs }) => orders / wallMs)) * 1000;
  const cpu = median(measured.map(({ cpuMs }) => orders / cpuMs)) * 1000;
  return [
    {
      measure: 'core alone: orders accepted, executed and settled',
      value: wall,
      unit: 'orders/s',
      aim: { atLeast: 150_000 },
      details:
        `median of ${days} days with ${orders} orders each of ${PORTFOLIOS} portfolios in ${SYMBOLS} symbols; ` +
        `${Math.round(cpu)} orders per second of CPU time, garbage collection in other threads included`,
      leavesOut: 'journal, JSON, store, HTTP, feed, reads; no other orders rest',
    },
  ];
}

function openPortfolios(brokerage: Brokerage): string[] {
  return Array.from({ length: PORTFOLIOS }, () => {
    const { result } = brokerage.execute<'OpenPortfolio'>(openPortfolio(), MONDAY_TEN);
    if ('code' in result) throw new Error(result.code);
    return result.terms.portfolioId;
  });
}

/** A day of orders, a few in each millisecond, and the night after it. */
function trade(
  brokerage: Brokerage,
  portfolioIds: readonly string[],
  orders: number,
  morning: Instant,
): Instant {
  const quotes = Array.from({ length: SYMBOLS }, (_, index) => quoteOf(symbolOf(index), morning));
  brokerage.execute({ type: 'UpdateMarket', quotes, pushed: true }, morning);
  for (let index = 0; index < orders; index++) {
    const round = Math.floor(index / PORTFOLIOS);
    const portfolioId = portfolioIds[index % PORTFOLIOS] ?? '';
    // A portfolio sells in the next round the shares that it bought in this one.
    const symbol = symbolOf(((round >> 1) + index) % SYMBOLS);
    const at = Instant.plusMs(morning, index >> 3);
    doWhatIsDue(brokerage, at);
    const { result } = brokerage.execute<'SubmitOrder'>(
      submitOrder(fillingOrder({ portfolioId, symbol }, round)),
      at,
    );
    if ('code' in result) throw new Error(JSON.stringify(result));
  }
  const next = brokerage
    .hours({ symbol: symbolOf(0), legs: undefined })
    .nextOpen('REGULAR', Instant.plusMs(morning, NIGHT_MS / 2));
  doWhatIsDue(brokerage, next);
  return next;
}

function doWhatIsDue(brokerage: Brokerage, until: Instant): void {
  for (let due = brokerage.nextDue(); due !== undefined && due <= until; due = brokerage.nextDue()) {
    brokerage.execute({ type: 'AdvanceClock' }, Instant.max(due, brokerage.state.now));
  }
}

await runAlone(import.meta.url, measureCore);
