import { setTimeout as after } from 'node:timers/promises';
import { Instant, isLongAsOsi } from '@sandpit/core';
import type { TradingDate } from '@sandpit/core';
import type {
  InterestRank,
  LiveHost,
  LiveLead,
  RelayedState,
  RelayedTicks,
  UnsupportedAction,
} from '../live-feed.js';
import { MarketDataLimit } from '../live-feed.js';
import type { QuoteRelay } from './quote-relay.js';
import { TICKS_WAIT_MS } from './quote-relay.js';
import type { Tick, TickTape } from './tick-tape.js';

/** A node that has not answered a request for ticks for this time longer than it may wait is not there. */
const LATE_MS = 1_500;
const RETRY_MS = 250;
/** Interval at which the symbols with orders and positions are sent. */
const INTEREST_MS = 1_000;
const CHAIN_MS = 10_000;
/** Maximum wait of a first query for a quote (D182). */
const PATIENCE_MS = 2_000;
/** Interval after which a symbol is requested again: the connected node forgets questions after ten minutes, streams and orders after five seconds. */
const QUESTION_AGAIN_MS = 60_000;
const AGAIN_MS = 2_000;
const MOST_ASKED = 20_000;

export interface RelayedMarketParts {
  readonly tape: TickTape;
  readonly relay: QuoteRelay;
  readonly host: LiveHost;
  readonly lead: LiveLead;
  readonly onTick: (tick: Tick) => void;
  /** Sends the symbols with orders and positions, ms between two times; absent = every second. */
  readonly interestMs?: number;
}

/**
 * The market of a live source on a node of a cluster that is not connected to it: the ticks of the connected node, in its order (D202). After
 * an interruption, quotes that are older than those in force are dropped. While the connected node does not answer, quotes age.
 *
 *     looking ──answer──► following ──no answer──► looking, quotes no longer fresh
 */
export class RelayedMarket {
  readonly #parts: RelayedMarketParts;
  readonly #timer: NodeJS.Timeout;
  /** The tape that was read last, and its last tick that is on this node's tape. */
  #read: { readonly tape: string; readonly last: number } | undefined;
  #isFollowing = false;
  readonly #over = new AbortController();
  #state: RelayedState | undefined;
  #openInterest = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  readonly #reached = new Set<() => void>();

  constructor(parts: RelayedMarketParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.#tellInterest(), parts.interestMs ?? INTEREST_MS).unref();
    void this.#follow();
  }

  /** State of the source's connection; undefined = the connected node does not answer. */
  get status(): RelayedState['status'] | undefined {
    return this.#isFollowing ? this.#state?.status : undefined;
  }

  get unsupported(): readonly UnsupportedAction[] {
    return this.#state?.unsupported ?? [];
  }

  openInterest(symbol: string): number | undefined {
    return this.#openInterest.get(symbol);
  }

  /** Ends; the quotes so far are no longer fresh. */
  stop(): void {
    if (this.#isFollowing) this.#lose(this.#parts.host.now());
    this.#over.abort();
    clearInterval(this.#timer);
    this.#wake();
  }

  async #follow(): Promise<void> {
    const { lead } = this.#parts;
    const isOver = (): boolean => this.#over.signal.aborted;
    while (!isOver()) {
      const aliveAt = this.#parts.host.now();
      try {
        const { tape, last: from } = this.#read ?? {};
        const read = await lead.ask(
          { ask: 'ticks', ...(tape !== undefined && { tape }), ...(from !== undefined && { after: from }) },
          TICKS_WAIT_MS + LATE_MS,
        );
        if (isOver()) return;
        this.#apply(read);
      } catch {
        if (isOver()) return;
        if (this.#isFollowing) this.#lose(aliveAt);
        await after(RETRY_MS);
      }
    }
  }

  #apply({ tape, last, ticks, inForce }: RelayedTicks): void {
    const isOther = this.#read?.tape !== tape;
    if (inForce !== undefined) {
      const { tape: own } = this.#parts;
      for (const quote of inForce.quotes)
        if ((own.latest(quote.symbol)?.at ?? Instant.earliest) <= quote.at)
          this.#meet({ kind: 'Q', symbol: quote.symbol, quote });
      this.#meetHalts(inForce.halts);
    }
    for (const tick of ticks) this.#meet(tick);
    this.#read = { tape, last };
    if (isOther || !this.#isFollowing) {
      // Another node is connected now, or this one was away: it has to know which symbols are needed here.
      this.#asked.clear();
      void this.#tellInterest();
    }
    this.#isFollowing = true;
    this.#wake();
  }

  #meetHalts(halts: readonly Exclude<Tick['halt'], undefined>[]): void {
    const known = this.#parts.relay.haltsAt(this.#parts.host.now());
    const told = new Set(halts.map(({ symbol }) => symbol));
    for (const symbol of known.keys())
      if (!told.has(symbol)) this.#add({ kind: 'R', symbol, halt: { symbol, resumes: true } });
    for (const halt of halts)
      if (JSON.stringify(known.get(halt.symbol)) !== JSON.stringify(halt))
        this.#add({ kind: 'H', symbol: halt.symbol, halt });
  }

