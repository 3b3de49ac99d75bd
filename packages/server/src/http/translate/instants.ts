import { type Calendar, type GoodTill, Instant, TradingDate } from '@sandpit/core';
import { type DateTime, parseDateTime } from '@sandpit/protocol';

let lastInstant: Instant | undefined;
let lastText = '';

/** ISO 8601 in UTC. Most of what is shown together happened at the same moment. */
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

/** When an order ends that is good till then (D156): a New York date of its own, or an instant. */
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

function instantFrom({ day, timeMs = 0, offsetMinutes }: DateTime, calendar: Calendar): Instant {
  if (offsetMinutes !== undefined)
    return Instant.ofMs(day * MS_PER_DAY + timeMs - offsetMinutes * MS_PER_MINUTE);
  const minute = Math.floor(timeMs / MS_PER_MINUTE);
  return Instant.plusMs(
    calendar.instantOf(TradingDate.ofDay(day), 0, minute),
    timeMs - minute * MS_PER_MINUTE,
  );
}

const UNIT_MS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000] as const;

/** Milliseconds of a validated ISO 8601 duration. */
export function durationMs(text: string): number {
  const parts = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (parts === null) throw new RangeError(`not a duration: ${text}`);
  return Math.round(UNIT_MS.reduce((sum, unit, i) => sum + Number(parts[i + 1] ?? 0) * unit, 0));
}
