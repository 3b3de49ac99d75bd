import type { Calendar } from '../calendar/calendar.js';
import type { CashDividend } from '../corporate-actions/corporate-action.js';
import type { Instrument } from '../instruments/instrument.js';
import type { OptionContract } from '../instruments/option.js';
import type { Quote } from '../market/quote.js';
import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';

/** What options are valued by: quotes, dividends and instruments as of an instant. */
export interface OptionMarket {
  readonly at: Instant;
  readonly calendar: Calendar;
  /** Continuous, a year: 0.04 is 4 %. */
  readonly riskFreeRate: number;
  quote(symbol: string): Quote | undefined;
  instrument(symbol: string): Instrument | undefined;
  /** Announced, whether they are still to come or not. */
  dividendsOn(symbol: string): readonly CashDividend[];
  /** The options of an underlying and an expiration that are listed one by one. */
  optionsListed(underlying: string, expiration: TradingDate): Iterable<OptionContract>;
}
