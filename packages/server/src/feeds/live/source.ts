import type { Bar, CorporateAction, TradingDate } from '@sandpit/core';
import type { BarQuery, HaltNews } from '../feed.js';
import type { HaltCoverage, UnsupportedAction } from '../live-feed.js';

/** The best bid and offer from a source: dollars, shares or contracts. A price of 0 or none means no side. */
export interface SourceQuote {
  readonly symbol: string;
  readonly bid?: number;
  readonly ask?: number;
  readonly bidSize?: number;
  readonly askSize?: number;
  /** By the clock of the source, ms. */
  readonly stampMs: number;
}

export interface SourceTrade {
  readonly symbol: string;
  readonly price: number;
  readonly size: number;
  readonly stampMs: number;
  readonly id?: string;
  /** True when it updates the consolidated last sale. */
  readonly updatesLast: boolean;
  /** The auction of the listing exchange that it reports. */
  readonly official?: 'OPEN' | 'CLOSE';
}

/** Receives the data of a stream, in order. */
export interface StreamSink {
  quote(quote: SourceQuote): void;
  trade(trade: SourceTrade): void;
  /** A trade did not happen, or not like that. */
  withdraw(symbol: string, tradeId: string, corrected?: SourceTrade): void;
  halt(news: HaltNews): void;
  /** An unreadable message; it is counted. */
  malformed(): void;
}

/**
 * Reaction that a failure requires. REFUSED: stop; the operator has to change something. CONNECTION_LIMIT: try again every 30 seconds.
 * SYMBOL_LIMIT: drop symbols. RETRY: connect again. DEFECT: the request was wrong; log it and continue.
 */
export type FailureKind = 'REFUSED' | 'CONNECTION_LIMIT' | 'SYMBOL_LIMIT' | 'RETRY' | 'DEFECT';

/** Failure of a source. The message is one sentence for the operator, without keys. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A failure as the operator reads it. */
export const failureText = (error: unknown): string =>
  error instanceof SourceFailure ? error.message : 'something unexpected happened';

/** Functions of a stream that a conversation uses. */
export interface StreamTalk {
  send(message: string | Uint8Array): void;
  readonly sink: StreamSink;
  /** Symbols can be subscribed from here on. */
  ready(): void;
  /** The symbols that are subscribed now. */
  confirmed(symbols: ReadonlySet<string>): void;
  failed(failure: SourceFailure): void;
}

/** One connection, from its beginning to its end. */
export interface Conversation {
  opened?(): void;
  receive(data: Buffer, isBinary: boolean): void;
  /** Subscribes exactly these symbols. */
  subscribe(symbols: ReadonlySet<string>): void;
}

/** The protocol of one stream of a source. */
export interface StreamProtocol {
  /** Name that operators know it by, such as "alpaca stocks". */
  readonly name: string;
  /** Symbols that the plan allows; absent = no limit. */
  readonly limit?: number;
  /** The address and headers of the next connection. Throws `SourceFailure`. */
  connect(): Promise<{ readonly url: string; readonly headers?: Readonly<Record<string, string>> }>;
  begin(talk: StreamTalk): Conversation;
}

/** A polled stream, for a source without a socket. */
export interface PolledStream {
  readonly name: string;
  readonly limit?: number;
  readonly everyMs: number;
  poll(symbols: ReadonlySet<string>, sink: StreamSink): Promise<void>;
}

export type SourceStream = StreamProtocol | PolledStream;

export const isPolled = (stream: SourceStream): stream is PolledStream => 'poll' in stream;

/** A stock or fund of a source. */
export interface SourceAsset {
  readonly symbol: string;
  readonly name: string;
  readonly isTradable: boolean;
  readonly shortable?: boolean;
  readonly fractionable?: boolean;
  /** Listed on Nasdaq. */
  readonly isOnNasdaq?: boolean;
}

/** The market of a symbol at the time of the request. */
export interface SourceSnapshot {
  readonly quote?: SourceQuote;
  readonly trade?: SourceTrade;
  readonly openInterest?: number;
}

/** A source of live market data: only its protocol. Symbols are Sandpit's (`BRK.B`; options in OSI form). */
export interface LiveSource {
  readonly name: string;
  readonly delayMs: number;
  readonly halts: HaltCoverage;
  /** True when its stock stream has the trades of the listing exchanges' auctions. */
  readonly hasOfficialPrices: boolean;
  /** True if option quotes are derived, not firm. */
  readonly hasIndicativeOptions: boolean;
  readonly stocks: SourceStream;
  /** Stream of options; absent = there are none, or they are on the stream of stocks. */
  readonly options?: SourceStream;
  /** Options are on the stream of stocks. */
  readonly hasOptionsAmongStocks?: boolean;
  assets(): Promise<readonly SourceAsset[]>;
  /** Symbols without data are missing. */
  snapshots(symbols: readonly string[]): Promise<ReadonlyMap<string, SourceSnapshot>>;
  /** Minute bars, or bars of days, never adjusted, oldest first. */
  bars(query: BarQuery): Promise<readonly Bar[]>;
  /** Actions of these symbols with an ex-date from a date on. */
  actions(
    symbols: readonly string[],
    from: TradingDate,
  ): Promise<{
    readonly actions: readonly CorporateAction[];
    readonly unsupported: readonly UnsupportedAction[];
  }>;
  expirations?(underlying: string): Promise<readonly TradingDate[]>;
  chain?(underlying: string, expiration: TradingDate): Promise<ReadonlyMap<string, SourceSnapshot>>;
}
