/** The intraday equity curve (D149): computed on request, from the holdings minute by minute and the quotes of the time. */
import { Instant, Money, newSnapshot, Quantity, type Quote, type PortfolioSnapshot } from '@sandpit/core';
import type { EquityPoint } from '@sandpit/protocol';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { Slice } from '../../engine/scheduling/slice.js';
import type { History, MinuteMark, SnapshotMinute } from '../../store/history.js';
import type { Call } from '../call.js';
import { equityPointOf } from '../translate/history.js';
import { endOf, instantOf } from '../translate/instants.js';
import { type PageReply, pageReply, windowOf } from '../translate/pages.js';
import { acceptsQuotes, computesQuotes } from '../../feeds/feed.js';

const MINUTE_MS = 60_000;

const MINUTES = { '1m': 1, '5m': 5, '1h': 60 } as const;

/** Bar sizes of recorded trades: the interval itself, or a part of it. */
const BARS = { '1m': '1Min', '5m': '5Min', '1h': '15Min' } as const;

/** Maximum age of a recorded trade before the first point: a long weekend. */
const LOOK_BACK_MS = 4 * 86_400_000;

/** Intervals without a gap, by their numbers: the n-th ends (n + 1) intervals after 1970. */
interface Span {
  readonly first: number;
  readonly last: number;
}

/** The quote in force at an instant. */
export type QuoteThen = (symbol: string, at: Instant) => Quote | undefined;

export async function curveWithinTheDay(
  { simulation, params, query }: Call<'getEquityCurve'>,
  interval: keyof typeof MINUTES,
): Promise<PageReply<EquityPoint>> {
  const { portfolioId } = params;
  const { calendar } = simulation.brokerage.rules;
  const minutes = MINUTES[interval];
  const length = minutes * MINUTE_MS;
  const history = await simulation.past();
  const window = windowOf(query);
  const asked = {
    // Completed intervals only, each once.
    first: query.from === undefined ? 0 : Math.ceil(instantOf(query.from, calendar) / length) - 1,
    last: Math.min(
      Math.floor(simulation.now() / length) - 1,
      query.to === undefined ? Infinity : Math.ceil(endOf(query.to, calendar) / length) - 2,
    ),
  };
  const spans = spansOf(await history.standingMinutes(simulation.id, portfolioId), minutes, asked);
  const total = spans.reduce((sum, span) => sum + lengthOf(span), 0);
  const newest = Math.min(total, window.before ?? total) - window.offset;
  const oldest = Math.max(newest - window.limit + 1, 1);
  const numbers = newest < oldest ? [] : numbersOf(spans, oldest, newest);
  const points = await pointsOf({ simulation, history, portfolioId, interval, numbers });
  return pageReply(
    points.reverse(),
    { total, ...(oldest > 1 && newest >= oldest && { next: oldest - 1 }) },
    query,
  );
}

const lengthOf = ({ first, last }: Span): number => last - first + 1;

/** The intervals with a point: those with a change, or with a position at their end. */
function spansOf(rows: readonly SnapshotMinute[], minutes: number, asked: Span): readonly Span[] {
  const spans: Span[] = [];
  let next = asked.first;
  rows.forEach(({ minute, isHolding, hasMoved }, index) => {
    const changed = Math.floor(minute / minutes);
    const following = rows[index + 1];
    const until = following === undefined ? asked.last : Math.floor(following.minute / minutes) - 1;
    const first = Math.max(changed, next);
    const last = Math.min(Math.max(isHolding ? until : -1, hasMoved ? changed : -1), asked.last);
    if (last < first) return;
    spans.push({ first, last });
    next = last + 1;
  });
  return spans;
}

/** The numbers of the intervals from the `oldest`-th to the `newest`-th, counted from 1. */
function numbersOf(spans: readonly Span[], oldest: number, newest: number): number[] {
  const numbers: number[] = [];
  let before = 0;
  for (const span of spans) {
    const first = Math.max(oldest - before, 1);
    const last = Math.min(newest - before, lengthOf(span));
    for (let n = first; n <= last; n += 1) numbers.push(span.first + n - 1);
    before += lengthOf(span);
  }
  return numbers;
}

