import { civilOfDay, TradingDate } from '../values/trading-date.js';
import { FRIDAY, MONDAY, SATURDAY, SUNDAY, weekdayOf } from './weekday.js';
import { xnysEarlyCloses } from './xnys-early-closes.js';
import { thanksgiving, xnysHolidays } from './xnys-holidays.js';

/*
 * Hours of CME Group's exchanges on and around holidays, 2013–2027 as recorded, by the same rules before and after
 * (docs/rules/futures.md). Days are day numbers, times are minutes after midnight New York.
 */

/** Futures with the same holidays: of indices; of crypto; of Treasuries; of currencies; of energy and metals. */
export type FuturesGroup = 'FUTURES' | 'CRYPTO' | 'RATES' | 'CURRENCIES' | 'ENERGY';

const time = (hour: number, minute: number): number => hour * 60 + minute;
const day = (date: string): number => TradingDate.dayOf(TradingDate.of(date));

const CLOSE = time(17, 0);

/** Holidays without trading; on others trading is halted early, and counts for the next business day. */
const CLOSED = new Set(["New Year's Day", 'Good Friday', 'Christmas Day']);

const holidayOn = (on: number): string | undefined =>
  xnysHolidays(civilOfDay(on).year).find((holiday) => holiday.day === on)?.name;

/** Weekdays that are no holiday. Days of mourning and hurricanes that closed the stock exchange are business days here. */
export function isCmeBusinessDay(on: number): boolean {
  const weekday = weekdayOf(on);
  return weekday !== SATURDAY && weekday !== SUNDAY && holidayOn(on) === undefined;
}

const NEW_HALTS = day('2014-03-01');
/** Start of longer hours on Monday-to-Thursday holidays for some groups. */
const LATE_HALTS = day('2022-01-01');
const isLate = (on: number): boolean => on >= LATE_HALTS && weekdayOf(on) !== FRIDAY;

/** Time of the trading halt on a holiday whose session began on its eve; `undefined` if there is no session. */
export function holidayHalt(group: FuturesGroup, on: number): number | undefined {
  const holiday = holidayOn(on);
  if (holiday === undefined) return undefined;
  if (holiday === 'Good Friday') return isJobsReport(on) ? jobsReportHalt(group, on) : undefined;
  if (CLOSED.has(holiday)) return undefined;
  switch (group) {
    case 'FUTURES':
      return haltOfIndices(on);
    case 'CRYPTO':
      return isLate(on) ? CLOSE : haltOfIndices(on);
    case 'RATES':
      return time(13, 0);
    case 'CURRENCIES':
      return isLate(on) ? CLOSE : time(13, 0);
    case 'ENERGY':
      if (on < NEW_HALTS) return time(13, 15);
      return isLate(on) ? time(14, 30) : time(13, 0);
  }
}

const haltOfIndices = (on: number): number => (on < NEW_HALTS ? time(11, 30) : time(13, 0));

const LATE_CRYPTO_GOOD_FRIDAYS = day('2023-01-01');

function jobsReportHalt(group: FuturesGroup, on: number): number | undefined {
  switch (group) {
    case 'FUTURES':
      return time(9, 15);
    case 'CRYPTO':
      return on < LATE_CRYPTO_GOOD_FRIDAYS ? time(9, 15) : time(11, 15);
    case 'RATES':
    case 'CURRENCIES':
      return time(11, 15);
    case 'ENERGY':
      return undefined;
  }
}

/** True on a Good Friday that is the first Friday of a month: the employment report is published then. */
function isJobsReport(on: number): boolean {
  const { month, day: dayOfMonth } = civilOfDay(on);
  return month === 4 && dayOfMonth <= 7;
}

/** The day of mourning for President Carter: Treasuries and grains closed early, currencies, crypto, energy and metals did not. */
const CARTER_MOURNING = day('2025-01-09');

/** True on a day of mourning on which some futures closed early. */
export const isMourning = (date: TradingDate): boolean => TradingDate.dayOf(date) === CARTER_MOURNING;

/** Start of later closes of currencies, crypto and energy on short days (D265; one source). */
const LATE_SHORT_DAYS = day('2025-01-01');
const LATE_CRYPTO_SHORT_DAYS = day('2021-01-01');
const LAST_EARLY_FRIDAY = day('2015-05-31');

/** Close of the session of a business day. `isUnannounced`: a day of mourning on it has not been announced yet. */
export function closeOfFutures(group: FuturesGroup, on: number, isUnannounced: boolean): number {
  const isShort = isEarlyClose(on);
  const isEveOfIndependence = civilOfDay(on).month === 7;
  switch (group) {
    case 'FUTURES':
      return isShort ? time(13, 15) : CLOSE;
    case 'CRYPTO':
      if (!isShort) return CLOSE;
      return isEveOfIndependence || on < LATE_CRYPTO_SHORT_DAYS ? time(13, 15) : lateShortClose(on);
    case 'RATES':
      if (on === CARTER_MOURNING && !isUnannounced) return time(13, 15);
      return closeOfRates(on, isShort && !isEveOfIndependence);
    case 'CURRENCIES':
      if (isShort && !isEveOfIndependence && on >= LATE_SHORT_DAYS) return lateShortClose(on);
      return closeOfRates(on, isShort && !isEveOfIndependence);
    case 'ENERGY':
      return !isShort || isEveOfIndependence ? CLOSE : lateShortClose(on);
  }
}

/** Close of crypto, currencies and energy on Christmas Eve and after Thanksgiving. */
const lateShortClose = (on: number): number =>
  on >= LATE_SHORT_DAYS && isAfterThanksgiving(on) ? time(14, 45) : time(13, 45);

function closeOfRates(on: number, isShort: boolean): number {
  if (isShort) return time(13, 15);
  return on <= LAST_EARLY_FRIDAY && isBeforeLongWeekend(on) ? time(16, 15) : CLOSE;
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

/** Early closes of grains without an early close of the stock exchange. */
const SHORT_FOR_GRAINS = new Set(['2015-07-02', '2016-12-23', '2017-12-22', '2020-07-02'].map(day));

/** Close of the day session of grain futures. They are closed on every full holiday. */
export function closeOfGrains(on: number, isUnannounced: boolean): number {
  if (on === CARTER_MOURNING && !isUnannounced) return time(13, 15);
  if (!isEarlyClose(on) && !SHORT_FOR_GRAINS.has(on)) return GRAIN_CLOSE;
  return on < NEW_GRAIN_HOURS ? time(13, 0) : time(13, 5);
}

const NO_NIGHT_AFTER = new Set(["New Year's Day", 'Independence Day', 'Thanksgiving Day', 'Christmas Day']);

/** True when the grain futures of a business day begin on the evening before, which they do not after a midweek holiday. */
export function hasGrainNight(on: number): boolean {
  const eve = holidayOn(on - 1);
  return eve === undefined || !NO_NIGHT_AFTER.has(eve) || weekdayOf(on - 1) === MONDAY;
}
