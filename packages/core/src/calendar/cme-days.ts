import { civilOfDay, TradingDate } from '../values/trading-date.js';
import { FRIDAY, MONDAY, SATURDAY, SUNDAY, weekdayOf } from './weekday.js';
import { xnysEarlyCloses } from './xnys-early-closes.js';
import { thanksgiving, xnysHolidays } from './xnys-holidays.js';

/*
 * What CME Group's exchanges do on and around holidays, 2013–2027 as recorded, by the same rules before and after
 * (docs/rules/futures.md). Days are day numbers, times are minutes after midnight New York.
 */

/** Futures that keep the same holidays: of indices and crypto; of Treasuries and currencies; of energy and metals. */
export type FuturesGroup = 'FUTURES' | 'RATES' | 'ENERGY';

const time = (hour: number, minute: number): number => hour * 60 + minute;
const day = (date: string): number => TradingDate.dayOf(TradingDate.of(date));

const CLOSE = time(17, 0);

/** Holidays on which nothing trades; on others trading is halted early, and counts for the next business day. */
const CLOSED = new Set(["New Year's Day", 'Good Friday', 'Christmas Day']);

const holidayOn = (on: number): string | undefined =>
  xnysHolidays(civilOfDay(on).year).find((holiday) => holiday.day === on)?.name;

/** Weekdays that are no holiday. Days of mourning and hurricanes that closed the stock exchange are business days here. */
export function isCmeBusinessDay(on: number): boolean {
  const weekday = weekdayOf(on);
  return weekday !== SATURDAY && weekday !== SUNDAY && holidayOn(on) === undefined;
}

const NEW_HALTS = day('2014-03-01');
const LATE_ENERGY_HALTS = day('2022-01-01');

/** When trading is halted on a holiday, that began on its eve; `undefined` where it does not begin. */
export function holidayHalt(group: FuturesGroup, on: number): number | undefined {
  const holiday = holidayOn(on);
  if (holiday === undefined) return undefined;
  if (holiday === 'Good Friday') return isJobsReport(on) ? JOBS_REPORT_HALT[group] : undefined;
  if (CLOSED.has(holiday)) return undefined;
  switch (group) {
    case 'FUTURES':
      return on < NEW_HALTS ? time(11, 30) : time(13, 0);
    case 'RATES':
      return time(13, 0);
    case 'ENERGY':
      if (on < NEW_HALTS) return time(13, 15);
      return on >= LATE_ENERGY_HALTS && weekdayOf(on) !== FRIDAY ? time(14, 30) : time(13, 0);
  }
}

const JOBS_REPORT_HALT: Readonly<Record<FuturesGroup, number | undefined>> = {
  FUTURES: time(9, 15),
  RATES: time(11, 15),
  ENERGY: undefined,
};

/** The employment report comes out on the first Friday of a month, also where that is Good Friday. */
function isJobsReport(on: number): boolean {
  const { month, day: dayOfMonth } = civilOfDay(on);
  return month === 4 && dayOfMonth <= 7;
}

const LATE_ENERGY_FRIDAYS = day('2025-01-01');
const LAST_EARLY_FRIDAY = day('2015-05-31');

/** When the session of a business day ends. */
export function closeOfFutures(group: FuturesGroup, on: number): number {
  const isShort = isEarlyClose(on);
  const isEveOfIndependence = civilOfDay(on).month === 7;
  switch (group) {
    case 'FUTURES':
      return isShort ? time(13, 15) : CLOSE;
    case 'RATES':
      if (isShort && !isEveOfIndependence) return time(13, 15);
      return on <= LAST_EARLY_FRIDAY && isBeforeLongWeekend(on) ? time(16, 15) : CLOSE;
    case 'ENERGY':
      if (!isShort || isEveOfIndependence) return CLOSE;
      return on >= LATE_ENERGY_FRIDAYS && isAfterThanksgiving(on) ? time(14, 45) : time(13, 45);
  }
}

const isEarlyClose = (on: number): boolean => xnysEarlyCloses(civilOfDay(on).year).includes(on);

const isAfterThanksgiving = (on: number): boolean => on === thanksgiving(civilOfDay(on).year) + 1;

function isBeforeLongWeekend(on: number): boolean {
  if (weekdayOf(on) !== FRIDAY) return false;
  const holiday = holidayOn(on + 3);
  return holiday !== undefined && !CLOSED.has(holiday);
}

const GRAIN_CLOSE = time(14, 20);
const NEW_GRAIN_HOURS = day('2015-07-03');

/** Days that ended early though no holiday of the stock exchange said so. */
const SHORT_FOR_GRAINS = new Set(['2015-07-02', '2016-12-23', '2017-12-22', '2020-07-02'].map(day));

/** When the day of the grain futures ends. They keep every holiday whole. */
export function closeOfGrains(on: number): number {
  if (!isEarlyClose(on) && !SHORT_FOR_GRAINS.has(on)) return GRAIN_CLOSE;
  return on < NEW_GRAIN_HOURS ? time(13, 0) : time(13, 5);
}

const NO_NIGHT_AFTER = new Set(["New Year's Day", 'Independence Day', 'Thanksgiving Day', 'Christmas Day']);

/** Whether the grain futures of a business day begin on the evening before: not where a holiday in the middle of the week ends then. */
export function hasGrainNight(on: number): boolean {
  const eve = holidayOn(on - 1);
  return eve === undefined || !NO_NIGHT_AFTER.has(eve) || weekdayOf(on - 1) === MONDAY;
}
