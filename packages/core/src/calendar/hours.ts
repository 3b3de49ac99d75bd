import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import { alwaysOpen } from './always-open.js';
import type { Calendar, TradingDay } from './calendar.js';
import { DailyHours } from './daily-hours.js';
import type { Sessions, Stretch } from './daily-hours.js';
import type { HoursId, MarketHours } from './market-hours.js';
import { xnys } from './xnys.js';

/** Some classes of options trade a quarter of an hour longer, on short days as well. */
const LATE_MS = 15 * 60_000;

const extended = (day: TradingDay): Sessions => ({
  REGULAR: [{ from: day.regularOpen, until: day.regularClose }],
  EXTENDED: [{ from: day.extendedOpen, until: day.extendedClose }],
});

const regularOnly = (...stretches: Sessions['REGULAR']): Sessions => ({
  REGULAR: stretches,
  EXTENDED: stretches,
});

type WallTime = readonly [hour: number, minute: number];

/** From a time on the evening before a trade day to a time on the day itself. */
const overnight = ({ date }: TradingDay, from: WallTime, until: WallTime): Stretch => ({
  from: xnys.instantOf(TradingDate.plusDays(date, -1), ...from),
  until: xnys.instantOf(date, ...until),
});

const sameDay = ({ date }: TradingDay, from: WallTime, until: WallTime): Stretch => ({
  from: xnys.instantOf(date, ...from),
  until: xnys.instantOf(date, ...until),
});

/** Sources: docs/rules/trading-calendar.md. */
const XNYS: Readonly<Record<HoursId, MarketHours>> = {
  EQUITIES: new DailyHours(xnys, extended),
  OPTIONS: new DailyHours(xnys, (day) => regularOnly({ from: day.regularOpen, until: day.regularClose })),
  LATE_OPTIONS: new DailyHours(xnys, (day) =>
    regularOnly({ from: day.regularOpen, until: Instant.plusMs(day.regularClose, LATE_MS) }),
  ),
  FUTURES: new DailyHours(xnys, (day) => regularOnly(overnight(day, [18, 0], [17, 0]))),
  GRAINS: new DailyHours(xnys, (day) =>
    regularOnly(overnight(day, [20, 0], [8, 45]), sameDay(day, [9, 30], [14, 20])),
  ),
};

const always = new DailyHours(alwaysOpen, extended, true);
const ALWAYS_OPEN: Readonly<Record<HoursId, MarketHours>> = {
  EQUITIES: always,
  OPTIONS: always,
  LATE_OPTIONS: always,
  FUTURES: always,
  GRAINS: always,
};

const HOURS: Readonly<Record<Calendar['id'], Readonly<Record<HoursId, MarketHours>>>> = {
  XNYS,
  'always-open': ALWAYS_OPEN,
};

/** These hours on that calendar. There is one of each, shared by all simulations. */
export const marketHours = (calendar: Calendar, id: HoursId): MarketHours => HOURS[calendar.id][id];

/** The first open of any instrument's session strictly after `at`. */
export function nextOpenOfAny(calendar: Calendar, at: Instant): Instant {
  const opens = Object.values(HOURS[calendar.id]).flatMap((hours) => [
    hours.nextOpen('REGULAR', at),
    hours.nextOpen('EXTENDED', at),
  ]);
  return Instant.ofMs(Math.min(...opens));
}
