import { Instant, marketHours, TradingDate } from '@sandpit/core';
import type { Calendar, TradingDay } from '@sandpit/core';

/** Quotes of the computed feed change at whole seconds. */
export const SECOND_MS = 1000;

/** The days whose sessions (extended ones included) have an instant in [from, until), oldest first. */
export function* daysBetween(calendar: Calendar, from: Instant, until: Instant): Generator<TradingDay> {
  if (until <= from) return;
  const last = calendar.dateOf(Instant.plusMs(until, -1));
  for (let date = calendar.dateOf(from); date <= last; date = TradingDate.plusDays(date, 1)) {
    const day = calendar.tradingDay(date);
    if (day && day.extendedClose > from && day.extendedOpen < until) yield day;
  }
}

/** As `daysBetween`, newest first. */
export function* daysBackwards(calendar: Calendar, from: Instant, until: Instant): Generator<TradingDay> {
  if (until <= from) return;
  const first = calendar.dateOf(from);
  for (
    let date = calendar.dateOf(Instant.plusMs(until, -1));
    date >= first;
    date = TradingDate.plusDays(date, -1)
  ) {
    const day = calendar.tradingDay(date);
    if (day && day.extendedClose > from && day.extendedOpen < until) yield day;
  }
}

/** The latest whole second at or before `at` in which some session was open. */
export function lastOpenSecond(calendar: Calendar, at: Instant): Instant {
  if (marketHours(calendar, 'EQUITIES').isOpen('EXTENDED', at))
    return Instant.ofMs(at - (((at % SECOND_MS) + SECOND_MS) % SECOND_MS));
  const date = calendar.dateOf(at);
  const today = calendar.tradingDay(date);
  const day =
    today && today.extendedClose <= at ? today : calendar.tradingDay(calendar.previousTradingDay(date));
  // A previous trading day is a trading day; the calendar's type cannot say so.
  if (!day) throw new Error(`no trading day before ${date}`);
  return Instant.plusMs(day.extendedClose, -SECOND_MS);
}
