import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { Instrument } from '../../instruments/instrument.js';
import { instrumentNamed } from '../../instruments/symbols.js';
import { isUsable, isWithoutMarket } from '../../market/quote.js';
import type { Quote } from '../../market/quote.js';
import type { Book } from '../../matching/book.js';
import { wakeConcerned } from '../../matching/multi-leg-index.js';
import { bookOf, noteMark } from '../../state.js';
import type { Instant } from '../../values/instant.js';
import { meetOfficialClose, meetOpening } from '../fills/auctions.js';
import { openingSeen } from '../options/end-series.js';
import { reserveAtFirstPrice } from '../fills/first-price.js';
import { endHalts } from './halts.js';
import { matchBook } from '../fills/match-orders.js';
import { matchMultiLegOrders } from '../fills/match-multi-leg-orders.js';
import { noteQuote } from './price-limits.js';
import { meetPrice } from '../orders/run-script.js';

/**
 * Applies new quotes. Pushed ones are an event of their own; those of a feed can be fetched again and leave a record only
 * if they cause events. Unusable ones (crossed, not positive) are skipped.
 */
export function updateMarket(d: Decision, command: Extract<Command, { type: 'UpdateMarket' }>): void {
  const { quotes, pushed, since } = command;
  // A feed delivers the quotes of an instant before the timers due then.
  endHalts(d);
  if (pushed) {
    pushQuotes(d, quotes.filter(isUsable));
    return;
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
    // It is also the first price of orders placed after `since`.
    reserveAtFirstPrice(d, book);
    if (since === undefined) {
      meetOpening(d, book);
      meetOfficialClose(d, book);
      meetPrice(d, quote.symbol);
    }
    if (book.workingOrders > 0) matchSince(d, book, since);
    if (d.state.awaitingOpening.size > 0) openingSeen(d, quote.symbol);
  }
  // All quotes of an instant are in force before multi-leg orders match (D78).
  if (since === undefined) matchMultiLegOrders(d, quotes);
  else for (const quote of told) wakeConcerned(d.state.multiLegOrdersOn, quote);
}

/** Each order is matched by its own start (D128): later orders do not meet the quote, and do not block the others. */
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
  let batch = new Map<string, Quote>();
  for (const quote of quotes) {
    if (batch.has(quote.symbol)) {
      pushBatch(d, batch);
      batch = new Map();
    }
    batch.set(quote.symbol, quote);
  }
  if (batch.size > 0) pushBatch(d, batch);
}

function pushBatch(d: Decision, batch: ReadonlyMap<string, Quote>): void {
  const listed: Instrument[] = [];
  const isIndex = (symbol: string): boolean => d.instrument(symbol)?.assetClass === 'INDEX';
  for (const symbol of batch.keys()) {
    // A symbol freed by a split may be listed again.
    if (d.instrument(symbol) === undefined || d.state.adjusted.has(symbol))
      listed.push(instrumentNamed(symbol, isIndex));
  }
  d.emit({ type: 'QuotesPushed', quotes: [...batch.values()], listed });
  for (const symbol of batch.keys()) {
    const book = bookOf(d.state, symbol);
    noteQuote(d, book);
    reserveAtFirstPrice(d, book);
    meetOpening(d, book);
    meetPrice(d, symbol);
    matchBook(d, book);
  }
  matchMultiLegOrders(d, batch.values());
  if (d.state.awaitingOpening.size > 0) for (const symbol of batch.keys()) openingSeen(d, symbol);
}
