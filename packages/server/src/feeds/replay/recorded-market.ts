import { Instant, isLongAsOsi, Quantity } from '@sandpit/core';
import type { Calendar, Price, Quote, TradingDate } from '@sandpit/core';
import { MINUTE_MS } from '../bar-window.js';
import type { MarketEvent } from '../feed.js';
import type { RecordedItem as AnyItem } from './recorded-items.js';
import type { PriceBar, QuoteRow, TradeRow } from './rows.js';

/**
 * Maximum age of a side or a trade that is carried into later quotes. The limit makes the event of an instant depend on the rows of the
 * previous day alone, regardless of the start of the reading.
 */
export const CARRIED_MS = 86_400_000;

/** The part of a minute's volume available to orders if no quotes are recorded. */
const SHARE_OF_VOLUME = 0.1;

/** Everything but ticks, which `recorded-ticks.ts` converts to quotes. */
type RecordedItem = Exclude<AnyItem, { kind: 'tick' }>;

type Sides = Pick<Quote, 'bid' | 'ask' | 'bidSize' | 'askSize'>;
type Last = Pick<Quote, 'last' | 'lastSize'>;
export type BarItem = RecordedItem;
type Open = Extract<RecordedItem, { kind: 'open' }>;
type Close = Extract<RecordedItem, { kind: 'close' }>;

/** The market of one symbol according to the recording so far. */
interface SymbolMarket {
  quote?: { readonly at: Instant; readonly sides: Sides };
  trade?: { readonly at: Instant; readonly last: Last };
  /** The official open of a day, as far as it is known. */
  open?: { readonly date: TradingDate; readonly price?: Price; readonly isTold: boolean };
}

/** Turns recorded rows into whole quotes: a row changes one part, the rest stays the same. */
export class RecordedMarket {
  private readonly markets = new Map<string, SymbolMarket>();
  private readonly calendar: Calendar;
  private readonly hasTrades: (symbol: string) => boolean;
  private readonly isIndex: (symbol: string) => boolean;
  private readonly hasVolumeAt: (symbol: string, start: Instant) => boolean;

  /**
   * `hasTrades`: true for symbols with recorded minute bars of trades; `hasVolumeAt`: true for those with volume in a minute of the same
   * type of session.
   */
  constructor(
    calendar: Calendar,
    hasTrades: (symbol: string) => boolean,
    isIndex: (symbol: string) => boolean,
    hasVolumeAt: (symbol: string, start: Instant) => boolean,
  ) {
    this.calendar = calendar;
    this.hasTrades = hasTrades;
    this.isIndex = isIndex;
    this.hasVolumeAt = hasVolumeAt;
  }

  /** The event of one instant, with `passed` requested before; `undefined` when none of its data is usable. */
  apply(at: Instant, items: readonly RecordedItem[], passed: readonly Quote[]): MarketEvent | undefined {
    const quotes: Quote[] = [];
    for (const item of items) {
      if (item.kind === 'open') {
        this.noteOpen(item);
        continue;
      }
      const quote = item.kind === 'close' ? this.closing(item, quotes) : this.applyItem(item);
      if (quote !== undefined) quotes.push({ ...quote, ...this.openingOf(item, quote.at) });
    }
    if (quotes.length === 0) return undefined;
    if (passed.length === 0) return { at, quotes };
    return { at, quotes, passed: { since: Instant.plusMs(at, -MINUTE_MS), quotes: passed } };
  }

  /** The market at the close: quotes of this instant if there are any, otherwise the last ones. */
  private closing({ at, symbol, price }: Close, told: Quote[]): Quote {
    const index = told.findLastIndex((quote) => quote.symbol === symbol);
    const [quote] = index < 0 ? [] : told.splice(index, 1);
    if (quote?.untraded === true) return { symbol, last: price, close: price, at: quote.at };
    if (quote !== undefined) return { ...quote, close: price };
    const market = this.marketOf(symbol);
    return {
      symbol,
      ...recentSides(market, at),
      ...(lastOf(market, at) ?? { last: price }),
      close: price,
      at,
    };
  }

  private noteOpen({ at, symbol, price }: Open): void {
    this.marketOf(symbol).open = { date: this.calendar.dateOf(at), price, isTold: false };
  }

  /**
   * Fields of a quote about the official open of its session. The first quote that knows the open carries it: that of the daily bar, or
   * else of the first minute of trades (D180). Earlier quotes mark it as pending.
   */
  private openingOf(item: Exclude<RecordedItem, Open>, at: Instant): Pick<Quote, 'open' | 'openToCome'> {
    if ((item.kind !== 'quote' && item.kind !== 'trade') || isLongAsOsi(item.symbol)) return {};
    const day = this.calendar.tradingDay(this.calendar.dateOf(at));
    if (day === undefined || at < day.regularOpen || at >= day.regularClose) return {};
    const market = this.marketOf(item.symbol);
    const known = market.open?.date === day.date ? market.open : undefined;
    if (known?.isTold === true) return {};
    const open =
      known?.price ?? (item.kind === 'trade' && !this.isUntraded(item.row, at) ? item.row.open : undefined);
    if (open === undefined) return this.hasTrades(item.symbol) ? { openToCome: true } : {};
    market.open = { date: day.date, price: open, isTold: true };
    return { open };
  }

