/**
 * CPU time of the margin watch on one core: portfolios of ten positions, thousands of quotes a second, every breach found at the next whole
 * second. Prices walk at random with 2 % a day. Some portfolios are near a call, most are not.
 *
 * Leaves out: everything around the core, and the first second, in which every portfolio is checked once. Positions are written into the
 * state, not traded.
 *
 *   npx tsc -b && npx tsx bench/margin-watch.ts        BENCH_WATCHED, BENCH_TICKING, BENCH_SECONDS, BENCH_POSITIONS, BENCH_GATED
 */
import { Brokerage, Instant, Money, Position, Price, Quantity, valuationOf } from '@sandpit/core';
import type { Portfolio, Quote } from '@sandpit/core';
import { runAlone, sizeOf, stopwatch } from './measure.js';
import type { Row } from './measure.js';
import {
  marketOrder,
  MONDAY_TEN,
  openPortfolio,
  quoteOf,
  rulesFor,
  submitOrder,
  symbolOf,
} from './orders.js';

const HELD = 10;
const SHARES = 100;
/** Standard deviation of a price in a second: 2 % in a day of 23,400 seconds. */
const STEP = 0.02 / Math.sqrt(23_400);
const QUOTES_AT_ONCE = 500;

/** A small generator: the same market in every run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

export async function measureMarginWatch(): Promise<readonly Row[]> {
  const watched = sizeOf('WATCHED', 100_000);
  const ticking = sizeOf('TICKING', 5000);
  const seconds = sizeOf('SECONDS', 20);
  const draw = chance(7);
  const brokerage = Brokerage.begin(await rulesFor(ticking), 7, MONDAY_TEN);
  const prices = Float64Array.from({ length: ticking }, () => 20 + 180 * draw());
  const tick = (at: Instant): void => {
    for (let first = 0; first < ticking; first += QUOTES_AT_ONCE) {
      const quotes: Quote[] = [];
      for (let i = first; i < Math.min(first + QUOTES_AT_ONCE, ticking); i++) {
        const price = (prices[i] ?? 0) * (1 + STEP * (draw() + draw() + draw() - 1.5) * 2);
        prices[i] = price;
        const mark = Price.ofUnits(Math.round(price * 100) * 1e6);
        quotes.push({ symbol: symbolOf(i), bid: mark, ask: mark, last: mark, at });
      }
      brokerage.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: false }, at);
    }
  };
  tick(MONDAY_TEN);
  const portfolios = Array.from({ length: watched }, (_, index) => holding(brokerage, index, ticking, draw));
  let at = MONDAY_TEN;
  const pass = (): void => {
    at = Instant.plusMs(at, 1000);
    tick(at);
    look(brokerage, at);
  };
  // Warm-up: every portfolio is checked once, and the code is compiled.
  pass();
  const elapsed = stopwatch();
  const looksBefore = looks;
  for (let second = 0; second < seconds; second++) pass();
  const { cpuMs } = elapsed();
  const called = portfolios.filter(({ margin }) => margin.calls.length > 0).length;
  const missed = portfolios.filter((portfolio) => isMissed(brokerage, portfolio)).length;
  return [
    {
      measure: `margin watch: ${watched.toLocaleString('en')} portfolios, ${ticking.toLocaleString('en')} quotes a second`,
      value: cpuMs / (seconds * 10),
      unit: '% of a core',
      aim: { atMost: 70 },
      details:
        `${seconds} simulated seconds, ${HELD} positions each; CPU time of the whole process. ${Math.round((looks - looksBefore) / seconds)} looked at ` +
        `in a second, ${called} in a call, ${missed} breaches not found`,
      leavesOut: 'journal, feed; the first second, in which everybody is looked at',
    },
    await gate(sizeOf('POSITIONS', 10_000), sizeOf('GATED', 4000), false),
    await gate(sizeOf('POSITIONS', 10_000), sizeOf('GATED', 4000), true),
  ];
}

/** Additional time of an opening order in a portfolio with many positions; `owes`: with a short stock, so that everything is valued. */
async function gate(positions: number, orders: number, owes: boolean): Promise<Row> {
  const brokerage = Brokerage.begin(await rulesFor(positions), 7, MONDAY_TEN);
  const symbols = Array.from({ length: positions }, (_, index) => symbolOf(index));
  const quotes = symbols.map((symbol) => quoteOf(symbol, MONDAY_TEN));
  brokerage.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: true }, MONDAY_TEN);
  const open = (held: number): string => {
    const { result } = brokerage.execute<'OpenPortfolio'>(
      { ...openPortfolio(), portfolioType: 'MARGIN', marginType: 'REG_T' },
      MONDAY_TEN,
    );
    if ('code' in result) throw new Error(result.code);
    const { portfolioId } = result.terms;
    const [first = '', ...others] = symbols.slice(0, held);
    trade(portfolioId, first, owes ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN');
    for (const symbol of others) trade(portfolioId, symbol);
    return portfolioId;
  };
  const trade = (
    portfolioId: string,
    symbol: string,
    positionIntent: 'BUY_TO_OPEN' | 'SELL_TO_OPEN' = 'BUY_TO_OPEN',
  ): void => {
    const order = marketOrder({ portfolioId, symbol }, positionIntent);
    const { result } = brokerage.execute<'SubmitOrder'>(submitOrder(order), MONDAY_TEN);
    if ('code' in result) throw new Error(JSON.stringify(result));
  };
  const timed = (portfolioId: string): number => {
    const elapsed = stopwatch();
    for (let i = 0; i < orders; i++) trade(portfolioId, symbolOf(1 + (i % 49)));
    return (elapsed().cpuMs / orders) * 1000;
  };
  const [few, many] = [open(50), open(positions)];
  timed(few);
  timed(many);
  const [least, most] = [0, 1, 2]
    .map(() => [timed(few), timed(many)] as const)
    .reduce(([a, b], [c, d]) => [Math.min(a, c), Math.min(b, d)]);
  const details = `${least.toFixed(1)} and ${most.toFixed(1)} µs of CPU time, least of three times ${orders} market orders that fill`;
  const leavesOut = 'journal, HTTP; no quotes come in between';
  const held = positions.toLocaleString('en');
  if (owes)
    return {
      measure: `an order in a portfolio that owes, with ${held} positions: its whole cost, by position`,
      value: most / positions,
      unit: 'µs',
      aim: { atMost: 1 },
      details,
      leavesOut,
    };
  return {
    measure: `an order in a portfolio with ${held} positions, beyond one with 50`,
    value: Math.max(0.1, ((most - least) / least) * 100),
    unit: '%',
    aim: { atMost: 10 },
    details,
    leavesOut,
  };
}

