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
  since: instant({ description: 'When the status last changed (wall-clock time).' }),
  lastMessageAt: optional(instant({ description: 'Wall-clock time.' })),
  symbols: count({ description: 'Number of symbols subscribed.' }),
  limit: optional(count({ description: 'Maximum symbols of the plan; absent = no limit.' })),
  delayedBy: number({ description: 'Delay of the market data, in seconds.' }),
  halts,
  reason: optional(anyText({ description: 'Reason for reconnecting or for the refusal.' })),
});
export type FeedState = Static<typeof FeedState>;

/** Health with its reasons (D158). */
export const Readiness = closed('Readiness', {
  status: choice(['ok', 'error']),
  timestamp: instant({ description: 'Time of the check.' }),
  reasons: listOf(anyText(), {
    description: 'Problems. With status `ok`, problems that do not interrupt the service.',
  }),
  halts: optional(halts),
  feed: optional(FeedState),
});
export type Readiness = Static<typeof Readiness>;
