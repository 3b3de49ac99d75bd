import { Instant } from '../values/instant.js';
import { alwaysOpen } from './always-open.js';
import type { Calendar, TradingDay } from './calendar.js';
import { DailyHours } from './daily-hours.js';
import { cme, futuresStretches, grainStretches } from './cme.js';
import { isMourning } from './cme-days.js';
import type { Sessions } from './daily-hours.js';
import type { HoursId, MarketHours } from './market-hours.js';
import type { TradingDate } from '../values/trading-date.js';
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

type HoursOfAll = Readonly<Record<HoursId, MarketHours>>;

/** True for a mourning day of which this view of the exchange's calendar does not know. CME announced its hours with the exchange. */
const isUnannounced = (exchange: Calendar, date: TradingDate): boolean =>
  exchange.id === 'XNYS' && isMourning(date) && exchange.isTradingDay(date);

/** Sources: docs/rules/trading-calendar.md. Futures have the hours of CME, even if the calendar of the exchange is moved. */
const hoursOnExchange = (exchange: Calendar): HoursOfAll => ({
  EQUITIES: new DailyHours(exchange, extended),
  OPTIONS: new DailyHours(exchange, (day) => regularOnly({ from: day.regularOpen, until: day.regularClose })),
  LATE_OPTIONS: new DailyHours(exchange, (day) =>
    regularOnly({ from: day.regularOpen, until: Instant.plusMs(day.regularClose, LATE_MS) }),
  ),
  FUTURES: new DailyHours(cme, ({ date }) => regularOnly(...futuresStretches('FUTURES', date))),
  CRYPTO: new DailyHours(cme, ({ date }) => regularOnly(...futuresStretches('CRYPTO', date))),
  RATES: new DailyHours(cme, ({ date }) =>
    regularOnly(...futuresStretches('RATES', date, isUnannounced(exchange, date))),
  ),
  CURRENCIES: new DailyHours(cme, ({ date }) => regularOnly(...futuresStretches('CURRENCIES', date))),
  ENERGY: new DailyHours(cme, ({ date }) => regularOnly(...futuresStretches('ENERGY', date))),
  GRAINS: new DailyHours(cme, ({ date }) =>
    regularOnly(...grainStretches(date, isUnannounced(exchange, date))),
  ),
});

const always = new DailyHours(alwaysOpen, extended, true);
const ALWAYS_OPEN: HoursOfAll = {
  EQUITIES: always,
  OPTIONS: always,
  LATE_OPTIONS: always,
  FUTURES: always,
  CRYPTO: always,
  RATES: always,
  CURRENCIES: always,
  ENERGY: always,
  GRAINS: always,
};

/** Keyed by the object, not by its id: views of one calendar as of different days share their id. */
const hoursByCalendar = new WeakMap<Calendar, HoursOfAll>([
  [xnys, hoursOnExchange(xnys)],
  [alwaysOpen, ALWAYS_OPEN],
]);

function hoursOfAll(calendar: Calendar): HoursOfAll {
  let hours = hoursByCalendar.get(calendar);
  if (hours === undefined) hoursByCalendar.set(calendar, (hours = hoursOnExchange(calendar)));
  return hours;
}

/** Hours of an id on a calendar. There is one object of each, shared by all simulations. */
export const marketHours = (calendar: Calendar, id: HoursId): MarketHours => hoursOfAll(calendar)[id];

/** The first open of any instrument's session strictly after `at`. */
export function nextOpenOfAny(calendar: Calendar, at: Instant): Instant {
  const opens = Object.values(hoursOfAll(calendar)).flatMap((hours) => [
    hours.nextOpen('REGULAR', at),
    hours.nextOpen('EXTENDED', at),
  ]);
  return Instant.ofMs(Math.min(...opens));
}
