import { calendarById, Instant, isLongAsOsi, TradingDate } from '@sandpit/core';
import type { Bar, CorporateAction } from '@sandpit/core';
import type { BarQuery } from '../../feed.js';
import type { UnsupportedAction } from '../../live-feed.js';
import { arrayOf, objectOf, textOf } from '../json.js';
import { actionsFrom, barFrom } from '../records.js';
import type { SourceAction } from '../records.js';
import { Rest } from '../rest.js';
import { SourceFailure } from '../source.js';
import type { LiveSource, SourceAsset, SourceSnapshot } from '../source.js';
import { quoteFrom, tradeFrom } from './messages.js';
import { alpacaStream } from './stream.js';

type AlpacaPlan = 'iex' | 'sip' | 'delayed_sip';
type AlpacaOptions = 'indicative' | 'opra' | 'none';

export interface AlpacaSettings {
  readonly plan: AlpacaPlan;
  readonly options: AlpacaOptions;
  readonly keyId: string;
  readonly secretKey: string;
  /** Replacements of the endpoints; the first two include paths. */
  readonly url?: string | undefined;
  readonly optionsUrl?: string | undefined;
  readonly restUrl?: string | undefined;
  readonly accountUrl?: string | undefined;
  readonly maxSymbols?: number | undefined;
}

const DELAY_MS = 900_000;
/** Symbols per request, requests a minute: https://docs.alpaca.markets/docs/about-market-data-api */
const SYMBOLS: Readonly<Record<AlpacaPlan | AlpacaOptions, number | undefined>> = {
  iex: 30,
  sip: undefined,
  delayed_sip: undefined,
  indicative: 200,
  opra: 1000,
  none: undefined,
};
const REQUESTS: Readonly<Record<AlpacaPlan, number>> = { iex: 200, sip: 10_000, delayed_sip: 200 };
const PAGE = 10_000;
/** Contracts in one request: https://docs.alpaca.markets/reference/optionsnapshots */
const CONTRACTS_AT_ONCE = 100;
/** Pages that are followed at most. */
const MOST_PAGES = 50;
/** Earliest instant to request. */
const FIRST_MS = Date.UTC(2016, 0, 1);

/** An action of one of Alpaca's lists. Spin-offs are not simulated: the basis percentage is not in them. */
function actionTold(kind: string, one: Readonly<Record<string, unknown>>): Omit<SourceAction, 'symbol'> {
  const exDate = one.ex_date ?? one.effective_date ?? one.process_date;
  const of = { exDate, payDate: one.payable_date };
  const forShares = { newSymbol: one.acquirer_symbol, more: one.acquirer_rate, old: one.acquiree_rate };
  switch (kind) {
    case 'forward_splits':
    case 'reverse_splits':
      return { type: 'SPLIT', exDate, more: one.new_rate, old: one.old_rate };
    case 'cash_dividends':
      return { type: one.special === true ? 'SPECIAL_DIVIDEND' : 'DIVIDEND', ...of, amount: one.rate };
    case 'stock_dividends':
      return { type: 'STOCK_DIVIDEND', exDate, more: one.rate };
    case 'name_changes':
      return { type: 'SYMBOL_CHANGE', exDate, newSymbol: one.new_symbol };
    case 'cash_mergers':
      return { type: 'MERGER', ...of, amount: one.rate };
    case 'stock_mergers':
      return { type: 'MERGER', ...of, ...forShares };
    case 'stock_and_cash_mergers':
      return { type: 'MERGER', ...of, ...forShares, amount: one.cash_rate };
    case 'worthless_removals':
      return { type: 'DELISTING', exDate };
    default:
      return { type: kind, exDate };
  }
}

