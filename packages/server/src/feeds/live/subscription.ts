import type { Instant } from '@sandpit/core';
import type { InterestRank } from '../live-feed.js';
import { Interest } from './interest.js';
import type { QuoteBook } from './quote-book.js';
import { PollingStream } from './polling-stream.js';
import { SocketStream, type StreamTimings } from './socket-stream.js';
import { isPolled } from './source.js';
import type { LiveSource, SourceFailure, SourceStream, StreamSink } from './source.js';

/** Symbols per request to a source. */
const SNAPSHOT_AT_ONCE = 100;
/** Messages that are buffered while a snapshot is pending. */
const MOST_HELD = 50_000;
/** Symbols first requested in one turn are subscribed together. */
const GATHER_MS = 20;

export interface SubscriptionParts {
  readonly source: LiveSource;
  readonly stream: SourceStream;
  readonly book: QuoteBook;
  readonly timings: StreamTimings;
  readonly maxSymbols?: number | undefined;
  readonly note: (text: string) => void;
  /** A moment of the monotonic clock, by the clock of the simulations. */
  readonly instantAt: (monotonicMs: number) => Instant;
  readonly onRefused: (reason: string) => void;
}

/**
 * The symbols that are subscribed on one stream of a source. A symbol begins with a snapshot; messages of the stream are buffered until it
 * arrives (D183).
 */
