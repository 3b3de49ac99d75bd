import { Instant, symbolsTraded } from '@sandpit/core';
import type { Brokerage, Command, Outcome, Quote } from '@sandpit/core';
import type { Feed } from '../feeds/feed.js';
import { isLive } from '../feeds/live-feed.js';
import { StoreUnavailable } from '../store/journal.js';
import type { StoredAnswer } from '../store/journal.js';
import { tenantsAffectedBy } from './affected-tenants.js';
import { recordText } from './record-text.js';
import type { Records } from './records.js';
import type { PendingProjection } from './pending-projection.js';

/** Portfolios whose margin is looked at before others have a turn. */
const LOOKS_AT_ONCE = 32;

/** What is still taken when the disk is full. */
const ENDS_RISK: ReadonlySet<Command['type']> = new Set(['CancelOrder', 'CancelAccountOrders']);

/**
 * Executes commands, each in one go and without waiting for anything: what the decision reads of the market is brought up to date, it is
 * decided, and what it did is appended.
 */
export class CommandExecutor {
  readonly #brokerage: Brokerage;
  readonly #feed: Feed;
  readonly #records: Records;
  readonly #underWay: PendingProjection;
  readonly #onBroken: (error: unknown) => StoreUnavailable;
  /** As far as records say that the journal of the market has been followed. */
  #marketSeq: number | undefined;

  /**
   * `onBroken` hears of a decision that failed: nothing can be decided any more. `marketSeq`: how far the records say that the market has
   * been followed; undefined = they do not say it of this market.
   */
  constructor(
    brokerage: Brokerage,
    feed: Feed,
    records: Records,
    underWay: PendingProjection,
    onBroken: (error: unknown) => StoreUnavailable,
    marketSeq: number | undefined,
  ) {
    this.#brokerage = brokerage;
    this.#feed = feed;
    this.#records = records;
    this.#underWay = underWay;
    this.#onBroken = onBroken;
    this.#marketSeq = marketSeq;
  }

  /**
   * `answerFor` is called with the outcome; the answer it gives is stored in the same commit. Throws `StoreUnavailable`, and
   * has done nothing then.
   */
  execute<T extends Command['type']>(
    command: Extract<Command, { type: T }>,
    at: Instant,
    answerFor?: (outcome: Outcome<T>) => StoredAnswer | undefined,
  ): Outcome<T> {
    // Memory must not run ahead of a store that takes nothing.
    const isAccepting = this.#records.isAccepting();
    if (!isAccepting && !(ENDS_RISK.has(command.type) && this.#records.isInReserve()))
      throw new StoreUnavailable('the store is not accepting records');
    const isMarket = command.type === 'UpdateMarket' || command.type === 'AdvanceClock';
    if (isAccepting && !isMarket) this.#refreshFor(command, at);
    const refused = this.#underWay.refusal(command);
    const outcome =
      refused === undefined
        ? this.#decide<T>(command, at)
        : ({ result: refused, events: [], orders: [], quotes: [] } as unknown as Outcome<T>);
    const answer = answerFor?.(outcome);
    const { events, orders, quotes } = outcome;
    if (events.length > 0) {
      const { marketSeq } = this.#brokerage.state;
      const isFarther = marketSeq !== this.#marketSeq;
      this.#marketSeq = marketSeq;
      const payload = recordText(
        command,
        marketSeq === 0 ? quotes : [...quotes, ...this.#quotesOfNewInterest(outcome)],
        events,
        isFarther ? marketSeq : undefined,
      );
      const concerned = tenantsAffectedBy(
        this.#brokerage,
        outcome,
        'by' in command ? command.by.tenantId : undefined,
      );
      const seq = this.#records.append({ at, events, orders }, payload, concerned, answer);
      this.#underWay.note(seq, command, outcome);
    } else if (answer !== undefined) {
      this.#records.saveAnswer(answer);
    }
    return outcome;
  }

  #decide<T extends Command['type']>(command: Extract<Command, { type: T }>, at: Instant): Outcome<T> {
    try {
      return this.#brokerage.execute<T>(command, at);
    } catch (error) {
      throw this.#onBroken(error);
    }
  }

  /**
   * Quotes of what an order begins to depend on. Those that are pushed from here on are in the journal; this one was of no interest when it
   * was, and may be the one that the position meets while it catches up after a crash.
   */
  #quotesOfNewInterest({ events, orders }: Pick<Outcome, 'events' | 'orders'>): readonly Quote[] {
    const terms = events[0]?.type === 'OrderAccepted' ? orders[0]?.terms : undefined;
    if (terms === undefined) return [];
    const { underlying } = terms;
    return this.#brokerage.quotesToRecord([
      ...symbolsTraded(terms),
      ...(underlying === undefined ? [] : [underlying]),
    ]);
  }

  /**
   * Everything that is due at this moment. Returns the moment: what comes next is done then, for a millisecond later something
   * else may be due before it. Where the store takes only what ends a risk, time stands still before the next thing that is due.
   */
  catchUp(now: Instant): Instant {
    if (this.#records.isInReserve()) {
      const justBefore = Instant.plusMs(this.nextDue() ?? Instant.plusMs(now, 1), -1);
      return Instant.max(this.#brokerage.state.now, justBefore < now ? justBefore : now);
    }
    for (let due = this.nextDue(); due !== undefined && due <= now; due = this.nextDue()) this.advance(due);
    return now;
  }

  /**
   * The earliest instant at which something is due, or margin is to be looked at; that no sooner than at a multiple of `lookStepMs`: how far
   * apart the quotes are that time passes.
   */
  nextDue(lookStepMs = 1): Instant | undefined {
    const due = this.#brokerage.nextDue();
    const look = this.#brokerage.nextLook(this.#isComputed);
    const at = look && Instant.ofMs(Math.ceil(look / lookStepMs) * lookStepMs);
    return due === undefined || (at !== undefined && at < due) ? at : due;
  }

  /** What is due at this instant, or the first slice of it; where nothing is, who is to be looked at. */
  advance(due: Instant): void {
    const at = Instant.max(due, this.#brokerage.state.now);
    const next = this.#brokerage.nextDue();
    if (next === undefined || next > at) {
      this.#lookAtMargin(at);
      return;
    }
    this.#refreshFor({ type: 'AdvanceClock' }, at);
    // The refresh may have served what was due.
    const still = this.#brokerage.nextDue();
    if (still !== undefined && still <= at) this.execute<'AdvanceClock'>({ type: 'AdvanceClock' }, at);
  }

  #lookAtMargin(at: Instant): void {
    for (const portfolioId of this.#brokerage.toLookAt(at, this.#isComputed, LOOKS_AT_ONCE))
      this.execute<'LookAtMargin'>({ type: 'LookAtMargin', portfolioId }, at);
  }

  get #isComputed(): boolean {
    return this.#feed.kind === 'synthetic';
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
      // To work a quote out takes longer than to see that it is known.
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
