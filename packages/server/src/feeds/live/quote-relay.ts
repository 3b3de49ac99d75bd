import { randomUUID } from 'node:crypto';
import type { Instant } from '@sandpit/core';
import type { HaltNews } from '../feed.js';
import { LiveFeedClosed, MarketDataLimit } from '../live-feed.js';
import type { InterestRank, LiveFeed, RelayAnswers, RelayQuestion } from '../live-feed.js';
import type { Tick, TickTape } from './tick-tape.js';

/** Longest wait of a request for ticks: the answer then shows that the node is there. */
export const TICKS_WAIT_MS = 1_000;
/** Ticks of so long are answered together. */
const GATHER_MS = 15;
/** Interest of a node that has not been repeated for this time has ended. */
const INTEREST_MS = 10_000;

/** The tape of a live feed as other nodes of a cluster read it, and their interest in symbols. */
export class QuoteRelay {
  /** Identity of the tape and of this node's interest. */
  readonly id = randomUUID();
  readonly #tape: TickTape;
  readonly #feed: Pick<LiveFeed, 'want' | 'wantChain' | 'status' | 'unsupportedActions'>;
  readonly #openInterestOf: (underlying: string) => RelayAnswers['chain']['openInterest'] | undefined;
  /** By symbol: halts in force as the source reported them, and the instant at which they end without a report. */
  readonly #halts = new Map<string, { readonly halt: HaltNews; readonly until: number }>();
  readonly #interest = new Map<
    string,
    { readonly symbols: readonly (readonly [string, InterestRank])[]; readonly untilMs: number }
  >();
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  constructor(
    tape: TickTape,
    feed: Pick<LiveFeed, 'want' | 'wantChain' | 'status' | 'unsupportedActions'>,
    openInterestOf: (underlying: string) => RelayAnswers['chain']['openInterest'] | undefined,
  ) {
    this.#tape = tape;
    this.#feed = feed;
    this.#openInterestOf = openInterestOf;
  }

  /** Answers a node that follows. Rejects after `close`: an empty answer at once would be followed by the next request at once. */
  async answer(question: RelayQuestion): Promise<RelayAnswers[RelayQuestion['ask']]> {
    if (this.#isOver) throw new LiveFeedClosed();
    switch (question.ask) {
      case 'ticks':
        return this.#ticks(question);
      case 'interest':
        this.#interest.set(question.node, {
          symbols: question.symbols,
          untilMs: performance.now() + INTEREST_MS,
        });
        return { status: this.#feed.status(), unsupported: this.#feed.unsupportedActions() };
      case 'want':
        return this.#want(question);
      case 'chain': {
        const { underlying, expiration } = question;
        const expirations = await this.#feed.wantChain(underlying, expiration);
        return {
          last: this.#tape.lastSeq,
          openInterest: this.#openInterestOf(underlying) ?? [],
          ...(expirations !== undefined && { expirations }),
        };
      }
    }
  }

  async #want({
    symbols,
    rank,
    isNeeded,
  }: Extract<RelayQuestion, { ask: 'want' }>): Promise<RelayAnswers['want']> {
    try {
      await this.#feed.want(symbols, rank, isNeeded);
      return { last: this.#tape.lastSeq };
    } catch (error) {
      if (error instanceof MarketDataLimit) return { last: this.#tape.lastSeq, limit: error.limit };
      throw error;
    }
  }

  /** A tick was added to the tape. */
  note({ symbol, halt, received }: Tick): void {
    if (halt !== undefined && 'resumes' in halt) this.#halts.delete(symbol);
    else if (halt !== undefined)
      this.#halts.set(symbol, { halt, until: received + (halt.lastsMs ?? Infinity) });
    if (this.#waiting.size === 0) return;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Halts in force at an instant. */
  haltsAt(at: Instant): ReadonlyMap<string, HaltNews> {
    const inForce = [...this.#halts].filter(([, { until }]) => until > at);
    return new Map(inForce.map(([symbol, { halt }]) => [symbol, halt]));
  }

  /** Resolves when there are ticks after the last one that was received, a second later at the latest. */
  async #ticks({ tape, after }: Extract<RelayQuestion, { ask: 'ticks' }>): Promise<RelayAnswers['ticks']> {
    const known = tape === this.id ? after : undefined;
    if (known !== undefined && known >= this.#tape.lastSeq) await this.#news();
    const ticks = known === undefined ? undefined : this.#tape.after(known);
    const last = this.#tape.lastSeq;
    if (ticks !== undefined) return { tape: this.id, last, ticks };
    const halts = [...this.haltsAt(this.#tape.latestReceived).values()];
    return { tape: this.id, last, ticks: [], inForce: { quotes: this.#tape.inForce(), halts } };
  }

  async #news(): Promise<void> {
    let wake: () => void = () => undefined;
    const told = new Promise<void>((resolve) => (wake = resolve));
    const wait = setTimeout(wake, TICKS_WAIT_MS);
    this.#waiting.add(wake);
    await told;
    clearTimeout(wait);
    this.#waiting.delete(wake);
    await new Promise<void>((resolve) => setTimeout(resolve, GATHER_MS));
  }

  /** Symbols with orders and positions on other nodes. */
  *interest(): Generator<readonly [string, InterestRank]> {
    for (const [node, { symbols, untilMs }] of this.#interest)
      if (untilMs < performance.now()) this.#interest.delete(node);
      else yield* symbols;
  }

  /** Requests that wait are answered, later ones are not. */
  close(): void {
    this.#isOver = true;
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
