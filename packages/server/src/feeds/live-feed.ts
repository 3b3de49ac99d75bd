import type { CorporateAction, Instant, Instrument, Quote, TradingDate } from '@sandpit/core';
import type { Feed, HaltNews, MarketEvent } from './feed.js';
import type { TickKind } from './tick-file.js';

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
  /** Adjusted contracts in chains, which are left out because the source does not report their deliverable (D245). */
  readonly adjusted: number;
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

/** The feed is closed and answers no node that follows it. */
export class LiveFeedClosed extends Error {
  override readonly name = 'LiveFeedClosed';

  constructor() {
    super('The live feed is closed');
  }
}

/** Requests of a node to the one that is connected to the source (D202). */
export type RelayQuestion =
  /** Ticks after the last one that was received, of the same tape; absent = from the quotes in force on. */
  | { readonly ask: 'ticks'; readonly tape?: string; readonly after?: number }
  /** Symbols with orders and positions on a node. */
  | {
      readonly ask: 'interest';
      readonly node: string;
      readonly symbols: readonly (readonly [string, InterestRank])[];
    }
  | {
      readonly ask: 'want';
      readonly symbols: readonly string[];
      readonly rank: InterestRank;
      readonly isNeeded: boolean;
    }
  | { readonly ask: 'chain'; readonly underlying: string; readonly expiration?: TradingDate };

/** The quotes and halts in force on a tape. */
interface InForce {
  readonly quotes: readonly Quote[];
  readonly halts: readonly HaltNews[];
}

/** A message of a source, as a tape has it and as the connected node relays it. */
export interface RelayedTick {
  readonly kind: TickKind;
  readonly symbol: string;
  /** The quote that is in force from here on; of H and R none. */
  readonly quote?: Quote;
  readonly halt?: HaltNews;
  /** By the clock of the source. */
  readonly stamp?: Instant;
  /** For kind B: the official price that it reports. */
  readonly official?: 'OPEN' | 'CLOSE';
}

export interface RelayedTicks {
  /** Identity of the tape. */
  readonly tape: string;
  /** Number of the last tick. */
  readonly last: number;
  readonly ticks: readonly RelayedTick[];
  /** Present if ticks before these are no longer kept, or belong to another tape. */
  readonly inForce?: InForce;
}

export interface RelayedState {
  readonly status: FeedStatus;
  readonly unsupported: readonly UnsupportedAction[];
}

interface RelayedWant {
  /** The quotes of the symbols are among the ticks up to this one. */
  readonly last: number;
  /** Symbols that the plan allows; present if it has no room for a needed one. */
  readonly limit?: number;
}

interface RelayedChain {
  readonly last: number;
  readonly expirations?: readonly TradingDate[];
  readonly openInterest: readonly (readonly [symbol: string, contracts: number])[];
}

/** The answers, by request. */
export interface RelayAnswers {
  readonly ticks: RelayedTicks;
  readonly interest: RelayedState;
  readonly want: RelayedWant;
  readonly chain: RelayedChain;
}

/** The node of a cluster that is connected to the source, as the others reach it. */
export interface LiveLead {
  /** Rejects if the node does not answer in time, or is not connected to the source. */
  ask<Q extends RelayQuestion>(question: Q, timeoutMs: number): Promise<RelayAnswers[Q['ask']]>;
}

/** A feed of the present: one connection to a source, shared by all simulations on it. */
export interface LiveFeed extends Feed {
  readonly kind: 'live';
  /** Delay of its simulations' clock behind real time, ms. */
  readonly delayMs: number;
  /** Connects until the feed is closed. A second call does nothing. */
  start(host: LiveHost): void;
  /** Follows the quotes of the node that is connected, until `start`. A second call does nothing. */
  follow(host: LiveHost, lead: LiveLead): void;
  /** Answers a node that follows. */
  answer(question: RelayQuestion): Promise<RelayAnswers[RelayQuestion['ask']]>;
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
  /**
   * Writes all ticks up to an instant to the recording's files, which need not be synced yet. Returns the instant up to which the recording is
   * complete: no later tick is dated at or before it.
   */
  completeRecording(until: Instant): Instant;
  /** True when this feed is recorded, and the recording covers an instant (D172). */
  hasRecorded(at: Instant): Promise<boolean>;
  unsupportedActions(): readonly UnsupportedAction[];
}

/** A feed that reads the recording of a live source while it is written. It knows the market from a point on. */
export interface RecordingFeed extends Feed {
  readonly kind: 'replay';
  /** Begins at an instant, with the quotes in force there. */
  startWith(quotes: Iterable<Quote>, at: Instant): void;
  /** The quotes in force at the place up to which it has been read. */
  quotesInForce(): readonly Quote[];
  /**
   * Continues at an instant, and returns the quotes in force there: at least those of `symbols`, as far as the recording has them. `isListed`:
   * the symbols whose quotes are of use.
   */
  resumeAt(
    at: Instant,
    symbols: ReadonlySet<string>,
    isListed: (symbol: string) => boolean,
  ): Promise<readonly Quote[]>;
}

export const isRecording = (feed: Feed): feed is RecordingFeed => 'resumeAt' in feed;

export const isLive = (feed: Feed): feed is LiveFeed => feed.kind === 'live';
