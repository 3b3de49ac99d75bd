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
          simulatedTime({ description: 'Simulated time; selects the last journal record at or before it.' }),
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
        description: 'Brokers of individual portfolios, by `portfolioId`. Override `brokerId`.',
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
        description: 'Seed for latencies and early assignments. The market stays the same.',
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
      description: '1 to 50 variants, or `all-brokers` for one variant per broker, named by its `brokerId`.',
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
      'The first order with a different outcome: its price, quantity, charges in dollars, status, or rejection.',
  },
);

export const ComparisonRow = closed('ComparisonRow', {
  name: anyText(),
  status: choice(rowStatuses),
  reason: optional(anyText({ description: 'Reason for status FAILED.' })),
  totalEquity: optional(number({ description: 'Total equity of all portfolios at the end, in dollars.' })),
  difference: optional(number({ description: 'Total equity minus the total equity of `base`.' })),
  realizedPnl: optional(number({ description: 'Profit or loss before charges.' })),
  unrealizedPnl: optional(number()),
  commissions: optional(number()),
  regulatoryFees: optional(number()),
  interest: optional(number({ description: 'Posted margin interest; positive = paid.' })),
  borrowFees: optional(number()),
  dividends: optional(number({ description: 'Dividends received minus dividends paid on short positions.' })),
  orders: optional(
    closed('ComparedOrders', {
      accepted: count(),
      rejected: count({ description: 'Orders that were refused or ended REJECTED.' }),
      filled: count(),
      canceled: count(),
    }),
  ),
  executions: optional(count()),
  requests: optional(
    closed('ComparedRequests', {
      repeated: count({
        description: 'Repeated client requests, including `refused` and `skipped`.',
      }),
      refused: count({ description: 'Requests refused under the rules or the state of this row.' }),
      skipped: count({ description: 'Requests about an order that does not exist in this row.' }),
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
  progress: number({ description: 'Progress, 0 to 1.' }),
  reason: optional(anyText({ description: 'Reason for status FAILED.' })),
  baseMatches: optional(
    flag({
      description: 'Whether the re-executed base has the same total equity as the journal, to the cent.',
    }),
  ),
  baseDifference: optional(
    number({ description: 'Total equity of the base minus that of the journal; absent if equal.' }),
  ),
  base: optional(ComparisonRow),
  variants: optional(listOf(ComparisonRow)),
});
export type Comparison = Static<typeof Comparison>;

export const ComparisonParams = parameters({ comparisonId: uuid({ description: 'The comparison.' }) });
export const ComparisonQuery = parameters({
  wait: optional(integer(0, 30, { description: 'Seconds to wait for the comparison to finish.' })),
});
