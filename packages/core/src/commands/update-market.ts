import type { Command } from '../command.js';
import type { Decision } from '../decision.js';
import type { Equity } from '../instruments/instrument.js';
import { isUsable } from '../market/quote.js';
import { bookOf } from '../state.js';
import { matchBook } from './match-orders.js';

/**
 * New quotes. Those that came through the API are an event of their own; those of a feed can be had again and leave a record only
 * where they change something. Unusable ones (crossed, not positive) are passed over.
 */
export function updateMarket(d: Decision, command: Extract<Command, { type: 'UpdateMarket' }>): void {
  const { quotes, pushed } = command;
  if (pushed) {
    const usable = quotes.filter(isUsable);
    const listed: Equity[] = [];
    const seen = new Set<string>();
    for (const { symbol } of usable) {
      if (d.instrument(symbol) !== undefined || seen.has(symbol)) continue;
      seen.add(symbol);
      listed.push(plainEquity(symbol));
    }
    if (usable.length > 0) d.emit({ type: 'QuotesPushed', quotes: usable, listed });
    // Each quote is its own moment: a symbol that is quoted twice in one call is matched twice.
    for (const quote of usable) {
      const book = bookOf(d.state, quote.symbol);
      if (book.quote !== quote) book.setQuote(quote, true);
      matchBook(d, book);
    }
    return;
  }
  for (const quote of quotes) {
    if (!isUsable(quote)) continue;
    const book = bookOf(d.state, quote.symbol);
    book.setQuote(quote, false);
    if (book.workingOrders > 0) matchBook(d, book);
  }
}

/** What is known of a symbol that nobody described: an ordinary stock of middling volume. */
export const plainEquity = (symbol: string): Equity => ({
  assetClass: 'EQUITY',
  symbol,
  name: symbol,
  leverageFactor: 1,
  shortable: true,
  borrowRateAnnual: 0.003,
  averageDailyVolume: 1_000_000,
  dailyVolatility: 0.02,
});
