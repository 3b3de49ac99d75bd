import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { TradingDate } from '../values/trading-date.js';

/** Kind of a margin call (D119). */
export type CallType =
  'REG_T' | 'MAINTENANCE' | 'MINIMUM_EQUITY' | 'DAY_TRADE' | 'INTRADAY' | 'PORTFOLIO' | 'FUTURES';

export interface MarginCall {
  /** Running number of the call in its simulation; its id follows from it. */
  readonly number: number;
  readonly type: CallType;
  /** Deficit when it was issued. */
  readonly amount: Money;
  readonly issuedAt: Instant;
  readonly dueAt: Instant;
  readonly status: 'OPEN' | 'MET' | 'LIQUIDATED';
  /** Calls for a day's trades only: the excess at the close of their issue. A rise above it meets them (D112). */
  readonly closingExcess?: Money;
  /** True after its due time was reported. */
  readonly isDue?: true;
  /** True when positions were closed for it. */
  readonly isLiquidating?: true;
}

/** True when a call restricts the portfolio: day-trade calls are only listed. */
export const isRestricting = ({ type }: Pick<MarginCall, 'type'>): boolean =>
  type !== 'DAY_TRADE' && type !== 'INTRADAY';

/** Business days until a call is due, at noon (D119). */
export const DUE_DAYS: Readonly<Record<CallType, number>> = {
  REG_T: 3,
  MAINTENANCE: 3,
  MINIMUM_EQUITY: 5,
  DAY_TRADE: 5,
  INTRADAY: 5,
  PORTFOLIO: 3,
  FUTURES: 1,
};

/** Day trades that were counted on a date. */
export interface DayTradeCount {
  readonly date: TradingDate;
  readonly count: number;
}

/** Interest and fees in units of 10^-8 dollars (D118). */
export interface Accrued {
  readonly interest: number;
  readonly borrowFees: number;
}

const NOTHING_ACCRUED: Accrued = { interest: 0, borrowFees: 0 };

/** State of a MARGIN portfolio besides its books. */
export interface MarginAccount {
  /** Special Memorandum Account (D107); 0 unless under REG_T. Negative only after exercise, assignment or a corporate action. */
  sma: Money;
  /** Open ones, oldest first. */
  calls: readonly MarginCall[];
  /** Date of the latest warning; there is one per day. */
  warnedOn: TradingDate | undefined;
  /** Accrued and not posted, in units of 10^-8 dollars (D118). */
  interest: number;
  borrowFees: number;
  /** The part of them that belongs to months before that of `accruedThrough`. */
  earlier: Accrued;
  /** The last date with accruals. */
  accruedThrough: TradingDate | undefined;
  /** Day trades of the latest dates that had any, oldest first. */
  dayTrades: readonly DayTradeCount[];
  /** The latest day with trades beyond its limit, and the largest shortfall (D110, D112). */
  shortfall: { readonly date: TradingDate; readonly amount: Money } | undefined;
  /** Due dates of the last two unmet INTRADAY calls. */
  unmetIntraday: readonly TradingDate[];
}

export const newMarginAccount = (): MarginAccount => ({
  sma: Money.zero,
  calls: [],
  warnedOn: undefined,
  interest: 0,
  borrowFees: 0,
  earlier: NOTHING_ACCRUED,
  accruedThrough: undefined,
  dayTrades: [],
  shortfall: undefined,
  unmetIntraday: [],
});

/** Days without borrowing after a second unmet INTRADAY call within twelve months (D112). */
const BLOCKED_DAYS = 90;

/** True when a portfolio may not open shorts or debits on a date because of unmet INTRADAY calls (D112). */
export function isBlocked({ unmetIntraday }: MarginAccount, date: TradingDate): boolean {
  const [first, second] = unmetIntraday;
  if (first === undefined || second === undefined) return false;
  const aYearLater = `${Number(first.slice(0, 4)) + 1}${first.slice(4)}`;
  return second <= aYearLater && date >= second && date < TradingDate.plusDays(second, BLOCKED_DAYS);
}

/** Dates of day trades to keep: more than any window of five business days. */
const MOST_DATES = 8;

/** Day trades by date, after adding some on one. */
export function countedDayTrades(
  counts: readonly DayTradeCount[],
  date: TradingDate,
  more: number,
): readonly DayTradeCount[] {
  if (more === 0) return counts;
  const last = counts.at(-1);
  if (last?.date === date) return [...counts.slice(0, -1), { date, count: last.count + more }];
  return [...counts, { date, count: more }].slice(-MOST_DATES);
}