/** The points of intervals, oldest first. */
async function pointsOf({
  simulation,
  history,
  portfolioId,
  interval,
  numbers,
}: {
  readonly simulation: Simulation;
  readonly history: History;
  readonly portfolioId: string;
  readonly interval: keyof typeof MINUTES;
  readonly numbers: readonly number[];
}): Promise<EquityPoint[]> {
  const minutes = MINUTES[interval];
  const [first] = numbers;
  const last = numbers.at(-1);
  if (first === undefined || last === undefined) return [];
  const from = first * minutes;
  const to = (last + 1) * minutes;
  const rows = (await history.standings(simulation.id, portfolioId, from, to)).map(
    ({ minute, standing }) => ({
      minute,
      standing: JSON.parse(standing) as PortfolioSnapshot,
    }),
  );
  const symbols = symbolsIn(simulation, rows);
  const quote = await quotesThen(simulation, history, symbols, { from, to }, BARS[interval]);
  const slice = new Slice();
  const points: EquityPoint[] = [];
  let row = 0;
  for (const number of numbers) {
    const end = (number + 1) * minutes;
    while ((rows[row + 1]?.minute ?? Infinity) < end) row += 1;
    const standing = rows[row]?.standing;
    if (standing === undefined) continue;
    // An event at the end of an interval belongs to the next one.
    const at = Instant.ofMs(end * MINUTE_MS - 1);
    const worth = simulation.brokerage.worthThen(standing, at, (symbol) => quote(symbol, at));
    points.push(equityPointOf(Instant.ofMs(end * MINUTE_MS), worth));
    await slice.breathe();
  }
  return points;
}

/** Symbols that need quotes to value the holdings. */
export function symbolsIn(
  { brokerage }: Simulation,
  held: readonly { readonly standing: PortfolioSnapshot }[],
): ReadonlySet<string> {
  const symbols = new Set(held.flatMap(({ standing }) => Object.keys(standing.held)));
  for (const symbol of [...symbols]) {
    const instrument = brokerage.instrument(symbol);
    if (instrument?.assetClass === 'OPTION') symbols.add(instrument.underlying);
  }
  return symbols;
}

/** The market value of one contract at an instant, by its mark of then. */
export async function contractValueAt(
  simulation: Simulation,
  history: History,
  symbol: string,
  at: number,
): Promise<Money> {
  const one = { assetClass: 'OPTION' as const, quantity: Quantity.of(1), cost: Money.zero };
  const standing: PortfolioSnapshot = { ...newSnapshot('MARGIN'), held: { [symbol]: one } };
  const minute = Math.floor(at / MINUTE_MS);
  const symbols = symbolsIn(simulation, [{ standing }]);
  const quote = await quotesThen(simulation, history, symbols, { from: minute, to: minute + 1 }, '1Min');
  const then = Instant.ofMs(at);
  return simulation.brokerage.worthThen(standing, then, (name) => quote(name, then)).longMarketValue;
}

/** A feed that computes its quotes is queried again; for others, pushed quotes and trades are known. */
export async function quotesThen(
  simulation: Simulation,
  history: History,
  symbols: ReadonlySet<string>,
  { from, to }: { readonly from: number; readonly to: number },
  size: (typeof BARS)[keyof typeof BARS],
): Promise<QuoteThen> {
  const { feed } = simulation;
  if (computesQuotes(feed)) return (symbol, at) => feed.quoteAt(symbol, at);
  const marks = new Map<string, readonly Quote[]>();
  for (const symbol of symbols) {
    if (acceptsQuotes(feed)) {
      const pushed = await pushedMarks(simulation, history, symbol, { from, to });
      marks.set(
        symbol,
        pushed.map(({ minute, price }) => ({ symbol, last: price, at: Instant.ofMs(minute * MINUTE_MS) })),
      );
      continue;
    }
    const bars = await feed.bars({
      symbol,
      size,
      from: Instant.ofMs(from * MINUTE_MS - LOOK_BACK_MS),
      until: Instant.ofMs(to * MINUTE_MS),
      limit: Number.MAX_SAFE_INTEGER,
    });
    // A symbol with daily bars alone has no shorter bars: its quotes within the day are used.
    const told = bars.length > 0 ? [] : await quotesOf(feed, symbol, from, to);
    marks.set(symbol, bars.length > 0 ? bars.map(({ at, close }) => ({ symbol, last: close, at })) : told);
  }
  return (symbol, at) => lastBefore(marks.get(symbol) ?? [], at);
}

/** The last mark of each minute in which a quote of the symbol was pushed; of a fork also those of its ancestors. */
export async function pushedMarks(
  { market }: Simulation,
  history: History,
  symbol: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly MinuteMark[]> {
  // A `main` has records of the quotes alone that it had an interest in when they were pushed.
  // The owner of the market writes its history; a replica has no rows to wait for.
  if (!market.isReplica) await market.past();
  return history.marks(market.id, symbol, from, to);
}

async function quotesOf(
  feed: Simulation['feed'],
  symbol: string,
  from: number,
  to: number,
): Promise<readonly Quote[]> {
  const quotes: Quote[] = [];
  const after = Instant.ofMs(from * MINUTE_MS - LOOK_BACK_MS);
  for await (const quote of feed.pastQuotes?.(after, Instant.ofMs(to * MINUTE_MS), new Set([symbol])) ?? [])
    quotes.push(quote);
  return quotes;
}

function lastBefore(quotes: readonly Quote[], at: Instant): Quote | undefined {
  let low = 0;
  let high = quotes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((quotes[middle]?.at ?? Infinity) <= at) low = middle + 1;
    else high = middle;
  }
  return quotes[low - 1];
}
