/** Strategies that the house plays for comparison (D210). A restart continues them: what they have ordered is in the journal. */
import {
  commissionDue,
  Instant,
  marketHours,
  Money,
  Position,
  Price,
  Quantity,
  seedOf,
  uniform,
} from '@sandpit/core';
import type { Brokerage, OrderRequest, Portfolio, Tier } from '@sandpit/core';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { BaselineName } from './definition.js';

/** Symbols that a baseline trades. */
const MOST_SYMBOLS = 10;
const MINUTE_MS = 60_000;
/** The random baseline trades so long after each open. */
const AFTER_OPEN_MS = 30 * MINUTE_MS;
/** Price (10^-8 dollars) × quantity (10^-6) in units of money (10^-4 dollars). */
const VALUE_UNITS = 10_000_000_000n;
const SHARE = 1_000_000;

export interface BaselineRun {
  readonly name: BaselineName;
  readonly portfolioId: string;
  readonly tier: Tier;
  readonly end: Instant;
  /** The origin of its chances: equal wherever the market is. */
  readonly draw: string;
  /** True when nothing more is to be done. */
  readonly isStopped: () => boolean;
}

/** Plays a baseline until it has nothing more to do; the clock may stand before the end then. */
export async function playBaseline(simulation: Simulation, run: BaselineRun): Promise<void> {
  switch (run.name) {
    case 'hold':
      return hold(simulation, run);
    case 'random':
      return tradeAtRandom(simulation, run);
    case 'noop':
      return;
  }
}

/** Equities in the order of the rules; else of the recording or the catalog, by ticker as recorded. */
function symbolsOf({ brokerage, feed }: Simulation): readonly string[] {
  const wanted = brokerage.state.competition?.terms.rules.symbols;
  const isShare = (symbol: string): boolean => brokerage.instrument(symbol)?.assetClass === 'EQUITY';
  if (wanted !== undefined) return wanted.filter(isShare).slice(0, MOST_SYMBOLS);
  const listed = feed
    .listing()
    .instruments.filter(({ assetClass }) => assetClass === 'EQUITY')
    .map(({ symbol }) => ({ symbol, recorded: feed.mask?.recorded(symbol) ?? symbol }))
    .sort((a, b) => (a.recorded < b.recorded ? -1 : 1));
  return listed.slice(0, MOST_SYMBOLS).map(({ symbol }) => symbol);
}

const portfolioOf = (simulation: Simulation, { portfolioId }: BaselineRun): Portfolio | undefined =>
  simulation.brokerage.state.portfolios.get(portfolioId);

/** Moves the clock forward to an instant, at most to the end. */
async function moveTo(simulation: Simulation, at: Instant, { end }: BaselineRun): Promise<void> {
  const to = Instant.min(at, end);
  if (to > simulation.now()) await simulation.moveClock(to);
}

/** The present regular session begins here, or the next one. */
function openingOf(simulation: Simulation): Instant {
  const hours = marketHours(simulation.brokerage.rules.calendar, 'EQUITIES');
  const now = simulation.now();
  return hours.isOpen('REGULAR', now) ? now : hours.nextOpen('REGULAR', now);
}

/** Buys an equal part of the cash in each symbol at its first quote of the regular session, and holds. */
async function hold(simulation: Simulation, run: BaselineRun): Promise<void> {
  const symbols = symbolsOf(simulation);
  const open = openingOf(simulation);
  if (symbols.length === 0 || open >= run.end) return;
  await moveTo(simulation, open, run);
  const hours = marketHours(simulation.brokerage.rules.calendar, 'EQUITIES');
  const close = hours.nextClose('REGULAR', open);
  const cash = portfolioOf(simulation, run)?.terms.initialCash;
  if (cash === undefined) return;
  const part = Math.floor(cash / symbols.length);
  const left = new Set(symbols);
  while (left.size > 0 && simulation.now() < close && simulation.now() < run.end && !run.isStopped()) {
    const quoted = await simulation.read(
      [],
      (brokerage) => [...left].filter((symbol) => isQuotedSince(brokerage, symbol, open)),
      left,
    );
    for (const symbol of quoted) {
      left.delete(symbol);
      await buyPart(simulation, run, symbol, part);
    }
    if (left.size > 0) await moveTo(simulation, Instant.plusMs(simulation.now(), MINUTE_MS), run);
  }
}

/** True when a symbol has a quote of this session. */
function isQuotedSince(brokerage: Brokerage, symbol: string, open: Instant): boolean {
  const quote = brokerage.quote(symbol);
  return quote?.ask !== undefined && quote.at >= open;
}

