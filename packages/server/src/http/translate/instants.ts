import { type Calendar, type GoodTill, Instant, TradingDate } from '@sandpit/core';
import { type DateTime, parseDateTime } from '@sandpit/protocol';

let lastInstant: Instant | undefined;
let lastText = '';

/** ISO 8601 in UTC. The last text is cached, because items shown together often have the same instant. */
export function isoOf(instant: Instant): string {
  if (instant !== lastInstant) {
    lastText = new Date(instant).toISOString();
    lastInstant = instant;
  }
  return lastText;
}

/** ISO 8601 of real time. */
export const isoOfMs = (ms: number): string => new Date(ms).toISOString();

const MS_PER_DAY = 86_400_000;
const MS_PER_MINUTE = 60_000;

/** The instant of a validated date or date-time; without a zone it is exchange time, and a date is its midnight. */
export function instantOf(text: string, calendar: Calendar): Instant {
  return instantFrom(partsOf(text), calendar);
}

/** The end of a range: a timestamp itself; of a date the midnight after it, so that the date counts as a whole. */
export function endOf(text: string, calendar: Calendar): Instant {
  const parts = partsOf(text);
  return instantFrom(parts.timeMs === undefined ? { day: parts.day + 1 } : parts, calendar);
}

/** End of a good-till-date order (D156): its own New York date, or an instant. */
export function goodTillOf(text: string, calendar: Calendar): GoodTill {
  const parts = partsOf(text);
  const until = parts.timeMs === undefined ? TradingDate.ofDay(parts.day) : instantFrom(parts, calendar);
  return { until, text };
}

function partsOf(text: string): DateTime {
  const parts = parseDateTime(text);
  if (parts === undefined) throw new RangeError(`not a date or time: ${text}`);
  return parts;
}

/** The days that a simulation's clock can show (D219). Ranges of lists may be wider; no event is outside. */
const DAYS = { first: 0, last: Math.floor(Instant.last / MS_PER_DAY) };

function instantFrom({ day, timeMs = 0, offsetMinutes }: DateTime, calendar: Calendar): Instant {
  if (offsetMinutes !== undefined)
    return within(Instant.ofMs(day * MS_PER_DAY + timeMs - offsetMinutes * MS_PER_MINUTE));
  if (day < DAYS.first) return Instant.first;
  if (day > DAYS.last) return END;
  return within(wallTime(day, timeMs, calendar));
}

const END = Instant.plusMs(Instant.last, 1);
const within = (at: Instant): Instant => Instant.max(Instant.first, Instant.min(at, END));

/** The instant at which clocks in New York show a time of a day. */
function wallTime(day: number, timeMs: number, calendar: Calendar): Instant {
  const minute = Math.floor(timeMs / MS_PER_MINUTE);
  return Instant.plusMs(
    calendar.instantOf(TradingDate.ofDay(day), 0, minute),
    timeMs - minute * MS_PER_MINUTE,
  );
}

const DURATION =
  /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** A validated ISO 8601 duration. */
interface Duration {
  readonly months: number;
  readonly days: number;
  /** Hours, minutes and seconds. */
  readonly ms: number;
}

function durationOf(text: string): Duration {
  const parts = DURATION.exec(text);
  if (parts === null) throw new RangeError(`not a duration: ${text}`);
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0));
  return {
    months: years * 12 + months,
    days: weeks * 7 + days,
    ms: Math.round((hours * 3600 + minutes * 60 + seconds) * 1000),
  };
}

/**
 * The instant a duration of simulated time after another (D246). Years and months come first, then weeks and days, then the time. Years to
 * days are dates in New York at the same wall-clock time; in a month that is too short the last day. A skipped time is one hour later, a
 * repeated one the earlier.
 */
export function afterDuration(from: Instant, text: string, calendar: Calendar): Instant {
  const { months, days, ms } = durationOf(text);
  if (months === 0 && days === 0) return Instant.plusMs(from, ms);
  const { day, timeMs = 0 } = partsOf(calendar.format(from).slice(0, -OFFSET_LENGTH));
  const reached = dayAfterMonths(day, months) + days;
  return reached > DAYS.last ? END : Instant.plusMs(wallTime(reached, timeMs, calendar), ms);
}

/** The length of a duration of real or open market time from an instant, ms: a day has 24 hours. */
export function lengthMs(text: string, from: number): number {
  const { months, days, ms } = durationOf(text);
  const day = Math.floor(from / MS_PER_DAY);
  return (dayAfterMonths(day, months) - day + days) * MS_PER_DAY + ms;
}

/** The day some months after another, or the last of a month that is too short. */
function dayAfterMonths(day: number, months: number): number {
  if (months === 0) return day;
  const date = new Date(day * MS_PER_DAY);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 1);
  return Math.min(first + (date.getUTCDate() - 1) * MS_PER_DAY, next - MS_PER_DAY) / MS_PER_DAY;
}

/** Length of the `-05:00` at the end of an exchange time. */
const OFFSET_LENGTH = 6;
