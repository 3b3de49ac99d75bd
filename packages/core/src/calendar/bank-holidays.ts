import { civilOfDay, dayNumber } from '../values/trading-date.js';
import { MONDAY, onOrAfter, SUNDAY, weekdayOf } from './weekday.js';

/**
 * True when banks are closed on a day (a day number) on which the exchanges trade: Columbus Day, the second Monday of
 * October, and Veterans Day, November 11 or the Monday after if that is a Sunday. Source: FINRA Notices to Members
 * 92-54, 95-77 and 99-83 (docs/rules/settlement.md).
 */
export function isBankHoliday(day: number): boolean {
  const { year, month } = civilOfDay(day);
  if (month === 10) return day === onOrAfter(dayNumber(year, 10, 1), MONDAY) + 7;
  const veteransDay = dayNumber(year, 11, 11);
  return day === (weekdayOf(veteransDay) === SUNDAY ? veteransDay + 1 : veteransDay);
}
