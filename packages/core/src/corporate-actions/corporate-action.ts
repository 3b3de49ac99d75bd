import type { Calendar } from '../calendar/calendar.js';
import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';

/** `new` shares for each `old` one: 7 new for 1 old is a forward split, 1 new for 20 old a reverse split. */
export interface Split {
  readonly type: 'SPLIT';
  readonly symbol: string;
  readonly exDate: TradingDate;
  readonly ratio: { readonly new: number; readonly old: number };
  /** The date from which users see it; absent = at once (D209). */
  readonly knownFrom?: TradingDate;
}

/** Dollars per share, paid to holders (or by short sellers) as of the close before `exDate`. */
export interface CashDividend {
  readonly type: 'CASH_DIVIDEND';
  readonly symbol: string;
  readonly exDate: TradingDate;
  /** Absent = paid on the ex-date. */
  readonly payDate?: TradingDate;
  readonly amountPerShare: Price;
  /** The date from which users see it, as for a split. */
  readonly knownFrom?: TradingDate;
}

export type CorporateAction = Split | CashDividend;

/** Days after its ex-date for which an action is listed, and a dividend is remembered. */
export const ACTION_MEMORY_DAYS = 7;

/** Effective time: 03:00 New York on its ex-date, before any session of that day (D129). */
export const effectiveAt = (calendar: Calendar, { exDate }: CorporateAction): Instant =>
  calendar.instantOf(exDate, 3, 0);

/** True when it can be announced at `now`: its ex-date is a trading day that has not begun (D129). */
export const isUpcoming = (calendar: Calendar, action: CorporateAction, now: Instant): boolean =>
  calendar.tradingDay(action.exDate) !== undefined && effectiveAt(calendar, action) > now;
