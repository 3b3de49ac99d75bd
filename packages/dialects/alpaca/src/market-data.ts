/** Stocks: bars, and the latest trade and quote of each. */
import { Instant } from '@sandpit/core';
import {
  type Bar,
  barsBetween,
  latestBars,
  latestDays,
  type Quote,
  Refused,
  timeframeOf,
  withTrades,
} from '@sandpit/dialect-port';
import { invalid, notFound, translated } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

const at = (ms: number): string => new Date(ms).toISOString();

/** The only exchange; `V` is the code of a feed with one exchange there. */
const EXCHANGE = 'V';
const EXCHANGE_OF_OPTIONS = 'C';

export function barShape(bar: Bar) {
  const { timestamp, open, high, low, close, volume, trades, average } = withTrades(bar);
  return {
    t: at(timestamp),
    o: open,
    h: high,
    l: low,
    c: close,
    v: volume,
    n: trades,
    vw: Math.round(average * 1e6) / 1e6,
  };
}

/** Undefined without any trade. */
export const tradeShape = ({ last, lastSize, timestamp }: Quote) =>
  last === undefined
    ? undefined
    : {
        t: at(timestamp),
        x: EXCHANGE,
        p: last,
        s: Math.round(lastSize ?? 0),
        c: ['@'],
        i: timestamp,
        z: 'C',
      };

export const quoteShape = ({ bid, ask, bidSize, askSize, timestamp }: Quote) => ({
  t: at(timestamp),
  ax: EXCHANGE,
  ap: ask ?? 0,
  as: Math.round(askSize ?? 0),
  bx: EXCHANGE,
  bp: bid ?? 0,
  bs: Math.round(bidSize ?? 0),
  c: ['R'],
  z: 'C',
});

/** A trade of an option has one condition, as text, and no number. */
export function optionTradeShape(quote: Quote) {
  const trade = tradeShape(quote);
  return trade && { t: trade.t, x: EXCHANGE_OF_OPTIONS, p: trade.p, s: trade.s, c: 'a' };
}

export const optionQuoteShape = (quote: Quote) => {
  const { t, ap, as, bp, bs } = quoteShape(quote);
  return { t, ax: EXCHANGE_OF_OPTIONS, ap, as, bx: EXCHANGE_OF_OPTIONS, bp, bs, c: 'A' };
};

/** The latest quotes by symbol; unlisted symbols and those without a quote are omitted. */
export async function quotesOf(
  call: AlpacaCall,
  symbols: readonly string[],
): Promise<ReadonlyMap<string, Quote>> {
  const found = new Map<string, Quote>();
  for (let i = 0; i < symbols.length; i += QUOTES_AT_ONCE) {
    const some = symbols.slice(i, i + QUOTES_AT_ONCE);
    const { quotes } = await call.book.run('getQuotes', { body: { symbols: some } });
    for (const quote of quotes) found.set(quote.symbol, quote);
  }
  return found;
}

type QuoteWriter = (quote: Quote) => object | undefined;

const QUOTES_AT_ONCE = 50;
const MOST_SYMBOLS = 200;

/** The symbols of a request, which must be there. */
export function symbolsOf({ query }: AlpacaCall): readonly string[] {
  const symbols = [...new Set((query.list('symbols') ?? []).map((symbol) => symbol.toUpperCase()))];
  if (symbols.length === 0) throw invalid('symbols is required');
  if (symbols.length > MOST_SYMBOLS) throw invalid(`at most ${MOST_SYMBOLS} symbols`);
  return symbols;
}

const symbolIn = ({ params }: AlpacaCall): string => (params['symbol'] ?? '').toUpperCase();

async function quoteOf(call: AlpacaCall, symbol: string): Promise<Quote> {
  try {
    return await call.book.run('getQuote', { params: { symbol } });
  } catch (error) {
    throw error instanceof Refused ? translated(error, symbol) : error;
  }
}

/** Collects the defined values by symbol. */
export function bySymbol<T>(
  entries: Iterable<readonly [string, T | undefined]>,
): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].filter((entry): entry is [string, T] => entry[1] !== undefined));
}

export const latestQuote: AlpacaHandler = async (call) => {
  const symbol = symbolIn(call);
  return { symbol, quote: quoteShape(await quoteOf(call, symbol)) };
};

