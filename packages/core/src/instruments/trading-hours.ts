import type { Calendar } from '../calendar/calendar.js';
import { marketHours } from '../calendar/hours.js';
import type { HoursId } from '../calendar/market-hours.js';
import { londonInstant } from '../calendar/london-time.js';
import { xnys } from '../calendar/xnys.js';
import { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import { futureSpecification } from './future-specifications.js';
import type { WallTime } from './future-specifications.js';
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

/** Trading hours of an instrument; an index has those of its options. */
export function hoursOf(instrument: Instrument | OptionSeries): HoursId {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return 'EQUITIES';
    case 'OPTION':
      return LATE.has(instrument.underlying) ? 'LATE_OPTIONS' : 'OPTIONS';
    case 'FUTURE':
      return futureSpecification(instrument.root)?.hours ?? 'FUTURES';
    case 'INDEX':
      return LATE.has(instrument.symbol) ? 'LATE_OPTIONS' : 'OPTIONS';
  }
}

/** Default end on calendars that never close: 16:00 (D69). */
const END_OF_THE_OPEN: WallTime = [16, 0];

/** The instant of a contract's last trade. */
export function tradingEndsAt(contract: OptionSeries | FutureContract, calendar: Calendar): Instant {
  return contract.assetClass === 'OPTION'
    ? seriesEndsAt(contract, calendar)
    : futureEndsAt(contract, calendar);
}

/**
 * The end of its hours on its last trade date. A series with cash settlement at the close stops with the regular session, for any class.
 */
function seriesEndsAt(series: OptionSeries, calendar: Calendar): Instant {
  const date = lastTradeDateOf(series, calendar);
  if (calendar.id === 'always-open') return wallInstant(END_OF_THE_OPEN, date);
  const stopsEarly = series.settlement === 'CASH' && series.settleSession === 'PM';
  return marketHours(calendar, stopsEarly ? 'OPTIONS' : hoursOf(series)).closeOn('REGULAR', date);
}

/** The close of the stock market on a date: its mark settles series without an opening (D85). */
export const stockCloseOn = (date: TradingDate, calendar: Calendar): Instant =>
  calendar.id === 'always-open'
    ? wallInstant(END_OF_THE_OPEN, date)
    : marketHours(calendar, 'EQUITIES').closeOn('REGULAR', date);

/** The time of its rule (D91), or the end of its session on the last trade date if that is earlier or there is no time. */
function futureEndsAt(contract: FutureContract, calendar: Calendar): Instant {
  const { lastTradeDate } = contract;
  const hour = futureSpecification(contract.root)?.lastTradeTime;
  if (calendar.id === 'always-open') return wallInstant(hour ?? END_OF_THE_OPEN, lastTradeDate);
  const close = marketHours(calendar, hoursOf(contract)).closeOn('REGULAR', lastTradeDate);
  return hour === undefined ? close : Instant.min(close, wallInstant(hour, lastTradeDate));
}

/** Settlement time of the futures of a root on a trade date (D95): their fixed time, or on a short day the close. */
export function dailySettlementAt(contract: FutureContract, date: TradingDate, calendar: Calendar): Instant {
  const hour = futureSpecification(contract.root)?.settlementTime ?? END_OF_THE_OPEN;
  if (calendar.id === 'always-open') return wallInstant(hour, date);
  return Instant.min(
    wallInstant(hour, date),
    marketHours(calendar, hoursOf(contract)).closeOn('REGULAR', date),
  );
}

const wallInstant = (hour: WallTime, date: TradingDate): Instant =>
  hour === 'LONDON_16:00' ? londonInstant(date, 16) : xnys.instantOf(date, ...hour);
