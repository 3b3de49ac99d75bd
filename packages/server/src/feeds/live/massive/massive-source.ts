import { calendarById, Instant, isLongAsOsi, TradingDate } from '@sandpit/core';
import type { Bar, CorporateAction } from '@sandpit/core';
import type { BarSize } from '../../feed.js';
import type { UnsupportedAction } from '../../live-feed.js';
import { arrayOf, type Json, numberOf, objectOf, textOf } from '../json.js';
import { actionsFrom, barFrom, startOfBars } from '../records.js';
import { Rest } from '../rest.js';
import { SourceFailure } from '../source.js';
import type { LiveSource, SourceAsset, SourceQuote, SourceSnapshot, SourceTrade } from '../source.js';
import { plainSymbol, tradeEffectOf, vendorSymbol } from './messages.js';
import { massiveStream, NO_QUOTES } from './stream.js';

export interface MassiveSettings {
  readonly plan: 'realtime' | 'delayed';
  readonly options: 'on' | 'none';
  readonly apiKey: string;
  /** Replacements of the endpoints; the first two include paths. */
  readonly url?: string | undefined;
  readonly optionsUrl?: string | undefined;
  readonly restUrl?: string | undefined;
}

const DELAY_MS = 900_000;
/** Options quotes on one connection: https://massive.com/docs/websocket/options/quotes */
const CONTRACTS = 1000;
/** Paid plans are not metered; this limit keeps a start from looking like an attack. */
const REQUESTS = 6000;
const AT_ONCE = 40;
const CONTRACTS_AT_ONCE = 250;
const MOST_PAGES = 60;
const NS_PER_MS = 1e6;

/** Parts of the addresses of bars: https://massive.com/docs/rest/stocks/aggregates/custom-bars */
const RANGES: Readonly<Record<BarSize, string>> = {
  '1Min': '1/minute',
  '5Min': '5/minute',
  '15Min': '15/minute',
  '1Hour': '1/hour',
  '1Day': '1/day',
};

