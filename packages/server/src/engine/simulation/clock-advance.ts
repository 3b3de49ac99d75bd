import { hasInterestIn, Instant, symbolsTraded, WHOLE_MARKET } from '@sandpit/core';
import type { Brokerage, Quote } from '@sandpit/core';
import type { Feed, HaltNews, MarketEvent } from '../../feeds/feed.js';
import { isLive } from '../../feeds/live-feed.js';
import type { Pace } from '../scheduling/slice.js';
import { Slice } from '../scheduling/slice.js';
import type { CommandExecutor } from './command-executor.js';
import { acceptsQuotes, isRecorded } from '../../feeds/feed.js';

/** For longer advances than this, a feed that computes its quotes reports them by the minute. */
const LONGEST_BY_THE_SECOND_MS = 3_600_000;
const MINUTE_MS = 60_000;

export interface WalkOptions {
  readonly pace?: Pace;
  /** Begin of the advance if this is the rest of it: both meet the same quotes. */
  readonly since?: Instant;
  /** Called after each event; true stops the advance there. */
  readonly isEnough?: () => boolean;
  /** Symbols whose quotes are followed in addition to those of open orders. */
  readonly quotesOf?: Iterable<string>;
  /** Stops the advance at the first quote that this accepts; without one, no time passes after the last quote. */
  readonly isWanted?: (quote: Quote) => boolean;
}

/** End of an advance: at its target, after enough events, at an accepted quote, or after the last quote. */
export type WalkEnd = 'THERE' | 'ENOUGH' | 'QUOTE' | 'NO_QUOTE';

/**
 * Advances the clock through market events and due timers, in order; at the same instant the market first. Yields the event loop regularly,
 * but not to this simulation.
 */
export class ClockAdvance {
  readonly #brokerage: Brokerage;
  readonly #feed: Feed;
  readonly #executor: CommandExecutor;
  /** Feed events up to here are applied. */
  #marketAt: Instant;
  /** Set while a walk is under way: others wait for their turn. */
  #underWay: Promise<void> | undefined;

  constructor(brokerage: Brokerage, feed: Feed, executor: CommandExecutor) {
    this.#brokerage = brokerage;
    this.#feed = feed;
    this.#executor = executor;
    this.#marketAt = brokerage.state.now;
  }

  /** Feed events up to here are applied. */
  get marketAt(): Instant {
    return this.#marketAt;
  }

  /** Reads the feed from an instant on: what came before has been met. */
  startAt(at: Instant): void {
    this.#marketAt = at;
  }

  /** Set while a walk is under way. A caller that has waited for one checks again: there may be another. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay;
  }

  /**
   * Resolves when everything up to an instant has happened. One advance at a time. `since`: where the clock stood, for a simulation that
   * repeats the rest of an advance after a crash.
   */
  async to(until: Instant, since?: Instant): Promise<void> {
    const release = this.occupy();
    try {
      await this.through(until, since === undefined ? {} : { since });
    } finally {
      release();
    }
  }

  /** Blocks others until the returned function is called: for an advance, or several with commands in between. */
  occupy(): () => void {
    let done: () => void = () => undefined;
    this.#underWay = new Promise((resolve) => (done = resolve));
    return () => {
      this.#underWay = undefined;
      done();
    };
  }

