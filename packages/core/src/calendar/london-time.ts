import { Instant } from '../values/instant.js';
import { civilOfDay, dayNumber, TradingDate } from '../values/trading-date.js';
import { onOrBefore, SUNDAY } from './weekday.js';

const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 86_400_000;

/**
 * The instant at which London clocks show a full hour, during the day: one hour ahead of UTC from the last Sunday of March to the last
 * Sunday of October (the Summer Time Order 2002).
 */
export function londonInstant(date: TradingDate, hour: number): Instant {
  const day = TradingDate.dayOf(date);
  const { year } = civilOfDay(day);
  const begins = onOrBefore(dayNumber(year, 3, 31), SUNDAY);
  const ends = onOrBefore(dayNumber(year, 10, 31), SUNDAY);
  const ahead = day >= begins && day < ends ? 1 : 0;
  return Instant.ofMs(day * MS_PER_DAY + (hour - ahead) * MS_PER_HOUR);
}
