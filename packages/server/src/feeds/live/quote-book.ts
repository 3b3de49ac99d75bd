import { Instant, isLongAsOsi, markOf, Quantity } from '@sandpit/core';
import type { Price, Quote } from '@sandpit/core';
import type { FeedCounts, HaltCoverage } from '../live-feed.js';
import { isWithin, type Session } from './sessions.js';
import type { SourceQuote, SourceTrade, StreamSink } from './source.js';
import type { Tick, TickTape } from './tick-tape.js';
import type { HaltNews } from '../feed.js';

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const PRICE_UNITS = 1e8;
/** Dollars: no US listing has traded beyond a million. */
const HIGHEST_PRICE = 10_000_000;
/** A listing without halt messages counts as halted when its quote has not changed for this time (D183). */
const SILENT_MS = 15 * 60_000;
/** Time after the open at which the official open is no longer expected. */
const OPEN_EXPECTED_MS = 600_000;
/** Time after the close at which the official close is no longer expected (D180). */
const CLOSE_EXPECTED_MS = 60_000;
/** Delay after the bell at which a close is reported: until the closing auctions and marks are done. */
const CLOSE_SHOWN_MS = 120_000;
/** A closing trade may have a time this long before the close, because clocks differ. */
const CLOSE_EARLY_MS = 60_000;

/** An official price of the session that began at `dayOpen`. */
interface OfficialPrice {
  readonly dayOpen: Instant;
  readonly price: Price;
}

/** Market of a symbol as known from the source. */
interface SymbolMarket {
  readonly isOption: boolean;
  sides: Pick<Quote, 'bid' | 'ask' | 'bidSize' | 'askSize'>;
  /** By the clock of the source, never after that of the simulations. */
  quoteStamp: number;
  last?: Pick<Quote, 'last' | 'lastSize'> | undefined;
  /** The one before, for when the last trade is withdrawn. */
  before?: Pick<Quote, 'last' | 'lastSize'> | undefined;
  tradeStamp: number;
  tradeId?: string | undefined;
  open?: OfficialPrice;
  /** The official close, or the mark at the close without one. */
  close?: OfficialPrice;
  /** The mark when the bell rang, for when no official close comes. */
  bell?: { readonly dayOpen: Instant; readonly price: Price | undefined };
  /** Last change of its sides, by the clock of the simulations. */
  changedAt: Instant;
  /** Last message about it, by the clock of the simulations. */
  heardAt: Instant;
  /** True when its subscription is confirmed and its snapshot is in: the source reports every change. */
  isLive: boolean;
  /** Time at which the connection was lost. */
  lostAt?: Instant | undefined;
}

/** Rules for the quotes of a source. */
export interface QuoteTerms {
  readonly isDelayed: boolean;
  readonly hasOfficialPrices: boolean;
  /** Halt coverage of the source for a symbol. */
  readonly haltsOf: (symbol: string) => HaltCoverage;
  readonly isIndicative: (symbol: string) => boolean;
  /** From here on quotes are too old to fill (D47), ms. */
  readonly maxAgeMs: number;
  /** The regular session of the day that an instant lies in. */
  readonly sessionOf: (at: Instant) => Session | undefined;
}

/**
 * Builds complete quotes from the messages of a source, in order. Messages that are older than the quote in force, repeated, crossed or
 * impossible are counted and ignored.
 */
export class QuoteBook implements StreamSink {
  readonly #tape: TickTape;
  readonly #terms: QuoteTerms;
  readonly #onTick: (tick: Tick) => void;
  readonly #markets = new Map<string, SymbolMarket>();
  /** The session whose closes have all been reported. */
  #closedSession: Instant | undefined;
  readonly counts: Mutable<FeedCounts> = {
    quotes: 0,
    trades: 0,
    late: 0,
    duplicate: 0,
    crossed: 0,
    ahead: 0,
    malformed: 0,
    adjusted: 0,
    reconnections: 0,
  };

  constructor(tape: TickTape, terms: QuoteTerms, onTick: (tick: Tick) => void) {
    this.#tape = tape;
    this.#terms = terms;
    this.#onTick = onTick;
  }

  quote(told: SourceQuote): void {
    this.counts.quotes += 1;
    const bid = priceOf(told.bid);
    const ask = priceOf(told.ask);
    if (!Number.isFinite(told.stampMs) || bid === null || ask === null) return this.malformed();
    const received = this.#tape.nextInstant();
    const market = this.#marketOf(told.symbol, received);
    const stamp = this.#stampOf(told.stampMs, received);
    this.#noteBell(told.symbol, market, received);
    if (stamp < market.quoteStamp) {
      this.counts.late += 1;
      return;
    }
    if (bid !== undefined && ask !== undefined && bid > ask) {
      this.counts.crossed += 1;
      return;
    }
    const sides = {
      ...(bid !== undefined && { bid, bidSize: sizeOf(told.bidSize) }),
      ...(ask !== undefined && { ask, askSize: sizeOf(told.askSize) }),
    };
    const isSame = isSameSides(sides, market.sides);
    if (isSame && stamp === market.quoteStamp) {
      this.counts.duplicate += 1;
      return;
    }
    market.quoteStamp = stamp;
    market.sides = sides;
    if (!isSame) market.changedAt = received;
    this.#tell('Q', told.symbol, market, received, Instant.ofMs(stamp));
  }

