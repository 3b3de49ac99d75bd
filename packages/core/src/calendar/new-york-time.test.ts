import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import { formatNewYork, newYorkDayOf, newYorkInstant, newYorkOffsetMs } from './new-york-time.js';

const HOUR = 3_600_000;
const at = (iso: string): Instant => Instant.ofMs(Date.parse(iso));
const day = (date: string): number => TradingDate.dayOf(TradingDate.of(date));

const clock = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
});

function offsetByIntl(instant: number): number {
  const part = Object.fromEntries(
    clock.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
  );
  return Date.UTC(part.year!, part.month! - 1, part.day, part.hour, part.minute) - instant;
}

describe('New York offset', () => {
  it.each(Array.from({ length: 33 }, (_, i) => 1998 + i))('agrees with the tz database in %i', (year) => {
    const wrong: string[] = [];
    const compare = (instant: number): void => {
      if (newYorkOffsetMs(Instant.ofMs(instant)) !== offsetByIntl(instant))
        wrong.push(new Date(instant).toISOString());
    };
    // Every hour of the weeks in which the clocks could change, by either rule; noon of all other days.
    for (let hour = Date.UTC(year, 0, 1); hour < Date.UTC(year + 1, 0, 1); hour += HOUR) {
      const month = new Date(hour).getUTCMonth();
      const couldChange = month === 2 || month === 3 || month === 9 || month === 10;
      if (couldChange || hour % (24 * HOUR) === 12 * HOUR) compare(hour);
    }
    expect(wrong).toEqual([]);
  });

  it('changes at the very millisecond', () => {
    expect(newYorkOffsetMs(at('2026-03-08T06:59:59.999Z'))).toBe(-5 * HOUR);
    expect(newYorkOffsetMs(at('2026-03-08T07:00:00Z'))).toBe(-4 * HOUR);
    expect(newYorkOffsetMs(at('2026-11-01T05:59:59.999Z'))).toBe(-4 * HOUR);
    expect(newYorkOffsetMs(at('2026-11-01T06:00:00Z'))).toBe(-5 * HOUR);
    expect(newYorkOffsetMs(at('2006-04-02T06:59:59.999Z'))).toBe(-5 * HOUR);
    expect(newYorkOffsetMs(at('2006-04-02T07:00:00Z'))).toBe(-4 * HOUR);
    expect(newYorkOffsetMs(at('2006-10-29T06:00:00Z'))).toBe(-5 * HOUR);
  });
});

describe('New York wall time', () => {
  it('becomes an instant', () => {
    expect(newYorkInstant(day('2026-01-05'), 9 * 60 + 30)).toBe(at('2026-01-05T14:30:00Z'));
    expect(newYorkInstant(day('2026-07-06'), 9 * 60 + 30)).toBe(at('2026-07-06T13:30:00Z'));
    expect(newYorkInstant(day('2026-07-06'), 24 * 60)).toBe(at('2026-07-07T04:00:00Z'));
  });

  it('reads a skipped time with the offset before the gap, and of a repeated time means the first', () => {
    expect(formatNewYork(newYorkInstant(day('2026-03-08'), 150))).toBe('2026-03-08T03:30:00-04:00');
    expect(formatNewYork(newYorkInstant(day('2026-11-01'), 90))).toBe('2026-11-01T01:30:00-04:00');
    expect(formatNewYork(newYorkInstant(day('2026-11-01'), 120))).toBe('2026-11-01T02:00:00-05:00');
  });

  it('knows days of 23 and 25 hours', () => {
    const length = (date: string): number => newYorkInstant(day(date) + 1, 0) - newYorkInstant(day(date), 0);
    expect(length('2026-03-08')).toBe(23 * HOUR);
    expect(length('2026-11-01')).toBe(25 * HOUR);
    expect(length('2026-11-02')).toBe(24 * HOUR);
  });

  it('dates an instant by New York midnight', () => {
    expect(newYorkDayOf(at('2026-01-01T04:59:59.999Z'))).toBe(day('2025-12-31'));
    expect(newYorkDayOf(at('2026-01-01T05:00:00Z'))).toBe(day('2026-01-01'));
    expect(newYorkDayOf(at('1969-12-31T12:00:00Z'))).toBe(-1);
  });

  it('is written with its offset, and milliseconds only if there are any', () => {
    expect(formatNewYork(at('2026-01-05T14:30:00Z'))).toBe('2026-01-05T09:30:00-05:00');
    expect(formatNewYork(at('2026-07-06T13:30:01.050Z'))).toBe('2026-07-06T09:30:01.050-04:00');
    expect(formatNewYork(at('1969-12-31T23:59:59.999Z'))).toBe('1969-12-31T18:59:59.999-05:00');
  });
});
