import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import { weekdayOf } from './weekday.js';
import { xnys } from './xnys.js';
import { xnysHolidays } from './xnys-holidays.js';

interface RecordedCalendar {
  readonly closures: readonly string[];
  readonly earlyCloses: readonly string[];
}
const recorded = JSON.parse(
  readFileSync(new URL('./testdata/us-equities.json', import.meta.url), 'utf8'),
) as RecordedCalendar;

const on = (text: string): TradingDate => TradingDate.of(text);
/** An instant from New York wall time, `2026-01-05 09:30`. */
const at = (text: string): Instant =>
  xnys.instantOf(on(text.slice(0, 10)), Number(text.slice(11, 13)), Number(text.slice(14, 16)));

function weekdays(from: string, to: string): TradingDate[] {
  const days: TradingDate[] = [];
  for (let day = TradingDate.dayOf(on(from)); day <= TradingDate.dayOf(on(to)); day++) {
    if (weekdayOf(day) % 6 !== 0) days.push(TradingDate.ofDay(day));
  }
  return days;
}
const closures = (from: string, to: string): TradingDate[] =>
  weekdays(from, to).filter((date) => !xnys.isTradingDay(date));
const earlyCloses = (from: string, to: string): TradingDate[] =>
  weekdays(from, to).filter((date) => xnys.tradingDay(date)?.earlyClose);

describe('XNYS trading days', () => {
  it('are closed exactly where the recorded calendar is, 1998–2028', () => {
    expect(closures('1998-01-01', '2028-12-31')).toEqual(recorded.closures);
  });

  it('close early exactly where the recorded calendar does, from its first early close to 2028', () => {
    expect(earlyCloses(recorded.earlyCloses[0]!, '2028-12-31')).toEqual(recorded.earlyCloses);
  });

  it('close early twice in the years before the record begins', () => {
    expect(earlyCloses('1998-01-01', '1999-11-25')).toEqual(['1998-11-27', '1998-12-24']);
  });

  it('follow the rules in 2029 and 2030', () => {
    expect(closures('2029-01-01', '2029-12-31')).toEqual([
      '2029-01-01',
      '2029-01-15',
      '2029-02-19',
      '2029-03-30',
      '2029-05-28',
      '2029-06-19',
      '2029-07-04',
      '2029-09-03',
      '2029-11-22',
      '2029-12-25',
    ]);
    expect(earlyCloses('2029-01-01', '2029-12-31')).toEqual(['2029-07-03', '2029-11-23', '2029-12-24']);
    expect(closures('2030-01-01', '2030-12-31')).toEqual([
      '2030-01-01',
      '2030-01-21',
      '2030-02-18',
      '2030-04-19',
      '2030-05-27',
      '2030-06-19',
      '2030-07-04',
      '2030-09-02',
      '2030-11-28',
      '2030-12-25',
    ]);
    expect(earlyCloses('2030-01-01', '2030-12-31')).toEqual(['2030-07-03', '2030-11-29', '2030-12-24']);
  });

  it('never are weekends', () => {
    expect(xnys.isTradingDay(on('2026-01-10'))).toBe(false);
    expect(xnys.isTradingDay(on('2026-01-11'))).toBe(false);
    expect(xnys.tradingDay(on('2026-01-10'))).toBeUndefined();
  });

  it('follow the rules outside 1998–2030', () => {
    expect(closures('2050-12-20', '2050-12-31')).toEqual(['2050-12-26']);
    expect(closures('1997-01-01', '1997-02-28')).toEqual(['1997-01-01', '1997-02-17']);
    expect(xnysHolidays(1990)).toHaveLength(8);
  });

  it('do not make up for a New Year on a Saturday', () => {
    expect(xnys.isTradingDay(on('2021-12-31'))).toBe(true);
    expect(xnys.isTradingDay(on('2022-01-03'))).toBe(true);
    expect(xnysHolidays(2028).map(({ name }) => name)).not.toContain("New Year's Day");
  });

  it('were none on 2025-01-09', () => {
    expect(xnys.isTradingDay(on('2025-01-09'))).toBe(false);
    expect(xnys.plusBusinessDays(on('2025-01-08'), 1)).toBe('2025-01-10');
  });

  it('leave out 2026-07-03, with no early close before it', () => {
    expect(xnys.isTradingDay(on('2026-07-03'))).toBe(false);
    expect(xnys.tradingDay(on('2026-07-02'))?.earlyClose).toBe(false);
    expect(xnys.plusBusinessDays(on('2026-07-02'), 1)).toBe('2026-07-06');
  });
});

describe('XNYS dates', () => {
  it('are those of New York', () => {
    expect(xnys.dateOf(at('2026-01-05 23:59'))).toBe('2026-01-05');
    expect(xnys.dateOf(Instant.ofMs(Date.parse('2026-01-06T04:59:59Z')))).toBe('2026-01-05');
  });

  it('count business days over weekends and holidays', () => {
    expect(xnys.plusBusinessDays(on('2026-01-05'), 0)).toBe('2026-01-05');
    expect(xnys.plusBusinessDays(on('2026-01-05'), 1)).toBe('2026-01-06');
    expect(xnys.plusBusinessDays(on('2026-01-16'), 1)).toBe('2026-01-20');
    expect(xnys.plusBusinessDays(on('2026-07-02'), 2)).toBe('2026-07-07');
    expect(xnys.plusBusinessDays(on('2001-09-10'), 1)).toBe('2001-09-17');
    expect(xnys.plusBusinessDays(on('2025-12-31'), 252)).toBe('2027-01-04');
  });

  it('count from a closed day as from the last trading day before it', () => {
    expect(xnys.plusBusinessDays(on('2026-01-17'), 0)).toBe('2026-01-20');
    expect(xnys.plusBusinessDays(on('2026-01-17'), 1)).toBe('2026-01-20');
    expect(xnys.plusBusinessDays(on('2026-01-17'), 2)).toBe('2026-01-21');
  });

  it('go back to the trading day before', () => {
    expect(xnys.previousTradingDay(on('2026-01-06'))).toBe('2026-01-05');
    expect(xnys.previousTradingDay(on('2026-01-20'))).toBe('2026-01-16');
    expect(xnys.previousTradingDay(on('2026-01-18'))).toBe('2026-01-16');
    expect(xnys.previousTradingDay(on('2001-09-17'))).toBe('2001-09-10');
  });
});
