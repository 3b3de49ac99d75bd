import type { Calendar } from '../calendar/calendar.js';
import { marketHours } from '../calendar/hours.js';
import type { HoursId } from '../calendar/market-hours.js';
import type { Instant } from '../values/instant.js';
import type { Instrument } from './instrument.js';
import { lastTradeDateOf } from './option.js';
import type { OptionSeries } from './option.js';

/** Underlyings whose options trade to 16:15 (D69): broad indices, and funds that the exchanges name. */
const LATE: ReadonlySet<string> = new Set(
  (
    'SPX XSP NDX RUT VIX OEX DJX SPY QQQ IWM DIA EEM EFA FXI IYR KBE KRE LQD MDY OEF SVXY TLT UNG UUP UVXY VXX ' +
    'XLB XLE XLF XLI XLK XLP XLU XLV XLY XHB XME XRT DBA DBC SLX'
  ).split(' '),
);

export const isLateUnderlying = (symbol: string): boolean => LATE.has(symbol);

/** Roots of the futures that trade in the hours of the grain room (D92). */
const GRAINS: ReadonlySet<string> = new Set(['ZC', 'ZW', 'ZS']);

/** Which hours an instrument trades in; an index is quoted in those of the options on it. */
export function hoursOf(instrument: Instrument | OptionSeries): HoursId {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return 'EQUITIES';
    case 'OPTION':
      return LATE.has(instrument.underlying) ? 'LATE_OPTIONS' : 'OPTIONS';
    case 'FUTURE':
      return GRAINS.has(instrument.root) ? 'GRAINS' : 'FUTURES';
    case 'INDEX':
      return LATE.has(instrument.symbol) ? 'LATE_OPTIONS' : 'OPTIONS';
  }
}

/**
 * The instant at which a series has traded for the last time: the end of its hours on its last trade date. A series that
 * settles in cash at the close stops with the regular session, whatever its class; where nothing ever closes, at 16:00.
 */
export function tradingEndsAt(contract: OptionSeries, calendar: Calendar): Instant {
  const date = lastTradeDateOf(contract, calendar);
  if (calendar.id === 'always-open') return calendar.instantOf(date, 16, 0);
  const stopsEarly = contract.settlement === 'CASH' && contract.settleSession === 'PM';
  return marketHours(calendar, stopsEarly ? 'OPTIONS' : hoursOf(contract)).closeOn('REGULAR', date);
}
