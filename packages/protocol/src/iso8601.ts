/** Dates and times of ISO 8601, the only module that parses their text. */

/** The parts of a date, or of a date with a time. */
export interface DateTime {
  /** Days from 1970-01-01. */
  readonly day: number;
  /** Milliseconds from midnight, 24:00 included; absent = a date alone. */
  readonly timeMs?: number;
  /** Minutes that the clock is ahead of UTC; absent = no zone. */
  readonly offsetMinutes?: number;
}

/** The longest form: a week date with nine decimals of a second. */
const LONGEST = 40;

/** 2026-02-01 and 20260201, 2026-032 and 2026032, 2026-W05-7 and 2026W057. */
const calendarDate = /^(\d{4})(-?)(\d{2})\2(\d{2})$/;
const ordinalDate = /^(\d{4})(-?)(\d{3})$/;
const weekDate = /^(\d{4})(-?)W(\d{2})\2([1-7])$/;
/** 15, 15:30 and 1530, 15:30:00 and 153000, each with decimals of its last part; then the zone. */
const timeOfDay =
  /^(\d{2})(?:(:?)(\d{2})(?:\2(\d{2}))?)?(?:[.,](\d{1,9}))?(?:(Z)|([+-])(\d{2})(?::?(\d{2}))?)?$/;

/**
 * Reads an ISO 8601 date or date-time, basic or extended. Undefined = it is none, or names a day or time that does not
 * exist. Fractions below a millisecond are cut.
 */
export function parseDateTime(text: string): DateTime | undefined {
  if (text.length > LONGEST) return undefined;
  const end = text.indexOf('T');
  const date = parseDate(end < 0 ? text : text.slice(0, end));
  if (date === undefined || end < 0) return date && { day: date.day };
  const time = parseTime(text.slice(end + 1), date.separator === '' ? '' : ':');
  return time && { day: date.day, ...time };
}

function parseDate(text: string): { day: number; separator: string } | undefined {
  const parts = calendarDate.exec(text) ?? ordinalDate.exec(text) ?? weekDate.exec(text);
  if (parts === null) return undefined;
  const [, year = '', separator = '', second = '', third] = parts;
  const day = text.includes('W')
    ? dayOfWeekDate(Number(year), Number(second), Number(third))
    : third === undefined
      ? dayOfOrdinal(Number(year), Number(second))
      : dayOfCalendar(Number(year), Number(second), Number(third));
  return day === undefined ? undefined : { day, separator };
}

function parseTime(text: string, separator: string): Omit<DateTime, 'day'> | undefined {
  const parts = timeOfDay.exec(text);
  if (parts === null) return undefined;
  const [, hour, between, minute, second, decimals, utc, sign, zoneHour, zoneMinute] = parts;
  // A date without hyphens requires a time without colons.
  if (between !== undefined && between !== separator) return undefined;
  const unitMs = second !== undefined ? 1000 : minute !== undefined ? 60_000 : 3_600_000;
  const fractionMs = decimals === undefined ? 0 : Math.floor(Number(`0.${decimals}`) * unitMs + 1e-6);
  const [h, m, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  const timeMs = h * 3_600_000 + m * 60_000 + s * 1000 + fractionMs;
  if (m > 59 || s > 59 || timeMs > MS_PER_DAY) return undefined;
  if (utc !== undefined) return { timeMs, offsetMinutes: 0 };
  if (sign === undefined) return { timeMs };
  const offset = Number(zoneHour) * 60 + Number(zoneMinute ?? 0);
  if (Number(zoneHour) > 23 || Number(zoneMinute ?? 0) > 59) return undefined;
  return { timeMs, offsetMinutes: sign === '-' ? -offset : offset };
}

const MS_PER_DAY = 86_400_000;
const THURSDAY = 4;

function dayOfCalendar(year: number, month: number, day: number): number | undefined {
  const isReal = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  return isReal ? firstDayOf(year, month) + day - 1 : undefined;
}

function dayOfOrdinal(year: number, dayOfYear: number): number | undefined {
  const isReal = dayOfYear >= 1 && dayOfYear <= (isLeap(year) ? 366 : 365);
  return isReal ? firstDayOf(year, 1) + dayOfYear - 1 : undefined;
}

/** Week 1 is the one with the year's first Thursday; weeks begin on Monday. */
function dayOfWeekDate(year: number, week: number, weekday: number): number | undefined {
  const thursday = firstThursdayOf(year) + (week - 1) * 7;
  const isReal = week >= 1 && thursday < firstDayOf(year + 1, 1);
  return isReal ? thursday + weekday - THURSDAY : undefined;
}

function firstThursdayOf(year: number): number {
  // 1970-01-01 was a Thursday.
  return Math.ceil(firstDayOf(year, 1) / 7) * 7;
}

/** The day number of the first of a month. */
function firstDayOf(year: number, month: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, 1) / MS_PER_DAY;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
