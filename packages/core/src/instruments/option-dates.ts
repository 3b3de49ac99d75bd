import type { Calendar } from '../calendar/calendar.js';
import { xnys } from '../calendar/xnys.js';
import { FRIDAY, onOrAfter, SATURDAY, weekdayOf } from '../calendar/weekday.js';
import { Instant } from '../values/instant.js';
import { civilOfDay, dayNumber, TradingDate } from '../values/trading-date.js';

/**
 * Expirations of a class, as symbols name them. Always by the days of XNYS: a symbol means the
 * same under any calendar.
 */
export interface ExpirationRule {
  /** The expiration of a month. */
  monthly(days: ExchangeDays, year: number, month: number): TradingDate;
  /** The weekly expiration of the week that a Friday (a day number) ends; `undefined` in the week of a monthly one. */
  weekly(days: ExchangeDays, friday: number): TradingDate | undefined;
}

/** The trading days of XNYS, as they are known on a date. */
export type ExchangeDays = Pick<Calendar, 'isTradingDay' | 'previousTradingDay'>;

/** The trading days that are known on a date: closings that no schedule had count from their announcement on (D209). */
export const daysKnownOn = (today: TradingDate): ExchangeDays => xnys.asOf(xnys.instantOf(today, 0, 0));

/** The trading days without closings that no schedule had: series that were listed before an announcement keep the date of their symbol. */
export const SCHEDULED_DAYS: ExchangeDays = xnys.asOf(Instant.first);

/** Expirations of this date and later ones are named by the trading day; before, monthly ones by the Saturday after it. */
const LAST_SATURDAY = TradingDate.dayOf(TradingDate.of('2015-01-31'));

/** The day number of the third Friday of a month. */
export const thirdFriday = (year: number, month: number): number =>
  onOrAfter(dayNumber(year, month, 15), FRIDAY);

/** The day, or the trading day before it. */
function tradingDayAt(days: ExchangeDays, day: number): TradingDate {
  const date = TradingDate.ofDay(day);
  return days.isTradingDay(date) ? date : days.previousTradingDay(date);
}

/** The third Friday, or the trading day before it; weeklies on the other Fridays. */
export const FRIDAYS: ExpirationRule = {
  monthly(days, year, month) {
    const friday = thirdFriday(year, month);
    return friday < LAST_SATURDAY ? TradingDate.ofDay(friday + 1) : tradingDayAt(days, friday);
  },
  weekly(days, friday) {
    const { year, month } = civilOfDay(friday);
    return friday === thirdFriday(year, month) ? undefined : tradingDayAt(days, friday);
  },
};

const DAYS_BEFORE_THE_OPTIONS_PRICED = 30;

/** Thirty days before the third Friday of the next month, or before the preceding trading day if that Friday is none. */
function volatilityMonthly(days: ExchangeDays, year: number, month: number): TradingDate {
  const [nextYear, nextMonth] = month === 12 ? [year + 1, 1] : [year, month + 1];
  const priced = TradingDate.dayOf(tradingDayAt(days, thirdFriday(nextYear, nextMonth)));
  return tradingDayAt(days, priced - DAYS_BEFORE_THE_OPTIONS_PRICED);
}

/** Options on the volatility index: they settle on a Wednesday morning, by options on the S&P 500 that expire 30 days later. */
export const WEDNESDAYS: ExpirationRule = {
  monthly: volatilityMonthly,
  weekly(days, friday) {
    const wednesday = friday - 2;
    const { year, month } = civilOfDay(wednesday);
    const inThisWeek = (date: TradingDate): boolean => fridayOf(TradingDate.dayOf(date)) === friday;
    return inThisWeek(volatilityMonthly(days, year, month)) ? undefined : tradingDayAt(days, wednesday);
  },
};

/** The Friday that ends the week of a day (day numbers); a Saturday belongs to the Friday before it. */
function fridayOf(day: number): number {
  return weekdayOf(day) === SATURDAY ? day - 1 : onOrAfter(day, FRIDAY);
}

/** The kind of an expiration date; undefined = the class does not expire on that date. */
export function kindOfExpiration(
  rule: ExpirationRule,
  days: ExchangeDays,
  date: TradingDate,
): 'WEEKLY' | 'MONTHLY' | undefined {
  const day = TradingDate.dayOf(date);
  const { year, month } = civilOfDay(day);
  if (rule.monthly(days, year, month) === date) return 'MONTHLY';
  return rule.weekly(days, fridayOf(day)) === date ? 'WEEKLY' : undefined;
}

/** The first `count` weekly expirations on or after a date. */
export function weekliesFrom(
  rule: ExpirationRule,
  days: ExchangeDays,
  today: TradingDate,
  count: number,
): TradingDate[] {
  const dates: TradingDate[] = [];
  for (let friday = fridayOf(TradingDate.dayOf(today)); dates.length < count; friday += 7) {
    const date = rule.weekly(days, friday);
    if (date !== undefined && date >= today) dates.push(date);
  }
  return dates;
}

/** The first `count` monthly expirations on or after a date. */
export function monthliesFrom(
  rule: ExpirationRule,
  days: ExchangeDays,
  today: TradingDate,
  count: number,
): TradingDate[] {
  const dates: TradingDate[] = [];
  const { year, month } = civilOfDay(TradingDate.dayOf(today));
  for (let i = year * 12 + month - 1; dates.length < count; i++) {
    const date = rule.monthly(days, Math.floor(i / 12), (i % 12) + 1);
    if (date >= today) dates.push(date);
  }
  return dates;
}

/** The first `count` expirations of a January after a date. */
export function januariesAfter(
  rule: ExpirationRule,
  days: ExchangeDays,
  date: TradingDate,
  count: number,
): TradingDate[] {
  const dates: TradingDate[] = [];
  for (let { year } = civilOfDay(TradingDate.dayOf(date)); dates.length < count; year++) {
    const january = rule.monthly(days, year, 1);
    if (january > date) dates.push(january);
  }
  return dates;
}
