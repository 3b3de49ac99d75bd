/** Lists about the market: codes of exchanges and conditions, screeners, auctions. */
import { Instant } from '@sandpit/core';
import { barsBetween, dayFrame, latestDays, type VolumeBar } from '@sandpit/dialect-port';
import { quotesOf, symbolsOf } from './market-data.js';
import { invalid } from './refusals.js';
import type { AlpacaCall, AlpacaHandler } from './request.js';

/** Codes of the exchanges of US stocks; trades and quotes here are of `V`. */
const STOCK_EXCHANGES = {
  A: 'NYSE American (AMEX)',
  B: 'NASDAQ OMX BX',
  C: 'National Stock Exchange',
  D: 'FINRA ADF',
  H: 'MIAX',
  I: 'International Securities Exchange',
  J: 'Cboe EDGA',
  K: 'Cboe EDGX',
  L: 'Long Term Stock Exchange',
  M: 'Chicago Stock Exchange',
  N: 'New York Stock Exchange',
  P: 'NYSE Arca',
  Q: 'NASDAQ',
  T: 'NASDAQ Int',
  U: 'Members Exchange',
  V: 'IEX',
  X: 'NASDAQ OMX PSX',
  Y: 'Cboe BYX',
  Z: 'Cboe BZX',
};

/** Codes of the exchanges of US options; trades and quotes here are of `C`. */
const OPTION_EXCHANGES = {
  A: 'NYSE American',
  B: 'Boston Options Exchange',
  C: 'Cboe Options',
  D: 'MIAX Emerald',
  E: 'Cboe EDGX Options',
  H: 'ISE Gemini',
  I: 'International Securities Exchange',
  J: 'ISE Mercury',
  M: 'Miami International',
  N: 'NYSE Arca',
  O: 'MIAX Pearl',
  P: 'NYSE Arca Options',
  Q: 'NASDAQ Options',
  S: 'MIAX Sapphire',
  T: 'NASDAQ BX',
  U: 'MEMX',
  W: 'Cboe C2',
  X: 'NASDAQ PHLX',
  Z: 'Cboe BZX Options',
};

/** The conditions that trades and quotes here can have. */
const CONDITIONS = {
  stocks: {
    trade: { '@': 'Regular Sale', Q: 'Market Center Official Open', M: 'Market Center Official Close' },
    quote: { R: 'Regular, Two Sided Open' },
  },
  options: { trade: { a: 'Single Leg Auction Non ISO' }, quote: { A: 'Regular' } },
} as const;

export const stockExchanges: AlpacaHandler = () => Promise.resolve(STOCK_EXCHANGES);
export const optionExchanges: AlpacaHandler = () => Promise.resolve(OPTION_EXCHANGES);

function ticktypeOf({ params }: AlpacaCall): 'trade' | 'quote' {
  const { ticktype } = params;
  if (ticktype !== 'trade' && ticktype !== 'quote') throw invalid('ticktype must be one of trade, quote');
  return ticktype;
}

export const stockConditions: AlpacaHandler = (call) => {
  const ticktype = ticktypeOf(call);
  if (call.query.choice('tape', ['a', 'b', 'c', 'n', 'o']) === undefined) throw invalid('tape is required');
  return Promise.resolve(CONDITIONS.stocks[ticktype]);
};

export const optionConditions: AlpacaHandler = (call) =>
  Promise.resolve(CONDITIONS.options[ticktypeOf(call)]);

/** A stock as screeners see it. */
interface Screened {
  readonly symbol: string;
  readonly price: number;
  readonly change: number;
  readonly percent_change: number;
  readonly volume: number;
  readonly trade_count: number;
}

interface Screen {
  readonly minute: number;
  readonly stocks: Promise<readonly Screened[]>;
}

const MINUTE_MS = 60_000;
/** The last screen of each simulation: reading every stock is expensive, so it is done once a minute. */
const screens = new WeakMap<object, Screen>();

function screened(call: AlpacaCall): Promise<readonly Screened[]> {
  const { book } = call;
  const minute = Math.floor(book.now() / MINUTE_MS);
  const known = screens.get(book.key);
  if (known?.minute === minute) return known.stocks;
  const stocks = screen(call);
  screens.set(book.key, { minute, stocks });
  stocks.catch(() => screens.delete(book.key));
  return stocks;
}

