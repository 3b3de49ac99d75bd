import { Instant, Quantity } from '@sandpit/core';
import type { Price, Quote } from '@sandpit/core';
import type { FeedCounts, HaltCoverage } from '../live-feed.js';
import type { SourceQuote, SourceTrade, StreamSink } from './source.js';
import type { Tick, TickTape } from './tick-tape.js';
import type { HaltNews } from '../feed.js';

const PRICE_UNITS = 1e8;
/** Dollars: no US listing has traded beyond a million. */
const HIGHEST_PRICE = 10_000_000;
/** A listing whose halts nobody tells is taken for halted where its quote has not changed for so long (D183). */
const SILENT_MS = 15 * 60_000;
/** After so long into a session the official open is not expected any more. */
const OPEN_EXPECTED_MS = 600_000;

/** What is known of a symbol. */
interface SymbolMarket {
  sides: Pick<Quote, 'bid' | 'ask' | 'bidSize' | 'askSize'>;
  /** By the clock of the source, never after that of the simulations. */
  quoteStamp: number;
  last?: Pick<Quote, 'last' | 'lastSize'> | undefined;
  /** The one before, for when the last trade is withdrawn. */
  before?: Pick<Quote, 'last' | 'lastSize'> | undefined;
  tradeStamp: number;
  tradeId?: string | undefined;
  open?: { readonly dayOpen: Instant; readonly price: Price };
  /** When its sides changed last, by the clock of the simulations. */
  changedAt: Instant;
  /** When it was heard of last, by the clock of the simulations. */
  heardAt: Instant;
  /** Its subscription is confirmed and its snapshot is in: the source tells of every change. */
  isLive: boolean;
  /** When the connection was lost. */
  lostAt?: Instant | undefined;
}

/** What says how quotes of a source are to be taken. */
export interface QuoteTerms {
  readonly isDelayed: boolean;
  readonly hasOfficialPrices: boolean;
  /** How halts of a symbol are told. */
  readonly haltsOf: (symbol: string) => HaltCoverage;
  readonly isIndicative: (symbol: string) => boolean;
  /** From here on quotes are too old to fill (D47), ms. */
  readonly maxAgeMs: number;
  /** The regular session that an instant lies in. */
  readonly sessionAt: (at: Instant) => { readonly open: Instant; readonly close: Instant } | undefined;
}

/**
 * Makes whole quotes of what a source tells, in its order: what is older than what is in force, repeated, crossed or impossible is counted
 * and passed over.
 */
export class QuoteBook implements StreamSink {
  readonly #tape: TickTape;
  readonly #terms: QuoteTerms;
  readonly #onTick: (tick: Tick) => void;
  readonly #markets = new Map<string, SymbolMarket>();
  readonly counts: { -readonly [Name in keyof FeedCounts]: FeedCounts[Name] } = {
    quotes: 0,
    trades: 0,
    late: 0,
    duplicate: 0,
    crossed: 0,
    ahead: 0,
    malformed: 0,
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
    this.#tell('Q', told.symbol, market, Instant.ofMs(stamp));
  }

  trade(told: SourceTrade): void {
    this.counts.trades += 1;
    const price = priceOf(told.price);
    if (price === null || price === undefined || !Number.isFinite(told.stampMs)) return this.malformed();
    const received = this.#tape.nextInstant();
    const market = this.#marketOf(told.symbol, received);
    const stamp = this.#stampOf(told.stampMs, received);
    if (told.official !== undefined) this.#tellOfficial(told.official, told.symbol, market, price, stamp);
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
    this.#tell('T', told.symbol, market, Instant.ofMs(stamp));
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
    this.#tell('T', symbol, market, Instant.ofMs(market.tradeStamp));
  }

  halt(halt: HaltNews): void {
    this.#onTick(this.#tape.add({ kind: 'resumes' in halt ? 'R' : 'H', symbol: halt.symbol, halt }));
  }

  malformed(): void {
    this.counts.malformed += 1;
  }

