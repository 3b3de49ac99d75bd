import { describe, expect, it } from 'vitest';
import { calendarById } from '../calendar/calendars.js';
import { TradingDate } from '../values/trading-date.js';
import {
  FRIDAYS,
  januariesAfter,
  kindOfExpiration,
  monthliesFrom,
  WEDNESDAYS,
  weekliesFrom,
} from './option-dates.js';

const DAYS = calendarById('XNYS');
const on = (date: string): TradingDate => TradingDate.of(date);

describe('monthly expirations (D126)', () => {
  it.each([
    [2014, 12, '2014-12-20', 'named by the Saturday until January 2015'],
    [2014, 4, '2014-04-19', 'by the Saturday also where Good Friday ends the week'],
    [2015, 1, '2015-01-17', 'the last Saturday'],
    [2015, 2, '2015-02-20', 'the third Friday since'],
    [2025, 4, '2025-04-17', 'Thursday before Good Friday'],
    [2026, 6, '2026-06-18', 'Thursday before Juneteenth'],
    [2027, 6, '2027-06-17', 'Thursday before the Friday on which it is kept'],
    [2026, 1, '2026-01-16', 'an ordinary third Friday'],
  ])('%i-%i: %s, %s', (year, month, date) => {
    expect(FRIDAYS.monthly(DAYS, year, month)).toBe(date);
    expect(kindOfExpiration(FRIDAYS, DAYS, on(date))).toBe('MONTHLY');
  });

  it.each([
    // Cboe's expiration calendar of VIX options for 2025 and 2026.
    [2025, 3, '2025-03-18', 'Tuesday, for Good Friday moves the options it is settled by'],
    [2025, 12, '2025-12-17', 'Wednesday'],
    [2026, 1, '2026-01-21', 'Wednesday'],
    [2026, 5, '2026-05-19', 'Tuesday, for Juneteenth moves them'],
  ])('of the volatility index %i-%i: %s, %s', (year, month, date) => {
    expect(WEDNESDAYS.monthly(DAYS, year, month)).toBe(date);
    expect(kindOfExpiration(WEDNESDAYS, DAYS, on(date))).toBe('MONTHLY');
  });
});

describe('expirations ahead of a date', () => {
  it('weeklies are the Fridays between the monthlies, or the day before a holiday', () => {
    expect(weekliesFrom(FRIDAYS, DAYS, on('2026-03-23'), 4)).toEqual([
      '2026-03-27',
      '2026-04-02',
      '2026-04-10',
      '2026-04-24',
    ]);
    expect(kindOfExpiration(FRIDAYS, DAYS, on('2026-04-02'))).toBe('WEEKLY');
    expect(kindOfExpiration(FRIDAYS, DAYS, on('2026-04-01'))).toBeUndefined();
  });

  it('the day itself counts, the day after does not', () => {
    expect(weekliesFrom(FRIDAYS, DAYS, on('2026-01-09'), 1)).toEqual(['2026-01-09']);
    expect(weekliesFrom(FRIDAYS, DAYS, on('2026-01-10'), 1)).toEqual(['2026-01-23']);
    expect(monthliesFrom(FRIDAYS, DAYS, on('2026-01-16'), 2)).toEqual(['2026-01-16', '2026-02-20']);
    expect(monthliesFrom(FRIDAYS, DAYS, on('2026-01-17'), 1)).toEqual(['2026-02-20']);
  });

  it('the Januaries come after the last monthly', () => {
    const monthlies = monthliesFrom(FRIDAYS, DAYS, on('2026-01-05'), 12);
    expect(monthlies.at(-1)).toBe('2026-12-18');
    expect(januariesAfter(FRIDAYS, DAYS, on('2026-12-18'), 2)).toEqual(['2027-01-15', '2028-01-21']);
    expect(januariesAfter(FRIDAYS, DAYS, on('2027-01-15'), 1)).toEqual(['2028-01-21']);
  });
});
