import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';

/** The part of the trading day at an instant. */
export type SessionKind = 'PRE' | 'REGULAR' | 'POST' | 'CLOSED';

/** Hours that instruments share (D69, D92); `hoursOf` maps instruments to them. */
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

/** The session an order works in. Without extended trading the two are the same. */
export type TradingSession = 'REGULAR' | 'EXTENDED';

/**
 * Trading hours of an instrument. A trade day has a date, may begin on the evening before it, and may have pauses; the next one
 * begins with the end of its extended session. Pure: the same inputs always have the same result.
 */
export interface MarketHours {
  sessionAt(at: Instant): SessionKind;
  /** True when orders of this session work at this instant. */
  isOpen(session: TradingSession, at: Instant): boolean;
  /**
   * The beginning of the session that is open at this instant, or paused; `undefined` while none is. A session that never ends has no
   * beginning.
   */
  openedAt(session: TradingSession, at: Instant): Instant | undefined;
  /** The date of the trade day at an instant; between trade days that of the next one. */
  tradeDateOf(at: Instant): TradingDate;
  /** The first instant strictly after `at` from which orders of this session work, after a close or a pause. */
  nextOpen(session: TradingSession, at: Instant): Instant;
  /** The first end of a trade day's session strictly after `at`. Pauses do not count. */
  nextClose(session: TradingSession, at: Instant): Instant;
  /** The latest end of a stretch of the session at or before `at`, which may be the start of a pause. */
  lastStop(session: TradingSession, at: Instant): Instant;
  /** The end of the session of that trade day; on other dates, of the trade day before it. */
  closeOn(session: TradingSession, date: TradingDate): Instant;
}
