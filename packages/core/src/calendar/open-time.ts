import { Instant } from '../values/instant.js';
import type { MarketHours, TradingSession } from './market-hours.js';

/** Milliseconds between two instants in which a session is open. */
export function openMsBetween(
  hours: MarketHours,
  session: TradingSession,
  from: Instant,
  until: Instant,
): number {
  let at = openFrom(hours, session, from);
  let sum = 0;
  while (at < until) {
    const close = hours.nextClose(session, at);
    sum += Instant.min(close, until) - at;
    at = openFrom(hours, session, close);
  }
  return sum;
}

/** The instant at which a session has been open for `ms` milliseconds since `from`; it is open then. */
export function afterOpenMs(hours: MarketHours, session: TradingSession, from: Instant, ms: number): Instant {
  let at = openFrom(hours, session, from);
  let left = ms;
  while (at < Instant.last) {
    const close = hours.nextClose(session, at);
    if (at + left < close) return openFrom(hours, session, Instant.plusMs(at, left));
    left -= close - at;
    at = openFrom(hours, session, close);
  }
  return at;
}

/** The first instant at or after another at which a session is open. */
const openFrom = (hours: MarketHours, session: TradingSession, at: Instant): Instant =>
  hours.isOpen(session, at) ? at : hours.nextOpen(session, at);