  #meet(told: Omit<Tick, 'seq' | 'received'>): void {
    const { quote } = told;
    if (quote === undefined) return this.#add(told);
    const { tape } = this.#parts;
    const known = tape.latest(quote.symbol);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(quote)) return;
    const now = tape.nextInstant();
    // The clocks of two nodes differ by some milliseconds.
    this.#add({ ...told, quote: quote.at <= now ? quote : { ...quote, at: now } });
  }

  #add({ kind, symbol, quote, halt, stamp, official }: Omit<Tick, 'seq' | 'received'>): void {
    const news = {
      kind,
      symbol,
      ...(quote !== undefined && { quote }),
      ...(halt !== undefined && { halt }),
      ...(stamp !== undefined && { stamp }),
      ...(official !== undefined && { official }),
    };
    this.#parts.onTick(this.#parts.tape.add(news));
  }

  /** The connected node does not answer: from `aliveAt` on the source may have reported changes that are not known here. */
  #lose(aliveAt: Instant): void {
    this.#isFollowing = false;
    for (const quote of this.#parts.tape.inForce())
      if (quote.freshUntil === undefined || quote.freshUntil > aliveAt)
        this.#add({ kind: 'G', symbol: quote.symbol, quote: { ...quote, freshUntil: aliveAt } });
    // The next answer begins with the quotes in force, which are fresh again.
    this.#read = undefined;
    this.#wake();
  }

  async #tellInterest(): Promise<void> {
    const { lead, relay, host } = this.#parts;
    const ranked = new Map<string, readonly [string, InterestRank]>();
    for (const one of host.interest()) if (ranked.get(one[0])?.[1] !== 'ORDER') ranked.set(one[0], one);
    const told = { ask: 'interest', node: relay.id, symbols: [...ranked.values()] } as const;
    const state = await lead.ask(told, LATE_MS).catch(() => undefined);
    if (state !== undefined) this.#state = state;
  }

  /**
   * Subscribes symbols at the connected node. Resolves when each has a quote here, after two seconds at the latest. Rejects with
   * `MarketDataLimit` when the plan has no room for one of them and `isNeeded`.
   */
  async want(symbols: Iterable<string>, rank: InterestRank, isNeeded: boolean): Promise<void> {
    const { host, tape, lead } = this.#parts;
    const nowMs = performance.now();
    const againMs = rank === 'QUESTION' ? QUESTION_AGAIN_MS : AGAIN_MS;
    const wanted: string[] = [];
    let isWaitedFor = false;
    for (const symbol of symbols) {
      if (host.instrument(symbol) === undefined && !isLongAsOsi(symbol)) continue;
      const key = `${symbol} ${rank}`;
      const isKnown = tape.latest(symbol) !== undefined;
      if (isKnown && nowMs - (this.#asked.get(key) ?? -Infinity) < againMs) continue;
      if (this.#asked.size >= MOST_ASKED) this.#asked.clear();
      this.#asked.set(key, nowMs);
      wanted.push(symbol);
      isWaitedFor ||= !isKnown;
    }
    if (wanted.length === 0) return;
    const asking = lead
      .ask({ ask: 'want', symbols: wanted, rank, isNeeded: isNeeded && isWaitedFor }, PATIENCE_MS + LATE_MS)
      .catch(() => {
        // The next request includes these symbols again.
        for (const symbol of wanted) this.#asked.delete(`${symbol} ${rank}`);
        return undefined;
      });
    if (!isWaitedFor) return;
    const answer = await Promise.race([asking, after(PATIENCE_MS, undefined, { ref: false })]);
    if (answer?.limit !== undefined) {
      for (const symbol of wanted) this.#asked.delete(`${symbol} ${rank}`);
      throw new MarketDataLimit(answer.limit);
    }
    if (answer !== undefined) await this.#untilRead(answer.last);
  }

  /** Requests the contracts on an underlying that expire on a date, or its expirations, at the connected node. */
  async chain(underlying: string, expiration?: TradingDate): Promise<readonly TradingDate[] | undefined> {
    const question = { ask: 'chain', underlying, ...(expiration !== undefined && { expiration }) } as const;
    const answer = await this.#parts.lead.ask(question, CHAIN_MS).catch(() => undefined);
    if (answer === undefined) return undefined;
    for (const [symbol, contracts] of answer.openInterest) this.#openInterest.set(symbol, contracts);
    await this.#untilRead(answer.last);
    return answer.expirations;
  }

  /** Resolves when a tick of the connected node is on this node's tape, or the node is lost. */
  async #untilRead(last: number): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (this.#isFollowing && (this.#read?.last ?? -1) < last) {
      if (performance.now() > giveUpAt) return;
      await new Promise<void>((resolve) => this.#reached.add(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#reached) resolve();
    this.#reached.clear();
  }
}
