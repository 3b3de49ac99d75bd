import { civilOfDay, TradingDate } from '../values/trading-date.js';
import { isBankHoliday } from './bank-holidays.js';
import type { Calendar } from './calendar.js';
import { NamedCalendar } from './daily-calendar.js';
import type { DayHours } from './daily-calendar.js';
import { SATURDAY, SUNDAY, weekdayOf } from './weekday.js';
import { xnysEarlyCloses } from './xnys-early-closes.js';
import { XNYS_EXTRA_EARLY_CLOSES, XNYS_LATE_OPENS, XNYS_SPECIAL_CLOSURES } from './xnys-exceptions.js';
import { xnysHolidays } from './xnys-holidays.js';

/** NYSE Arca Rule 7.34-E: early session from 04:00, core session 09:30–16:00, late session to 20:00. */
const FULL_DAY: DayHours = {
  extendedOpen: 4 * 60,
  regularOpen: 9 * 60 + 30,
  regularClose: 16 * 60,
  extendedClose: 20 * 60,
  earlyClose: false,
};

/** NYSE's yearly announcements: core session to 13:00, late session to 17:00. */
const SHORT_DAY: DayHours = { ...FULL_DAY, regularClose: 13 * 60, extendedClose: 17 * 60, earlyClose: true };

const specialClosures = new Set(XNYS_SPECIAL_CLOSURES.map(({ date }) => TradingDate.dayOf(date)));
const extraEarlyCloses = new Set(XNYS_EXTRA_EARLY_CLOSES.map(({ date }) => TradingDate.dayOf(date)));
const lateOpens = new Map(
  XNYS_LATE_OPENS.map(({ date, opens: [hour, minute] }) => [TradingDate.dayOf(date), hour * 60 + minute]),
);

function hoursOn(day: number): DayHours | undefined {
  const weekday = weekdayOf(day);
  if (weekday === SATURDAY || weekday === SUNDAY || specialClosures.has(day)) return undefined;
  const { year } = civilOfDay(day);
  if (xnysHolidays(year).some((holiday) => holiday.day === day)) return undefined;
  const lateOpen = lateOpens.get(day);
  if (lateOpen !== undefined) return { ...FULL_DAY, regularOpen: lateOpen };
  return extraEarlyCloses.has(day) || xnysEarlyCloses(year).includes(day) ? SHORT_DAY : FULL_DAY;
}

/**
 * The New York Stock Exchange: history for 1998–2026, by rule to 2030 and, as a best guess, beyond both ends.
 * Today's hours are used throughout. See docs/rules/trading-calendar.md.
 */
export const xnys: Calendar = new NamedCalendar('XNYS', hoursOn, isBankHoliday);

const WEEK_DAYS = 7;

/** The calendar of the exchange moved into the future: each date has the hours of the date `weeks` weeks before it. */
export const xnysMovedBy = (weeks: number): Calendar =>
  new NamedCalendar(
    `XNYS+${weeks}`,
    (day) => hoursOn(day - weeks * WEEK_DAYS),
    (day) => isBankHoliday(day - weeks * WEEK_DAYS),
  );
