/**
 * Multi-leg orders in the core alone: iron condors accepted, executed and closed per second; quotes of their legs processed per second next
 * to ten thousand resting orders that they do not affect; and the time in which 2,000 series end in 100,000 portfolios, with the longest
 * slice.
 *
 * Leaves out: everything around the core. No journal, no JSON, no store, no HTTP, no feed.
 *
 *   npx tsc -b && npx tsx bench/multi-leg-orders.ts      BENCH_PACKAGES, BENCH_RESTING_PACKAGES, BENCH_QUOTES, BENCH_HOLDERS, BENCH_SERIES
 */
import { Brokerage, Instant, Money, Price, Quantity } from '@sandpit/core';
import type { OrderRequest, Quote } from '@sandpit/core';
import { median, runAlone, sizeOf, stopwatch } from './measure.js';
import type { Row } from './measure.js';
import { MONDAY_TEN, openPortfolio, rulesFor, submitOrder } from './orders.js';

const ROUNDS = 7;
/** The Friday of the first week. */
const EXPIRATION = '260109';
const STRIKES = Array.from({ length: 100 }, (_, index) => 50 + index);
const LEAVES_OUT = 'journal, JSON, store, HTTP, feed';

/** Letters alone: a digit at the end of a root would make adjusted contracts of another. */
const symbolOf = (index: number): string => `U${String.fromCharCode(65 + index)}`;

const contractOf = (underlying: string, right: 'C' | 'P', strike: number): string =>
  `${underlying}${EXPIRATION}${right}${String(strike * 1000).padStart(8, '0')}`;

/** The underlying trades at a hundred dollars; a cent more for each variant. */
function quoteOfContract(symbol: string, variant: number, at: Instant): Quote {
  const strike = Number(symbol.slice(-8)) / 1000;
  const isPut = symbol.at(-9) === 'P';
  const worth = Math.max(0, isPut ? strike - 100 : 100 - strike) + 5 / (1 + Math.abs(100 - strike) / 5);
  const cents = Math.round(worth * 100) + (variant % 3);
  return {
    symbol,
    bid: Price.ofUnits(cents * 1_000_000),
    ask: Price.ofUnits((cents + 3) * 1_000_000),
    at,
  };
}

function portfolioIn(brokerage: Brokerage, type: 'CASH' | 'MARGIN' = 'CASH'): string {
  const command = { ...openPortfolio(), portfolioType: type, initialCash: Money.ofDollars(1e8) };
  const { result } = brokerage.execute<'OpenPortfolio'>(command, brokerage.state.now);
  if ('code' in result) throw new Error(result.code);
  return result.terms.portfolioId;
}

interface Condor {
  readonly portfolioId: string;
  readonly underlying: string;
  readonly low: number;
  readonly closes?: boolean;
  /** Limit for the credit, in cents; absent = at the market. */
  readonly credit?: number;
}

/** Sells the inner strikes and buys the outer ones, or the reverse. */
function condor({ portfolioId, underlying, low, closes = false, credit }: Condor): OrderRequest {
  const leg = (right: 'C' | 'P', strike: number, buys: boolean) => ({
    optionSymbol: contractOf(underlying, right, strike),
    positionIntent: `${buys !== closes ? 'BUY' : 'SELL'}_TO_${closes ? 'CLOSE' : 'OPEN'}` as const,
    quantity: Quantity.of(1),
  });
  return {
    portfolioId,
    symbol: underlying,
    assetClass: 'OPTION',
    orderType: credit === undefined ? 'MARKET' : 'LIMIT',
    positionIntent: closes ? 'BUY_TO_CLOSE' : 'SELL_TO_OPEN',
    quantity: Quantity.of(1),
    timeInForce: 'GTC',
    strategy: 'IRON_CONDOR',
    legs: [
      leg('P', low, true),
      leg('P', low + 5, false),
      leg('C', low + 10, false),
      leg('C', low + 15, true),
    ],
    ...(credit !== undefined && { limitPrice: Price.ofUnits(credit * 1_000_000) }),
  };
}

