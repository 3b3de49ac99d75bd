import { createHmac } from 'node:crypto';
import { isDividend, Price, Quantity } from '@sandpit/core';
import type { CorporateAction, Equity, TradingDate, Instant } from '@sandpit/core';
import { dateShiftOf } from './date-shift.js';
import type { DateMove, DateShift } from './date-shift.js';

/** Only shares, dividends and splits can be masked: the recording has something else. */
export class NotMaskable extends Error {
  override readonly name = 'NotMaskable';

  constructor(message = 'Only a recording of equities can be masked') {
    super(message);
  }
}

/** The mask of a recording (D209), as the configuration of a simulation has it. */
export interface MaskTerms extends DateMove {
  /** 128 bits, hexadecimal: the origin of tickers, factors and weeks. `weeks` are 0 if dates are not moved. */
  readonly key: string;
  readonly symbols: boolean;
  readonly prices: boolean;
}

/** The parts of a recording that a mask hides. */
export interface MaskParts {
  readonly symbols: boolean;
  /** `SESSIONS`: to consecutive weekdays; true: by whole weeks. */
  readonly dates: boolean | 'SESSIONS';
  readonly prices: boolean;
}

/** How the mask of a simulation moves dates. */
export const datesOf = ({ weeks, sessions }: MaskTerms): MaskParts['dates'] =>
  sessions === undefined ? weeks > 0 : 'SESSIONS';

/** The years in which a masked simulation begins: a recording of fifty years that begins earlier ends after every recorded year. */
const FIRST_BEGINNING = Date.UTC(2080, 0, 1);
const BEGINNINGS_WEEKS = 60 * 52;
const WEEK_MS = 7 * 86_400_000;

/** The mask of a simulation that begins at a recorded instant. `firstSession`: that of the recording. */
export function maskTerms(
  { symbols, dates, prices }: MaskParts,
  key: string,
  start: Instant,
  firstSession: TradingDate,
): MaskTerms {
  const sessions = dates === 'SESSIONS' ? { sessions: firstSession } : {};
  const begins = dateShiftOf({ weeks: 0, ...sessions }).moved(start);
  const first = Math.ceil((FIRST_BEGINNING - begins) / WEEK_MS);
  const weeks = dates === false ? 0 : first + (drawn(key, 'dates') % BEGINNINGS_WEEKS);
  return { key, weeks, ...sessions, symbols, prices };
}

/** 48 bits of an HMAC of the text. */
const drawn = (key: string, text: string): number =>
  createHmac('sha256', key).update(text).digest().readUIntBE(0, 6);

/** Without vowels and Y, so that no ticker is a word. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const TICKER_LENGTH = 5;

/** Factors have four decimals. */
const FACTOR_UNITS = 10_000;
const DRAWS = 2 ** 48;

const CENT = Price.of('0.01');
const SMALL_TICK = Price.of('0.0001');
const DOLLAR = Price.of('1');
const LOT_SHARES = 100;
const LOT = Quantity.of(LOT_SHARES);

/** Replaces symbols, moves dates and scales prices and sizes of a recording. */
export class Mask {
  readonly terms: MaskTerms;
  readonly dates: DateShift;
  readonly #masked = new Map<string, string>();
  readonly #recorded = new Map<string, string>();
  readonly #factors = new Map<string, number>();
  readonly #sizeFactors = new Map<string, number>();

  /** `symbols`: those of the recording. */
  constructor(terms: MaskTerms, symbols: readonly string[]) {
    this.terms = terms;
    this.dates = dateShiftOf(terms);
    for (const symbol of symbols.toSorted()) {
      const ticker = terms.symbols ? this.#newTicker(symbol, symbols) : symbol;
      this.#masked.set(symbol, ticker);
      this.#recorded.set(ticker, symbol);
    }
  }

  /** The ticker of a recorded symbol; itself if the recording does not have it (`*`). */
  masked(symbol: string): string {
    return this.#masked.get(symbol) ?? symbol;
  }

  /** The recorded symbol of a ticker; undefined if there is none. */
  recorded(ticker: string): string | undefined {
    return this.#recorded.get(ticker);
  }

