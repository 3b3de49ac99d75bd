/** Comparisons: results of a journal under other rules (D173). */
import { type Static, Type } from 'typebox';
import { Drawdown } from './analytics.js';
import { comparisonStatuses, dayTradeRegimes, differenceKinds, fillModels, rowStatuses } from './enums.js';
import {
  anyText,
  byName,
  choice,
  closed,
  count,
  exactly,
  flag,
  instant,
  integer,
  list,
  listOf,
  number,
  optional,
  parameters,
  simulatedTime,
  text,
  uuid,
} from './fields.js';
import { LatencyProfileValue } from './orders.js';
import { ruled } from './rules.js';

const POINTS = ['snapshotId', 'at', 'sequence'] as const;

/** Start or end of a re-execution. */
const point = (name: string, what: string) =>
  ruled(
    closed(
      name,
      {
        snapshotId: optional(text({ description: 'A snapshot of the simulation.' })),
        at: optional(
          simulatedTime({ description: 'Simulated time: the last record of the journal at or before it.' }),
        ),
        sequence: optional(
          integer(1, Number.MAX_SAFE_INTEGER, { description: 'Number of a record of the journal.' }),
        ),
      },
      { description: what },
    ),
    (body, report) => {
      const [first, ...others] = POINTS.filter((field) => body[field] !== undefined);
      if (first === undefined) report.field('snapshotId', 'or at or sequence must be given');
      for (const other of others) report.field(other, `should not exist together with ${first ?? ''}`);
    },
  );

export const ComparisonVariant = ruled(
  closed('ComparisonVariant', {
    name: text({ maxLength: 64 }),
    brokerId: optional(text({ maxLength: 64, description: 'Broker of all portfolios.' })),
    brokers: optional(
      byName(text({ maxLength: 64 }), {
        description: 'Brokers of single portfolios, by `portfolioId`; they go before `brokerId`.',
      }),
    ),
    fillModel: optional(choice(fillModels, { description: 'Fill model of all portfolios.' })),
    latencyProfile: optional(LatencyProfileValue),
    latencyMs: optional(
      integer(0, 60_000, { description: 'Latency of every order and cancel, in ms, as profile CUSTOM.' }),
    ),
    dayTradeRegime: optional(choice(dayTradeRegimes)),
    seed: optional(
      Type.Union([text(), Type.Integer()], {
        description: 'For the draws of latencies and early assignments; the market stays the same.',
        'x-expected': 'must be a string or an integer',
      }),
    ),
  }),
  (body, report) => {
    if (body.latencyMs !== undefined && body.latencyProfile !== undefined && body.latencyProfile !== 'CUSTOM')
      report.field('latencyMs', 'should only exist with latencyProfile CUSTOM');
  },
);
export type ComparisonVariant = Static<typeof ComparisonVariant>;

export const ComparisonBody = closed(
  'ComparisonBody',
  {
    from: optional(point('ComparisonFrom', 'Where the re-execution begins; default: the beginning.')),
    until: optional(point('ComparisonUntil', 'Where it ends; default: now.')),
    variants: Type.Union([list(ComparisonVariant, { min: 1, max: 50 }), exactly('all-brokers')], {
      description: '1 to 50 variants, or `all-brokers` for one of each broker, named by its `brokerId`.',
      'x-expected': 'must be a list of 1 to 50 variants or all-brokers',
    }),
  },
  { examples: [{ variants: 'all-brokers' }] },
);
export type ComparisonBody = Static<typeof ComparisonBody>;

const FirstDifference = closed(
  'FirstDifference',
  {
    at: instant(),
    orderId: uuid(),
    kind: choice(differenceKinds),
    base: Type.Union([Type.Number(), Type.String()]),
    variant: Type.Union([Type.Number(), Type.String()]),
  },
  {
    description:
      'The first order of the base that went otherwise: a price, a quantity or charges in dollars, a status, or the refusal.',
  },
);

export const ComparisonRow = closed('ComparisonRow', {
  name: anyText(),
  status: choice(rowStatuses),
  reason: optional(anyText({ description: 'Why the variant FAILED.' })),
  totalEquity: optional(number({ description: 'Of all portfolios at the end, in dollars.' })),
  difference: optional(number({ description: 'Total equity less that of `base`.' })),
  realizedPnl: optional(number({ description: 'Before charges.' })),
  unrealizedPnl: optional(number()),
  commissions: optional(number()),
  regulatoryFees: optional(number()),
  interest: optional(number({ description: 'Posted margin interest; positive = paid.' })),
  borrowFees: optional(number()),
  dividends: optional(number({ description: 'Received, less those owed on short positions.' })),
  orders: optional(
    closed('ComparedOrders', {
      accepted: count(),
      rejected: count({ description: 'Refused, or ended REJECTED.' }),
      filled: count(),
      canceled: count(),
    }),
  ),
  executions: optional(count()),
  requests: optional(
    closed('ComparedRequests', {
      repeated: count({
        description: 'Requests of clients that were tried, `refused` and `skipped` included.',
      }),
      refused: count({ description: 'Not allowed by the rules or the state of this row.' }),
      skipped: count({ description: 'About an order that this row never had.' }),
    }),
  ),
  marginCalls: optional(count()),
  liquidations: optional(count()),
  maxDrawdown: optional(Drawdown),
  firstDifference: optional(FirstDifference),
});
export type ComparisonRow = Static<typeof ComparisonRow>;

export const Comparison = closed('Comparison', {
  comparisonId: uuid(),
  simulationId: anyText(),
  status: choice(comparisonStatuses),
  progress: number({ description: '0 to 1.' }),
  reason: optional(anyText({ description: 'Why it FAILED.' })),
  baseMatches: optional(
    flag({ description: 'Whether the re-executed base is worth what the journal says, to the cent.' }),
  ),
  baseDifference: optional(
    number({ description: 'Total equity of the base less that of the journal; absent where they match.' }),
  ),
  base: optional(ComparisonRow),
  variants: optional(listOf(ComparisonRow)),
});
export type Comparison = Static<typeof Comparison>;

export const ComparisonParams = parameters({ comparisonId: uuid({ description: 'The comparison.' }) });
export const ComparisonQuery = parameters({
  wait: optional(integer(0, 30, { description: 'Seconds to wait for the end.' })),
});
