import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { Instrument } from '../../instruments/instrument.js';
import type { ClassOf } from '../../instruments/option-roots.js';
import { instrumentNamed, namesAdjusted, unknownDeliverable } from '../../instruments/symbols.js';
import { isLongAsOsi } from '../../instruments/osi.js';
import { isUsable, isWithoutMarket } from '../../market/quote.js';
import type { Quote } from '../../market/quote.js';
import type { Book } from '../../matching/book.js';
import { wakeConcerned } from '../../matching/multi-leg-index.js';
import { bookOf, noteMark } from '../../state.js';
import type { Rejection } from '../../rejection.js';
import type { Instant } from '../../values/instant.js';
import { meetOfficialClose, meetOpening } from '../fills/auctions.js';
import { openingSeen } from '../options/end-series.js';
import { reserveAtFirstPrice } from '../fills/first-price.js';
import { meetAlerts } from './alerts.js';
import { endHalts } from './halts.js';
import { matchBook } from '../fills/match-orders.js';
import { matchMultiLegOrders } from '../fills/match-multi-leg-orders.js';
import { noteQuote } from './price-limits.js';
import { meetPrice } from '../orders/run-script.js';

/**
 * Applies new quotes. Pushed ones are an event of their own; those of a feed can be fetched again and leave a record only
 * if they cause events. Unusable ones (crossed, not positive) are skipped.
 */
export function updateMarket(
  d: Decision,
  command: Extract<Command, { type: 'UpdateMarket' }>,
): Rejection | undefined {
  const { quotes, pushed, since } = command;
  const problem = pushed ? pushProblem(d, quotes) : undefined;
  if (problem !== undefined) return problem;
  // A feed delivers the quotes of an instant before the timers due then.
  endHalts(d);
  if (pushed) {
    pushQuotes(d, quotes.filter(isUsable));
    return undefined;
  }
  const told = new Set<Quote>();
  for (const quote of quotes) {
    if (!isUsable(quote) && !isWithoutMarket(quote)) continue;
    const book = bookOf(d.state, quote.symbol);
    told.add(quote);
    if (book.quote !== undefined && book.quoteRecorded && told.has(book.quote)) {
      // An earlier quote of this command has affected a decision: the journal must distinguish the two. (One from before it, read
      // for its mark alone, is in the record already.)
      pushQuotes(d, [quote]);
      continue;
    }
    book.setQuote(quote, false);
    noteMark(d.state, quote.symbol);
    if (since === undefined) noteQuote(d, book);
    // The quote is also the first price of orders placed after `since`.
    reserveAtFirstPrice(d, book);
    if (since === undefined) {
      meetOpening(d, book);
      meetOfficialClose(d, book);
      meetPrice(d, quote.symbol);
    }
    meetAlerts(d, quote, since);
    if (book.workingOrders > 0) matchSince(d, book, since);
    if (d.state.awaitingOpening.size > 0) openingSeen(d, quote.symbol);
  }
  // All quotes of an instant are in force before multi-leg orders match (D78).
  if (since === undefined) matchMultiLegOrders(d, quotes);
  else for (const quote of told) wakeConcerned(d.state.multiLegOrdersOn, quote);
  return undefined;
}

/** The part of a decision or of a brokerage that determines what a pushed quote lists. */
type PushedInto = Pick<Decision, 'state' | 'instrument'>;

/** The refusal of quotes of an adjusted contract that is not listed (D245). */
export function pushProblem(market: PushedInto, quotes: readonly Quote[]): Rejection | undefined {
  const classOf = classesAfter(market, quotes);
  const index = quotes.findIndex(({ symbol }) => isToList(market, symbol) && namesAdjusted(symbol, classOf));
  const symbol = quotes[index]?.symbol;
  if (symbol === undefined) return undefined;
  const message = `quotes.${index}: ${unknownDeliverable(symbol)}`;
  return { code: 'UNKNOWN_DELIVERABLE', message, symbol };
}

/** A symbol freed by a split may be listed again. */
const isToList = (market: PushedInto, symbol: string): boolean =>
  market.instrument(symbol) === undefined || market.state.adjusted.has(symbol);

/** Classes of listed symbols, including the shares and indices that these quotes list. */
function classesAfter(market: PushedInto, quotes: readonly Quote[]): ClassOf {
  let quoted: ReadonlySet<string> | undefined;
  return (symbol) => {
    const listed = market.instrument(symbol);
    if (listed !== undefined || isLongAsOsi(symbol)) return listed?.assetClass;
    quoted ??= new Set(quotes.map((quote) => quote.symbol));
    return quoted.has(symbol) ? instrumentNamed(symbol, () => undefined)?.assetClass : undefined;
  };
}

/** Each order is matched by its own start (D128): later orders are not matched with the quote and do not block the others. */
function matchSince(d: Decision, book: Book, since: Instant | undefined): void {
  const late =
    since === undefined
      ? []
      : [...book.open].filter(
          ({ places, progress }) => places !== undefined && (progress.marketAt ?? since) > since,
        );
  for (const order of late) book.remove(order);
  matchBook(d, book);
  for (const order of late) {
    if (d.state.orders.has(order.terms.number)) book.place(order, d.portfolioOf(order).terms.fillModel);
  }
}

/** Each quote is its own moment: a symbol that is quoted twice in one call makes two events and is matched twice. */
function pushQuotes(d: Decision, quotes: readonly Quote[]): void {
  const classOf = classesAfter(d, quotes);
  let batch = new Map<string, Quote>();
  for (const quote of quotes) {
    if (batch.has(quote.symbol)) {
      pushBatch(d, batch, classOf);
      batch = new Map();
    }
    batch.set(quote.symbol, quote);
  }
  if (batch.size > 0) pushBatch(d, batch, classOf);
}

function pushBatch(d: Decision, batch: ReadonlyMap<string, Quote>, classOf: ClassOf): void {
  const listed: Instrument[] = [];
  for (const symbol of batch.keys()) {
    const instrument = isToList(d, symbol) ? instrumentNamed(symbol, classOf) : undefined;
    if (instrument !== undefined) listed.push(instrument);
  }
  d.emit({ type: 'QuotesPushed', quotes: [...batch.values()], listed });
  for (const [symbol, quote] of batch) {
    const book = bookOf(d.state, symbol);
    noteQuote(d, book);
    reserveAtFirstPrice(d, book);
    meetOpening(d, book);
    meetPrice(d, symbol);
    meetAlerts(d, quote);
    matchBook(d, book);
  }
  matchMultiLegOrders(d, batch.values());
  if (d.state.awaitingOpening.size > 0) for (const symbol of batch.keys()) openingSeen(d, symbol);
}
