import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';

/** Which part of the trading day an instant lies in. */
export type SessionKind = 'PRE' | 'REGULAR' | 'POST' | 'CLOSED';

/** The hours of one trading day, as half-open intervals [open, close) in UTC instants. */
export interface TradingDay {
  readonly date: TradingDate;
  readonly regularOpen: Instant;
  readonly regularClose: Instant;
  /** Start of the extended session (pre-market). */
  readonly extendedOpen: Instant;
  /** End of the extended session (after hours). */
  readonly extendedClose: Instant;
  /** True where the regular session ends before its usual hour. */
  readonly earlyClose: boolean;
}

/** The trading days of a market. Pure: the same question always has the same answer. */
export interface Calendar {
  readonly id: 'XNYS' | 'always-open';
  /** The exchange-local date of an instant. */
  dateOf(at: Instant): TradingDate;
  /** The date a fill at `at` belongs to: the date itself on trading days, otherwise the next trading day. */
  tradeDateOf(at: Instant): TradingDate;
  isTradingDay(date: TradingDate): boolean;
  /** The hours of `date`, `undefined` where the market is closed all day. */
  tradingDay(date: TradingDate): TradingDay | undefined;
  sessionAt(at: Instant): SessionKind;
  /** The n-th business day after `date` (n ≥ 0; 0 = `date` itself if it is one, else the next). */
  plusBusinessDays(date: TradingDate, n: number): TradingDate;
  /** The n-th settlement day after `date` (n ≥ 1): trading days on which banks are open too (D127). */
  plusSettlementDays(date: TradingDate, n: number): TradingDate;
  /** The latest trading day strictly before `date`. */
  previousTradingDay(date: TradingDate): TradingDate;
  /** The first regular open strictly after `at`. */
  nextRegularOpen(at: Instant): Instant;
  /** The first regular close strictly after `at`. */
  nextRegularClose(at: Instant): Instant;
  /** The first start of an extended session strictly after `at`. */
  nextExtendedOpen(at: Instant): Instant;
  /** The first end of an extended session strictly after `at`. */
  nextExtendedClose(at: Instant): Instant;
  /** The instant of an exchange-local wall time, e.g. ('2026-01-05', 9, 30). */
  instantOf(date: TradingDate, hour: number, minute: number): Instant;
  /** ISO 8601 in exchange time with its offset, e.g. `2026-01-05T09:30:00-05:00`. */
  format(at: Instant): string;
}
