import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import { alwaysOpen } from './always-open.js';
import { calendarById } from './calendars.js';
import { xnys } from './xnys.js';

const on = (text: string): TradingDate => TradingDate.of(text);
const at = (iso: string): Instant => Instant.ofMs(Date.parse(iso));

describe('the always-open calendar', () => {
  it('is open at any instant', () => {
    for (const iso of [
      '2026-01-03T03:00:00Z',
      '2026-07-04T12:00:00Z',
      '2026-12-25T05:00:00Z',
      '2026-03-08T07:00:00Z',
    ]) {
      expect(alwaysOpen.sessionAt(at(iso))).toBe('REGULAR');
    }
  });

  it('closes one day and opens the next at midnight New York', () => {
    const saturday = alwaysOpen.tradingDay(on('2026-01-03'));
    const sunday = alwaysOpen.tradingDay(on('2026-01-04'));
    expect(saturday?.regularClose).toBe(sunday?.regularOpen);
    expect(saturday?.extendedOpen).toBe(saturday?.regularOpen);
    expect(saturday?.extendedClose).toBe(saturday?.regularClose);
    expect(saturday?.earlyClose).toBe(false);
  });

  it('has its next open and close at the next midnight, also when the clocks change', () => {
    const noon = at('2026-03-08T16:00:00Z');
    for (const next of [
      alwaysOpen.nextRegularOpen(noon),
      alwaysOpen.nextRegularClose(noon),
      alwaysOpen.nextExtendedOpen(noon),
      alwaysOpen.nextExtendedClose(noon),
    ]) {
      expect(alwaysOpen.format(next)).toBe('2026-03-09T00:00:00-04:00');
      expect(alwaysOpen.format(alwaysOpen.nextRegularOpen(next))).toBe('2026-03-10T00:00:00-04:00');
    }
  });

  it('counts every day as a business day', () => {
    expect(alwaysOpen.plusBusinessDays(on('2026-12-24'), 0)).toBe('2026-12-24');
    expect(alwaysOpen.plusBusinessDays(on('2026-12-24'), 3)).toBe('2026-12-27');
    expect(alwaysOpen.previousTradingDay(on('2026-01-01'))).toBe('2025-12-31');
    expect(alwaysOpen.tradeDateOf(at('2026-01-03T03:00:00Z'))).toBe('2026-01-02');
  });
});

describe('calendarById', () => {
  it('gives each calendar under its own name', () => {
    expect(calendarById('XNYS')).toBe(xnys);
    expect(calendarById('always-open')).toBe(alwaysOpen);
    expect(calendarById('XNYS').id).toBe('XNYS');
    expect(calendarById('always-open').id).toBe('always-open');
  });
});