export const latestTrade: AlpacaHandler = async (call) => {
  const symbol = symbolIn(call);
  const trade = tradeShape(await quoteOf(call, symbol));
  if (trade === undefined) throw notFound(`no trade found for ${symbol}`);
  return { symbol, trade };
};

export const latestBar: AlpacaHandler = async (call) => {
  const symbol = symbolIn(call);
  const [bar] = await latestBars(call.book, symbol, '1Min', 1);
  if (bar === undefined) throw notFound(`no bar found for ${symbol}`);
  return { symbol, bar: barShape(bar) };
};

const latest =
  (name: 'quotes' | 'trades' | 'values', shape: QuoteWriter): AlpacaHandler =>
  async (call) => {
    const quotes = await quotesOf(call, symbolsOf(call));
    return { [name]: bySymbol([...quotes].map(([symbol, quote]) => [symbol, shape(quote)])) };
  };

export const latestQuotes = latest('quotes', quoteShape);
export const latestTrades = latest('trades', tradeShape);
export const latestOptionQuotes = latest('quotes', optionQuoteShape);
export const latestOptionTrades = latest('trades', optionTradeShape);

/** Undefined for anything but an index with a value. */
const indexValueOf = ({ book }: AlpacaCall): QuoteWriter => {
  return ({ symbol, last, timestamp }) =>
    last === undefined || book.instrument(symbol)?.assetClass !== 'INDEX'
      ? undefined
      : { t: at(timestamp), v: last };
};

export const latestIndexValues: AlpacaHandler = (call) => latest('values', indexValueOf(call))(call);

export const latestBarsOf: AlpacaHandler = async (call) => {
  const bars: [string, ReturnType<typeof barShape> | undefined][] = [];
  for (const symbol of symbolsOf(call)) {
    const [bar] = await latestBars(call.book, symbol, '1Min', 1);
    bars.push([symbol, bar && barShape(bar)]);
  }
  return { bars: bySymbol(bars) };
};

async function snapshotOf(call: AlpacaCall, symbol: string, quote: Quote) {
  const [minute] = await latestBars(call.book, symbol, '1Min', 1);
  const [day, before] = await latestDays(call.book, symbol, 2);
  const trade = tradeShape(quote);
  return {
    ...(trade !== undefined && { latestTrade: trade }),
    latestQuote: quoteShape(quote),
    ...(minute !== undefined && { minuteBar: barShape(minute) }),
    ...(day !== undefined && { dailyBar: barShape(day) }),
    ...(before !== undefined && { prevDailyBar: barShape(before) }),
  };
}

export const snapshot: AlpacaHandler = async (call) => {
  const symbol = symbolIn(call);
  return { symbol, ...(await snapshotOf(call, symbol, await quoteOf(call, symbol))) };
};

export const snapshots: AlpacaHandler = async (call) => {
  const found: [string, object][] = [];
  for (const [symbol, quote] of await quotesOf(call, symbolsOf(call)))
    found.push([symbol, await snapshotOf(call, symbol, quote)]);
  return bySymbol(found);
};

const DEFAULT_LIMIT = 1000;
const MOST_ITEMS = 10_000;
const DAY_MS = 86_400_000;

/** Time range of a request for historical data. */
interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly limit: number;
  readonly isDescending: boolean;
}

function stretchOf({ query, book }: AlpacaCall): Stretch {
  if ((query.text('currency')?.toUpperCase() ?? 'USD') !== 'USD') throw invalid('currency must be USD');
  const now = book.now();
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const token = query.text('page_token');
  const from = token === undefined ? (query.instant('start') ?? today) : instantOfToken(token);
  const until = Math.min(query.instant('end') ?? now, now);
  if (token === undefined && query.has('start') && query.has('end') && from > (query.instant('end') ?? now))
    throw invalid('end should not be before start');
  return {
    from,
    until,
    limit: query.integer('limit', 1, MOST_ITEMS) ?? DEFAULT_LIMIT,
    isDescending: query.choice('sort', ['asc', 'desc']) === 'desc',
  };
}