  /** The subscription of a symbol is confirmed and its snapshot is in: from here on the source tells of every change. */
  begins(symbol: string): void {
    const market = this.#markets.get(symbol);
    if (market === undefined || market.isLive) return;
    market.isLive = true;
    market.lostAt = undefined;
    this.#tell('E', symbol, market);
  }

  /** The source may not tell of changes any more: the connection lived at `aliveAt` for the last time. */
  ends(symbol: string, aliveAt: Instant): void {
    const market = this.#markets.get(symbol);
    if (market === undefined || !market.isLive) return;
    market.isLive = false;
    market.lostAt = Instant.max(aliveAt, market.heardAt);
    this.#tell('G', symbol, market);
  }

  /** Whether there is anything to answer with. */
  has(symbol: string): boolean {
    return this.#tape.latest(symbol) !== undefined;
  }

  #marketOf(symbol: string, received: Instant): SymbolMarket {
    let market = this.#markets.get(symbol);
    if (market === undefined) {
      market = {
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

  #tell(kind: 'Q' | 'T' | 'G' | 'E' | 'B', symbol: string, market: SymbolMarket, stamp?: Instant): void {
    const quote = this.#quoteOf(symbol, market);
    if (quote === undefined) return;
    this.#onTick(this.#tape.add({ kind, symbol, quote, ...(stamp !== undefined && { stamp }) }));
  }

  #quoteOf(symbol: string, market: SymbolMarket): Quote | undefined {
    const at = market.quoteStamp === -Infinity ? market.tradeStamp : market.quoteStamp;
    if (at === -Infinity) return undefined;
    const { isDelayed, isIndicative, hasOfficialPrices, sessionAt } = this.#terms;
    const session = hasOfficialPrices ? sessionAt(Instant.ofMs(at)) : undefined;
    const open =
      session !== undefined && market.open?.dayOpen === session.open ? market.open.price : undefined;
    const isToCome = session !== undefined && open === undefined && at < session.open + OPEN_EXPECTED_MS;
    return {
      symbol,
      ...market.sides,
      ...market.last,
      at: Instant.ofMs(at),
      ...(open !== undefined && { open }),
      ...(isToCome && { openToCome: true as const }),
      freshUntil: this.#freshUntil(symbol, market),
      ...(isDelayed && { delayed: true as const }),
      ...(isIndicative(symbol) && { indicative: true as const }),
    };
  }

  #freshUntil(symbol: string, market: SymbolMarket): Instant {
    if (!market.isLive) return market.lostAt ?? market.heardAt;
    if (this.#terms.haltsOf(symbol) === 'full') return Instant.last;
    // Silence may be a halt.
    const silentAt = Instant.plusMs(market.changedAt, SILENT_MS - this.#terms.maxAgeMs);
    return this.#terms.sessionAt(market.changedAt) === undefined ? Instant.last : silentAt;
  }

  #tellOfficial(
    official: 'OPEN' | 'CLOSE',
    symbol: string,
    market: SymbolMarket,
    price: Price,
    stamp: number,
  ): void {
    const session = this.#terms.sessionAt(Instant.ofMs(stamp));
    if (official !== 'OPEN' || session === undefined || market.open?.dayOpen === session.open) return;
    market.open = { dayOpen: session.open, price };
    this.#tell('B', symbol, market, Instant.ofMs(stamp));
  }
}

/** Null where it is no price at all; undefined = no side. */
function priceOf(dollars: number | undefined): Price | null | undefined {
  if (dollars === undefined || dollars === 0) return undefined;
  if (!(dollars > 0 && dollars <= HIGHEST_PRICE)) return null;
  return Math.round(dollars * PRICE_UNITS) as Price;
}

const sizeOf = (size: number | undefined): Quantity =>
  size !== undefined && size > 0 && size < 1e9 ? Quantity.of(Math.floor(size)) : Quantity.of(0);

const isSameSides = (a: SymbolMarket['sides'], b: SymbolMarket['sides']): boolean =>
  a.bid === b.bid && a.ask === b.ask && a.bidSize === b.bidSize && a.askSize === b.askSize;
