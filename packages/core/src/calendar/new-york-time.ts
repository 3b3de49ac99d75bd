import { Instant } from '../values/instant.js';
import { civilOfDay, dayNumber, TradingDate } from '../values/trading-date.js';
import { onOrAfter, onOrBefore, SUNDAY } from './weekday.js';

/*
 * New York wall time by arithmetic alone. The core may not use the host's time zone database: another version could change the result of
 * the same journal.
 *
 * Here a "wall" is a count of milliseconds since 1970-01-01T00:00 on the clocks of New York, as an `Instant` is
 * since 1970-01-01T00:00Z.
 */

const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 86_400_000;

const STANDARD_OFFSET_MS = -5 * MS_PER_HOUR;
const DAYLIGHT_OFFSET_MS = -4 * MS_PER_HOUR;

/**
 * The day of the year's change to daylight time. 15 U.S.C. 260a; from 2007 as amended by the Energy Policy Act of
 * 2005. (Years before 1987 changed later in April; nothing here is that old.)
 */
function daylightBegins(year: number): number {
  return year < 2007
    ? onOrAfter(dayNumber(year, 4, 1), SUNDAY)
    : onOrAfter(dayNumber(year, 3, 1), SUNDAY) + 7;
}

/** The day of the year's change back to standard time, same source. */
function daylightEnds(year: number): number {
  return year < 2007
    ? onOrBefore(dayNumber(year, 10, 31), SUNDAY)
    : onOrAfter(dayNumber(year, 11, 1), SUNDAY);
}

/** Offset of New York time from UTC, in milliseconds: −5 hours, or −4 in daylight time. */
export function newYorkOffsetMs(at: Instant): number {
  // Both changes lie far from the turn of the year, so the UTC year serves as well as the local one.
  const { year } = civilOfDay(Math.floor(at / MS_PER_DAY));
  // The clocks change at 02:00 of the time they leave.
  const begins = daylightBegins(year) * MS_PER_DAY + 2 * MS_PER_HOUR - STANDARD_OFFSET_MS;
  const ends = daylightEnds(year) * MS_PER_DAY + 2 * MS_PER_HOUR - DAYLIGHT_OFFSET_MS;
  return at >= begins && at < ends ? DAYLIGHT_OFFSET_MS : STANDARD_OFFSET_MS;
}

/** The day number of the New York date of an instant. */
export function newYorkDayOf(at: Instant): number {
  return Math.floor((at + newYorkOffsetMs(at)) / MS_PER_DAY);
}

/**
 * The instant at which New York clocks show `minute` minutes after midnight of a day number; 1440 is the next
 * midnight. A time that the change in spring skips is read with the offset before it (02:30 becomes 03:30); for a time
 * that occurs twice in autumn the first applies, as RFC 5545 §3.3.5 requires.
 */
export function newYorkInstant(day: number, minute: number): Instant {
  const wall = day * MS_PER_DAY + minute * MS_PER_MINUTE;
  const { year } = civilOfDay(Math.floor(wall / MS_PER_DAY));
  const begins = daylightBegins(year) * MS_PER_DAY + 3 * MS_PER_HOUR;
  const ends = daylightEnds(year) * MS_PER_DAY + 2 * MS_PER_HOUR;
  return Instant.ofMs(wall - (wall >= begins && wall < ends ? DAYLIGHT_OFFSET_MS : STANDARD_OFFSET_MS));
}

const twoDigits = (n: number): string => String(n).padStart(2, '0');

/** ISO 8601 in New York time with its offset; milliseconds only if there are any. */
export function formatNewYork(at: Instant): string {
  const offset = newYorkOffsetMs(at);
  const wall = at + offset;
  const day = Math.floor(wall / MS_PER_DAY);
  const ms = wall - day * MS_PER_DAY;
  const hour = Math.floor(ms / MS_PER_HOUR);
  const minute = Math.floor((ms % MS_PER_HOUR) / MS_PER_MINUTE);
  const second = Math.floor((ms % MS_PER_MINUTE) / 1000);
  const fraction = ms % 1000 === 0 ? '' : `.${String(ms % 1000).padStart(3, '0')}`;
  const time = `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(second)}${fraction}`;
  return `${TradingDate.ofDay(day)}T${time}${offset === DAYLIGHT_OFFSET_MS ? '-04:00' : '-05:00'}`;
}
