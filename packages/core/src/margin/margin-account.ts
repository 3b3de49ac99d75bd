import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { TradingDate } from '../values/trading-date.js';

/** What a margin call is about (D119). */
export type CallType =
  'REG_T' | 'MAINTENANCE' | 'MINIMUM_EQUITY' | 'DAY_TRADE' | 'INTRADAY' | 'PORTFOLIO' | 'FUTURES';

export interface MarginCall {
  /** Running number of the call in its simulation; its id follows from it. */
  readonly number: number;
  readonly type: CallType;
  /** What was missing when it was issued. */
  readonly amount: Money;
  readonly issuedAt: Instant;
  readonly dueAt: Instant;
  readonly status: 'OPEN' | 'MET' | 'LIQUIDATED';
  /** Of those about a day's trades: the excess at the close that they were issued at, from which a rise meets them (D112). */
  readonly closingExcess?: Money;
  /** True when its due time has passed and was told. */
  readonly isDue?: true;
  /** True when positions were closed for it. */
  readonly isLiquidating?: true;
}

/** True when a portfolio with such a call is in a call: those about day trades are listed only. */
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

/** What a MARGIN portfolio keeps beside its books. */
export interface MarginAccount {
  /** The special memorandum account (D107); 0 unless under REG_T. Negative only after exercise, assignment or a corporate action. */
  sma: Money;
  /** Open ones, oldest first. */
  calls: readonly MarginCall[];
  /** The date of the latest warning: there is one a day. */
  warnedOn: TradingDate | undefined;
  /** Accrued and not posted, in units of 10^-8 dollars (D118). */
  interest: number;
  borrowFees: number;
  /** The part of them that belongs to months before that of `accruedThrough`. */
  earlier: Accrued;
  /** The last date that accruals were taken for. */
  accruedThrough: TradingDate | undefined;
  /** Of the latest dates with day trades, oldest first. */
  dayTrades: readonly DayTradeCount[];
  /** The latest day whose trades were short of anything, and of how much at most (D110, D112). */
  shortfall: { readonly date: TradingDate; readonly amount: Money } | undefined;
  /** When INTRADAY calls came due unmet: the last two. */
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

/** After a second unmet INTRADAY call within twelve months nothing is borrowed for so many days (D112). */
const BLOCKED_DAYS = 90;

/** True when a portfolio is kept from new shorts and debits on a date, for INTRADAY calls that it left unmet (D112). */
export function isBlocked({ unmetIntraday }: MarginAccount, date: TradingDate): boolean {
  const [first, second] = unmetIntraday;
  if (first === undefined || second === undefined) return false;
  const aYearLater = `${Number(first.slice(0, 4)) + 1}${first.slice(4)}`;
  return second <= aYearLater && date >= second && date < TradingDate.plusDays(second, BLOCKED_DAYS);
}

/** Dates that day trades are remembered of: more than any window of five business days. */
const MOST_DATES = 8;

/** Day trades by date, after so many more on one. */
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
