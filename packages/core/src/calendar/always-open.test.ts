import { describe, expect, it } from 'vitest';
import { TradingDate } from '../values/trading-date.js';
import { alwaysOpen } from './always-open.js';
import { calendarById } from './calendars.js';
import { xnys } from './xnys.js';

const on = (text: string): TradingDate => TradingDate.of(text);

describe('the always-open calendar', () => {
  it('closes one day and opens the next at midnight New York', () => {
    const saturday = alwaysOpen.tradingDay(on('2026-01-03'));
    const sunday = alwaysOpen.tradingDay(on('2026-01-04'));
    expect(saturday?.regularClose).toBe(sunday?.regularOpen);
    expect(saturday?.extendedOpen).toBe(saturday?.regularOpen);
    expect(saturday?.extendedClose).toBe(saturday?.regularClose);
    expect(saturday?.earlyClose).toBe(false);
  });

  it('counts every day as a business day', () => {
    expect(alwaysOpen.plusBusinessDays(on('2026-12-24'), 0)).toBe('2026-12-24');
    expect(alwaysOpen.plusBusinessDays(on('2026-12-24'), 3)).toBe('2026-12-27');
    expect(alwaysOpen.previousTradingDay(on('2026-01-01'))).toBe('2025-12-31');
    expect(alwaysOpen.plusSettlementDays(on('2026-10-11'), 1)).toBe('2026-10-12');
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
