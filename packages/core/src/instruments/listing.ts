import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import type { Instrument } from './instrument.js';
import type { OptionContract, OptionSeries } from './option.js';

/** What a feed lists, as plain data: kept beside the journal, where the rules in force name it by its digest. */
export interface Listing {
  /** Listed one by one. */
  readonly instruments: readonly Instrument[];
  /** Of these some are listed from a date on only. */
  readonly since?: Readonly<Record<string, TradingDate>>;
  /** True when there are options on all these stocks, funds and indices, by the rules of `option-series.ts` (D126). */
  readonly hasOptions?: boolean;
  /** Roots of the futures whose front months are listed (D126). */
  readonly futures?: readonly string[];
}

/**
 * What there is to quote, looked up and not held: what is listed one by one is at hand, a contract of an option or a future is
 * computed from its symbol. Pure: the same question always has the same answer, in another process too, and what is known at
 * an instant is known at every later one.
 */
export interface Instruments {
  readonly listing: Listing;
  /** What a symbol names, where it has been listed by this instant; be it that it trades no longer. */
  get(symbol: string, at: Instant): Instrument | undefined;
  /** The series on an underlying that are listed by rule and not over on that date, in order of their expirations. */
  seriesOn(underlying: string, today: TradingDate): readonly OptionSeries[];
  /**
   * Of the options listed by rule those that expire on a date and whose strikes lie around `spot` (D126), by strike, the call before
   * the put. Others with strikes farther away are listed too: `get` knows them.
   */
  contracts(
    underlying: string,
    expiration: TradingDate,
    spot: Price,
    today: TradingDate,
  ): readonly OptionContract[];
  /** The options on an underlying that are listed one by one by a date, in the order of the listing. */
  optionsListed(underlying: string, today: TradingDate): readonly OptionContract[];
  /** The months of futures that are listed by rule and not over on that date, those of a root in order. */
  futures(today: TradingDate): readonly FutureContract[];
}
