import { calendarById, isLongAsOsi, TradingDate } from '@sandpit/core';
import type { Bar, Instant } from '@sandpit/core';
import type { BarSize } from '../../feed.js';
import { listOf, numberOf, objectOf, textOf } from '../json.js';
import type { Json } from '../json.js';
import { barFrom, startOfBars } from '../records.js';
import { Rest } from '../rest.js';
import { SourceFailure } from '../source.js';
import type { LiveSource, SourceAsset, SourceSnapshot, StreamSink } from '../source.js';
import { type FoundActions, takeDividends, takeSplits } from './fundamentals.js';
import { plainSymbol, snapshotFrom, vendorSymbol } from './messages.js';
import { tradierStream } from './stream.js';

export interface TradierSettings {
  readonly plan: 'live' | 'sandbox';
  readonly options: 'on' | 'none';
  readonly token: string;
  /** Replacements of the endpoints; the first includes a path. */
  readonly url?: string | undefined;
  readonly restUrl?: string | undefined;
}

const DELAY_MS = 900_000;
/** Tradier publishes no limit: "what you need" (https://docs.tradier.com/docs/streaming-data). */
const SYMBOLS = 500;
/** Requests a minute: https://documentation.tradier.com/brokerage-api/overview/rate-limiting */
const REQUESTS = { live: 120, sandbox: 60 } as const;
const POLL_MS = 5000;
const AT_ONCE = 200;

/** Time-and-sales intervals from which bars are built. */
const INTERVALS: Readonly<Record<Exclude<BarSize, '1Day'>, string>> = {
  '1Min': '1min',
  '5Min': '5min',
  '15Min': '15min',
  '1Hour': '15min',
};

