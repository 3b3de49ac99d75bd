/** Total equity of a portfolio at a past instant, with everything that happened up to and at it (D240). */
import {
  type Event,
  Instant,
  type Money,
  newSnapshot,
  type OrderExecuted,
  type OrderTerms,
  type PortfolioSnapshot,
  type Quote,
  snapshotAfter,
  snapshotAfterExecution,
} from '@sandpit/core';
import { payloadOf } from '../../engine/records/record-text.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { Slice } from '../../engine/scheduling/slice.js';
import { acceptsQuotes, computesQuotes } from '../../feeds/feed.js';
import type { History } from '../../store/history.js';
import type { JournalRecord } from '../../store/journal.js';
import { quotesBy } from '../../store/history/collect-rows.js';
import { pushedMarks, type QuoteThen, quotesThen, symbolsIn } from './equity-curve.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Spans in which the last recorded quotes before an instant are searched, one after the other. */
const LOOK_BACKS_MS = [HOUR_MS, 24 * HOUR_MS, 4 * 24 * HOUR_MS];
const ITEMS_AT_ONCE = 500;

/** Undefined before the portfolio existed. */
export async function equityAt(
  simulation: Simulation,
  history: History,
  portfolioId: string,
  at: number,
): Promise<Money | undefined> {
  const standing = await snapshotAt(simulation, history, portfolioId, at);
  if (standing === undefined) return undefined;
  const symbols = symbolsIn(simulation, [{ standing }]);
  const instant = Instant.ofMs(at);
  const quote = symbols.size === 0 ? () => undefined : await quotesAt(simulation, history, symbols, at);
  return simulation.brokerage.worthThen(standing, instant, (symbol) => quote(symbol, instant)).totalEquity;
}

/** The history has the holdings at the end of each minute; what happened in the minute itself is in the journal. */
async function snapshotAt(
  simulation: Simulation,
  history: History,
  portfolioId: string,
  at: number,
): Promise<PortfolioSnapshot | undefined> {
  const minute = Math.floor(at / MINUTE_MS);
  const row = (await history.standings(simulation.id, portfolioId, minute - 1, minute)).at(-1);
  let standing = row === undefined ? undefined : (JSON.parse(row.standing) as PortfolioSnapshot);
  const executions = await executionsIn(simulation, history, portfolioId, minute * MINUTE_MS, at);
  const isOfPortfolio = ({ seq, payload }: JournalRecord): boolean =>
    payload.includes(portfolioId) || executions.has(seq);
  for await (const { seq, events } of recordsIn(simulation, minute * MINUTE_MS, at, isOfPortfolio))
    for (const event of events) {
      if (event.type === 'PortfolioOpened') {
        const { terms } = event;
        if (terms.portfolioId === portfolioId) standing = newSnapshot(terms.initialSettings.portfolioType);
      } else if (standing === undefined) continue;
      else if (event.type === 'OrderExecuted') {
        const terms = executions.get(seq)?.get(event.order);
        if (terms !== undefined) standing = snapshotAfterExecution(standing, terms, event);
      } else if (isOf(event, portfolioId)) standing = snapshotAfter(standing, event);
    }
  return standing;
}

type OfPortfolio = Parameters<typeof snapshotAfter>[1];

const isOf = (event: Event, portfolioId: string): event is OfPortfolio =>
  'portfolioId' in event && event.portfolioId === portfolioId;

/** Terms of a portfolio's orders that were executed in a span, by record and by order. */
async function executionsIn(
  { id }: Simulation,
  history: History,
  portfolioId: string,
  from: number,
  to: number,
): Promise<ReadonlyMap<number, ReadonlyMap<number, OrderTerms>>> {
  const found = new Map<number, Map<number, OrderTerms>>();
  let before: number | undefined;
  do {
    const { items, next } = await history.list({
      simulationId: id,
      list: 'activities',
      owner: portfolioId,
      tag: 'EXECUTION',
      from,
      to: to + 1,
      offset: 0,
      limit: ITEMS_AT_ONCE,
      isUncounted: true,
      ...(before !== undefined && { before }),
    });
    for (const { seq, data } of items) {
      const { order } = data as OrderExecuted;
      const orders = found.get(seq) ?? new Map<number, OrderTerms>();
      found.set(seq, orders);
      if (orders.has(order)) continue;
      const row = await history.order(id, order);
      if (row !== undefined) orders.set(order, JSON.parse(row.terms) as OrderTerms);
    }
    before = next;
  } while (before !== undefined);
  return found;
}

/** Records of a journal in a span, its end included. */
async function* recordsIn(
  { id, journal }: Pick<Simulation, 'id' | 'journal'>,
  from: number,
  to: number,
  isWanted: (record: JournalRecord) => boolean,
): AsyncGenerator<{ readonly seq: number; readonly at: number; readonly events: readonly Event[] }> {
  const slice = new Slice();
  for await (const record of journal.read(id, await journal.lastAt(id, from - 1))) {
    if (record.at > to) return;
    if (isWanted(record)) yield { seq: record.seq, at: record.at, events: payloadOf(record).events };
    await slice.breathe();
  }
}

/** Quotes in force at an instant, those of the instant included. */
async function quotesAt(
  simulation: Simulation,
  history: History,
  symbols: ReadonlySet<string>,
  at: number,
): Promise<QuoteThen> {
  const { feed, market } = simulation;
  const minute = Math.floor(at / MINUTE_MS);
  if (computesQuotes(feed)) return (symbol, instant) => feed.quoteAt(symbol, instant);
  const quotes = new Map<string, Quote>();
  if (acceptsQuotes(feed)) {
    for (const symbol of symbols) {
      const mark = (
        await pushedMarks(simulation, history, symbol, { from: minute - 1, to: minute })
      ).findLast((one) => one.minute < minute);
      if (mark !== undefined)
        quotes.set(symbol, { symbol, last: mark.price, at: Instant.ofMs(mark.minute * MINUTE_MS) });
    }
    await restate(market, quotes, symbols, minute * MINUTE_MS, at);
    return (symbol) => quotes.get(symbol);
  }
  if (feed.pastQuotes === undefined)
    return quotesThen(simulation, history, symbols, { from: minute, to: minute + 1 }, '1Min');
  for (const span of LOOK_BACKS_MS) {
    const after = Instant.ofMs(at - span);
    for await (const quote of feed.pastQuotes(after, Instant.ofMs(at), symbols))
      quotes.set(quote.symbol, quote);
    if (quotes.size === symbols.size) break;
  }
  const oldest = [...quotes.values()].reduce((least, quote) => Math.min(least, quote.at), at);
  await restate(simulation, quotes, symbols, oldest, at);
  return (symbol) => quotes.get(symbol);
}

const RESTATING = ['"QuotesPushed"', '"SplitBegun"', '"ActionDone"', '"SeriesAdjusted"'] as const;

/** Replaces quotes by those that records of a span have put in force after them. */
async function restate(
  simulation: Pick<Simulation, 'id' | 'journal'>,
  quotes: Map<string, Quote>,
  symbols: ReadonlySet<string>,
  from: number,
  to: number,
): Promise<void> {
  const isWanted = ({ payload }: JournalRecord): boolean => RESTATING.some((type) => payload.includes(type));
  for await (const { at, events } of recordsIn(simulation, from, to, isWanted))
    for (const quote of events.flatMap(quotesBy))
      if (symbols.has(quote.symbol) && (quotes.get(quote.symbol)?.at ?? 0) <= at)
        quotes.set(quote.symbol, quote);
}