export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #interest: Interest;
  readonly #stream: SocketStream | PollingStream;
  /** By symbol: messages buffered while its snapshot is pending. */
  readonly #held = new Map<string, (() => void)[]>();
  #heldCount = 0;
  /** Requested from the stream. */
  #wanted: ReadonlySet<string> = new Set();
  #confirmed: ReadonlySet<string> = new Set();
  /** Symbols with a snapshot since the connection was made. */
  readonly #begun = new Set<string>();
  readonly #firsts = new Map<string, (() => void)[]>();
  #gathering: NodeJS.Timeout | undefined;
  #connections = 0;
  #isReady = false;
  #isOver = false;
  sinceMs = Date.now();
  reason: string | undefined;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    const { stream, timings } = parts;
    this.#interest = new Interest(Math.min(parts.maxSymbols ?? Infinity, stream.limit ?? Infinity));
    if (parts.maxSymbols !== undefined && stream.limit === undefined) this.#interest.lower(parts.maxSymbols);
    const listener = {
      sink: this.#sink(),
      ready: () => this.#ready(),
      confirmed: (symbols: ReadonlySet<string>) => this.#onConfirmed(symbols),
      lost: (aliveAt: number) => this.#lost(aliveAt),
      failed: (failure: SourceFailure) => this.#failed(failure),
    };
    this.#stream = isPolled(stream)
      ? new PollingStream(stream, listener, timings)
      : new SocketStream(stream, listener, timings);
  }

  start(): void {
    this.#stream.start();
  }

  /** Resolves when the connection is closed, a second later at the latest. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#isReady = false;
    clearTimeout(this.#gathering);
    const stopped = this.#stream.stop();
    for (const resolves of this.#firsts.values()) for (const resolve of resolves) resolve();
    this.#firsts.clear();
    await stopped;
  }

  get limit(): number {
    return this.#interest.limit;
  }

  get isConnected(): boolean {
    return this.#isReady;
  }

  get subscribed(): number {
    return this.#isReady ? this.#confirmed.size : 0;
  }

  get symbols(): ReadonlySet<string> {
    return this.#wanted;
  }

  get lastMessageAtMs(): number | undefined {
    return this.#stream.lastMessageAtMs;
  }

  get reconnections(): number {
    return Math.max(0, this.#connections - 1);
  }

  /** False when the plan has no room for it. */
  ask(symbol: string, rank: InterestRank): boolean {
    const isKnown = this.#interest.ask(symbol, rank, performance.now());
    if (isKnown && !this.#wanted.has(symbol)) this.#gather();
    return isKnown;
  }

  /** Replaces the symbols with orders and positions. */
  stand(standing: Iterable<readonly [string, InterestRank]>): void {
    this.#interest.stand(standing);
    this.#choose();
  }

  /** Resolves when the symbol has a quote. */
  first(symbol: string): Promise<void> {
    // A symbol for which the source had no data is not waited for again.
    if (this.#parts.book.has(symbol) || this.#begun.has(symbol) || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const others = this.#firsts.get(symbol);
      if (others === undefined) this.#firsts.set(symbol, [resolve]);
      else others.push(resolve);
    });
  }

  heard(symbol: string): void {
    if (this.#firsts.size === 0) return;
    for (const resolve of this.#firsts.get(symbol) ?? []) resolve();
    this.#firsts.delete(symbol);
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#choose();
    }, GATHER_MS).unref();
  }

  #choose(): void {
    if (this.#isOver) return;
    const chosen = this.#interest.chosen(performance.now());
    const added = [...chosen].filter((symbol) => !this.#wanted.has(symbol));
    const removed = [...this.#wanted].filter((symbol) => !chosen.has(symbol));
    if (added.length === 0 && removed.length === 0) return;
    this.#wanted = chosen;
    const aliveAt = this.#parts.instantAt(performance.now());
    for (const symbol of removed) this.#leave(symbol, aliveAt);
    this.#stream.subscribe(chosen);
    // Snapshots follow the stream: without it, quotes would not be updated.
    if (this.#isReady && added.length > 0) void this.#snapshot(added, this.#connections);
  }

  #leave(symbol: string, aliveAt: Instant): void {
    this.#begun.delete(symbol);
    this.#release(symbol);
    this.#parts.book.ends(symbol, aliveAt);
  }

  #ready(): void {
    this.#connections += 1;
    this.#isReady = true;
    this.sinceMs = Date.now();
    this.reason = undefined;
    this.#begun.clear();
    this.#parts.note(`${this.#parts.stream.name}: connected`);
    if (this.#wanted.size > 0) void this.#snapshot([...this.#wanted], this.#connections);
  }

  #onConfirmed(symbols: ReadonlySet<string>): void {
    this.#confirmed = symbols;
    for (const symbol of symbols) this.#beginIfComplete(symbol);
  }

  #beginIfComplete(symbol: string): void {
    if (this.#begun.has(symbol) && this.#confirmed.has(symbol) && this.#wanted.has(symbol))
      this.#parts.book.begins(symbol);
  }

  /** The snapshot first, then the buffered messages. */
  async #snapshot(symbols: readonly string[], connection: number): Promise<void> {
    for (const symbol of symbols) if (!this.#held.has(symbol)) this.#held.set(symbol, []);
    const { source, book, note } = this.#parts;
    for (let i = 0; i < symbols.length; i += SNAPSHOT_AT_ONCE) {
      const some = symbols.slice(i, i + SNAPSHOT_AT_ONCE);
      let failure: unknown;
      try {
        const found = await source.snapshots(some);
        if (connection === this.#connections && !this.#isOver)
          for (const symbol of some) {
            const { trade, quote } = found.get(symbol) ?? {};
            if (trade !== undefined) book.trade(trade);
            if (quote !== undefined) book.quote(quote);
          }
      } catch (error) {
        failure = error;
      }
      if (connection !== this.#connections || this.#isOver) return;
      if (failure !== undefined) {
        if ((failure as SourceFailure).kind === 'REFUSED') {
          this.#parts.onRefused((failure as SourceFailure).message);
          return;
        }
        note(
          `${this.#parts.stream.name}: no snapshot of ${some.length} symbols: ${(failure as Error).message}`,
        );
      }
      for (const symbol of some) {
        this.#begun.add(symbol);
        this.#release(symbol);
        this.#beginIfComplete(symbol);
        // Symbols that the source lacks no longer delay callers.
        this.heard(symbol);
      }
    }
  }

  #release(symbol: string): void {
    const held = this.#held.get(symbol);
    if (held === undefined) return;
    this.#held.delete(symbol);
    this.#heldCount -= held.length;
    for (const tell of held) tell();
  }

  #lost(aliveAt: number): void {
    this.#isReady = false;
    this.sinceMs = Date.now();
    this.#confirmed = new Set();
    this.#begun.clear();
    this.#held.clear();
    this.#heldCount = 0;
    const at = this.#parts.instantAt(aliveAt);
    for (const symbol of this.#wanted) this.#parts.book.ends(symbol, at);
  }

  #failed(failure: SourceFailure): void {
    const { note, stream } = this.#parts;
    switch (failure.kind) {
      case 'REFUSED':
        this.#parts.onRefused(failure.message);
        return;
      case 'SYMBOL_LIMIT':
        // The plan allows as many symbols as are confirmed; before any is confirmed, fewer than were requested.
        this.#interest.lower(
          this.#confirmed.size > 0 ? this.#confirmed.size : Math.max(1, this.#wanted.size - 1),
        );
        note(`${stream.name}: ${failure.message}; at most ${this.#interest.limit} from here on`);
        this.#choose();
        return;
      case 'DEFECT':
        note(`${stream.name}: ${failure.message}`);
        return;
      case 'CONNECTION_LIMIT':
      case 'RETRY':
        if (this.reason !== failure.message) note(`${stream.name}: ${failure.message}; reconnecting`);
        this.reason = failure.message;
    }
  }

  /** Holds messages of the stream about a symbol until its snapshot has arrived. */
  #sink(): StreamSink {
    const { book } = this.#parts;
    const inTurn = (symbol: string, tell: () => void): void => {
      const held = this.#held.get(symbol);
      if (held === undefined) tell();
      else if (this.#heldCount < MOST_HELD) {
        held.push(tell);
        this.#heldCount += 1;
      }
    };
    return {
      quote: (quote) => {
        if (this.#held.size === 0) book.quote(quote);
        else inTurn(quote.symbol, () => book.quote(quote));
      },
      trade: (trade) => {
        if (this.#held.size === 0) book.trade(trade);
        else inTurn(trade.symbol, () => book.trade(trade));
      },
      withdraw: (symbol, tradeId, corrected) =>
        inTurn(symbol, () => book.withdraw(symbol, tradeId, corrected)),
      halt: (news) => book.halt(news),
      malformed: () => book.malformed(),
    };
  }
}
