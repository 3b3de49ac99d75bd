import { TradingDate } from '../values/trading-date.js';
import { isBankHoliday } from './bank-holidays.js';
import type { BusinessDays } from './calendar.js';
import { closeOfFutures, closeOfGrains, hasGrainNight, holidayHalt, isCmeBusinessDay } from './cme-days.js';
import type { FuturesGroup } from './cme-days.js';
import { DailyCalendar } from './daily-calendar.js';
import type { DayHours } from './daily-calendar.js';
import type { Stretch } from './daily-hours.js';
import { newYorkInstant } from './new-york-time.js';

/** Nominal: the hours of each instrument determine when it trades on a day. */
const BUSINESS_DAY: DayHours = {
  regularOpen: 0,
  regularClose: 17 * 60,
  extendedOpen: 0,
  extendedClose: 17 * 60,
  earlyClose: false,
};

/** The business days of CME Group's exchanges: trade dates, and the days that last trade dates are counted in. */
export const cme: BusinessDays = new DailyCalendar(
  (day) => (isCmeBusinessDay(day) ? BUSINESS_DAY : undefined),
  isBankHoliday,
);

const EVENING = 18 * 60;
const GRAIN_EVENING = 20 * 60;
const GRAIN_MORNING = 8 * 60 + 45;
const GRAIN_DAY = 9 * 60 + 30;

/**
 * Trading stretches of a trade date: from 18:00 on its eve, preceded by those that were halted early on holidays since
 * the business day before. `isUnannounced`: its mourning is not known yet.
 */
export function futuresStretches(
  group: FuturesGroup,
  date: TradingDate,
  isUnannounced = false,
): [Stretch, ...Stretch[]] {
  const on = TradingDate.dayOf(date);
  const before: Stretch[] = [];
  for (let day = TradingDate.dayOf(cme.previousTradingDay(date)) + 1; day < on; day++) {
    const halt = holidayHalt(group, day);
    if (halt !== undefined) before.push(overnight(day, EVENING, halt));
  }
  const own = overnight(on, EVENING, closeOfFutures(group, on, isUnannounced));
  const [first, ...others] = before;
  return first === undefined ? [own] : [first, ...others, own];
}

/** The night and the day of a trade date. */
export function grainStretches(date: TradingDate, isUnannounced = false): [Stretch, ...Stretch[]] {
  const on = TradingDate.dayOf(date);
  const day = {
    from: newYorkInstant(on, GRAIN_DAY),
    until: newYorkInstant(on, closeOfGrains(on, isUnannounced)),
  };
  return hasGrainNight(on) ? [overnight(on, GRAIN_EVENING, GRAIN_MORNING), day] : [day];
}

/** From a time on the eve of a day to a time on the day itself. */
const overnight = (day: number, from: number, until: number): Stretch => ({
  from: newYorkInstant(day - 1, from),
  until: newYorkInstant(day, until),
});
