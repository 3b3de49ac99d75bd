import { Instant } from '@sandpit/core';
import type { Brokerage, Command, Outcome, Quote, Rejection } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import { isLive } from '../../feeds/live-feed.js';
import { StoreUnavailable } from '../../store/journal.js';
import type { StoredAnswer } from '../../store/journal.js';
import { computesQuotes } from '../../feeds/feed.js';
import type { Pace } from '../scheduling/slice.js';

/** Portfolios whose margin is checked before timers have a turn. */
const LOOKS_AT_ONCE = 32;

/** Commands that are accepted while the disk is full. */
const ENDS_RISK: ReadonlySet<Command['type']> = new Set(['CancelOrder', 'CancelAccountOrders']);

/** Receives decisions: the journal, or a comparison. */
export interface Recorder {
  /** True when anything may be decided now. */
  isAccepting(): boolean;
  /** True when only what ends a risk may be. */
  isInReserve(): boolean;
  /** The reason why nothing may be decided now; absent = it does not happen. */
  unavailable?(): StoreUnavailable;
  /** Reason for refusing a command because of data that has left the brokerage. */
  refusal(command: Command): Rejection | undefined;
  /** Called before a command is decided. */
  begin?(command: Command, at: Instant): void;
  /** Receives a decision, with or without events, and the response that is stored with it. */
  record(command: Command, at: Instant, outcome: Outcome, answer: StoredAnswer | undefined): void;
}

/** Executes commands, each synchronously: refreshes the market data of the decision, decides, and appends the result. */
export class CommandExecutor {
  readonly #brokerage: Brokerage;
  readonly #feed: Feed;
  readonly #recorder: Recorder;
  readonly #onBroken: (error: unknown) => Error;
  /** Called with each order that was submitted. */
  onSubmitted: ((isRefused: boolean) => void) | undefined;

  /** `onBroken` receives a decision that failed: no further decision is possible. */
  constructor(brokerage: Brokerage, feed: Feed, recorder: Recorder, onBroken: (error: unknown) => Error) {
    this.#brokerage = brokerage;
    this.#feed = feed;
    this.#recorder = recorder;
    this.#onBroken = onBroken;
  }

