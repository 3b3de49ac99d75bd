import { Instant } from '@sandpit/core';
import type { Calendar, Quote } from '@sandpit/core';
import type { HaltNews, MarketEvent } from './feed.js';
import type { TickRow } from './tick-file.js';

/** Delay after the bell at which a live feed shows the close. */
const CLOSE_SHOWN_MS = 120_000;

/** The market of a symbol according to the ticks so far. */
interface TickMarket {
  sides: Pick<Quote, 'bid' | 'ask' | 'bidSize' | 'askSize'>;
  last: Pick<Quote, 'last' | 'lastSize'>;
  at: Instant | undefined;
  open?: { readonly dayOpen: Instant; readonly price: Quote['last'] };
  close?: { readonly dayOpen: Instant; readonly price: Quote['last'] };
  isOpening: boolean;
  isClosing: boolean;
  freshUntil: Instant;
  isDelayed: boolean;
  isIndicative: boolean;
}

/** Converts recorded ticks to the quotes that the simulations of the day saw. */
export class TickMarkets {
  readonly #calendar: Calendar;
  readonly #markets = new Map<string, TickMarket>();
  /** Last instant of the source when the quotes of all symbols began to age; undefined = they never did. */
  #allAgedAt: Instant | undefined;

  constructor(calendar: Calendar) {
    this.#calendar = calendar;
  }

  /** The event of the ticks of one instant, in order. */
  apply(at: Instant, rows: readonly TickRow[]): MarketEvent | undefined {
    const quotes: Quote[] = [];
    const halts: HaltNews[] = [];
    for (const row of rows) {
      if (row.kind === 'H' || row.kind === 'R') halts.push(haltOf(row));
      else if (row.symbol === '*') {
        this.#allAgedAt = row.stamp;
        for (const [symbol, market] of this.#markets) {
          market.freshUntil = row.stamp;
          this.#tell(symbol, market, at, quotes);
        }
      } else {
        const market = this.#marketOf(row.symbol);
        this.#take(market, row);
        this.#tell(row.symbol, market, at, quotes);
      }
    }
    if (quotes.length === 0 && halts.length === 0) return undefined;
    return { at, quotes, ...(halts.length > 0 && { halts }) };
  }

  /** Continues from a quote in force. */
  resume(quote: Quote): void {
    const { bid, bidSize, ask, askSize, last, lastSize, at, open, close, freshUntil } = quote;
    const market = this.#marketOf(quote.symbol);
    market.sides = {
      ...(bid !== undefined && { bid, ...(bidSize !== undefined && { bidSize }) }),
      ...(ask !== undefined && { ask, ...(askSize !== undefined && { askSize }) }),
    };
    market.last = { ...(last !== undefined && { last }), ...(lastSize !== undefined && { lastSize }) };
    market.at = at;
    const dayOpen = this.#calendar.tradingDay(this.#calendar.dateOf(at))?.regularOpen;
    if (open !== undefined && dayOpen !== undefined) market.open = { dayOpen, price: open };
    if (close !== undefined && dayOpen !== undefined) market.close = { dayOpen, price: close };
    market.isOpening = quote.openToCome === true;
    market.isClosing = quote.closeToCome === true;
    market.freshUntil = freshUntil ?? at;
    market.isDelayed = quote.delayed === true;
    market.isIndicative = quote.indicative === true;
  }