/** Alpaca's market data (https://docs.alpaca.markets/docs/about-market-data-api). */
export function alpacaSource(settings: AlpacaSettings): LiveSource {
  const { plan, options, keyId, secretKey } = settings;
  const headers = { 'APCA-API-KEY-ID': keyId, 'APCA-API-SECRET-KEY': secretKey };
  const failureOf = (status: number, body: string): SourceFailure | undefined => {
    // https://docs.alpaca.markets/docs/market-data-faq: one status for a wrong key and for a plan without the data.
    if (status === 403 && body.includes('subscription'))
      return new SourceFailure(
        'REFUSED',
        `the plan of this Alpaca key does not include ${plan} data (HTTP 403)`,
      );
    return undefined;
  };
  const rest = new Rest({
    name: 'Alpaca market data',
    origin: settings.restUrl ?? 'https://data.alpaca.markets',
    headers,
    perMinute: REQUESTS[plan],
    failureOf,
  });
  const account = new Rest({
    name: 'Alpaca account API',
    origin: settings.accountUrl ?? 'https://paper-api.alpaca.markets',
    headers,
    perMinute: 200,
    failureOf,
  });
  const calendar = calendarById('XNYS');
  const today = (): TradingDate => calendar.dateOf(Instant.ofMs(Date.now()));

  /** Follows pages; a token that repeats is the end. */
  async function* pages(from: Rest, path: string, params: Record<string, string | number | undefined>) {
    const seen = new Set<string>();
    let token: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const answer = objectOf(await from.get(path, { ...params, page_token: token }));
      yield answer;
      token = textOf(answer.next_page_token);
      if (token === undefined || token === '' || seen.has(token)) return;
      seen.add(token);
    }
  }

  const snapshotFrom = (symbol: string, told: unknown): SourceSnapshot => {
    const { latestQuote, latestTrade } = objectOf(told);
    const quote = quoteFrom({ ...objectOf(latestQuote), S: symbol });
    const trade = tradeFrom({ ...objectOf(latestTrade), S: symbol });
    return { ...(quote !== undefined && { quote }), ...(trade !== undefined && { trade }) };
  };

  async function optionSnapshots(
    symbols: readonly string[],
    into: Map<string, SourceSnapshot>,
  ): Promise<void> {
    for (let i = 0; i < symbols.length; i += CONTRACTS_AT_ONCE) {
      const some = symbols.slice(i, i + CONTRACTS_AT_ONCE);
      const answer = objectOf(
        await rest.get('/v1beta1/options/snapshots', { symbols: some.join(','), feed: options, limit: 1000 }),
      );
      for (const [symbol, told] of Object.entries(objectOf(answer.snapshots)))
        into.set(symbol, snapshotFrom(symbol, told));
    }
  }

  const hasOptions = options !== 'none';
  return {
    name: 'alpaca',
    delayMs: plan === 'delayed_sip' ? DELAY_MS : 0,
    // https://docs.alpaca.markets/docs/real-time-stock-pricing-data: trading statuses, of all tapes.
    halts: 'full',
    hasOfficialPrices: plan !== 'iex',
    hasIndicativeOptions: options === 'indicative',
    stocks: alpacaStream({
      name: `alpaca ${plan}`,
      url: settings.url ?? `wss://stream.data.alpaca.markets/v2/${plan}`,
      keyId,
      secretKey,
      codec: 'json',
      plan,
      limit: settings.maxSymbols ?? SYMBOLS[plan],
    }),
    ...(hasOptions && {
      options: alpacaStream({
        name: `alpaca ${options}`,
        url: settings.optionsUrl ?? `wss://stream.data.alpaca.markets/v1beta1/${options}`,
        keyId,
        secretKey,
        // https://docs.alpaca.markets/docs/real-time-option-data: msgpack only.
        codec: 'msgpack',
        plan: options,
        limit: SYMBOLS[options],
      }),
    }),

    async assets() {
      const told = arrayOf(await account.get('/v2/assets', { status: 'active', asset_class: 'us_equity' }));
      return told.flatMap((one): readonly SourceAsset[] => {
        const { symbol, name, tradable, shortable, fractionable } = objectOf(one);
        if (typeof symbol !== 'string' || !/^[A-Z0-9.]{1,12}$/.test(symbol)) return [];
        return [
          {
            symbol,
            name: textOf(name) ?? symbol,
            isTradable: tradable !== false,
            ...(typeof shortable === 'boolean' && { shortable }),
            ...(typeof fractionable === 'boolean' && { fractionable }),
          },
        ];
      });
    },

    async snapshots(symbols) {
      const found = new Map<string, SourceSnapshot>();
      const contracts = symbols.filter(isLongAsOsi);
      const stocks = symbols.filter((symbol) => !isLongAsOsi(symbol));
      if (stocks.length > 0) {
        const told = objectOf(
          await rest.get('/v2/stocks/snapshots', { symbols: stocks.join(','), feed: plan }),
        );
        // https://docs.alpaca.markets/reference/stocksnapshots-1: a symbol without data is missing.
        for (const symbol of stocks)
          if (told[symbol] !== undefined && told[symbol] !== null)
            found.set(symbol, snapshotFrom(symbol, told[symbol]));
      }
      if (hasOptions && contracts.length > 0) await optionSnapshots(contracts, found);
      return found;
    },

    async bars({ symbol, size, from, until, limit }: BarQuery) {
      const isOption = isLongAsOsi(symbol);
      const bars: Bar[] = [];
      const path = isOption ? '/v1beta1/options/bars' : '/v2/stocks/bars';
      const params = {
        symbols: symbol,
        timeframe: size,
        start: new Date(Math.max(FIRST_MS, from)).toISOString(),
        end: new Date(until).toISOString(),
        limit: Math.min(PAGE, limit + 2),
        sort: 'desc',
        // Bars of the past, and those of a delayed plan, are the consolidated ones.
        ...(!isOption && { adjustment: 'raw', feed: plan === 'iex' ? 'iex' : 'sip' }),
      };
      for await (const answer of pages(rest, path, params)) {
        for (const told of arrayOf(objectOf(answer.bars)[symbol])) {
          const { t, o, h, l, c, v } = objectOf(told);
          const bar = barFrom({ symbol, size, calendar, startMs: Date.parse(String(t)), o, h, l, c, v });
          if (bar !== undefined) bars.push(bar);
        }
        if (bars.length > limit) break;
      }
      return bars.sort((a, b) => a.at - b.at);
    },

    async actions(symbols, from) {
      const actions: CorporateAction[] = [];
      const unsupported: UnsupportedAction[] = [];
      const params = {
        symbols: symbols.join(','),
        start: from,
        end: TradingDate.plusDays(from, 366),
        limit: 1000,
      };
      // https://docs.alpaca.markets/reference/corporateactions-1: lists by kind.
      for await (const answer of pages(rest, '/v1/corporate-actions', params)) {
        for (const [kind, list] of Object.entries(objectOf(answer.corporate_actions)))
          for (const told of arrayOf(list)) {
            const one = objectOf(told);
            const symbol = [one.symbol, one.old_symbol, one.source_symbol, one.acquiree_symbol].find(
              (name) => typeof name === 'string' && symbols.includes(name),
            );
            if (typeof symbol !== 'string') continue;
            actionsFrom({ symbol, word: kind, ...actionTold(kind, one) }, actions, unsupported);
          }
      }
      return { actions, unsupported };
    },

    ...(hasOptions && {
      async expirations(underlying: string) {
        const dates = new Set<TradingDate>();
        const params = {
          underlying_symbols: underlying,
          expiration_date_gte: today(),
          expiration_date_lte: TradingDate.plusDays(today(), 1200),
          limit: PAGE,
        };
        for await (const answer of pages(account, '/v2/options/contracts', params))
          for (const told of arrayOf(answer.option_contracts)) {
            const date = TradingDate.parse(textOf(objectOf(told).expiration_date) ?? '');
            if (date !== undefined) dates.add(date);
          }
        return [...dates].sort();
      },

      async chain(underlying: string, expiration: TradingDate) {
        const found = new Map<string, SourceSnapshot>();
        const params = { feed: options, expiration_date: expiration, limit: 1000 };
        const path = `/v1beta1/options/snapshots/${encodeURIComponent(underlying)}`;
        for await (const answer of pages(rest, path, params))
          for (const [symbol, told] of Object.entries(objectOf(answer.snapshots)))
            found.set(symbol, snapshotFrom(symbol, told));
        return found;
      },
    }),
  };
}