  /**
   * `answerFor` is called with the outcome; the returned response is stored in the same commit. Throws `StoreUnavailable` without any
   * effect.
   */
  execute<T extends Command['type']>(
    command: Extract<Command, { type: T }>,
    at: Instant,
    answerFor?: (outcome: Outcome<T>) => StoredAnswer | undefined,
  ): Outcome<T> {
    // Memory must not run ahead of a store that accepts nothing.
    const isAccepting = this.#recorder.isAccepting();
    if (!isAccepting && !(ENDS_RISK.has(command.type) && this.#recorder.isInReserve()))
      throw this.#recorder.unavailable?.() ?? new StoreUnavailable('the store is not accepting records');
    const isMarket = command.type === 'UpdateMarket' || command.type === 'AdvanceClock';
    if (isAccepting && !isMarket) this.#refreshFor(command, at);
    const refused = this.#recorder.refusal(command);
    const outcome =
      refused === undefined
        ? this.#decide<T>(command, at)
        : ({ result: refused, events: [], orders: [], quotes: [] } as unknown as Outcome<T>);
    this.#recorder.record(command, at, outcome, answerFor?.(outcome));
    if (command.type === 'SubmitOrder')
      this.onSubmitted?.(!outcome.events.some(({ type }) => type === 'OrderAccepted'));
    return outcome;
  }

  #decide<T extends Command['type']>(command: Extract<Command, { type: T }>, at: Instant): Outcome<T> {
    this.#recorder.begin?.(command, at);
    try {
      return this.#brokerage.execute<T>(command, at);
    } catch (error) {
      throw this.#onBroken(error);
    }
  }

  /**
   * Runs everything due at this moment. Returns the instant at which the next command must be executed: a millisecond later another timer
   * may be due before it. While the store accepts only commands that reduce risk, time stops before the next due timer.
   */
  catchUp(now: Instant): Instant {
    if (this.#recorder.isInReserve()) {
      const justBefore = Instant.plusMs(this.nextDue() ?? Instant.plusMs(now, 1), -1);
      return Instant.max(this.#brokerage.state.now, justBefore < now ? justBefore : now);
    }
    for (let due = this.nextDue(); due !== undefined && due <= now; due = this.nextDue()) this.advance(due);
    return now;
  }

  /**
   * The earliest instant at which a timer is due or margin is to be checked; margin no sooner than at a multiple of `lookStepMs`, the
   * distance of the quotes that time passes.
   */
  nextDue(lookStepMs = 1): Instant | undefined {
    const due = this.#brokerage.nextDue();
    const look = this.#brokerage.nextLook(this.#isComputed);
    const at = look && Instant.ofMs(Math.ceil(look / lookStepMs) * lookStepMs);
    const judged = this.#brokerage.nextJudgment();
    const watched = at === undefined || (judged !== undefined && judged < at) ? judged : at;
    return due === undefined || (watched !== undefined && watched < due) ? watched : due;
  }

  /**
   * Runs what is due at this instant, or the first slice of it. If nothing is due, checks the margin of the next portfolios in rotation.
   */
  advance(due: Instant): void {
    const parts = this.#partsDue(due);
    while (parts.next().done !== true);
  }

  /** Advances with pauses for other work between portfolios. No other command of this simulation may be executed meanwhile. */
  async advanceInSlices(due: Instant, pace: Pace): Promise<void> {
    const parts = this.#partsDue(due);
    while (parts.next().done !== true) await pace.breathe();
  }

  *#partsDue(due: Instant): Generator<undefined> {
    const at = Instant.max(due, this.#brokerage.state.now);
    const next = this.#brokerage.nextDue();
    if (next === undefined || next > at) {
      const judged = this.#brokerage.nextJudgment();
      if (judged !== undefined && judged <= at) this.execute<'JudgeEntry'>({ type: 'JudgeEntry' }, at);
      else yield* this.#lookAtMargin(at);
      return;
    }
    this.#refreshFor({ type: 'AdvanceClock' }, at);
    // The refresh may have run what was due.
    const still = this.#brokerage.nextDue();
    if (still !== undefined && still <= at) this.execute<'AdvanceClock'>({ type: 'AdvanceClock' }, at);
  }

  *#lookAtMargin(at: Instant): Generator<undefined> {
    for (const portfolioId of this.#brokerage.toLookAt(at, this.#isComputed, LOOKS_AT_ONCE)) {
      this.execute<'LookAtMargin'>({ type: 'LookAtMargin', portfolioId }, at);
      yield;
    }
  }

  get #isComputed(): boolean {
    return computesQuotes(this.#feed);
  }

  /** Brings quotes of a feed that can compute them up to an instant. Orders they touch are filled. */
  refresh(symbols: Iterable<string>, at: Instant): void {
    const isAtHand = isLive(this.#feed);
    if (!this.#isComputed && !isAtHand) return;
    const quotes: Quote[] = [];
    for (const symbol of symbols) {
      if (isAtHand) {
        const quote = this.#feed.quoteAt(symbol, at);
        if (quote !== undefined && quote !== this.#brokerage.quote(symbol)) quotes.push(quote);
        continue;
      }
      const quotedAt = this.#feed.quotedAt(symbol, at);
      // Computing a quote is slower than seeing that it is known.
      if (quotedAt === undefined || this.#brokerage.quote(symbol)?.at === quotedAt) continue;
      const quote = this.#feed.quoteAt(symbol, at);
      if (quote !== undefined) quotes.push(quote);
    }
    if (quotes.length === 0) return;
    this.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: false }, at);
  }

  /** Brings the quotes that a command reads up to the instant at which it is executed. */
  #refreshFor(command: Command, at: Instant): void {
    if (this.#isComputed || isLive(this.#feed)) this.refresh(this.#brokerage.symbolsRead(command, at), at);
  }
}