function submit(brokerage: Brokerage, order: OrderRequest, at: Instant): void {
  const { result } = brokerage.execute<'SubmitOrder'>(submitOrder(order), at);
  if ('code' in result) throw new Error(JSON.stringify(result));
}

async function marketOf(underlyings: number, strikes: readonly number[]): Promise<Brokerage> {
  const brokerage = Brokerage.begin(await rulesFor(1), 7, MONDAY_TEN);
  for (let index = 0; index < underlyings; index++) {
    const symbol = symbolOf(index);
    const spot = { symbol, bid: Price.of('99.99'), ask: Price.of('100.01'), at: MONDAY_TEN };
    const contracts = strikes.flatMap((strike) =>
      (['C', 'P'] as const).map((right) => quoteOfContract(contractOf(symbol, right, strike), 0, MONDAY_TEN)),
    );
    brokerage.execute({ type: 'UpdateMarket', quotes: [spot, ...contracts], pushed: true }, MONDAY_TEN);
  }
  return brokerage;
}

async function measureOrders(): Promise<Row> {
  const orders = sizeOf('PACKAGES', 20_000);
  const brokerage = await marketOf(1, STRIKES);
  const portfolios = Array.from({ length: 500 }, () => portfolioIn(brokerage));
  const rates: number[] = [];
  const cpuRates: number[] = [];
  let at = MONDAY_TEN;
  // The first round is for the compiler.
  for (let round = 0; round <= ROUNDS; round++) {
    const elapsed = stopwatch();
    for (let index = 0; index < orders; index++) {
      const turn = Math.floor(index / portfolios.length);
      const portfolioId = portfolios[index % portfolios.length] ?? '';
      if (index % 1000 === 0) at = Instant.plusMs(at, 1);
      const low = 80 + ((turn >> 1) % 10);
      submit(brokerage, condor({ portfolioId, underlying: symbolOf(0), low, closes: turn % 2 === 1 }), at);
    }
    const { wallMs, cpuMs } = elapsed();
    if (round === 0) continue;
    rates.push((orders / wallMs) * 1000);
    cpuRates.push((orders / cpuMs) * 1000);
  }
  if (brokerage.state.orders.size > 0) throw new Error('an order has not executed');
  return {
    measure: 'four-leg orders accepted and executed',
    value: median(rates),
    unit: 'orders/s',
    aim: { atLeast: 25_000 },
    details:
      `iron condors opened and closed in ${portfolios.length} CASH portfolios; median of ${ROUNDS} × ${orders}; ` +
      `${Math.round(median(cpuRates))} per second of CPU time`,
    leavesOut: LEAVES_OUT,
  };
}

async function measureQuotes(): Promise<Row> {
  const resting = sizeOf('RESTING_PACKAGES', 10_000);
  const quotes = sizeOf('QUOTES', 500_000);
  const brokerage = await marketOf(5, STRIKES);
  // The reservation of an order depends on the other orders of its portfolio: each portfolio has few.
  const portfolios = Array.from({ length: Math.ceil(resting / 20) }, () => portfolioIn(brokerage));
  for (let index = 0; index < resting; index++) {
    const portfolioId = portfolios[index % portfolios.length] ?? '';
    const underlying = symbolOf(index % 5);
    // More than a condor of this width can bring, and with the market never that near.
    const order = { portfolioId, underlying, low: 60 + (index % 60), credit: 700 + (index % 40) };
    submit(brokerage, condor(order), MONDAY_TEN);
  }
  const made = Array.from({ length: 5 * 200 * 6 }, (_, index) => {
    const right = index % 2 === 0 ? 'C' : 'P';
    const symbol = contractOf(symbolOf(index % 5), right, STRIKES[(index * 7) % STRIKES.length] ?? 100);
    return [quoteOfContract(symbol, Math.floor(index / 1000), MONDAY_TEN)];
  });
  const rates: number[] = [];
  const cpuRates: number[] = [];
  let at = MONDAY_TEN;
  for (let round = 0; round <= ROUNDS; round++) {
    const elapsed = stopwatch();
    for (let index = 0; index < quotes; index++) {
      if (index % 1000 === 0) at = Instant.plusMs(at, 1);
      const command = made[index % made.length] ?? [];
      brokerage.execute({ type: 'UpdateMarket', quotes: command, pushed: false }, at);
    }
    const { wallMs, cpuMs } = elapsed();
    if (round === 0) continue;
    rates.push((quotes / wallMs) * 1000);
    cpuRates.push((quotes / cpuMs) * 1000);
  }
  if (brokerage.state.orders.size !== resting) throw new Error('a quote has touched an order');
  return {
    measure: 'quotes of legs against resting four-leg orders they do not touch',
    value: median(rates),
    unit: 'quotes/s',
    aim: { atLeast: 500_000 },
    details:
      `${resting} resting iron condors on 1000 contracts, forty on each leg and more; one quote per command; ` +
      `median of ${ROUNDS} × ${quotes}; ${Math.round(median(cpuRates))} per second of CPU time`,
    leavesOut: LEAVES_OUT,
  };
}

