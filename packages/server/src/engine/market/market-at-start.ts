import { actionIdOf, effectiveAt, Instant, isUpcoming, symbolsTraded } from '@sandpit/core';
import type { Brokerage, CorporateAction, Quote } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import type { RecordingFeed } from '../../feeds/live-feed.js';
import { isSame } from './market-change.js';
import { mapInSlices } from '../scheduling/slice.js';

/** Maximum age of the last quotes before a start: a long weekend. */
const PRIMING_MS = 4 * 86_400_000;

/**
 * The feed's dividends and splits that the brokerage does not know as of the end of the journal. Those that took effect before a simulation
 * began are not applied (D129).
 */
export const unannouncedActions = ({ rules, state }: Brokerage, feed: Feed): readonly CorporateAction[] =>
  feed
    .corporateActions()
    .filter(
      (action) => isUpcoming(rules.calendar, action, state.now) && !state.actions.has(actionIdOf(action)),
    );

/** A recording only streams: the quotes in force at the beginning are the last ones of the days before. */
export async function loadInitialQuotes(brokerage: Brokerage, feed: Feed, at: Instant): Promise<void> {
  const latest = new Map<string, Quote>();
  for await (const { quotes } of feed.events(Instant.plusMs(at, -PRIMING_MS), at, new Set())) {
    for (const quote of quotes) latest.set(quote.symbol, quote);
  }
  brokerage.prime(inShares(brokerage, feed, [...latest.values()], at));
}

/** Sets the quotes in force of symbols with open orders, of a feed that computes them: the last record may have been long before. */
export async function primeComputedQuotes(brokerage: Brokerage, feed: Feed, at: Instant): Promise<void> {
  const symbols = new Set([...brokerage.state.orders.values()].flatMap(({ terms }) => symbolsTraded(terms)));
  const quotes = await mapInSlices([...symbols].sort(), (symbol) => feed.quoteAt(symbol, at));
  brokerage.prime(quotes.filter((quote) => quote !== undefined));
}

/**
 * The quotes in force at the instant from which a recording of a live source is read, if the brokerage does not have them. They cause no events:
 * a quote that caused one is in the journal.
 */
export async function resumedQuotes(
  brokerage: Brokerage,
  feed: RecordingFeed,
  at: Instant,
): Promise<readonly Quote[]> {
  const { state } = brokerage;
  const symbols = new Set([...state.holders.keys(), ...state.books.keys()]);
  for (const { terms } of state.orders.values())
    for (const symbol of symbolsTraded(terms)) symbols.add(symbol);
  const quotes = await feed.resumeAt(at, symbols, (symbol) => brokerage.instrument(symbol) !== undefined);
  return inShares(brokerage, feed, quotes, at).filter(
    (quote) => !isSame(quote, brokerage.quote(quote.symbol)),
  );
}

/** Omits prices from before a split that has taken effect: they refer to other shares. */
function inShares({ rules }: Brokerage, feed: Feed, quotes: readonly Quote[], at: Instant): readonly Quote[] {
  const splits = new Map<string, Instant>();
  for (const action of feed.corporateActions()) {
    const effective = effectiveAt(rules.calendar, action);
    if (action.type === 'SPLIT' && effective <= at)
      splits.set(action.symbol, Instant.max(effective, splits.get(action.symbol) ?? effective));
  }
  return quotes.filter((quote) => quote.at >= (splits.get(quote.symbol) ?? quote.at));
}
