import { actionId, effectiveAt, Instant, isUpcoming } from '@sandpit/core';
import type { Brokerage, CorporateAction, Quote } from '@sandpit/core';
import type { Feed } from '../feeds/feed.js';

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
      (action) => isUpcoming(rules.calendar, action, state.now) && !state.actions.has(actionId(action)),
    );

/** A recording only streams: the quotes in force at the beginning are the last ones of the days before. */
export async function loadInitialQuotes(brokerage: Brokerage, feed: Feed, at: Instant): Promise<void> {
  const latest = new Map<string, Quote>();
  for await (const { quotes } of feed.events(Instant.plusMs(at, -PRIMING_MS), at, new Set())) {
    for (const quote of quotes) latest.set(quote.symbol, quote);
  }
  // A price from before a split refers to other shares.
  for (const action of feed.corporateActions()) {
    const quote = latest.get(action.symbol);
    const effective = effectiveAt(brokerage.rules.calendar, action);
    if (action.type === 'SPLIT' && quote !== undefined && quote.at < effective && effective <= at)
      latest.delete(action.symbol);
  }
  brokerage.prime([...latest.values()]);
}
