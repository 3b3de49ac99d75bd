import type { Static } from 'typebox';
import { anyText, choice, closed, count, instant, listOf, number, optional } from './fields.js';

export const Health = closed('Health', {
  status: choice(['ok', 'error']),
  timestamp: instant({ description: 'Time of the check.' }),
});
export type Health = Static<typeof Health>;

const halts = choice(['full', 'nasdaq', 'none'], {
  description:
    'Halts reported by the source of live market data: of all listings, of Nasdaq listings, or none.',
});

/** The connection to a source of live market data (D183). */
export const FeedState = closed('FeedState', {
  source: anyText({ examples: ['alpaca'] }),
  status: choice(['connected', 'reconnecting', 'refused']),
  since: instant({ description: 'Since when the status is what it is; real time.' }),
  lastMessageAt: optional(instant({ description: 'Real time.' })),
  symbols: count({ description: 'Symbols subscribed now.' }),
  limit: optional(count({ description: 'Symbols that the plan allows at once; absent = no limit.' })),
  delayedBy: number({ description: 'Seconds that the market is behind real time.' }),
  halts,
  reason: optional(anyText({ description: 'Why it reconnects or is refused.' })),
});
export type FeedState = Static<typeof FeedState>;

/** Health with its reasons (D158). */
export const Readiness = closed('Readiness', {
  status: choice(['ok', 'error']),
  timestamp: instant({ description: 'Time of the check.' }),
  reasons: listOf(anyText(), {
    description: 'Problems; with `ok`, those that do not stop the service.',
  }),
  halts: optional(halts),
  feed: optional(FeedState),
});
export type Readiness = Static<typeof Readiness>;