async function measureExpiry(): Promise<readonly Row[]> {
  const holders = sizeOf('HOLDERS', 100_000);
  const series = sizeOf('SERIES', 2000);
  const underlyings = Math.max(1, Math.round(series / (STRIKES.length * 2)));
  const brokerage = await marketOf(underlyings, STRIKES);
  for (let index = 0; index < holders; index++) {
    const portfolioId = portfolioIn(brokerage);
    const on = symbolOf(index % underlyings);
    const strike = STRIKES[Math.floor(index / underlyings) % STRIKES.length] ?? 100;
    const symbol = contractOf(on, index % 3 === 0 ? 'P' : 'C', strike);
    submit(
      brokerage,
      {
        ...{ portfolioId, symbol, assetClass: 'OPTION', orderType: 'MARKET', positionIntent: 'BUY_TO_OPEN' },
        ...{ quantity: Quantity.of(1), timeInForce: 'DAY' },
      },
      MONDAY_TEN,
    );
  }
  // Up to just before the close of the expiration day; the expiry is due then, and after it the closing marks.
  const { calendar } = brokerage.rules;
  const before = calendar.instantOf(calendar.dateOf(Instant.plusMs(MONDAY_TEN, 4 * 86_400_000)), 15, 59);
  const end = Instant.plusMs(before, 60_000);
  doWhatIsDue(brokerage, before, () => undefined);
  const pauses: number[] = [];
  const held = (): number => [...brokerage.state.holders.values()].reduce((sum, { size }) => sum + size, 0);
  const heldBefore = held();
  const elapsed = stopwatch();
  doWhatIsDue(brokerage, end, (kind, ms) => {
    if (kind === 'SERIES_END') pauses.push(ms);
  });
  const { wallMs } = elapsed();
  if (heldBefore < holders) throw new Error('not everybody holds a series');
  const total = pauses.reduce((sum, ms) => sum + ms, 0);
  const about = `${series} series in ${holders} portfolios, one each; ${pauses.length} slices`;
  return [
    {
      measure: 'series end in all portfolios that hold them',
      value: total / 1000,
      unit: 's',
      aim: { atMost: 5 },
      details: `${about}; with the marks of the close ${(wallMs / 1000).toFixed(1)} s`,
      leavesOut: LEAVES_OUT,
    },
    {
      measure: 'series end: the longest slice',
      value: Math.max(...pauses),
      unit: 'ms',
      aim: { atMost: 20 },
      details: about,
      leavesOut: LEAVES_OUT,
    },
  ];
}

function doWhatIsDue(
  brokerage: Brokerage,
  until: Instant,
  took: (kind: string | undefined, ms: number) => void,
): void {
  for (let due = brokerage.nextDue(); due !== undefined && due <= until; due = brokerage.nextDue()) {
    const kind = brokerage.state.timers.first()?.what.kind;
    const began = performance.now();
    const at = Instant.max(due, brokerage.state.now);
    brokerage.symbolsRead({ type: 'AdvanceClock' }, at);
    brokerage.execute({ type: 'AdvanceClock' }, at);
    took(kind, performance.now() - began);
  }
}

export async function measureMultiLegOrders(): Promise<readonly Row[]> {
  return [await measureOrders(), await measureQuotes(), ...(await measureExpiry())];
}

await runAlone(import.meta.url, measureMultiLegOrders);