/** Bars of several symbols in sequence, one page in total. A page continues with the symbol that its token names. */
export async function barsOfSymbols(call: AlpacaCall, symbols: readonly string[]) {
  const text = call.query.text('timeframe') ?? '1Day';
  const timeframe = timeframeOf(text, call.book.calendar);
  if (timeframe === undefined) throw invalid(`invalid timeframe: ${text}`);
  const { symbol: resumed, call: rest } = resumedAt(call);
  const stretch = stretchOf(rest);
  const bars: Record<string, object[]> = {};
  let left = stretch.limit;
  let from = stretch.from;
  for (const symbol of symbols.slice(Math.max(0, symbols.indexOf(resumed ?? '')))) {
    if (left === 0) return { bars, next_page_token: pageToken(symbol, from) };
    const page = await orNone(barsBetween(call.book, symbol, timeframe, from, stretch.until, left));
    if (page.bars.length > 0)
      bars[symbol] = stretch.isDescending ? page.bars.map(barShape).reverse() : page.bars.map(barShape);
    if (page.next !== undefined) return { bars, next_page_token: pageToken(symbol, page.next) };
    left -= page.bars.length;
    // Only the first one continues from a token.
    from = call.query.instant('start') ?? stretch.from;
  }
  return { bars, next_page_token: null };
}

/** A symbol that is not listed has no bars. */
async function orNone(page: ReturnType<typeof barsBetween>): ReturnType<typeof barsBetween> {
  try {
    return await page;
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return { bars: [], next: undefined };
    throw error;
  }
}

/** The instant that a page ends before, as a token. */
const tokenOf = (next: number): string => Buffer.from(String(next)).toString('base64url');

/** The instant of a token. */
function instantOfToken(token: string): number {
  const ms = Number(Buffer.from(token, 'base64url').toString());
  if (!Number.isSafeInteger(ms)) throw invalid('invalid page_token');
  return Instant.ofMs(ms);
}

const pageToken = (symbol: string, next: number): string => `${symbol}|${tokenOf(next)}`;

/** The call with its token reduced to an instant, and the symbol with which it continues. */
function resumedAt(call: AlpacaCall): { readonly symbol: string | undefined; readonly call: AlpacaCall } {
  const token = call.query.text('page_token');
  if (token === undefined) return { symbol: undefined, call };
  const bar = token.lastIndexOf('|');
  if (bar === -1) throw invalid('invalid page_token');
  return {
    symbol: token.slice(0, bar),
    call: { ...call, query: call.query.with('page_token', token.slice(bar + 1)) },
  };
}

export const barsOfMany: AlpacaHandler = (call) => barsOfSymbols(call, symbolsOf(call));

export const barsOfOne: AlpacaHandler = async (call) => {
  const symbol = symbolIn(call);
  const { bars, next_page_token } = await barsOfSymbols(call, [symbol]);
  return { symbol, bars: bars[symbol] ?? [], next_page_token };
};

/** Only the latest historical quote is kept. Returns it if it is within the requested range. */
async function latestWithin(call: AlpacaCall, symbols: readonly string[], shape: QuoteWriter) {
  const { from, until } = stretchOf({ ...call, query: call.query.with('page_token', undefined) });
  const quotes = await quotesOf(call, symbols);
  return bySymbol(
    [...quotes]
      .filter(([, { timestamp }]) => timestamp >= from && timestamp <= until)
      .map(([symbol, quote]) => {
        const shown = shape(quote);
        return [symbol, shown === undefined ? undefined : [shown]] as const;
      }),
  );
}

const ofMany =
  (name: 'trades' | 'quotes' | 'values', shape: QuoteWriter): AlpacaHandler =>
  async (call) => ({ [name]: await latestWithin(call, symbolsOf(call), shape), next_page_token: null });

const ofOne =
  (name: 'trades' | 'quotes', shape: QuoteWriter): AlpacaHandler =>
  async (call) => {
    const symbol = symbolIn(call);
    const found = await latestWithin(call, [symbol], shape);
    return { symbol, [name]: found[symbol] ?? [], next_page_token: null };
  };

/** A simulated market has no news. */
export const emptyNews: AlpacaHandler = () => Promise.resolve({ news: [], next_page_token: null });

export const indexValues: AlpacaHandler = (call) => ofMany('values', indexValueOf(call))(call);
export const tradesOfOptions = ofMany('trades', optionTradeShape);
export const tradesOfMany = ofMany('trades', tradeShape);
export const tradesOfOne = ofOne('trades', tradeShape);
export const quotesOfMany = ofMany('quotes', quoteShape);
export const quotesOfOne = ofOne('quotes', quoteShape);
