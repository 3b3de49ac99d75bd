import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';

/** The hours of shares on one trading day, as half-open intervals [open, close) in UTC instants. */
export interface TradingDay {
  readonly date: TradingDate;
  readonly regularOpen: Instant;
  readonly regularClose: Instant;
  /** Start of the extended session (pre-market). */
  readonly extendedOpen: Instant;
  /** End of the extended session (after hours). */
  readonly extendedClose: Instant;
  /** True when the regular session ends before its usual hour. */
  readonly earlyClose: boolean;
}

/** The business days of a market; `MarketHours` has the hours of instruments on them. Pure: the same inputs always have the same result. */
export interface BusinessDays {
  /** The exchange-local date of an instant. */
  dateOf(at: Instant): TradingDate;
  isTradingDay(date: TradingDate): boolean;
  /** The hours of `date`, `undefined` if the market is closed all day. */
  tradingDay(date: TradingDate): TradingDay | undefined;
  /** The n-th business day after `date` (n ≥ 0; 0 = `date` itself if it is one, else the next). */
  plusBusinessDays(date: TradingDate, n: number): TradingDate;
  /** The n-th settlement day after `date` (n ≥ 1): trading days on which banks are open too (D127). */
  plusSettlementDays(date: TradingDate, n: number): TradingDate;
  /** The latest trading day strictly before `date`. */
  previousTradingDay(date: TradingDate): TradingDate;
  /** The instant of an exchange-local wall time, e.g. ('2026-01-05', 9, 30). */
  instantOf(date: TradingDate, hour: number, minute: number): Instant;
  /** ISO 8601 in exchange time with its offset, e.g. `2026-01-05T09:30:00-05:00`. */
  format(at: Instant): string;
}

/**
 * The name of a calendar in journals. `XNYS+2600` is that of the exchange, moved into the future by 2,600 weeks: each date has the
 * hours of the date that many weeks before it. `XNYS@2013-03-01+2600` has a session on every weekday: the session of the exchange on
 * 2013-03-01 is 2,600 weeks later, and each next one on the next weekday (D209).
 */
type CalendarName = 'XNYS' | 'always-open' | `XNYS+${number}` | `XNYS@${string}+${number}`;

/** The calendar of a simulation. */
export interface Calendar extends BusinessDays {
  readonly id: CalendarName;
  /** The calendar as it was known at an instant: closings that no schedule had count from the day of their announcement (D209). */
  asOf(at: Instant): Calendar;
  /** The first instant after another at which an announcement changes the calendar; undefined = there is none. */
  changesAfter(at: Instant): Instant | undefined;
}