async function screen(call: AlpacaCall): Promise<readonly Screened[]> {
  const { book } = call;
  const symbols = book.market
    .listed()
    .filter(({ assetClass }) => assetClass === 'EQUITY')
    .map(({ symbol }) => symbol);
  const { calendar } = book;
  const today = calendar.instantOf(calendar.dateOf(book.now()), 0, 0);
  const found: Screened[] = [];
  for (const [symbol, quote] of await quotesOf(call, symbols)) {
    const days = await latestDays(book, symbol, 2);
    const before = days.find(({ timestamp }) => timestamp < today);
    const price = quote.last ?? quote.price;
    const change = before === undefined ? 0 : price - before.close;
    found.push({
      symbol,
      price,
      change: rounded(change),
      percent_change: before === undefined ? 0 : rounded((change / before.close) * 100),
      volume: days[0]?.volume ?? 0,
      trade_count: days[0]?.trades ?? 0,
    });
  }
  return found;
}

const rounded = (figure: number): number => Math.round(figure * 100) / 100;

const updatedAt = ({ book }: AlpacaCall): string =>
  new Date(Math.floor(book.now() / MINUTE_MS) * MINUTE_MS).toISOString();

/** The stocks that have risen and fallen the most since the close before. */
export const movers: AlpacaHandler = async (call) => {
  const market = call.params['market'] ?? '';
  if (market !== 'stocks') throw invalid('market_type must be stocks');
  const top = call.query.integer('top', 1, 50) ?? 10;
  const stocks = [...(await screened(call))].sort((a, b) => b.percent_change - a.percent_change);
  const shown = ({ symbol, price, change, percent_change }: Screened) => ({
    symbol,
    price,
    change,
    percent_change,
  });
  return {
    gainers: stocks
      .filter(({ change }) => change > 0)
      .slice(0, top)
      .map(shown),
    losers: stocks
      .filter(({ change }) => change < 0)
      .slice(-top)
      .reverse()
      .map(shown),
    market_type: 'stocks',
    last_updated: updatedAt(call),
  };
};

/** The stocks that are traded the most, in shares or in trades. */
export const mostActives: AlpacaHandler = async (call) => {
  const by = call.query.choice('by', ['volume', 'trades']) === 'trades' ? 'trade_count' : 'volume';
  const top = call.query.integer('top', 1, 100) ?? 10;
  const stocks = [...(await screened(call))].sort((a, b) => b[by] - a[by]).slice(0, top);
  return {
    most_actives: stocks.map(({ symbol, volume, trade_count }) => ({ symbol, volume, trade_count })),
    last_updated: updatedAt(call),
  };
};

const DAY_MS = 86_400_000;

/** Opening and closing prices as auctions; a session that is not over has no closing one. */
async function auctionsIn(call: AlpacaCall, symbol: string): Promise<readonly object[]> {
  const { calendar } = call.book;
  const now = call.book.now();
  const from = call.query.instant('start') ?? Math.floor(now / DAY_MS) * DAY_MS;
  const until = Math.min(call.query.instant('end') ?? now, now);
  const limit = call.query.integer('limit', 1, 10_000) ?? 1000;
  const { bars } = await barsBetween(call.book, symbol, dayFrame(calendar), from, until, limit);
  const auction = (at: number, price: number, condition: string) => ({
    t: new Date(at).toISOString(),
    x: 'V',
    p: price,
    c: condition,
  });
  return bars.flatMap(({ timestamp, open, close }: VolumeBar) => {
    const date = calendar.dateOf(Instant.ofMs(timestamp));
    const day = calendar.tradingDay(date);
    if (day === undefined) return [];
    const isOver = day.regularClose <= now;
    return [
      {
        d: date,
        o: [auction(day.regularOpen, open, 'Q')],
        c: isOver ? [auction(day.regularClose, close, 'M')] : [],
      },
    ];
  });
}

export const auctionsOfOne: AlpacaHandler = async (call) => {
  const symbol = (call.params['symbol'] ?? '').toUpperCase();
  return { symbol, auctions: await auctionsIn(call, symbol), next_page_token: null };
};

export const auctionsOfMany: AlpacaHandler = async (call) => {
  const auctions: Record<string, readonly object[]> = {};
  for (const symbol of symbolsOf(call)) {
    const found = await auctionsIn(call, symbol);
    if (found.length > 0) auctions[symbol] = found;
  }
  return { auctions, next_page_token: null };
};