  /** Each recorded symbol with its ticker and factors. */
  get key(): readonly {
    readonly symbol: string;
    readonly ticker: string;
    readonly factor: number;
    readonly sizeFactor: number;
  }[] {
    return [...this.#masked].map(([symbol, ticker]) => ({
      symbol,
      ticker,
      factor: this.#factorOf(symbol) / FACTOR_UNITS,
      sizeFactor: this.#sizeFactorOf(symbol) / FACTOR_UNITS,
    }));
  }

  /** The price × the factor of the symbol, rounded half up to the tick, at least one. */
  price(symbol: string, price: Price): Price {
    if (!this.terms.prices) return price;
    const factor = BigInt(this.#factorOf(symbol));
    const scaled = BigInt(price) * factor;
    const tick = scaled >= BigInt(DOLLAR) * BigInt(FACTOR_UNITS) ? CENT : SMALL_TICK;
    const unit = BigInt(tick) * BigInt(FACTOR_UNITS);
    const ticks = (scaled + unit / 2n) / unit;
    return Price.ofUnits(Number(ticks < 1n ? 1n : ticks) * tick);
  }

  /** Both sides of a quote; if the recorded sides differ, the masked ones differ by at least a tick. */
  sides(
    symbol: string,
    bid: Price | undefined,
    ask: Price | undefined,
  ): { readonly bid?: Price; readonly ask?: Price } {
    const low = bid === undefined ? undefined : this.price(symbol, bid);
    const high = ask === undefined ? undefined : this.price(symbol, ask);
    if (low === undefined || high === undefined || bid === undefined || ask === undefined || bid >= ask)
      return { ...(low !== undefined && { bid: low }), ...(high !== undefined && { ask: high }) };
    return { bid: low, ask: high > low ? high : Price.ofUnits(low + (low >= DOLLAR ? CENT : SMALL_TICK)) };
  }

  /**
   * The size / the price factor × the size factor of the symbol, in whole lots, at least one; none stays none. By the second factor, price ×
   * volume differs from the recorded product.
   */
  size(symbol: string, size: Quantity): Quantity {
    if (!this.terms.prices || size <= 0) return size;
    return Quantity.ofUnits(this.#lots(symbol, size / LOT) * LOT);
  }

  /** Shares traded, as `size`. */
  volume(symbol: string, shares: number): number {
    if (!this.terms.prices || shares <= 0) return shares;
    return this.#lots(symbol, shares / LOT_SHARES) * LOT_SHARES;
  }

  #lots(symbol: string, recorded: number): number {
    return Math.max(1, Math.round((recorded * this.#sizeFactorOf(symbol)) / this.#factorOf(symbol)));
  }

  at(at: Instant): Instant {
    return this.dates.moved(at);
  }

  date(date: TradingDate): TradingDate {
    return this.dates.movedDate(date);
  }

  /** A listed share; its name reveals no more than its ticker. */
  equity(equity: Equity): Equity {
    const { symbol, averageDailyVolume } = equity;
    const ticker = this.masked(symbol);
    return {
      ...equity,
      symbol: ticker,
      ...(this.terms.symbols && { name: ticker }),
      averageDailyVolume: this.volume(symbol, averageDailyVolume),
    };
  }

  action(action: CorporateAction): CorporateAction {
    const common = { symbol: this.masked(action.symbol), exDate: this.date(action.exDate) };
    const known = action.knownFrom === undefined ? {} : { knownFrom: this.date(action.knownFrom) };
    if (!isDividend(action)) return { ...action, ...common, ...known };
    return {
      ...action,
      ...common,
      ...known,
      ...(action.payDate !== undefined && { payDate: this.date(action.payDate) }),
      amountPerShare: this.#amount(action.symbol, action.amountPerShare),
    };
  }

  /** Dollars per share, to a hundredth of a cent. */
  #amount(symbol: string, amount: Price): Price {
    if (!this.terms.prices) return amount;
    const units = Math.round((amount * this.#factorOf(symbol)) / FACTOR_UNITS / SMALL_TICK);
    return Price.ofUnits(Math.max(1, units) * SMALL_TICK);
  }

  /** From 0.2 to 5, in 1/10,000. */
  #factorOf(symbol: string): number {
    return this.#drawnFactor(this.#factors, `price ${symbol}`, 5);
  }

  /** From 0.5 to 2, in 1/10,000. */
  #sizeFactorOf(symbol: string): number {
    return this.#drawnFactor(this.#sizeFactors, `size ${symbol}`, 2);
  }

  /** From 1 / `most` to `most`; as likely to divide as to multiply. */
  #drawnFactor(known: Map<string, number>, text: string, most: number): number {
    if (!this.terms.prices) return FACTOR_UNITS;
    let factor = known.get(text);
    if (factor === undefined) {
      const part = drawn(this.terms.key, text) / DRAWS;
      const units = Math.round((FACTOR_UNITS / most) * most ** (2 * part));
      factor = Math.min(FACTOR_UNITS * most, Math.max(FACTOR_UNITS / most, units));
      known.set(text, factor);
    }
    return factor;
  }

  /** A ticker that is neither in use nor recorded, and has none of the recorded ones in it. */
  #newTicker(symbol: string, symbols: readonly string[]): string {
    for (let attempt = 0; ; attempt++) {
      let chance = drawn(this.terms.key, `symbol ${attempt} ${symbol}`);
      let ticker = '';
      for (let place = 0; place < TICKER_LENGTH; place++) {
        ticker += LETTERS.charAt(chance % LETTERS.length);
        chance = Math.floor(chance / LETTERS.length);
      }
      const says = symbols.some((recorded) => recorded.length > 1 && ticker.includes(recorded));
      if (!says && !this.#recorded.has(ticker)) return ticker;
    }
  }
}
