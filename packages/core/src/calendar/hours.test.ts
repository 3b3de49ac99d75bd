import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import { alwaysOpen } from './always-open.js';
import { marketHours, nextOpenOfAny } from './hours.js';
import { xnys } from './xnys.js';

/** An instant from New York wall time, `2026-01-05 09:30`. */
const at = (text: string): Instant =>
  xnys.instantOf(TradingDate.of(text.slice(0, 10)), Number(text.slice(11, 13)), Number(text.slice(14, 16)));
const wall = (instant: Instant): string => xnys.format(instant).slice(0, 16).replace('T', ' ');

describe('shares', () => {
  const hours = marketHours(xnys, 'EQUITIES');

  it.each([
    ['03:59', 'CLOSED'],
    ['04:00', 'PRE'],
    ['09:29', 'PRE'],
    ['09:30', 'REGULAR'],
    ['15:59', 'REGULAR'],
    ['16:00', 'POST'],
    ['19:59', 'POST'],
    ['20:00', 'CLOSED'],
  ])('on a full day at %s: %s', (time, session) => {
    expect(hours.sessionAt(at(`2026-01-05 ${time}`))).toBe(session);
    expect(hours.sessionAt(at(`2026-01-10 ${time}`))).toBe('CLOSED');
  });

  it.each([
    ['12:59', 'REGULAR'],
    ['13:00', 'POST'],
    ['16:59', 'POST'],
    ['17:00', 'CLOSED'],
  ])('on an early close at %s: %s', (time, session) => {
    expect(hours.sessionAt(at(`2026-11-27 ${time}`))).toBe(session);
  });

  it('open at 09:30 on both sides of a change of the clocks', () => {
    expect(wall(hours.nextOpen('REGULAR', at('2026-03-06 16:00')))).toBe('2026-03-09 09:30');
    expect(wall(hours.nextOpen('REGULAR', at('2026-10-30 16:00')))).toBe('2026-11-02 09:30');
  });

  it('look strictly forward', () => {
    const open = at('2026-01-05 09:30');
    expect(hours.nextOpen('REGULAR', Instant.plusMs(open, -1))).toBe(open);
    expect(hours.nextOpen('REGULAR', open)).toBe(at('2026-01-06 09:30'));
    expect(hours.nextClose('REGULAR', open)).toBe(at('2026-01-05 16:00'));
    expect(hours.nextClose('REGULAR', at('2026-11-27 12:00'))).toBe(at('2026-11-27 13:00'));
    expect(hours.nextOpen('EXTENDED', open)).toBe(at('2026-01-06 04:00'));
    expect(hours.nextClose('EXTENDED', open)).toBe(at('2026-01-05 20:00'));
    expect(hours.nextClose('EXTENDED', at('2026-11-27 12:00'))).toBe(at('2026-11-27 17:00'));
  });

  it('do not trade on a day of mourning', () => {
    expect(hours.sessionAt(at('2025-01-09 12:00'))).toBe('CLOSED');
    expect(hours.nextOpen('REGULAR', at('2025-01-08 16:00'))).toBe(at('2025-01-10 09:30'));
    expect(hours.tradeDateOf(at('2025-01-09 12:00'))).toBe('2025-01-10');
  });
});

describe('options (D69)', () => {
  it.each([
    ['OPTIONS', '2026-01-05', '16:00'],
    ['LATE_OPTIONS', '2026-01-05', '16:15'],
    ['OPTIONS', '2026-11-27', '13:00'],
    ['LATE_OPTIONS', '2026-11-27', '13:15'],
  ] as const)('%s on %s close at %s', (id, date, time) => {
    const hours = marketHours(xnys, id);
    expect(wall(hours.nextClose('REGULAR', at(`${date} 12:00`)))).toBe(`${date} ${time}`);
    expect(hours.sessionAt(at(`${date} 09:29`))).toBe('CLOSED');
    expect(hours.sessionAt(at(`${date} 09:30`))).toBe('REGULAR');
    expect(hours.sessionAt(at(`${date} ${time}`))).toBe('CLOSED');
  });
});