/** Market data of Massive, formerly Polygon (https://massive.com/docs). */
export function massiveSource(settings: MassiveSettings): LiveSource {
  const { plan, options, apiKey } = settings;
  const rest = new Rest({
    name: 'Massive',
    origin: settings.restUrl ?? 'https://api.massive.com',
    headers: { authorization: `Bearer ${apiKey}` },
    perMinute: REQUESTS,
    failureOf: (status, body) =>
      status === 403 || body.includes('NOT_AUTHORIZED') ? new SourceFailure('REFUSED', NO_QUOTES) : undefined,
  });
  const calendar = calendarById('XNYS');
  const today = (): TradingDate => calendar.dateOf(Instant.ofMs(Date.now()));

  /** Follows `next_url`, with the key as a header. */
  async function* pages(path: string, params: Record<string, string | number> = {}): AsyncGenerator<Json> {
    const seen = new Set<string>();
    let answer = objectOf(await rest.get(path, params));
    for (let page = 0; page < MOST_PAGES; page++) {
      yield answer;
      const next = textOf(answer.next_url);
      if (next === undefined || !URL.canParse(next) || seen.has(next)) return;
      seen.add(next);
      const { pathname, search } = new URL(next);
      answer = objectOf(await rest.get(`${pathname}${search}`));
    }
  }

  /** The stream has sizes in shares; the snapshot of tickers is still in lots, so it is not used for quotes. */
  async function quoteOf(symbol: string): Promise<SourceQuote | undefined> {
    const path = `/v3/quotes/${encodeURIComponent(vendorSymbol(symbol))}`;
    const [told] = arrayOf(
      objectOf(await rest.get(path, { order: 'desc', sort: 'timestamp', limit: 1 })).results,
    );
    const one = objectOf(told);
    const stamp = numberOf(one.sip_timestamp);
    return stamp === undefined
      ? undefined
      : sidesFrom(symbol, stamp / NS_PER_MS, [one.bid_price, one.ask_price, one.bid_size, one.ask_size]);
  }

  const contractFrom = (symbol: string, told: Json): SourceSnapshot => {
    const quote = objectOf(told.last_quote);
    const trade = objectOf(told.last_trade);
    const quoted = numberOf(quote.last_updated);
    const price = numberOf(trade.price);
    const traded = numberOf(trade.sip_timestamp);
    const openInterest = numberOf(told.open_interest);
    return {
      ...(quoted !== undefined && {
        quote: sidesFrom(symbol, quoted / NS_PER_MS, [quote.bid, quote.ask, quote.bid_size, quote.ask_size]),
      }),
      ...(price !== undefined &&
        traded !== undefined && {
          trade: {
            symbol,
            price,
            size: numberOf(trade.size) ?? 0,
            stampMs: traded / NS_PER_MS,
            updatesLast: true,
          },
        }),
      ...(openInterest !== undefined && { openInterest }),
    };
  };

  const hasOptions = options === 'on';
  const host = plan === 'realtime' ? 'socket' : 'delayed';
  return {
    name: 'massive',
    delayMs: plan === 'delayed' ? DELAY_MS : 0,
    // https://massive.com/docs/websocket/stocks/luld: Nasdaq listings.
    halts: 'nasdaq',
    hasOfficialPrices: true,
    hasIndicativeOptions: false,
    stocks: massiveStream({
      name: `massive ${plan}`,
      url: settings.url ?? `wss://${host}.massive.com/stocks`,
      apiKey,
      kind: 'stocks',
      limit: undefined,
    }),
    ...(hasOptions && {
      options: massiveStream({
        name: 'massive options',
        url: settings.optionsUrl ?? `wss://${host}.massive.com/options`,
        apiKey,
        kind: 'options',
        limit: CONTRACTS,
      }),
    }),

    async assets() {
      const assets: SourceAsset[] = [];
      const params = { market: 'stocks', active: 'true', limit: 1000 };
      for await (const answer of pages('/v3/reference/tickers', params))
        for (const told of arrayOf(answer.results)) {
          const { ticker, name, primary_exchange: exchange } = objectOf(told);
          if (typeof ticker === 'string' && /^[A-Z]{1,6}(\.[A-Z])?$/.test(ticker))
            assets.push({
              symbol: ticker,
              name: textOf(name) ?? ticker,
              isTradable: true,
              ...(exchange === 'XNAS' && { isOnNasdaq: true }),
            });
        }
      return assets;
    },

    async snapshots(symbols) {
      const found = new Map<string, SourceSnapshot>();
      const contracts = symbols.filter(isLongAsOsi);
      const stocks = symbols.filter((symbol) => !isLongAsOsi(symbol));
      if (stocks.length > 0) {
        const path = '/v2/snapshot/locale/us/markets/stocks/tickers';
        const answer = objectOf(await rest.get(path, { tickers: stocks.join(',') }));
        const trades = new Map(
          arrayOf(answer.tickers).map((told) => [objectOf(told).ticker, tradeFrom(objectOf(told))]),
        );
        for (let i = 0; i < stocks.length; i += AT_ONCE)
          await Promise.all(
            stocks.slice(i, i + AT_ONCE).map(async (symbol) => {
              const quote = await quoteOf(symbol);
              const trade = trades.get(symbol);
              if (quote !== undefined || trade !== undefined)
                found.set(symbol, {
                  ...(quote !== undefined && { quote }),
                  ...(trade !== undefined && { trade }),
                });
            }),
          );
      }
      for (let i = 0; hasOptions && i < contracts.length; i += CONTRACTS_AT_ONCE) {
        const some = contracts.slice(i, i + CONTRACTS_AT_ONCE).map(vendorSymbol);
        const params = { 'ticker.any_of': some.join(','), limit: CONTRACTS_AT_ONCE };
        for (const told of arrayOf(objectOf(await rest.get('/v3/snapshot', params)).results)) {
          const one = objectOf(told);
          const symbol = plainSymbol(textOf(one.ticker) ?? '');
          // A missing one has an error.
          if (one.error === undefined && symbol !== '') found.set(symbol, contractFrom(symbol, one));
        }
      }
      return found;
    },

    async bars({ symbol, size, from, until, limit }) {
      const bars: Bar[] = [];
      const start = startOfBars(size, from, until, limit);
      const path = `/v2/aggs/ticker/${encodeURIComponent(vendorSymbol(symbol))}/range/${RANGES[size]}/${start}/${until}`;
      // Adjusted for splits by default.
      for await (const answer of pages(path, { adjusted: 'false', sort: 'desc', limit: 50_000 })) {
        for (const told of arrayOf(answer.results)) {
          const { t, o, h, l, c, v } = objectOf(told);
          const bar = barFrom({ symbol, size, calendar, startMs: numberOf(t) ?? Number.NaN, o, h, l, c, v });
          if (bar !== undefined) bars.push(bar);
        }
        if (bars.length > limit) break;
      }
      return bars.sort((a, b) => a.at - b.at);
    },

    async actions(symbols, from) {
      const actions: CorporateAction[] = [];
      const unsupported: UnsupportedAction[] = [];
      for (const symbol of symbols) {
        const ticker = vendorSymbol(symbol);
        const splits = { ticker, 'execution_date.gte': from, limit: 100 };
        for (const told of arrayOf(objectOf(await rest.get('/v3/reference/splits', splits)).results)) {
          const { execution_date: exDate, split_to: more, split_from: old } = objectOf(told);
          actionsFrom({ type: 'SPLIT', symbol, exDate, more, old }, actions, unsupported);
        }
        const dividends = { ticker, 'ex_dividend_date.gte': from, limit: 100 };
        for (const told of arrayOf(objectOf(await rest.get('/v3/reference/dividends', dividends)).results)) {
          const { ex_dividend_date: exDate, pay_date: payDate, cash_amount: amount, ...one } = objectOf(told);
          const type = one.dividend_type === 'SC' ? 'SPECIAL_DIVIDEND' : 'DIVIDEND';
          actionsFrom({ type, symbol, exDate, payDate, amount }, actions, unsupported);
        }
      }
      return { actions, unsupported };
    },

    ...(hasOptions && {
      async expirations(underlying: string) {
        const dates = new Set<TradingDate>();
        const params = { underlying_ticker: underlying, 'expiration_date.gte': today(), limit: 1000 };
        for await (const answer of pages('/v3/reference/options/contracts', params))
          for (const told of arrayOf(answer.results)) {
            const date = TradingDate.parse(textOf(objectOf(told).expiration_date) ?? '');
            if (date !== undefined) dates.add(date);
          }
        return [...dates].sort();
      },

      async chain(underlying: string, expiration: TradingDate) {
        const found = new Map<string, SourceSnapshot>();
        const path = `/v3/snapshot/options/${encodeURIComponent(underlying)}`;
        for await (const answer of pages(path, { expiration_date: expiration, limit: 250 }))
          for (const told of arrayOf(answer.results)) {
            const one = objectOf(told);
            const symbol = plainSymbol(textOf(objectOf(one.details).ticker) ?? '');
            if (symbol !== '') found.set(symbol, contractFrom(symbol, one));
          }
        return found;
      },
    }),
  };
}

function sidesFrom(symbol: string, stampMs: number, sides: readonly unknown[]): SourceQuote {
  const [bid, ask, bidSize, askSize] = sides.map(numberOf);
  return {
    symbol,
    ...(bid !== undefined && { bid }),
    ...(ask !== undefined && { ask }),
    ...(bidSize !== undefined && { bidSize }),
    ...(askSize !== undefined && { askSize }),
    stampMs,
  };
}

function tradeFrom(told: Json): SourceTrade | undefined {
  const symbol = textOf(told.ticker);
  const { p, s, t, c, x } = objectOf(told.lastTrade);
  const price = numberOf(p);
  const stamp = numberOf(t);
  if (symbol === undefined || price === undefined || stamp === undefined) return undefined;
  return {
    symbol,
    price,
    size: numberOf(s) ?? 0,
    stampMs: stamp / NS_PER_MS,
    ...tradeEffectOf(c, x, undefined),
  };
}
