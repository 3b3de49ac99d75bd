import { cme } from '../calendar/cme.js';
import { FRIDAY, onOrAfter, onOrBefore } from '../calendar/weekday.js';
import { civilOfDay, dayNumber, TradingDate } from '../values/trading-date.js';
import type { LastTradeRule } from './future-specifications.js';
import { thirdFriday } from './option-dates.js';

/** A month of delivery. */
export interface ContractMonth {
  readonly year: number;
  /** 1–12. */
  readonly month: number;
}

const WEDNESDAY = 3;

const firstOf = ({ year, month }: ContractMonth): TradingDate => TradingDate.ofDay(dayNumber(year, month, 1));

/** The month that is `months` later. */
export const monthsLater = ({ year, month }: ContractMonth, months: number): ContractMonth => {
  const count = year * 12 + month - 1 + months;
  return { year: Math.floor(count / 12), month: (count % 12) + 1 };
};

/** The n-th business day before a date. */
function before(date: TradingDate, n: number): TradingDate {
  let day = date;
  for (let left = n; left > 0; left--) day = cme.previousTradingDay(day);
  return day;
}

const atOrBefore = (date: TradingDate): TradingDate =>
  cme.isTradingDay(date) ? date : cme.previousTradingDay(date);

/** The n-th business day from the end of a month; 1 = the last. */
const lastOf = (of: ContractMonth, n: number): TradingDate => before(firstOf(monthsLater(of, 1)), n);

/** The last trade date of a month, by its rule, on the business days of the exchanges (D91). */
export function lastTradeDateBy(rule: LastTradeRule, of: ContractMonth): TradingDate {
  const { year, month } = of;
  switch (rule) {
    case 'THIRD_FRIDAY':
      return atOrBefore(TradingDate.ofDay(thirdFriday(year, month)));
    case 'THIRD_BEFORE_THE_25TH':
      return beforeThe25th(monthsLater(of, -1));
    case 'DAY_BEFORE_CRUDE':
      return before(beforeThe25th(monthsLater(of, -1)), 1);
    case 'THIRD_BEFORE_THE_MONTH':
      return before(firstOf(of), 3);
    case 'THIRD_LAST_OF_THE_MONTH':
      return lastOf(of, 3);
    case 'SEVENTH_BEFORE_THE_LAST':
      return lastOf(of, 8);
    case 'LAST_OF_THE_MONTH':
      return lastOf(of, 1);
    case 'SECOND_BEFORE_THIRD_WEDNESDAY':
      return before(TradingDate.ofDay(onOrAfter(dayNumber(year, month, 15), WEDNESDAY)), 2);
    case 'BEFORE_THE_15TH':
      return before(TradingDate.ofDay(dayNumber(year, month, 15)), 1);
    case 'LAST_FRIDAY':
      return lastFriday(of);
  }
}

/** The third business day before the 25th, or before the preceding business day if the 25th is none. */
const beforeThe25th = ({ year, month }: ContractMonth): TradingDate =>
  before(atOrBefore(TradingDate.ofDay(dayNumber(year, month, 25))), 3);

/** The last Friday, or the day before it that is a business day in New York and in London. */
function lastFriday(of: ContractMonth): TradingDate {
  const friday = onOrBefore(TradingDate.dayOf(firstOf(monthsLater(of, 1))) - 1, FRIDAY);
  const { month, day } = civilOfDay(friday);
  const isBoxingDay = month === 12 && day === 26;
  return atOrBefore(TradingDate.ofDay(isBoxingDay ? friday - 1 : friday));
}

/** The first day of possible delivery notices to holders of a month: the last business day before it. */
export const firstNoticeDateOf = (of: ContractMonth): TradingDate => before(firstOf(of), 1);
