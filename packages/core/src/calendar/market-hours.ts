import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';

/** Which part of the trading day an instant lies in. */
export type SessionKind = 'PRE' | 'REGULAR' | 'POST' | 'CLOSED';

/** Hours that instruments share (D69, D92); `hoursOf` says whose they are. */
export type HoursId =
  | 'EQUITIES'
  | 'OPTIONS'
  | 'LATE_OPTIONS'
  | 'FUTURES'
  | 'CRYPTO'
  | 'RATES'
  | 'CURRENCIES'
  | 'ENERGY'
  | 'GRAINS';

/** The session an order works in. Where there is no extended trading the two are one. */
export type TradingSession = 'REGULAR' | 'EXTENDED';

/**
 * When an instrument trades. A trade day has a date, may begin on the evening before it, and may have pauses; the next one
 * begins with the end of its extended session. Pure: the same question always has the same answer.
 */
export interface MarketHours {
  sessionAt(at: Instant): SessionKind;
  /** True when orders of this session work at this instant. */
  isOpen(session: TradingSession, at: Instant): boolean;
  /** When the session that works at this instant began, a pause included; `undefined` while none does. One that never ends has no beginning. */
  openedAt(session: TradingSession, at: Instant): Instant | undefined;
  /** The date of the trade day that an instant lies in or, while nothing trades, comes before. */
  tradeDateOf(at: Instant): TradingDate;
  /** The first instant strictly after `at` from which orders of this session work, be it after a pause. */
  nextOpen(session: TradingSession, at: Instant): Instant;
  /** The first end of a trade day's session strictly after `at`. A pause is no end. */
  nextClose(session: TradingSession, at: Instant): Instant;
  /** The latest end of a stretch of the session at or before `at`, be it that of a pause. */
  lastStop(session: TradingSession, at: Instant): Instant;
  /** The end of the session of that trade day; on a date that is none, of the one before it. */
  closeOn(session: TradingSession, date: TradingDate): Instant;
}