  /** The advance itself, for the holder of the lock. Returns the reason why it stopped. */
  async through(until: Instant, options: WalkOptions = {}): Promise<WalkEnd> {
    const { pace = new Slice(), isEnough = () => false, quotesOf, isWanted } = options;
    const brokerage = this.#brokerage;
    const from = this.#marketAt;
    const since = Instant.min(options.since ?? from, from);
    // A long walk has quotes by the minute, so margin is checked by the minute.
    const stepMs = until - since > LONGEST_BY_THE_SECOND_MS ? MINUTE_MS : 1;
    const next = (): Instant | undefined => this.#executor.nextDue(stepMs);
    /** True if it stopped before everything due by then was done. */
    const dueBy = async (limit: Instant, inclusive: boolean): Promise<boolean> => {
      for (let due = next(); due !== undefined; due = next()) {
        if (inclusive ? due > limit : due >= limit) return false;
        await this.#executor.advanceInSlices(due, pace);
        if (isEnough()) return true;
        await pace.breathe();
      }
      return false;
    };
    const stopped = (): WalkEnd => {
      this.#marketAt = Instant.max(this.#marketAt, brokerage.state.now);
      return 'ENOUGH';
    };
    if (isLive(this.#feed)) {
      for (const event of this.#liveEvents(until)) {
        if (await dueBy(event.at, false)) return stopped();
        this.#meet(event);
        if (isEnough()) return stopped();
        await pace.breathe();
      }
    } else if (until > from && !acceptsQuotes(this.#feed)) {
      const symbols = new Set(quotesOf);
      for (const { terms } of brokerage.state.orders.values()) {
        for (const symbol of symbolsTraded(terms)) symbols.add(symbol);
        // The margin requirement of an option depends on its underlying.
        if (terms.underlying !== undefined) symbols.add(terms.underlying);
      }
      if (symbols.size > 0 || isRecorded(this.#feed)) {
        for await (const event of this.#feed.events(from, until, symbols, since)) {
          if (await dueBy(event.at, false)) return stopped();
          this.#meet(event);
          if (isEnough()) return stopped();
          if (isWanted !== undefined && event.quotes.some(isWanted))
            return (await dueBy(Instant.max(event.at, brokerage.state.now), true)) ? stopped() : 'QUOTE';
          await pace.breathe();
        }
      }
    }
    if (isWanted !== undefined) return 'NO_QUOTE';
    if (await dueBy(until, true)) return stopped();
    this.#marketAt = Instant.max(this.#marketAt, until);
    return 'THERE';
  }

  /** Processes received live data, synchronously, before a decision. No advance may be running. */
  throughLive(until: Instant): void {
    for (const event of this.#liveEvents(until)) {
      for (
        let due = this.#executor.nextDue();
        due !== undefined && due < event.at;
        due = this.#executor.nextDue()
      )
        this.#executor.advance(due);
      this.#meet(event);
    }
    this.#marketAt = Instant.max(this.#marketAt, until);
  }

  #liveEvents(until: Instant): readonly MarketEvent[] {
    if (!isLive(this.#feed) || until <= this.#marketAt) return [];
    const { state } = this.#brokerage;
    return this.#feed.take(this.#marketAt, until, (symbol) => hasInterestIn(state, symbol));
  }

  /** Halts come before the quotes of their instant, resumptions after them. */
  #meet({ at, quotes, passed, halts = [] }: MarketEvent): void {
    const moment = Instant.max(at, this.#brokerage.state.now);
    for (const halt of halts) if (!('resumes' in halt)) this.#tellHalt(halt, moment);
    if (passed !== undefined) this.#showPassed(passed, moment);
    if (quotes.length > 0)
      this.#executor.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: false }, moment);
    for (const halt of halts) if ('resumes' in halt) this.#tellHalt(halt, moment);
    this.#marketAt = at;
  }

  /** Halts or resumes trading as the feed reports. The brokerage refuses a halt of a symbol that is not listed. */
  #tellHalt(halt: HaltNews, at: Instant): void {
    const { symbol } = halt;
    const inForce = this.#brokerage.state.halts.inForce.get(symbol);
    if ('resumes' in halt) {
      if (inForce !== undefined)
        this.#executor.execute<'LiftHalt'>({ type: 'LiftHalt', symbol, isTold: true }, at);
      return;
    }
    const { reason, lastsMs } = halt;
    // A circuit breaker is reported for every symbol.
    if (symbol === WHOLE_MARKET && inForce?.reason === reason) return;
    this.#executor.execute<'HaltTrading'>(
      {
        type: 'HaltTrading',
        symbol,
        reason,
        ...(lastsMs !== undefined && { forMs: lastsMs }),
        isTold: true,
      },
      at,
    );
  }

  /** Prices that the market touched inside a recorded bar, for the orders that were working when the bar began. */
  #showPassed({ since, quotes }: NonNullable<MarketEvent['passed']>, at: Instant): void {
    // One at a time: each has its own instant.
    for (const quote of quotes) {
      if ((this.#brokerage.state.books.get(quote.symbol)?.open.size ?? 0) === 0) continue;
      this.#executor.execute<'UpdateMarket'>(
        { type: 'UpdateMarket', quotes: [quote], pushed: false, since },
        at,
      );
    }
  }
}