  trade(told: SourceTrade): void {
    this.counts.trades += 1;
    const price = priceOf(told.price);
    if (price === null || price === undefined || !Number.isFinite(told.stampMs)) return this.malformed();
    const received = this.#tape.nextInstant();
    const market = this.#marketOf(told.symbol, received);
    const stamp = this.#stampOf(told.stampMs, received);
    this.#noteBell(told.symbol, market, received);
    if (told.official === 'OPEN') this.#tellOpen(told.symbol, market, price, received, stamp);
    if (told.official === 'CLOSE') this.#tellOfficialClose(told.symbol, market, price, received, stamp);
    if (!told.updatesLast) return;
    if (stamp < market.tradeStamp) {
      this.counts.late += 1;
      return;
    }
    if (told.id !== undefined && told.id === market.tradeId && stamp === market.tradeStamp) {
      this.counts.duplicate += 1;
      return;
    }
    market.before = market.last;
    market.last = { last: price, lastSize: sizeOf(told.size) };
    market.tradeStamp = stamp;
    market.tradeId = told.id;
    this.#tell('T', told.symbol, market, received, Instant.ofMs(stamp));
  }

  withdraw(symbol: string, tradeId: string, corrected?: SourceTrade): void {
    const market = this.#markets.get(symbol);
    if (market === undefined || market.tradeId !== tradeId) return;
    const price = corrected === undefined ? undefined : priceOf(corrected.price);
    market.last =
      corrected?.updatesLast === true && typeof price === 'number'
        ? { last: price, lastSize: sizeOf(corrected.size) }
        : market.before;
    market.tradeId = corrected?.id;
    this.#tell('T', symbol, market, this.#tape.nextInstant(), Instant.ofMs(market.tradeStamp));
  }

  halt(halt: HaltNews): void {
    this.#onTick(this.#tape.add({ kind: 'resumes' in halt ? 'R' : 'H', symbol: halt.symbol, halt }));
  }

  malformed(): void {
    this.counts.malformed += 1;
  }

  /** The subscription of a symbol is confirmed and its snapshot is in: from here on the source reports every change. */
  begins(symbol: string): void {
    const market = this.#markets.get(symbol);
    if (market === undefined || market.isLive) return;
    market.isLive = true;
    market.lostAt = undefined;
    this.#tell('E', symbol, market, this.#tape.nextInstant());
  }

  /** The source may no longer report changes: the connection was alive at `aliveAt` for the last time. */
  ends(symbol: string, aliveAt: Instant): void {
    const market = this.#markets.get(symbol);
    if (market === undefined || !market.isLive) return;
    market.isLive = false;
    market.lostAt = Instant.max(aliveAt, market.heardAt);
    this.#tell('G', symbol, market, this.#tape.nextInstant());
  }

  /** True if any quote is known. */
  has(symbol: string): boolean {
    return this.#tape.latest(symbol) !== undefined;
  }

