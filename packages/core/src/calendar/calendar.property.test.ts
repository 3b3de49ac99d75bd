import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import type { Calendar, TradingDay } from './calendar.js';
import { calendarById } from './calendars.js';
import { DailyCalendar } from './daily-calendar.js';

const anyInstant = fc
  .oneof(
    fc.integer({ min: Date.UTC(1998, 0, 1), max: Date.UTC(2030, 11, 31) }),
    fc.integer({ min: Instant.first, max: Instant.last }),
    fc.integer({ min: Instant.last - 20 * 86_400_000, max: Instant.last }),
  )
  .map((ms) => Instant.ofMs(ms));
/** The trading days around an instant, read day by day: the reference for the results. */
function around(calendar: Calendar, at: Instant): TradingDay[] {
  const date = calendar.dateOf(at);
  return Array.from({ length: 21 }, (_, i) => calendar.tradingDay(TradingDate.plusDays(date, i - 10))).filter(
    (day) => day !== undefined,
  );
}

describe.each(['XNYS', 'always-open'] as const)('%s', (id) => {
  const calendar = calendarById(id);
  /** Midnights and their neighbors are rare among all instants. */
  const midnight = fc
    .tuple(anyInstant, fc.integer({ min: -1, max: 1 }))
    .map(([at, ms]) => Instant.plusMs(calendar.instantOf(calendar.dateOf(at), 0, 0), ms));
  const instant = fc.oneof(anyInstant, midnight);

  it('dates an instant by the day that contains it', () => {
    fc.assert(
      fc.property(instant, (at) => {
        const date = calendar.dateOf(at);
        expect(calendar.instantOf(date, 0, 0)).toBeLessThanOrEqual(at);
        expect(calendar.instantOf(TradingDate.plusDays(date, 1), 0, 0)).toBeGreaterThan(at);
      }),
    );
  });

  it('counts from the first trading day that is not over', () => {
    fc.assert(
      fc.property(instant, (at) => {
        const date = calendar.dateOf(at);
        const first = around(calendar, at).find((day) => day.date >= date);
        expect(calendar.plusBusinessDays(date, 0)).toBe(first?.date);
        expect(calendar.isTradingDay(date)).toBe(first?.date === date);
      }),
    );
  });

  it('walks business days one by one, there and back', () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 1, max: 40 }), (at, n) => {
        const date = calendar.dateOf(at);
        const reached = calendar.plusBusinessDays(date, n);
        let back = reached;
        for (let i = 0; i < n; i++) back = calendar.previousTradingDay(back);
        expect(calendar.isTradingDay(reached)).toBe(true);
        expect(back).toBe(calendar.isTradingDay(date) ? date : calendar.previousTradingDay(date));
      }),
    );
  });

  it('settles on business days, and trades on other days settle with the day before', () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 1, max: 10 }), (at, n) => {
        const date = calendar.dateOf(at);
        const settled = calendar.plusSettlementDays(date, n);
        expect(calendar.isTradingDay(settled)).toBe(true);
        expect(settled >= calendar.plusBusinessDays(date, n)).toBe(true);
        expect(calendar.plusSettlementDays(calendar.plusSettlementDays(date, 1), n - 1)).toBe(settled);
        const next = calendar.plusBusinessDays(date, 1);
        const isSettlementDay = calendar.plusSettlementDays(date, 1) === next;
        expect(calendar.plusSettlementDays(next, n) === settled).toBe(!isSettlementDay);
      }),
    );
  });

  it('writes instants so that they can be read back', () => {
    fc.assert(
      fc.property(instant, (at) => {
        const text = calendar.format(at);
        expect(Date.parse(text)).toBe(at);
        expect(text.slice(0, 10)).toBe(calendar.dateOf(at));
        expect(text).toMatch(/T\d\d:\d\d:\d\d(\.\d{3})?-0[45]:00$/);
      }),
    );
  });

  it('gives answers independent of earlier questions', () => {
    const answers = (calendar: Calendar, at: Instant): unknown[] => [
      calendar.dateOf(at),
      calendar.plusBusinessDays(calendar.dateOf(at), 1),
      calendar.tradingDay(calendar.dateOf(at)),
    ];
    fc.assert(
      fc.property(fc.array(instant, { maxLength: 8 }), (instants) => {
        const there = instants.map((at) => answers(calendar, at));
        const back = instants.toReversed().map((at) => answers(calendar, at));
        expect(back.toReversed()).toEqual(there);
      }),
    );
  });
});

describe('a daily calendar', () => {
  it('answers the same after it had to forget', () => {
    const hours = {
      regularOpen: 600,
      regularClose: 900,
      extendedOpen: 500,
      extendedClose: 1000,
      earlyClose: false,
    };
    const everyOther = (day: number) => (day % 2 === 0 ? hours : undefined);
    const calendar = new DailyCalendar(everyOther, () => false);
    const start = TradingDate.of('1900-01-01');
    const first = calendar.plusBusinessDays(start, 20_000);
    expect(first).toBe(TradingDate.plusDays(start, calendar.isTradingDay(start) ? 40_000 : 39_999));
    expect(calendar.plusBusinessDays(start, 20_000)).toBe(first);
  });

  it('refuses invalid instants and dates instead of searching forever', () => {
    const calendar = calendarById('XNYS');
    expect(() => calendar.dateOf(Instant.ofMs(NaN))).toThrow(RangeError);
    expect(() => calendar.plusBusinessDays('someday' as TradingDate, 1)).toThrow(RangeError);
  });
});
