import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import { calendarById, isCalendar } from './calendars.js';
import { marketHours } from './hours.js';
import { SessionMap, xnys } from './xnys.js';
import { XNYS_SPECIAL_CLOSURES } from './xnys-exceptions.js';

const on = (text: string): TradingDate => TradingDate.of(text);
const midnight = (date: string): Instant => xnys.instantOf(on(date), 0, 0);
const knownOn = (date: string) => xnys.asOf(midnight(date));

describe('closings that no schedule had (D209)', () => {
  it.each([
    ['2001-09-11', '2001-09-11'],
    ['2001-09-14', '2001-09-13'],
    ['2004-06-11', '2004-06-07'],
    ['2007-01-02', '2006-12-29'],
    ['2012-10-29', '2012-10-28'],
    ['2018-12-05', '2018-12-01'],
    ['2025-01-09', '2024-12-30'],
  ])('%s is a full session until the day of its announcement, %s', (closed, announced) => {
    const eve = xnys.asOf(Instant.plusMs(midnight(announced), -1));
    expect(eve.tradingDay(on(closed))).toMatchObject({ date: closed, earlyClose: false });
    expect(xnys.asOf(midnight(announced)).isTradingDay(on(closed))).toBe(false);
    expect(eve.changesAfter(Instant.plusMs(midnight(announced), -1))).toBe(midnight(announced));
    // Hours, and the days that are counted from there.
    const before = marketHours(eve, 'EQUITIES');
    const open = eve.instantOf(on(closed), 9, 30);
    expect(before.nextOpen('REGULAR', Instant.plusMs(open, -1))).toBe(open);
    expect(marketHours(xnys, 'EQUITIES').isOpen('REGULAR', Instant.plusMs(open, 60_000))).toBe(false);
  });

  it('every closing has an announcement on its day or before', () => {
    for (const { date, announced } of XNYS_SPECIAL_CLOSURES) expect(announced <= date).toBe(true);
  });

  it('a calendar after all announcements is the whole one, and knows them in any order of questions', () => {
    expect(xnys.asOf(midnight('2025-01-01'))).toBe(xnys);
    expect(xnys.changesAfter(midnight('2025-01-01'))).toBeUndefined();
    const view = knownOn('2012-10-28');
    expect([view.isTradingDay(on('2012-10-29')), view.isTradingDay(on('2012-10-30'))]).toEqual([false, true]);
    expect(view.asOf(midnight('2026-01-01'))).toBe(xnys);
    expect(knownOn('2012-10-28')).toBe(view);
    expect(view.id).toBe('XNYS');
  });

  it('settlement days count by what is known', () => {
    expect(knownOn('2018-11-30').plusSettlementDays(on('2018-12-03'), 2)).toBe('2018-12-05');
    expect(knownOn('2018-12-01').plusSettlementDays(on('2018-12-03'), 2)).toBe('2018-12-06');
  });

  it('Treasury futures close early on the mourning day of 2025 from its announcement on', () => {
    const close = (date: string): string =>
      xnys.format(marketHours(knownOn(date), 'RATES').closeOn('REGULAR', on('2025-01-09')));
    expect(close('2024-12-29')).toBe('2025-01-09T17:00:00-05:00');
    expect(close('2024-12-30')).toBe('2025-01-09T13:15:00-05:00');
  });

  it('a moved calendar moves the announcements too', () => {
    const moved = calendarById('XNYS+3000');
    const days = 21_000;
    const later = (date: string): TradingDate => TradingDate.plusDays(on(date), days);
    const at = moved.instantOf(later('2012-10-27'), 12, 0);
    expect(moved.asOf(at).isTradingDay(later('2012-10-29'))).toBe(true);
    expect(moved.isTradingDay(later('2012-10-29'))).toBe(false);
    expect(moved.changesAfter(at)).toBe(moved.instantOf(later('2012-10-28'), 0, 0));
  });
});

describe('sessions on consecutive weekdays (D209)', () => {
  const FIRST = on('2013-03-01');
  const map = new SessionMap(FIRST, 3000);
  const calendar = calendarById('XNYS@2013-03-01+3000');
  const start = TradingDate.dayOf(FIRST) + 21_000;

  it('the first session keeps its weekday, and each next session is on the next weekday, in both directions', () => {
    expect(map.movedDay(TradingDate.dayOf(FIRST))).toBe(start);
    for (const direction of [1, -1]) {
      let recorded: TradingDate = FIRST;
      let shown = start;
      for (let i = 0; i < 3000; i++) {
        recorded = direction > 0 ? xnys.plusBusinessDays(recorded, 1) : xnys.previousTradingDay(recorded);
        do shown += direction;
        while (!SessionMap.isWeekday(shown));
        expect(map.movedDay(TradingDate.dayOf(recorded))).toBe(shown);
        expect(map.recordedDay(shown)).toBe(TradingDate.dayOf(recorded));
      }
    }
  });

  it('a day without a session counts as the next session', () => {
    // Good Friday of 2013 and the weekend after it.
    for (const date of ['2013-03-29', '2013-03-30', '2013-03-31', '2013-04-01'])
      expect(map.movedDay(TradingDate.dayOf(on(date)))).toBe(
        map.movedDay(TradingDate.dayOf(on('2013-03-28'))) + 1,
      );
  });

  it('the calendar has no holidays, and an early close from 00:00 of its day on', () => {
    const christmasEve = TradingDate.ofDay(map.movedDay(TradingDate.dayOf(on('2013-12-24'))));
    const eve = Instant.plusMs(calendar.instantOf(christmasEve, 0, 0), -1);
    for (let day = start - 800; day < start + 800; day++)
      expect(calendar.isTradingDay(TradingDate.ofDay(day))).toBe(SessionMap.isWeekday(day));
    expect(calendar.asOf(eve).tradingDay(christmasEve)?.earlyClose).toBe(false);
    expect(calendar.asOf(Instant.plusMs(eve, 1)).tradingDay(christmasEve)?.earlyClose).toBe(true);
    expect(calendar.changesAfter(eve)).toBe(Instant.plusMs(eve, 1));
    // Settlement skips no bank holidays: Columbus Day would tell the date.
    const friday = TradingDate.ofDay(map.movedDay(TradingDate.dayOf(on('2013-10-11'))));
    expect(calendar.plusSettlementDays(friday, 1)).toBe(calendar.plusBusinessDays(friday, 1));
  });

  it('names of calendars are those of real sessions', () => {
    for (const id of ['XNYS', 'always-open', 'XNYS+1', 'XNYS@2013-03-01+1', 'XNYS@1971-01-04+9999'])
      expect(isCalendar(id), id).toBe(true);
    for (const id of [
      '',
      'XNYS+0',
      'XNYS@2013-03-02+1',
      'XNYS@2013-13-01+1',
      'XNYS@2013-03-01',
      'XNYS+10000',
    ])
      expect(isCalendar(id), id).toBe(false);
  });

  it('dates far away are computed at once', () => {
    for (const date of ['0001-01-02', '1700-05-05', '9998-12-31'])
      expect(() => calendar.tradingDay(on(date))).not.toThrow();
  });
});
