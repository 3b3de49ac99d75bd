import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import type { Instrument } from './instrument.js';
import type { OptionContract, OptionSeries } from './option.js';

/** Instruments of a feed, as plain data: stored with the journal; the rules in force name it by its digest. */
export interface Listing {
  /** Instruments listed individually. */
  readonly instruments: readonly Instrument[];
  /** Listing dates of those that are not listed from the start. */
  readonly since?: Readonly<Record<string, TradingDate>>;
  /** True when options on all these stocks, funds and indices are listed, by the rules of `option-series.ts` (D126). */
  readonly hasOptions?: boolean;
  /** Roots of the futures whose front months are listed (D126). */
  readonly futures?: readonly string[];
}

/**
 * Lookup of instruments: individually listed ones are stored, a contract of an option or a future is
 * computed from its symbol. Pure: the same inputs have the same result in any process, and an instrument known at
 * an instant is known at every later one.
 */
export interface Instruments {
  readonly listing: Listing;
  /** The instrument of a symbol that has been listed by this instant, even if it no longer trades. */
  get(symbol: string, at: Instant): Instrument | undefined;
  /** The series on an underlying that are listed by rule and not expired on that date, in order of their expirations. */
  seriesOn(underlying: string, today: TradingDate): readonly OptionSeries[];
  /**
   * Options listed by rule that expire on a date and have strikes around `spot` (D126), by strike, the call before
   * the put. Others with more distant strikes are listed too: `get` returns them.
   */
  contracts(
    underlying: string,
    expiration: TradingDate,
    spot: Price,
    today: TradingDate,
  ): readonly OptionContract[];
  /** The options on an underlying that are listed individually by a date, in the order of the listing. */
  optionsListed(underlying: string, today: TradingDate): readonly OptionContract[];
  /** The months of futures that are listed by rule and not expired on that date, those of a root in order. */
  futures(today: TradingDate): readonly FutureContract[];
}