/** Buys as many whole shares as a part of the cash pays with commission, as a limit order at the ask. */
async function buyPart(
  simulation: Simulation,
  run: BaselineRun,
  symbol: string,
  part: number,
): Promise<void> {
  const portfolio = portfolioOf(simulation, run);
  const ask = simulation.brokerage.quote(symbol)?.ask;
  if (portfolio === undefined || ask === undefined || ask <= 0) return;
  const broker = simulation.brokerage.broker(portfolio);
  let shares = Number((BigInt(part) * VALUE_UNITS) / (BigInt(ask) * BigInt(SHARE)));
  const costOf = (count: number): number => {
    const value = Money.ofUnits(Number((BigInt(ask) * BigInt(count) * BigInt(SHARE)) / VALUE_UNITS));
    return value + commissionDue(broker, 'SHARES', Quantity.ofUnits(count * SHARE), value);
  };
  while (shares > 0 && costOf(shares) > part) shares -= 1;
  if (shares === 0) return;
  await place(simulation, run, {
    symbol,
    orderType: 'LIMIT',
    limitPrice: Price.ofUnits(ask),
    positionIntent: 'BUY_TO_OPEN',
    quantity: Quantity.ofUnits(shares * SHARE),
    clientOrderId: `hold-${symbol}`,
  });
}

/** One market order half an hour after each open: sells a holding whole, or buys for a tenth of the equity. */
async function tradeAtRandom(simulation: Simulation, run: BaselineRun): Promise<void> {
  const symbols = symbolsOf(simulation);
  const { calendar } = simulation.brokerage.rules;
  const hours = marketHours(calendar, 'EQUITIES');
  if (symbols.length === 0) return;
  let open = hours.isOpen('REGULAR', simulation.now())
    ? // The session that the clock stands in.
      hours.nextOpen('REGULAR', Instant.plusMs(simulation.now(), -DAY_MS))
    : hours.nextOpen('REGULAR', simulation.now());
  for (; !run.isStopped(); open = hours.nextOpen('REGULAR', open)) {
    const due = Instant.plusMs(open, AFTER_OPEN_MS);
    if (due >= run.end) return;
    if (due < simulation.now()) continue;
    await moveTo(simulation, due, run);
    await tradeOnce(simulation, run, symbols, calendar.dateOf(due));
  }
}

const DAY_MS = 86_400_000;

async function tradeOnce(
  simulation: Simulation,
  run: BaselineRun,
  symbols: readonly string[],
  date: string,
): Promise<void> {
  const chance = (of: string): number => uniform(seedOf(`${run.draw} ${of} ${date}`), 0, 0);
  const symbol = symbols[Math.floor(chance('symbol') * symbols.length)];
  if (symbol === undefined) return;
  const { position, equity, mark } = await simulation.read(
    [],
    (brokerage) => {
      const portfolio = portfolioOf(simulation, run);
      return {
        position: portfolio?.positions.get(symbol),
        equity: portfolio === undefined ? 0 : brokerage.worthOf(portfolio).totalEquity,
        mark: brokerage.quote(symbol)?.ask ?? brokerage.mark(symbol),
      };
    },
    symbols,
  );
  const order = { symbol, orderType: 'MARKET' as const, clientOrderId: `random-${date}` };
  if (chance('side') < 0.5) {
    const held = position === undefined ? 0 : Position.held(position);
    if (held > 0)
      await place(simulation, run, {
        ...order,
        positionIntent: 'SELL_TO_CLOSE',
        quantity: Quantity.ofUnits(held),
      });
    return;
  }
  if (mark === undefined || mark <= 0) return;
  const shares = Number((BigInt(Math.floor(equity / 10)) * VALUE_UNITS) / (BigInt(mark) * BigInt(SHARE)));
  if (shares > 0)
    await place(simulation, run, {
      ...order,
      positionIntent: 'BUY_TO_OPEN',
      quantity: Quantity.ofUnits(shares * SHARE),
    });
}

/** Places an order of the day. One that is refused is not placed. */
async function place(
  simulation: Simulation,
  { portfolioId, tier }: BaselineRun,
  order: Omit<OrderRequest, 'portfolioId' | 'assetClass' | 'timeInForce'>,
): Promise<void> {
  await simulation.submit<'SubmitOrder'>({
    type: 'SubmitOrder',
    by: { tier },
    order: { ...order, portfolioId, assetClass: 'EQUITY', timeInForce: 'DAY' },
  });
}