/** Market data of Tradier (https://docs.tradier.com). */
export function tradierSource(settings: TradierSettings): LiveSource {
  const { plan, options, token } = settings;
  const rest = new Rest({
    name: 'Tradier',
    origin: settings.restUrl ?? (plan === 'live' ? 'https://api.tradier.com' : 'https://sandbox.tradier.com'),
    headers: { authorization: `Bearer ${token}` },
    perMinute: REQUESTS[plan],
    failureOf: (status, body) => {
      if (status === 401 || status === 403)
        return new SourceFailure(
          'REFUSED',
          `Tradier refuses TRADIER_TOKEN for ${plan} (HTTP ${status}); check it and LIVE_PLAN`,
        );
      if (status === 400 && body.includes('Quota'))
        return new SourceFailure('RETRY', 'Tradier is asked too often (quota violation)');
      return undefined;
    },
  });
  const calendar = calendarById('XNYS');
  const hasOptions = options === 'on';

  async function quotes(symbols: readonly string[]): Promise<ReadonlyMap<string, SourceSnapshot>> {
    const found = new Map<string, SourceSnapshot>();
    for (let i = 0; i < symbols.length; i += AT_ONCE) {
      const some = symbols.slice(i, i + AT_ONCE).map(vendorSymbol);
      const answer = objectOf(
        await rest.get('/v1/markets/quotes', { symbols: some.join(','), greeks: 'false' }),
      );
      for (const told of listOf(objectOf(answer.quotes).quote)) {
        const one = objectOf(told);
        const symbol = plainSymbol(textOf(one.symbol) ?? '');
        if (symbol !== '') found.set(symbol, snapshotFrom(symbol, one));
      }
    }
    return found;
  }

  const stocks =
    plan === 'live'
      ? tradierStream({
          name: 'tradier',
          url: settings.url ?? 'wss://ws.tradier.com/v1/markets/events',
          limit: SYMBOLS,
          session: async () => {
            const answer = objectOf(await rest.post('/v1/markets/events/session'));
            const id = textOf(objectOf(answer.stream).sessionid);
            if (id === undefined) throw new SourceFailure('RETRY', 'Tradier gives no session');
            return id;
          },
        })
      : {
          name: 'tradier sandbox',
          limit: SYMBOLS,
          everyMs: POLL_MS,
          async poll(symbols: ReadonlySet<string>, sink: StreamSink): Promise<void> {
            if (symbols.size === 0) {
              await rest.get('/v1/markets/clock');
              return;
            }
            for (const { quote, trade } of (await quotes([...symbols])).values()) {
              if (trade !== undefined) sink.trade(trade);
              if (quote !== undefined) sink.quote(quote);
            }
          },
        };

  return {
    name: 'tradier',
    delayMs: plan === 'sandbox' ? DELAY_MS : 0,
    halts: 'none',
    hasOfficialPrices: false,
    hasIndicativeOptions: false,
    stocks,
    hasOptionsAmongStocks: hasOptions,

    async assets() {
      // https://docs.tradier.com/reference/brokerage-api-markets-lookup
      const answer = objectOf(await rest.get('/v1/markets/lookup', { types: 'stock,etf' }));
      const easy = objectOf(await rest.get('/v1/markets/etb'));
      const symbolsOf = (list: unknown): readonly string[] =>
        listOf(objectOf(objectOf(list).securities).security).map((one) =>
          plainSymbol(textOf(objectOf(one).symbol) ?? ''),
        );
      const shortable = new Set(symbolsOf(easy));
      return listOf(objectOf(answer.securities).security).flatMap((told): readonly SourceAsset[] => {
        const { symbol: given, description } = objectOf(told);
        const symbol = plainSymbol(textOf(given) ?? '');
        if (!/^[A-Z]{1,6}(\.[A-Z])?$/.test(symbol)) return [];
        return [
          { symbol, name: textOf(description) ?? symbol, isTradable: true, shortable: shortable.has(symbol) },
        ];
      });
    },

    snapshots: (symbols) => quotes(symbols.filter((symbol) => hasOptions || !isLongAsOsi(symbol))),

    async bars({ symbol, size, from, until, limit }) {
      const bars: Bar[] = [];
      const start = startOfBars(size, from, until, limit);
      const add = (startMs: number, { open: o, high: h, low: l, close: c, volume: v }: Json): void => {
        const bar = barFrom({ symbol, size, calendar, startMs, o, h, l, c, v });
        if (bar !== undefined) bars.push(bar);
      };
      if (size === '1Day') {
        const params = {
          symbol: vendorSymbol(symbol),
          interval: 'daily',
          start: calendar.dateOf(start),
          end: calendar.dateOf(until),
        };
        const answer = objectOf(await rest.get('/v1/markets/history', params));
        for (const told of listOf(objectOf(answer.history).day)) {
          const { date } = objectOf(told);
          const day = TradingDate.parse(textOf(date) ?? '');
          if (day === undefined) continue;
          const startMs = calendar.instantOf(day, 12, 0);
          add(startMs, objectOf(told));
        }
        return bars;
      }
      const params = {
        symbol: vendorSymbol(symbol),
        interval: INTERVALS[size],
        start: newYorkMinute(start),
        end: newYorkMinute(until),
        session_filter: 'all',
      };
      const answer = objectOf(await rest.get('/v1/markets/timesales', params));
      for (const told of listOf(objectOf(answer.series).data)) {
        const { timestamp } = objectOf(told);
        const startMs = (numberOf(timestamp) ?? Number.NaN) * 1000;
        add(startMs, objectOf(told));
      }
      return bars;
    },

    /** In beta, for production keys; other keys have no actions. */
    async actions(symbols, from) {
      const found: FoundActions = { actions: [], unsupported: [] };
      if (plan === 'sandbox') return found;
      const params = { symbols: symbols.map(vendorSymbol).join(',') };
      try {
        takeSplits(await rest.get('/beta/markets/fundamentals/corporate_actions', params), from, found);
        takeDividends(await rest.get('/beta/markets/fundamentals/dividends', params), from, found);
      } catch (error) {
        if (!(error instanceof SourceFailure) || error.kind !== 'REFUSED') throw error;
      }
      return found;
    },

    ...(hasOptions && {
      async expirations(underlying: string) {
        const params = { symbol: vendorSymbol(underlying), includeAllRoots: 'true' };
        const answer = objectOf(await rest.get('/v1/markets/options/expirations', params));
        return listOf(objectOf(answer.expirations).date)
          .flatMap((date) => TradingDate.parse(textOf(date) ?? '') ?? [])
          .sort();
      },

      async chain(underlying: string, expiration: TradingDate) {
        const params = { symbol: vendorSymbol(underlying), expiration, greeks: 'false' };
        const answer = objectOf(await rest.get('/v1/markets/options/chains', params));
        const found = new Map<string, SourceSnapshot>();
        for (const told of listOf(objectOf(answer.options).option)) {
          const one = objectOf(told);
          const symbol = textOf(one.symbol);
          if (symbol !== undefined) found.set(symbol, snapshotFrom(symbol, one));
        }
        return found;
      },
    }),
  };
}

const NEW_YORK = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  dateStyle: 'short',
  timeStyle: 'short',
  hourCycle: 'h23',
});

/** `2026-01-05 09:30`, as Tradier writes times. */
const newYorkMinute = (at: Instant): string => NEW_YORK.format(at).replace(', ', ' ');
