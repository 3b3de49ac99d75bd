import type { CorporateAction, Instant, Instrument, TradingDate } from '@sandpit/core';
import type { Feed, MarketEvent } from './feed.js';

/** Why a symbol is subscribed, the most important first (D182). */
export const INTEREST_RANKS = ['ORDER', 'POSITION', 'STREAM', 'QUESTION'] as const;
export type InterestRank = (typeof INTEREST_RANKS)[number];

/** Coverage of halts by a source. */
export type HaltCoverage = 'full' | 'nasdaq' | 'none';

/** The state of a connection to a source, as readiness and metrics report it (D183). */
export interface FeedStatus {
  readonly source: string;
  readonly status: 'connected' | 'reconnecting' | 'refused';
  /** Time of the last change of status, in real time, ms. */
  readonly sinceMs: number;
  /** Real time, ms. */
  readonly lastMessageAtMs?: number;
  /** Subscribed now. */
  readonly symbols: number;
  /** Symbols that the plan allows; absent = no limit. */
  readonly limit?: number;
  /** Seconds. */
  readonly delayedBy: number;
  readonly halts: HaltCoverage;
  /** Why it is refused or reconnects, in one sentence. */
  readonly reason?: string;
  readonly counts: FeedCounts;
}

/** Messages since the start, by what became of them. */
export interface FeedCounts {
  readonly quotes: number;
  readonly trades: number;
  /** Messages older than the quote in force. */
  readonly late: number;
  readonly duplicate: number;
  readonly crossed: number;
  /** Stamped after the clock. */
  readonly ahead: number;
  readonly malformed: number;
  readonly reconnections: number;
}

/** Functions of the simulations that a live feed uses. */
export interface LiveHost {
  /** The clock of every simulation on the feed. */
  now(): Instant;
  /** Symbols with orders and positions now, in all of them. */
  interest(): Iterable<readonly [symbol: string, rank: InterestRank]>;
  /** The instrument of a symbol; undefined when it is not listed. */
  instrument(symbol: string): Instrument | undefined;
  /** Lists instruments that the source has and the feed did not list. */
  list(instruments: readonly Instrument[]): Promise<void>;
  announce(actions: readonly CorporateAction[]): Promise<void>;
}

/** A corporate action that is not simulated (D184). */
export interface UnsupportedAction {
  readonly symbol: string;
  /** In the words of the source. */
  readonly type: string;
  readonly exDate?: TradingDate;
}

/** All symbols that the plan allows are needed. */
export class MarketDataLimit extends Error {
  override readonly name = 'MarketDataLimit';
  readonly limit: number;

  constructor(limit: number) {
    super(`The market data plan allows ${limit} symbols at once, and all of them are in use`);
    this.limit = limit;
  }
}

/** A feed of the present: one connection to a source, shared by all simulations on it. */
export interface LiveFeed extends Feed {
  readonly kind: 'live';
  /** Delay of its simulations' clock behind real time, ms. */
  readonly delayMs: number;
  /** Connects until the feed is closed. A second call does nothing. */
  start(host: LiveHost): void;
  /** The events in (after, until] in symbols of interest, and all halts. After this call there are no further events in that range. */
  take(after: Instant, until: Instant, isOfInterest: (symbol: string) => boolean): readonly MarketEvent[];
  /**
   * Subscribes symbols. Resolves when each has a quote, after two seconds at the latest. Rejects with `MarketDataLimit` when the plan has no
   * room for one of them and `isNeeded`.
   */
  want(symbols: Iterable<string>, rank: InterestRank, isNeeded: boolean): Promise<void>;
  /** Requests the contracts on an underlying that expire on a date, or its expirations, and lists them. */
  wantChain(underlying: string, expiration?: TradingDate): Promise<readonly TradingDate[] | undefined>;
  status(): FeedStatus;
  /** Writes the ticks so far to the recording, if there is one. */
  saveRecording(): void;
  unsupportedActions(): readonly UnsupportedAction[];
}

export const isLive = (feed: Feed): feed is LiveFeed => feed.kind === 'live';
