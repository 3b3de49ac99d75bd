import { type Calendar, Instant, TradingDate } from '@sandpit/core';

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

/** The instant of a validated date or timestamp; a date is its midnight in exchange time. */
export function instantOf(text: string, calendar: Calendar): Instant {
  const date = TradingDate.parse(text);
  return date === undefined ? Instant.ofMs(Date.parse(text)) : calendar.instantOf(date, 0, 0);
}

/** The end of a range: a timestamp itself; of a date the midnight after it, so that the date counts as a whole. */
export function endOf(text: string, calendar: Calendar): Instant {
  const date = TradingDate.parse(text);
  return instantOf(date === undefined ? text : TradingDate.plusDays(date, 1), calendar);
}

const UNIT_MS = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000] as const;

/** Milliseconds of a validated ISO 8601 duration. */
export function durationMs(text: string): number {
  const parts = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (parts === null) throw new RangeError(`not a duration: ${text}`);
  return Math.round(UNIT_MS.reduce((sum, unit, i) => sum + Number(parts[i + 1] ?? 0) * unit, 0));
}
