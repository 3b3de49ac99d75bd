import { Instant } from '@sandpit/core';
import type { Quote } from '@sandpit/core';
import type { HaltNews, MarketEvent } from '../feed.js';
import type { RelayedTick } from '../live-feed.js';

/** A message of a source, with the time at which the simulations processed it. */
export interface Tick extends RelayedTick {
  readonly seq: number;
  /** By the clock of the simulations. */
  readonly received: Instant;
}

/** Age at which ticks are dropped. A simulation that asks later receives the current quotes without the changes before them. */
const KEPT_MS = 10_000;
/** Ticks dropped at a time. */
const DROPPED_AT_ONCE = 8192;

/** The latest ticks of a live feed. A tick is dated after every instant that was queried, so that no result ever changes. */
export class TickTape {
  readonly #now: () => Instant;
  #ticks: Tick[] = [];
  /** By symbol, oldest first: its retained ticks, and one older one. */
  readonly #ofSymbol = new Map<string, Tick[]>();
  #seq: number;
  #askedUntil: Instant = Instant.earliest;
  #latest: Instant = Instant.earliest;
  /** Everything received after this is on the tape. */
  #since: Instant = Instant.earliest;

  /** `seq`: of the last tick of a continued recording. */
  constructor(now: () => Instant, seq = 0) {
    this.#now = now;
    this.#seq = seq;
  }

  /** Dates no tick before this: a continued recording ends there. */
  continueAfter(received: Instant): void {
    this.#latest = Instant.max(this.#latest, received);
  }

  /** `received`: the last result of `nextInstant`. */
  add(news: Omit<Tick, 'seq' | 'received'>, received = this.nextInstant()): Tick {
    const tick: Tick = { seq: (this.#seq += 1), received, ...news };
    this.#latest = received;
    this.#ticks.push(tick);
    if (tick.quote !== undefined) {
      const own = this.#ofSymbol.get(tick.symbol);
      if (own === undefined) this.#ofSymbol.set(tick.symbol, [tick]);
      else {
        own.push(tick);
        if (own.length >= 64) trim(own, Instant.plusMs(received, -1000));
      }
    }
    if (this.#ticks.length >= 2 * DROPPED_AT_ONCE && tick.seq % 1024 === 0) this.#drop();
    return tick;
  }

  /** Time at which the latest tick was received. */
  get latestReceived(): Instant {
    return this.#latest;
  }

  /** The instant of a message that arrives now. */
  nextInstant(): Instant {
    return Instant.max(Instant.max(this.#now(), this.#latest), Instant.plusMs(this.#askedUntil, 1));
  }

  /** The quote of a symbol in force at an instant; for early instants the oldest one kept. */
  quoteAt(symbol: string, at: Instant): Quote | undefined {
    this.#asked(at);
    const own = this.#ofSymbol.get(symbol);
    if (own === undefined) return undefined;
    for (let i = own.length - 1; i >= 0; i--) {
      const tick = own[i] as Tick;
      if (tick.received <= at) return tick.quote;
    }
    return undefined;
  }

  /** The latest quote, without regard to interest. */
  latest(symbol: string): Quote | undefined {
    return this.#ofSymbol.get(symbol)?.at(-1)?.quote;
  }

  /** Number of the last tick. */
  get lastSeq(): number {
    return this.#seq;
  }

  /** The ticks after one of them; undefined if some of these are no longer kept. */
  after(seq: number): readonly Tick[] | undefined {
    if (seq >= this.#seq) return [];
    const first = this.#ticks[0]?.seq ?? Infinity;
    return seq + 1 < first ? undefined : this.#ticks.slice(seq + 1 - first);
  }

  /** The latest quote of each symbol. */
  inForce(): readonly Quote[] {
    return [...this.#ofSymbol.values()].flatMap((own) => own.at(-1)?.quote ?? []);
  }

  /** Drops a symbol without a holder or reader. */
  forget(symbol: string): void {
    this.#ofSymbol.delete(symbol);
  }

  /** The events in (after, until], those of an instant together. */
  take(after: Instant, until: Instant, isOfInterest: (symbol: string) => boolean): readonly MarketEvent[] {
    this.#asked(until);
    if (this.#latest <= after || until <= after) return [];
    const events: { at: Instant; quotes: Quote[]; halts?: HaltNews[] }[] = [];
    const begin = after < this.#since ? 0 : this.#firstAfter(after);
    if (after < this.#since) {
      const quotes = this.#asOf(this.#since, isOfInterest);
      if (quotes.length > 0) events.push({ at: this.#since, quotes });
    }
    let last = events.at(-1);
    for (let i = begin; i < this.#ticks.length; i++) {
      const tick = this.#ticks[i] as Tick;
      if (tick.received > until) break;
      if (tick.halt === undefined && (tick.quote === undefined || !isOfInterest(tick.symbol))) continue;
      if (last?.at !== tick.received) events.push((last = { at: tick.received, quotes: [] }));
      if (tick.halt !== undefined) (last.halts ??= []).push(tick.halt);
      else if (tick.quote !== undefined) last.quotes.push(tick.quote);
    }
    return events;
  }

  #asked(at: Instant): void {
    if (at > this.#askedUntil) this.#askedUntil = at;
  }

  #asOf(at: Instant, isOfInterest: (symbol: string) => boolean): Quote[] {
    const quotes: Quote[] = [];
    for (const [symbol, own] of this.#ofSymbol) {
      const quote = own.findLast(({ received }) => received <= at)?.quote;
      if (quote !== undefined && isOfInterest(symbol)) quotes.push(quote);
    }
    return quotes.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  }

  #firstAfter(after: Instant): number {
    let low = 0;
    let high = this.#ticks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ticks[middle] as Tick).received > after) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #drop(): void {
    const until = Instant.plusMs(this.#latest, -KEPT_MS);
    const first = this.#firstAfter(until);
    if (first < DROPPED_AT_ONCE) return;
    this.#since = (this.#ticks[first - 1] as Tick).received;
    this.#ticks = this.#ticks.slice(first);
  }
}

/** Keeps the ticks received since an instant, and the one before them. */
function trim(own: Tick[], since: Instant): void {
  const kept = own.findIndex(({ received }) => received > since);
  const from = kept < 0 ? own.length - 1 : Math.max(0, kept - 1);
  if (from >= own.length / 2) own.splice(0, from);
}
