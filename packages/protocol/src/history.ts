import type { Static } from 'typebox';
import { activityCategories, curveIntervals } from './enums.js';
import { Fee } from './executions.js';
import {
  anyText,
  closed,
  date,
  dateOrInstant,
  instant,
  listOf,
  namedChoice,
  number,
  optional,
  parameters,
  uuid,
} from './fields.js';
import { paged, pageFields } from './paging.js';

export const ActivityCategoryValue = namedChoice('ActivityCategory', activityCategories);

const between = {
  from: optional(dateOrInstant({ description: 'At or after this; a date starts at midnight in New York.' })),
  to: optional(dateOrInstant({ description: 'Before this; a date counts as a whole.' })),
};

export const ActivityQuery = parameters({
  ...pageFields,
  category: optional(ActivityCategoryValue),
  ...between,
});
export type ActivityQuery = Static<typeof ActivityQuery>;

export const Activity = closed('Activity', {
  activityId: anyText(),
  at: instant(),
  category: ActivityCategoryValue,
  type: anyText({ description: 'Type of the activity within its category.' }),
  description: anyText(),
  orderId: optional(uuid()),
  symbol: optional(anyText()),
  quantity: optional(number()),
  price: optional(number({ description: 'Dollars per share or contract unit.' })),
  amount: optional(number({ description: 'Cash effect before charges, dollars; negative = paid.' })),
  settlementDate: optional(
    date({ description: 'Executions and settlements: New York date on which cash and shares settle.' }),
  ),
  executionId: optional(anyText({ description: 'Id of the execution. Executions only.' })),
  commission: optional(number({ description: 'Executions only: commission in dollars.' })),
  fees: optional(
    listOf(Fee, { description: 'Executions only: each regulatory and exchange fee in dollars.' }),
  ),
});
export type Activity = Static<typeof Activity>;

export const ActivityPage = paged('ActivityPage', Activity, 'Activities, newest first.');
export type ActivityPage = Static<typeof ActivityPage>;

export const LedgerQuery = parameters({ ...pageFields, ...between });
export type LedgerQuery = Static<typeof LedgerQuery>;

export const Posting = closed('Posting', {
  account: anyText({ description: 'The ledger account.' }),
  amount: number({ description: 'The postings of an entry sum to zero.' }),
});
export type Posting = Static<typeof Posting>;

export const LedgerEntry = closed('LedgerEntry', {
  entryId: anyText(),
  at: instant(),
  type: anyText(),
  description: anyText(),
  postings: listOf(Posting),
  orderId: optional(uuid()),
  executionId: optional(anyText()),
});
export type LedgerEntry = Static<typeof LedgerEntry>;

export const LedgerPage = paged('LedgerPage', LedgerEntry, 'Ledger entries, newest first.');
export type LedgerPage = Static<typeof LedgerPage>;

export const EquityCurveQuery = parameters({
  ...pageFields,
  interval: optional(
    namedChoice('CurveInterval', curveIntervals, {
      description:
        'Interval between points. An intraday interval has a point if the portfolio traded or had positions; `1d` (default) has one point per close.',
    }),
  ),
  ...between,
});
export type EquityCurveQuery = Static<typeof EquityCurveQuery>;

export const EquityPoint = closed('EquityPoint', {
  at: instant({ description: 'The end of its interval.' }),
  totalEquity: number(),
  settledCash: number(),
  pendingCash: number(),
  reservedCash: number(),
  longMarketValue: number(),
  shortMarketValue: number(),
  marginLoan: number(),
});
export type EquityPoint = Static<typeof EquityPoint>;

export const EquityCurvePage = paged(
  'EquityCurvePage',
  EquityPoint,
  'Points of the equity curve, newest first.',
);
export type EquityCurvePage = Static<typeof EquityCurvePage>;
