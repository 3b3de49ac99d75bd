/** The axis of the timeline: windows, ticks, and overlapping markers. */
import { asIfInNewYork, isoDay } from '../format.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const SPANS = {
  day: { title: 'Day', ms: DAY_MS },
  week: { title: 'Week', ms: 7 * DAY_MS },
  month: { title: 'Month', ms: 31 * DAY_MS },
  quarter: { title: 'Quarter', ms: 92 * DAY_MS },
  year: { title: 'Year', ms: 366 * DAY_MS },
} as const;

export type SpanName = keyof typeof SPANS;

export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Fraction of the window before now: most of it shows the future. */
const PAST = 0.4;

export const windowAround = (nowMs: number, span: SpanName): TimeWindow => ({
  fromMs: nowMs - SPANS[span].ms * PAST,
  toMs: nowMs + SPANS[span].ms * (1 - PAST),
});

/** Position of an instant in the window, 0 to 1. */
export const shareOf = ({ fromMs, toMs }: TimeWindow, atMs: number): number =>
  (atMs - fromMs) / (toMs - fromMs);

export const isWithin = ({ fromMs, toMs }: TimeWindow, atMs: number): boolean =>
  atMs >= fromMs && atMs <= toMs;

/** The instant of a time of day in New York, ms. */
export function inNewYork(date: string, time: string): number {
  const asUtc = Date.parse(`${date}T${time}:00Z`);
  // Twice: the offset is that of the instant itself.
  const first = asUtc - (asIfInNewYork(asUtc) - asUtc);
  return asUtc - (asIfInNewYork(first) - first);
}

const stampOf = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  weekday: 'short',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});

/** `Tue, Jan 6, 2026, 10:30 AM ET`. */
export const stamp = (atMs: number): string => `${stampOf.format(atMs).replace('\u202f', ' ')} ET`;

export interface Tick {
  readonly atMs: number;
  readonly text: string;
}

/** New York days from one to another, both included. */
export function daysBetween(fromMs: number, toMs: number): readonly string[] {
  const days: string[] = [];
  const last = isoDay(toMs);
  for (let noon = Date.parse(`${isoDay(fromMs)}T12:00Z`); ; noon += DAY_MS) {
    const date = new Date(noon).toISOString().slice(0, 10);
    if (date > last) return days;
    days.push(date);
  }
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const weekdayOf = (date: string): number => new Date(`${date}T12:00Z`).getUTCDay();
const monthOf = (date: string): string => MONTHS[Number(date.slice(5, 7)) - 1] ?? '';
const dayText = (date: string): string => `${monthOf(date)} ${Number(date.slice(8))}`;

/** Hours between the ticks of a day. */
const HOURS = [4, 8, 12, 16, 20];

export function ticksOf(window: TimeWindow, span: SpanName): readonly Tick[] {
  const days = daysBetween(window.fromMs, window.toMs);
  const ticks = days.flatMap((date): readonly Tick[] => {
    const midnight = inNewYork(date, '00:00');
    switch (span) {
      case 'day':
        return [
          { atMs: midnight, text: `${WEEKDAYS[weekdayOf(date)] ?? ''} ${dayText(date)}` },
          ...HOURS.map((hour) => ({
            atMs: inNewYork(date, `${String(hour).padStart(2, '0')}:00`),
            text: `${String(hour).padStart(2, '0')}:00`,
          })),
        ];
      case 'week':
        return [{ atMs: midnight, text: `${WEEKDAYS[weekdayOf(date)] ?? ''} ${dayText(date)}` }];
      case 'month':
      case 'quarter':
        return weekdayOf(date) === 1 && (span === 'month' || Number(date.slice(8)) <= 14)
          ? [{ atMs: midnight, text: dayText(date) }]
          : [];
      case 'year':
        return date.endsWith('-01')
          ? [
              {
                atMs: midnight,
                text: `${monthOf(date)}${date.slice(5, 7) === '01' ? ` ${date.slice(0, 4)}` : ''}`,
              },
            ]
          : [];
    }
  });
  return ticks.filter(({ atMs }) => isWithin(window, atMs));
}

/** Items whose markers would cover each other, together at the place of the first. */
export function clustersOf<Item extends { readonly atMs: number }>(
  items: readonly Item[],
  window: TimeWindow,
  least: number,
): readonly (readonly Item[])[] {
  const clusters: Item[][] = [];
  let start = -Infinity;
  for (const item of items.filter(({ atMs }) => isWithin(window, atMs)).sort((a, b) => a.atMs - b.atMs)) {
    const share = shareOf(window, item.atMs);
    const open = clusters.at(-1);
    if (open !== undefined && share - start < least) open.push(item);
    else {
      clusters.push([item]);
      start = share;
    }
  }
  return clusters;
}

/** `in 3 days`, `2 hours ago`. */
export function distanceOf(atMs: number, nowMs: number): string {
  const relative = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' });
  const seconds = (atMs - nowMs) / 1000;
  const UNITS = [
    ['year', 31_536_000],
    ['month', 2_592_000],
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const;
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  return relative.format(Math.trunc(seconds), 'second');
}