  /** Adds what earlier ticks have told and the own ones have not. */
  addEarlier(earlier: TickMarkets): void {
    for (const [symbol, before] of earlier.#markets) {
      const market = this.#markets.get(symbol);
      if (market === undefined) {
        const freshUntil = Instant.min(before.freshUntil, this.#allAgedAt ?? Instant.last);
        this.#markets.set(symbol, { ...before, freshUntil });
        continue;
      }
      if (market.sides.bid === undefined && market.sides.ask === undefined && before.at !== undefined) {
        market.sides = before.sides;
        market.at = before.at;
      }
      if (market.last.last === undefined) market.last = before.last;
      if (market.open === undefined && before.open !== undefined) market.open = before.open;
      if (market.close === undefined && before.close !== undefined) market.close = before.close;
    }
    this.#allAgedAt ??= earlier.#allAgedAt;
  }

  /** True when the quote of a symbol is known. */
  has(symbol: string): boolean {
    return this.#markets.get(symbol)?.at !== undefined;
  }

  /** The quotes of all symbols at an instant after the last tick. */
  inForce(at: Instant): readonly Quote[] {
    const quotes: Quote[] = [];
    for (const [symbol, market] of this.#markets) this.#tell(symbol, market, at, quotes);
    return quotes;
  }

  /** Lets the quotes that do not age yet age from an instant on, and returns them as they are at `now`. */
  age(from: Instant, now: Instant): readonly Quote[] {
    const quotes: Quote[] = [];
    for (const [symbol, market] of this.#markets) {
      if (market.freshUntil <= from) continue;
      market.freshUntil = from;
      this.#tell(symbol, market, now, quotes);
    }
    return quotes;
  }

  #take(market: TickMarket, { kind, received, stamp, quote, flags }: TickRow): void {
    const fresh = flags.find((flag) => flag.startsWith('fresh='));
    market.isClosing = flags.includes('closing');
    market.freshUntil = fresh === undefined ? Instant.last : Instant.ofMs(Number(fresh.slice(6)));
    switch (kind) {
      case 'Q': {
        const { bid, bidSize, ask, askSize } = quote;
        market.sides = {
          ...(bid !== undefined && { bid, ...(bidSize !== undefined && { bidSize }) }),
          ...(ask !== undefined && { ask, ...(askSize !== undefined && { askSize }) }),
        };
        market.at = stamp;
        market.isOpening = flags.includes('opening');
        market.isDelayed = flags.includes('delayed');
        market.isIndicative = flags.includes('indicative');
        return;
      }
      case 'T': {
        const { last, lastSize } = quote;
        market.last = {
          ...(last !== undefined && { last }),
          ...(lastSize !== undefined && { lastSize }),
        };
        market.at ??= stamp;
        return;
      }
      case 'B': {
        const day = this.#calendar.tradingDay(this.#calendar.dateOf(stamp));
        if (day !== undefined && flags.includes('open'))
          market.open = { dayOpen: day.regularOpen, price: quote.last };
        const closed = this.#calendar.tradingDay(this.#calendar.dateOf(received));
        if (closed !== undefined && flags.includes('close'))
          market.close = { dayOpen: closed.regularOpen, price: quote.last };
        return;
      }
      case 'G':
        market.freshUntil = stamp;
        return;
      default:
        return;
    }
  }

  #tell(symbol: string, market: TickMarket, now: Instant, quotes: Quote[]): void {
    const { at, open, isOpening, close, isClosing } = market;
    if (at === undefined) return;
    const day = this.#calendar.tradingDay(this.#calendar.dateOf(at));
    const isInSession = day !== undefined && at >= day.regularOpen && at < day.regularClose;
    const price = isInSession && open?.dayOpen === day.regularOpen ? open.price : undefined;
    const today = this.#calendar.tradingDay(this.#calendar.dateOf(now));
    const isClosed =
      close !== undefined &&
      today !== undefined &&
      close.dayOpen === today.regularOpen &&
      now < today.regularClose + CLOSE_SHOWN_MS;
    quotes.push({
      symbol,
      ...market.sides,
      ...market.last,
      at,
      ...(price !== undefined && { open: price }),
      ...(price === undefined && isOpening && { openToCome: true as const }),
      ...(isClosed && close.price !== undefined && { close: close.price }),
      ...(isClosing && { closeToCome: true as const }),
      freshUntil: market.freshUntil,
      ...(market.isDelayed && { delayed: true as const }),
      ...(market.isIndicative && { indicative: true as const }),
    });
  }

  #marketOf(symbol: string): TickMarket {
    let market = this.#markets.get(symbol);
    if (market === undefined) {
      market = {
        sides: {},
        last: {},
        at: undefined,
        isOpening: false,
        isClosing: false,
        freshUntil: Instant.last,
        isDelayed: false,
        isIndicative: false,
      };
      this.#markets.set(symbol, market);
    }
    return market;
  }
}

function haltOf({ kind, symbol, flags }: TickRow): HaltNews {
  if (kind === 'R') return { symbol, resumes: true };
  const [reason = 'HALT'] = flags;
  const lasts = flags.find((flag) => flag.startsWith('for='));
  return { symbol, reason, ...(lasts !== undefined && { lastsMs: Number(lasts.slice(4)) }) };
}
