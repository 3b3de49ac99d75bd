import { expect, it } from 'vitest';
import { TradingDate } from '../values/trading-date.js';
import { isBankHoliday } from './bank-holidays.js';
import { xnys } from './xnys.js';

const bankHolidays = (from: string, to: string): TradingDate[] => {
  const days: TradingDate[] = [];
  for (
    let day = TradingDate.dayOf(TradingDate.of(from));
    day <= TradingDate.dayOf(TradingDate.of(to));
    day++
  ) {
    if (isBankHoliday(day)) days.push(TradingDate.ofDay(day));
  }
  return days;
};

it('banks are closed on Columbus Day and Veterans Day while the exchange trades', () => {
  const days = bankHolidays('2024-01-01', '2026-12-31');
  expect(days).toEqual(['2024-10-14', '2024-11-11', '2025-10-13', '2025-11-11', '2026-10-12', '2026-11-11']);
  expect(days.filter((date) => xnys.isTradingDay(date))).toEqual(days);
});

it("a Sunday's Veterans Day is kept on the Monday after, a Saturday's is not kept", () => {
  expect(bankHolidays('2018-11-01', '2018-11-30')).toEqual(['2018-11-12']);
  expect(bankHolidays('2029-11-01', '2029-11-30')).toEqual(['2029-11-12']);
  expect(bankHolidays('2023-11-01', '2023-11-30').filter((date) => xnys.isTradingDay(date))).toEqual([]);
});
