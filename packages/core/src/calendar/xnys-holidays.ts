import { dayNumber } from '../values/trading-date.js';
import { MONDAY, onOrAfter, onOrBefore, SATURDAY, SUNDAY, THURSDAY, weekdayOf } from './weekday.js';

/** A day on which the exchange is closed every year, by rule. */
export interface Holiday {
  readonly name: string;
  /** The day number on which it is observed. */
  readonly day: number;
}

/**
 * The holidays of a year, in order, on the days they are observed. NYSE Rule 7.2 (formerly Rule 51), checked
 * against the exchange's yearly announcements; see docs/rules/trading-calendar.md.
 *
 * Years before 1998 and after 2030 follow the same rules: a best guess, not history.
 */
export function xnysHolidays(year: number): readonly Holiday[] {
  const holidays: Holiday[] = [];
  const add = (name: string, day: number): void => void holidays.push({ name, day });

  // A New Year on a Saturday has no substitute holiday: the Friday before ends an accounting month and year.
  const newYear = dayNumber(year, 1, 1);
  if (weekdayOf(newYear) !== SATURDAY) add("New Year's Day", observed(newYear));
  if (year >= 1998) add('Martin Luther King Jr. Day', onOrAfter(dayNumber(year, 1, 1), MONDAY) + 14);
  add("Washington's Birthday", onOrAfter(dayNumber(year, 2, 1), MONDAY) + 14);
  add('Good Friday', easterSunday(year) - 2);
  add('Memorial Day', onOrBefore(dayNumber(year, 5, 31), MONDAY));
  if (year >= 2022) add('Juneteenth', observed(dayNumber(year, 6, 19)));
  add('Independence Day', observed(dayNumber(year, 7, 4)));
  add('Labor Day', onOrAfter(dayNumber(year, 9, 1), MONDAY));
  add('Thanksgiving Day', thanksgiving(year));
  add('Christmas Day', observed(dayNumber(year, 12, 25)));
  return holidays;
}

/** The day number of the fourth Thursday of November. */
export function thanksgiving(year: number): number {
  return onOrAfter(dayNumber(year, 11, 1), THURSDAY) + 21;
}

/** A holiday on a Saturday is observed on the Friday before, one on a Sunday on the Monday after. */
function observed(day: number): number {
  const weekday = weekdayOf(day);
  if (weekday === SATURDAY) return day - 1;
  return weekday === SUNDAY ? day + 1 : day;
}

/**
 * The day number of Easter Sunday in the Gregorian calendar: the "anonymous" algorithm of Nature (1876) as given by
 * Meeus, Astronomical Algorithms, chapter 8, whose letters are kept.
 */
function easterSunday(year: number): number {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = Math.floor(b / 4);
  const e = b % 4;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - d - g + 15) % 30;
  const i = Math.floor(c / 4);
  const k = c % 4;
  const l = (32 + 2 * e + 2 * i - h - k) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return dayNumber(year, Math.floor(n / 31), (n % 31) + 1);
}
