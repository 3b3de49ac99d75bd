import type { BrokerConfiguration } from '../brokers/broker.js';
import type { Calendar } from '../calendar/calendar.js';
import type { TradingDate } from '../values/trading-date.js';
import { dayTradeRegimeOf } from './day-trade-regime.js';
import type { DayTradeCount } from './margin-account.js';

/** The as-of business day and the four before it (FINRA Rule 4210(f)(8)(B)). */
const WINDOW_DAYS = 5;

/** Day trades in the window of five business days that ends on a date. */
export function dayTradesWithin(
  counts: readonly DayTradeCount[],
  date: TradingDate,
  calendar: Calendar,
): number {
  let first = calendar.plusBusinessDays(date, 0);
  for (let day = 1; day < WINDOW_DAYS; day++) first = calendar.previousTradingDay(first);
  return counts.reduce((sum, one) => sum + (one.date >= first && one.date <= date ? one.count : 0), 0);
}

/**
 * The first session after a date in which an opening order passes: its window has fewer than `most` day trades, or the pattern-day-trader
 * rule has ended for the broker by then (D249). Future equity is unknown and not considered.
 */
export function restrictedUntil(
  counts: readonly DayTradeCount[],
  date: TradingDate,
  most: number,
  broker: BrokerConfiguration,
  calendar: Calendar,
): TradingDate {
  let session = date;
  do session = calendar.plusBusinessDays(session, 1);
  while (
    dayTradeRegimeOf(broker, session) === 'LEGACY_PDT' &&
    dayTradesWithin(counts, session, calendar) >= most
  );
  return session;
}
