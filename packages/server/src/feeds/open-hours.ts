import { Instant, TradingDate } from '@sandpit/core';
import type { Calendar, MarketHours, TradingDay } from '@sandpit/core';

/** Quotes of the computed feed change at whole seconds. */
export const SECOND_MS = 1000;

/** The days whose sessions (extended ones included) have an instant in [from, until), newest first. */
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

/**
 * The trade days of these hours as days of one session, pauses included, that have an instant in [from, until), newest first.
 */
export function* tradeDaysBackwards(
  hours: MarketHours,
  from: Instant,
  until: Instant,
): Generator<TradingDay> {
  if (until <= from) return;
  for (let at = Instant.plusMs(until, -1); at >= from;) {
    const open = hours.isOpen('REGULAR', at);
    const last = open ? at : Instant.plusMs(hours.lastStop('REGULAR', at), -1);
    const date = hours.tradeDateOf(last);
    const end = hours.closeOn('REGULAR', date);
    const start = hours.openedAt('REGULAR', last) ?? from;
    if (end > from) {
      yield {
        date,
        regularOpen: start,
        regularClose: end,
        extendedOpen: start,
        extendedClose: end,
        earlyClose: false,
      };
    }
    at = Instant.plusMs(start, -1);
  }
}