let looks = 0;

function look(brokerage: Brokerage, until: Instant): void {
  for (let due = brokerage.nextLook(); due !== undefined && due <= until; due = brokerage.nextLook()) {
    const at = Instant.max(due, brokerage.state.now);
    for (const portfolioId of brokerage.toLookAt(at, false, 1000)) {
      brokerage.execute<'LookAtMargin'>({ type: 'LookAtMargin', portfolioId }, at);
      looks++;
    }
  }
}

/** A portfolio of ten long positions that is lent a part of them: the tenth with the least equity is within 2 % of a call. */
function holding(brokerage: Brokerage, index: number, ticking: number, draw: () => number): Portfolio {
  const { state } = brokerage;
  const { result } = brokerage.execute<'OpenPortfolio'>(
    { ...openPortfolio(), portfolioType: 'MARGIN', marginType: 'REG_T' },
    MONDAY_TEN,
  );
  if ('code' in result) throw new Error(result.code);
  let worth = 0;
  for (let i = 0; i < HELD; i++) {
    const symbol = symbolOf(Math.floor((i + draw()) * (ticking / HELD)));
    const quantity = Quantity.of(SHARES);
    const value = Money.of(brokerage.mark(symbol) ?? Price.ofUnits(0), quantity);
    const lots = [{ lotId: index * HELD + i, quantity, cost: value, openedAt: MONDAY_TEN }];
    result.positions.set(symbol, { ...Position.open(symbol, 'EQUITY'), settled: quantity, lots });
    const holders = state.holders.get(symbol) ?? new Set();
    state.holders.set(symbol, holders.add(result));
    worth += value;
  }
  // Equity between 25.01 % and 75 % of the positions' value.
  const equity = draw() < 0.1 ? 0.2501 + 0.02 * draw() : 0.27 + 0.48 * draw();
  state.watch.portfolios.set(result, state.now);
  result.balances.SETTLED_CASH = Money.ofUnits(-Math.round(worth * (1 - equity)));
  return result;
}

function isMissed(brokerage: Brokerage, portfolio: Portfolio): boolean {
  const broker = brokerage.broker(portfolio);
  const { maintenanceExcess } = valuationOf(portfolio, brokerage, broker);
  return maintenanceExcess < 0 && portfolio.margin.calls.length === 0;
}

await runAlone(import.meta.url, measureMarginWatch);