  private applyItem(item: Exclude<RecordedItem, Open | Close>): Quote | undefined {
    const { symbol } = item;
    const at = stampOf(item);
    const market = this.marketOf(symbol);
    if (item.kind === 'quote') {
      const sides = sidesOf(item.row, 'close');
      // A crossed quote is a flaw of the recording: the one before stays in force.
      if (isCrossed(sides)) return undefined;
      market.quote = { at, sides };
      // When neither side is quoted, the event must still show that there is no market; the last trade is not a quote.
      return { symbol, ...sides, ...lastOf(market, at), at };
    }
    // An index has no trades: it has a last value only.
    if (item.kind === 'index') return { symbol, last: item.price, at };
    if (item.kind === 'daily') {
      const { price } = item;
      if (this.isIndex(symbol)) return { symbol, last: price, at };
      return { symbol, bid: price, ask: price, last: price, at };
    }
    if (this.isUntraded(item.row, at)) {
      market.trade = { at, last: { last: item.row.close } };
      return { symbol, last: item.row.close, untraded: true, at };
    }
    const last = {
      last: item.row.close,
      ...(item.row.volume > 0 && { lastSize: Quantity.of(item.row.volume) }),
    };
    market.trade = { at, last };
    return { symbol, ...(recentSides(market, at) ?? sidesOfTrade(item.row, item.row.close)), ...last, at };
  }

  /** Per symbol with a completed minute: open, low and high as quotes. */
  passed(at: Instant, items: readonly RecordedItem[]): readonly Quote[] {
    const minutes = new Map<string, { quote?: QuoteRow; trade?: TradeRow }>();
    for (const item of items) {
      if (item.kind !== 'quote' && item.kind !== 'trade') continue;
      if (item.kind === 'quote' && item.endOnly) continue;
      if (item.kind === 'trade' && this.isUntraded(item.row, at)) continue;
      const minute = minutes.get(item.symbol) ?? {};
      if (item.kind === 'quote') minute.quote = item.row;
      else minute.trade = item.row;
      minutes.set(item.symbol, minute);
    }
    return [...minutes].flatMap(([symbol, { quote, trade }]) => {
      if (isFlat(trade) && isFlat(quote?.bid) && isFlat(quote?.ask)) return [];
      const market = this.marketOf(symbol);
      return (['open', 'low', 'high'] as const)
        .map((point): Quote => {
          const sides = quote ? sidesOf(quote, point) : recentSides(market, at);
          return {
            symbol,
            ...(sides ?? (trade && sidesOfTrade(trade, trade[point]))),
            ...(trade ? { last: trade[point] } : lastOf(market, at)),
            at: lastOfMinute(at),
          };
        })
        .filter((passing) => !isCrossed(passing));
    });
  }

  /** True for a minute without trades (D251): without volume and quotes, of a symbol with volume in other minutes. */
  private isUntraded({ symbol, start, volume }: TradeRow, at: Instant): boolean {
    return (
      volume === 0 && recentSides(this.marketOf(symbol), at) === undefined && this.hasVolumeAt(symbol, start)
    );
  }

  private marketOf(symbol: string): SymbolMarket {
    let market = this.markets.get(symbol);
    if (!market) this.markets.set(symbol, (market = {}));
    return market;
  }
}

/** A minute bar describes the market at its last millisecond: the one before the open is not the first of the session (D128). */
const lastOfMinute = (known: Instant): Instant => Instant.plusMs(known, -1);

const stampOf = ({ kind, at }: RecordedItem): Instant =>
  kind === 'quote' || kind === 'trade' || kind === 'index' ? lastOfMinute(at) : at;

function isFlat(bar: PriceBar | undefined): boolean {
  return bar === undefined || (bar.low === bar.high && bar.open === bar.close);
}

function sidesOf({ bid, ask }: QuoteRow, point: keyof PriceBar): Sides {
  // A chain has thousands of these a minute.
  const sides: { -readonly [Part in keyof Sides]: Sides[Part] } = {};
  if (bid !== undefined) {
    sides.bid = bid[point];
    if (bid.size !== undefined) sides.bidSize = bid.size;
  }
  if (ask !== undefined) {
    sides.ask = ask[point];
    if (ask.size !== undefined) sides.askSize = ask.size;
  }
  return sides;
}

/** Without recorded quotes both sides are at the trade, with a share of its volume as size. */
function sidesOfTrade(row: TradeRow, price: Price): Sides {
  const size = Quantity.of(Math.max(1, Math.floor(row.volume * SHARE_OF_VOLUME)));
  return { bid: price, ask: price, bidSize: size, askSize: size };
}

function isCrossed({ bid, ask }: Sides): boolean {
  return bid !== undefined && ask !== undefined && bid > ask;
}

function recentSides(market: SymbolMarket, at: Instant): Sides | undefined {
  return market.quote && at - market.quote.at <= CARRIED_MS ? market.quote.sides : undefined;
}

function lastOf(market: SymbolMarket, at: Instant): Last | undefined {
  return market.trade && at - market.trade.at <= CARRIED_MS ? market.trade.last : undefined;
}
