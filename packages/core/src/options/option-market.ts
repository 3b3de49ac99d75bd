import type { Calendar } from '../calendar/calendar.js';
import type { Dividend } from '../corporate-actions/corporate-action.js';
import type { Instrument } from '../instruments/instrument.js';
import type { OptionContract } from '../instruments/option.js';
import type { Quote } from '../market/quote.js';
import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';

/** Market data and model inputs of option valuations: quotes, dividends and instruments at an instant. */
export interface OptionMarket {
  readonly at: Instant;
  readonly calendar: Calendar;
  /** Continuous, per year: 0.04 is 4 %. */
  readonly riskFreeRate: number;
  /** Margin looks at each component of an adjusted contract (`Rules.components`). */
  readonly components?: true;
  quote(symbol: string): Quote | undefined;
  instrument(symbol: string): Instrument | undefined;
  /** Announced dividends, past or future. */
  dividendsOn(symbol: string): readonly Dividend[];
  /** The individually listed options of an underlying and an expiration. */
  optionsListed(underlying: string, expiration: TradingDate): Iterable<OptionContract>;
}
