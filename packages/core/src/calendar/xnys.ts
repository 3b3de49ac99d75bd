import { civilOfDay, TradingDate } from '../values/trading-date.js';
import { isBankHoliday } from './bank-holidays.js';
import type { Calendar } from './calendar.js';
import { AnnouncedCalendar } from './daily-calendar.js';
import type { Announcements, DayHours } from './daily-calendar.js';
import { SessionNumbers, weekdayAt, weekdayNumber } from './session-numbers.js';
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

/** Day on which the special hours of a day were announced, both as day numbers. */
const announcedOn = new Map(
  [...XNYS_SPECIAL_CLOSURES, ...XNYS_LATE_OPENS].map(({ date, announced }) => [
    TradingDate.dayOf(date),
    TradingDate.dayOf(announced),
  ]),
);
const announcementDays = [...new Set(announcedOn.values())].sort((a, b) => a - b);

/** The announcements of the exchange, `days` days later. Each concerns a day that would have been a full one. */
const announcementsAfter = (days: number): Announcements => ({
  announcedOn: (day) => {
    const announced = announcedOn.get(day - days);
    return announced === undefined ? undefined : announced + days;
  },
  scheduledOn: () => FULL_DAY,
  latestBy: (day) => {
    const found = announcementDays.findLast((one) => one <= day - days);
    return found === undefined ? undefined : found + days;
  },
  firstAfter: (day) => {
    const found = announcementDays.find((one) => one > day - days);
    return found === undefined ? undefined : found + days;
  },
});

/**
 * The New York Stock Exchange: history for 1998–2026, by rule to 2030 and, as a best guess, beyond both ends.
 * Today's hours are used throughout. See docs/rules/trading-calendar.md.
 */
export const xnys: Calendar = new AnnouncedCalendar('XNYS', hoursOn, isBankHoliday, announcementsAfter(0));

const WEEK_DAYS = 7;

/** The calendar of the exchange moved into the future: each date has the hours of the date `weeks` weeks before it. */
export const xnysMovedBy = (weeks: number): Calendar =>
  new AnnouncedCalendar(
    `XNYS+${weeks}`,
    (day) => hoursOn(day - weeks * WEEK_DAYS),
    (day) => isBankHoliday(day - weeks * WEEK_DAYS),
    announcementsAfter(weeks * WEEK_DAYS),
  );

/** The sessions of the exchange, numbered. */
const sessions = new SessionNumbers((year) => [
  ...xnysHolidays(year).map(({ day }) => day),
  ...specialClosures,
]);

/**
 * Sessions of the exchange on consecutive weekdays: that of the first recorded session on its own weekday, `weeks` weeks later, and so
 * on in both directions (D209). Days are day numbers.
 */
export class SessionMap {
  /** Number of a weekday less that of its session. */
  private readonly offset: number;

  constructor(first: TradingDate, weeks: number) {
    const day = TradingDate.dayOf(first);
    this.offset = weekdayNumber(day + weeks * WEEK_DAYS) - sessions.numberOf(day);
  }

  static isSession(day: number): boolean {
    return hoursOn(day) !== undefined;
  }

  static isWeekday(day: number): boolean {
    const weekday = weekdayOf(day);
    return weekday !== SATURDAY && weekday !== SUNDAY;
  }

  /** The last weekday before a day. */
  static weekdayBefore(day: number): number {
    return weekdayAt(weekdayNumber(day) - 1);
  }

  /** The weekday of a session; of another day that of the next session. */
  movedDay(day: number): number {
    return weekdayAt(sessions.numberOf(day) + this.offset);
  }

  /** The session of a weekday; of another day that of the next weekday. */
  recordedDay(day: number): number {
    return sessions.dayOf(weekdayNumber(day) - this.offset);
  }
}

/** Most days from one early close to the next. */
const LONGEST_WITHOUT_SHORT_DAY = 800;

/** The calendar of a `SessionMap`: a session on every weekday, each with the hours of its own, which are known from its midnight on. */
export function xnysSessions(first: TradingDate, weeks: number): Calendar {
  const map = new SessionMap(first, weeks);
  const hours = (day: number): DayHours | undefined =>
    SessionMap.isWeekday(day) ? hoursOn(map.recordedDay(day)) : undefined;
  const isUnusual = (day: number): boolean => {
    const on = hours(day);
    return on !== undefined && on !== FULL_DAY;
  };
  const nearest = (day: number, step: 1 | -1): number | undefined => {
    for (let looked = 0; looked < LONGEST_WITHOUT_SHORT_DAY; looked++, day += step)
      if (isUnusual(day)) return day;
    return undefined;
  };
  return new AnnouncedCalendar(`XNYS@${first}+${weeks}`, hours, () => false, {
    announcedOn: (day) => (isUnusual(day) ? day : undefined),
    scheduledOn: () => FULL_DAY,
    latestBy: (day) => nearest(day, -1),
    firstAfter: (day) => nearest(day + 1, 1),
  });
}