describe('futures trade from Sunday 18:00 to Friday 17:00, an hour a day excepted (D92)', () => {
  const hours = marketHours(xnys, 'FUTURES');

  it.each([
    ['2026-01-04 17:59', 'CLOSED', '2026-01-05', 'Sunday before the open'],
    ['2026-01-04 18:00', 'REGULAR', '2026-01-05', 'Sunday evening belongs to Monday'],
    ['2026-01-05 03:00', 'REGULAR', '2026-01-05', 'Monday night'],
    ['2026-01-05 16:59', 'REGULAR', '2026-01-05', 'Monday to the last minute'],
    ['2026-01-05 17:00', 'CLOSED', '2026-01-06', 'the hour between'],
    ['2026-01-05 18:00', 'REGULAR', '2026-01-06', 'Monday evening belongs to Tuesday'],
    ['2026-01-09 16:59', 'REGULAR', '2026-01-09', 'Friday to the last minute'],
    ['2026-01-09 17:00', 'CLOSED', '2026-01-12', 'the weekend begins'],
    ['2026-01-10 12:00', 'CLOSED', '2026-01-12', 'Saturday'],
  ])('%s: %s, trade date %s: %s', (time, session, date) => {
    expect(hours.sessionAt(at(time))).toBe(session);
    expect(hours.tradeDateOf(at(time))).toBe(date);
  });

  it('a day order of Sunday evening lives to Monday 17:00, over midnight', () => {
    expect(wall(hours.nextClose('REGULAR', at('2026-01-04 18:00')))).toBe('2026-01-05 17:00');
    expect(wall(hours.nextOpen('REGULAR', at('2026-01-09 12:00')))).toBe('2026-01-11 18:00');
    expect(wall(hours.closeOn('REGULAR', TradingDate.of('2026-01-11')))).toBe('2026-01-09 17:00');
  });

  it('keep their wall times when the clocks change at night', () => {
    expect(hours.nextOpen('REGULAR', at('2026-03-08 12:00'))).toBe(Date.parse('2026-03-08T22:00:00Z'));
    expect(hours.nextOpen('REGULAR', at('2026-03-01 12:00'))).toBe(Date.parse('2026-03-01T23:00:00Z'));
  });
});

describe('grains pause in the morning', () => {
  const hours = marketHours(xnys, 'GRAINS');

  it('for which their orders wait without dying', () => {
    expect(hours.sessionAt(at('2026-01-04 20:00'))).toBe('REGULAR');
    expect(hours.sessionAt(at('2026-01-05 08:45'))).toBe('CLOSED');
    expect(wall(hours.nextOpen('REGULAR', at('2026-01-05 08:45')))).toBe('2026-01-05 09:30');
    expect(wall(hours.nextClose('REGULAR', at('2026-01-05 03:00')))).toBe('2026-01-05 14:20');
    expect(hours.tradeDateOf(at('2026-01-05 14:20'))).toBe('2026-01-06');
  });
});

describe('in an always-open market', () => {
  it.each(['EQUITIES', 'OPTIONS', 'LATE_OPTIONS', 'FUTURES', 'GRAINS'] as const)(
    '%s trade at any instant, and their days meet at midnight',
    (id) => {
      const hours = marketHours(alwaysOpen, id);
      expect(hours.sessionAt(at('2026-07-04 17:30'))).toBe('REGULAR');
      expect(wall(hours.nextClose('EXTENDED', at('2026-03-08 12:00')))).toBe('2026-03-09 00:00');
      expect(wall(hours.nextOpen('REGULAR', at('2026-03-08 12:00')))).toBe('2026-03-09 00:00');
    },
  );
});

it('hours beyond the last date: an error instead of an endless search', () => {
  for (const calendar of [xnys, alwaysOpen]) {
    for (const id of ['EQUITIES', 'FUTURES', 'GRAINS'] as const) {
      const hours = marketHours(calendar, id);
      const instant = Instant.ofMs(Date.parse('+010000-02-01T00:00:00Z'));
      expect(() => hours.nextOpen('REGULAR', instant)).toThrow(RangeError);
      expect(() => hours.nextClose('REGULAR', instant)).toThrow(RangeError);
    }
  }
});

it('the next open of all hours is the earliest of them', () => {
  const next = (text: string): string => wall(nextOpenOfAny(xnys, at(text)));
  expect(next('2026-01-05 03:00')).toBe('2026-01-05 04:00');
  expect(next('2026-01-05 04:00')).toBe('2026-01-05 09:30');
  expect(next('2026-01-05 09:30')).toBe('2026-01-05 18:00');
  expect(next('2026-01-05 18:00')).toBe('2026-01-05 20:00');
  expect(next('2026-01-09 17:00')).toBe('2026-01-11 18:00');
});