  #marketOf(symbol: string, received: Instant): SymbolMarket {
    let market = this.#markets.get(symbol);
    if (market === undefined) {
      market = {
        isOption: isLongAsOsi(symbol),
        sides: {},
        quoteStamp: -Infinity,
        tradeStamp: -Infinity,
        changedAt: received,
        heardAt: received,
        isLive: false,
      };
      this.#markets.set(symbol, market);
    }
    market.heardAt = received;
    return market;
  }

  /** A stamp ahead of the clock counts as now. */
  #stampOf(stampMs: number, received: Instant): number {
    const stamp = Math.floor(stampMs);
    if (stamp <= received) return stamp;
    this.counts.ahead += 1;
    return received;
  }

  #tell(
    kind: 'Q' | 'T' | 'G' | 'E' | 'B',
    symbol: string,
    market: SymbolMarket,
    received: Instant,
    stamp?: Instant,
    official?: 'OPEN' | 'CLOSE',
  ): void {
    const quote = this.#quoteOf(symbol, market, received);
    if (quote === undefined) return;
    const news = {
      kind,
      symbol,
      quote,
      ...(stamp !== undefined && { stamp }),
      ...(official !== undefined && { official }),
    };
    this.#onTick(this.#tape.add(news, received));
  }

  #quoteOf(symbol: string, market: SymbolMarket, received: Instant): Quote | undefined {
    const at = market.quoteStamp === -Infinity ? market.tradeStamp : market.quoteStamp;
    if (at === -Infinity) return undefined;
    const { isDelayed, isIndicative } = this.#terms;
    return {
      symbol,
      ...market.sides,
      ...market.last,
      at: Instant.ofMs(at),
      ...(this.#tellsOfficialPrices(market) && this.#officialPrices(market, at, received)),
      freshUntil: this.#freshUntil(symbol, market),
      ...(isDelayed && { delayed: true as const }),
      ...(isIndicative(symbol) && { indicative: true as const }),
    };
  }

  #tellsOfficialPrices({ isOption }: SymbolMarket): boolean {
    return this.#terms.hasOfficialPrices && !isOption;
  }

  /** The official open by the stamp of a quote, the official close by when it was received. */
  #officialPrices(
    { open, close }: SymbolMarket,
    at: number,
    received: Instant,
  ): Pick<Quote, 'open' | 'openToCome' | 'close' | 'closeToCome'> {
    const prices: Mutable<Pick<Quote, 'open' | 'openToCome' | 'close' | 'closeToCome'>> = {};
    const quoted = this.#terms.sessionOf(Instant.ofMs(at));
    if (isWithin(quoted, at)) {
      if (open?.dayOpen === quoted.open) prices.open = open.price;
      else if (at < quoted.open + OPEN_EXPECTED_MS) prices.openToCome = true;
    }
    const session = this.#terms.sessionOf(received);
    if (session === undefined || received < session.open || received >= session.close + CLOSE_SHOWN_MS)
      return prices;
    if (close?.dayOpen === session.open) prices.close = close.price;
    else if (received < session.close + CLOSE_EXPECTED_MS) prices.closeToCome = true;
    return prices;
  }

  #freshUntil(symbol: string, market: SymbolMarket): Instant {
    if (!market.isLive) return market.lostAt ?? market.heardAt;
    if (this.#terms.haltsOf(symbol) === 'full') return Instant.last;
    // Silence may be a halt.
    const { changedAt } = market;
    return isWithin(this.#terms.sessionOf(changedAt), changedAt)
      ? Instant.plusMs(changedAt, SILENT_MS - this.#terms.maxAgeMs)
      : Instant.last;
  }

  #tellOpen(symbol: string, market: SymbolMarket, price: Price, received: Instant, stamp: number): void {
    const session = this.#terms.sessionOf(Instant.ofMs(stamp));
    if (!isWithin(session, stamp) || market.open?.dayOpen === session.open) return;
    market.open = { dayOpen: session.open, price };
    this.#tell('B', symbol, market, received, Instant.ofMs(stamp), 'OPEN');
  }

  /** The first one of a session counts, if it is near the close. */
  #tellOfficialClose(
    symbol: string,
    market: SymbolMarket,
    price: Price,
    received: Instant,
    stamp: number,
  ): void {
    const session = this.#terms.sessionOf(received);
    if (session === undefined || market.close?.dayOpen === session.open || stamp < session.open) return;
    if (received < session.close - CLOSE_EARLY_MS || received >= session.close + CLOSE_EXPECTED_MS) return;
    market.close = { dayOpen: session.open, price };
    this.#tell('B', symbol, market, received, Instant.ofMs(stamp), 'CLOSE');
  }

  /** Remembers the mark of the last quote at the bell before the first message after it. */
  #noteBell(symbol: string, market: SymbolMarket, received: Instant): void {
    if (!this.#tellsOfficialPrices(market)) return;
    const session = this.#terms.sessionOf(received);
    if (session === undefined || received <= session.close || market.bell?.dayOpen === session.open) return;
    const quote = this.#quoteOf(symbol, market, received);
    market.bell = { dayOpen: session.open, price: quote && markOf(quote) };
  }

  /** Reports, a minute after the close, the mark at the close for each symbol without an official close (D180). */
  tellMissingCloses(): void {
    const received = this.#tape.nextInstant();
    const session = this.#terms.sessionOf(received);
    if (!this.#terms.hasOfficialPrices || session === undefined || this.#closedSession === session.open)
      return;
    if (received < session.close + CLOSE_EXPECTED_MS || received >= session.close + CLOSE_SHOWN_MS) return;
    this.#closedSession = session.open;
    for (const [symbol, market] of this.#markets) {
      if (market.isOption || market.close?.dayOpen === session.open) continue;
      this.#noteBell(symbol, market, received);
      const price = market.bell?.price;
      if (price === undefined || market.quoteStamp < session.open) continue;
      market.close = { dayOpen: session.open, price };
      this.#tell('B', symbol, market, received, session.close, 'CLOSE');
    }
  }
}

/** Null for an invalid price; undefined = no side. */
function priceOf(dollars: number | undefined): Price | null | undefined {
  if (dollars === undefined || dollars === 0) return undefined;
  if (!(dollars > 0 && dollars <= HIGHEST_PRICE)) return null;
  return Math.round(dollars * PRICE_UNITS) as Price;
}

const sizeOf = (size: number | undefined): Quantity =>
  size !== undefined && size > 0 && size < 1e9 ? Quantity.of(Math.floor(size)) : Quantity.of(0);

const isSameSides = (a: SymbolMarket['sides'], b: SymbolMarket['sides']): boolean =>
  a.bid === b.bid && a.ask === b.ask && a.bidSize === b.bidSize && a.askSize === b.askSize;
