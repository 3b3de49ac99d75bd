import type { Bar, CorporateAction, Instant, Listing, Quote, TradingDate } from '@sandpit/core';
import type { Mask } from './mask.js';

/** Changes of a feed's market at one instant, in the order in which they must be applied. */
export interface MarketEvent {
  readonly at: Instant;
  /** In order; a symbol may occur twice (its quote, then its trade). The last one is the quote in force. */
  readonly quotes: readonly Quote[];
  /** Path of prices before `quotes`; recorded minute bars only. */
  readonly passed?: PassedQuotes;
  /** Halts come before the quotes of their instant, resumptions after them. */
  readonly halts?: readonly HaltNews[];
}

/** A halt that the source reports (D178), or the end of one. `*` is the whole stock market. */
export type HaltNews =
  | {
      readonly symbol: string;
      readonly reason: string;
      /** Absent = as long as halts for this reason last. */
      readonly lastsMs?: number;
    }
  | { readonly symbol: string; readonly resumes: true };

/**
 * The inside of a recorded bar: per symbol its open, its low, its high, in that order (the true order of low and high is not recorded).
 * Only orders that were working at `since` may be tested against these. A reader that ignores them sees the market only at the end of each
 * minute, which is correct but misses touches in between.
 */
interface PassedQuotes {
  readonly since: Instant;
  readonly quotes: readonly Quote[];
}

export type BarSize = '1Min' | '5Min' | '15Min' | '1Hour' | '1Day';

export interface BarQuery {
  readonly symbol: string;
  readonly size: BarSize;
  /** Bars that start at or after this. */
  readonly from: Instant;
  /** Bars that are complete at this (a bar is known only at its end). */
  readonly until: Instant;
  /** At most this many, the latest ones. */
  readonly limit: number;
}

/**
 * A source of market data. Deterministic: the same calls have the same results, also in another process. A live feed (`live-feed.ts`)
 * cannot promise that. It guarantees that a result for an instant never changes once returned, because later data is dated later; and it
 * keeps results for seconds only. Records contain the quotes that decisions read, so a journal re-executes without the feed.
 */
export interface Feed {
  readonly kind: 'synthetic' | 'replay' | 'push' | 'live';
  /** Default age from which a quote no longer fills orders (D47), ms; absent = by the kind of feed. */
  readonly maxAgeMs?: number | undefined;
  /** The first session of a recording; absent = the feed is none, or its symbols have no rows. */
  firstSession?(): TradingDate | undefined;
  /** Mask of a masked recording (D209). */
  readonly mask?: Mask;
  /** Instruments that the feed lists itself. */
  listing(): Listing;
  /** Every dividend and split the feed knows, sorted by ex-date. */
  corporateActions(): readonly CorporateAction[];
  /**
   * The quote in force at `at`, for feeds that can compute it (synthetic). Feeds that only stream answer
   * `undefined`: there the latest event is the quote in force.
   */
  quoteAt(symbol: string, at: Instant): Quote | undefined;
  /** The instant of that quote, without working the quote out. */
  quotedAt(symbol: string, at: Instant): Instant | undefined;
  /**
   * The events in (after, until], in time order. `symbols` are those of interest (working orders, open streams): a feed that computes its
   * quotes need not yield others; a recorded feed yields everything. Memory use does not depend on the number of events. Calls for one
   * simulation never overlap and move forward. Read with `for await`. `since`: begin of the span that this is the rest of, by which a feed
   * that computes its quotes chooses how many it yields.
   */
  events(
    after: Instant,
    until: Instant,
    symbols: ReadonlySet<string>,
    since?: Instant,
  ): AsyncIterable<MarketEvent> | Iterable<MarketEvent>;
  /**
   * The quotes of these symbols in (after, until], in time order, read again from the beginning for each call. Absent in feeds that
   * compute their quotes, and in those that do not keep them.
   */
  pastQuotes?(after: Instant, until: Instant, symbols: ReadonlySet<string>): AsyncIterable<Quote>;
  /** Records quotes pushed through the API; a feed with quotes of its own ignores them. */
  record(quotes: readonly Quote[]): void;
  /** Contracts of an option that were open in the evening before, as far as known at `at`. */
  openInterest(symbol: string, at: Instant): number | undefined;
  /**
   * Contracts of an option traded in the latest regular session up to `at`, by symbol; undefined where unknown. Absent in feeds without
   * trades of options.
   */
  contractVolumes?(at: Instant): Promise<(symbol: string) => number | undefined>;
  /** Bars of trades, oldest first. Intraday bars cover every session, `1Day` the regular one. */
  bars(query: BarQuery): Promise<readonly Bar[]>;
  close(): Promise<void>;
}

/** True if the quotes of a feed are pushed through the API. */
export const acceptsQuotes = ({ kind }: Pick<Feed, 'kind'>): boolean => kind === 'push';

/** True if a feed computes the quote of any instant. */
export const computesQuotes = ({ kind }: Pick<Feed, 'kind'>): boolean => kind === 'synthetic';

/** True if a feed reads a recording, of all its symbols, from the start of the simulation on. */
export const isRecorded = ({ kind }: Pick<Feed, 'kind'>): boolean => kind === 'replay';
