import { Instant } from '@sandpit/core';
import type { Calendar, Quote } from '@sandpit/core';
import type { HaltNews, MarketEvent } from '../feed.js';
import type { TickRow } from '../tick-file.js';

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
