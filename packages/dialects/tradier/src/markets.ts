/** Market data: quotes, chains, bars, hours, securities. */
import { Instant, type OptionContract, TradingDate } from '@sandpit/core';
import {
  barsIn,
  cents,
  chainOf,
  type Desk,
  expirationsOf,
  isRegularTime,
  isStandardExpiration,
  type OptionChainContract,
  optionParts,
  optionWords,
  plainOptionSymbol,
  type Quote,
  quoteFigures,
  slashedSymbol,
  strikesOf,
  type Timeframe,
  timeframeOf,
  withTrades,
} from '@sandpit/dialect-port';
import { invalid } from './refusals.js';
import { answering, symbolIn, type TradierCall } from './request.js';
import { itemsOrNull, oneOrMany } from './wire.js';

/** The only exchange. */
const EXCHANGE = 'Q';
const MOST_SYMBOLS = 200;

export const symbolsIn = (names: readonly string[]): readonly string[] =>
  names.map((name) => (name.length > 10 ? plainOptionSymbol(name) : symbolIn(name)));

/** Sizes of stocks are in round lots. */
const lots = (size: number | undefined, isOption: boolean): number =>
  isOption ? Math.round(size ?? 0) : Math.floor((size ?? 0) / 100);

function nameOf(desk: Desk, symbol: string): string {
  const instrument = desk.instrument(symbol);
  return instrument !== undefined && 'name' in instrument ? instrument.name : symbol;
}

function greeksOf(contract: OptionChainContract | undefined, now: number) {
  if (contract?.impliedVolatility === undefined || contract.delta === undefined) return null;
  const { delta, gamma, theta, vega, rho, impliedVolatility: iv } = contract;
  const updated_at = new Date(now).toISOString().slice(0, 19).replace('T', ' ');
  return {
    delta,
    gamma,
    theta,
    vega,
    rho,
    phi: 0,
    bid_iv: iv,
    mid_iv: iv,
    ask_iv: iv,
    smv_vol: iv,
    updated_at,
  };
}

/** Fields that quotes and chains share. */
function quoteShape(
  quote: Pick<Quote, 'last' | 'bid' | 'ask' | 'bidSize' | 'askSize'> & { lastSize?: number | undefined },
  at: number,
  isOption: boolean,
) {
  return {
    last: quote.last ?? null,
    bid: quote.bid ?? 0,
    ask: quote.ask ?? 0,
    last_volume: Math.round(quote.lastSize ?? 0),
    trade_date: at,
    bidsize: lots(quote.bidSize, isOption),
    bidexch: EXCHANGE,
    bid_date: at,
    asksize: lots(quote.askSize, isOption),
    askexch: EXCHANGE,
    ask_date: at,
  };
}

function contractShape(contract: OptionContract, chain: OptionChainContract | undefined) {
  const { symbol, underlying, expiration, optionType } = contract;
  const parts = optionParts(symbol);
  return {
    underlying: slashedSymbol(underlying),
    strike: parts?.strike ?? contract.strike / 1e8,
    open_interest: chain?.openInterest ?? 0,
    contract_size: chain?.multiplier ?? 100,
    expiration_date: expiration,
    expiration_type: expirationType(expiration),
    option_type: optionType.toLowerCase(),
    root_symbol: parts?.root ?? underlying,
  };
}

const expirationType = (date: string): string => (isStandardExpiration(date) ? 'standard' : 'weeklys');

async function shownQuote(desk: Desk, quote: Quote, withGreeks: boolean) {
  const { symbol, timestamp } = quote;
  const { instrument, contract, chain, day, year, ...of } = await quoteFigures(desk, quote);
  const change = day.previousClose === undefined ? undefined : of.change;
  return {
    symbol: slashedSymbol(symbol),
    description: contract === undefined ? nameOf(desk, symbol) : describe(contract),
    exch: EXCHANGE,
    type: contract === undefined ? (instrument?.assetClass === 'INDEX' ? 'index' : 'stock') : 'option',
    ...quoteShape(quote, timestamp, contract !== undefined),
    change: change ?? null,
    volume: day.volume,
    open: day.open ?? null,
    high: day.high ?? null,
    low: day.low ?? null,
    close: day.close ?? null,
    change_percentage: change === undefined ? null : cents((change / (day.previousClose ?? 1)) * 100),
    average_volume: year?.averageVolume ?? 0,
    prevclose: day.previousClose ?? null,
    week_52_high: year?.high ?? 0,
    week_52_low: year?.low ?? 0,
    ...(contract === undefined ? { root_symbols: slashedSymbol(symbol) } : contractShape(contract, chain)),
    ...(contract !== undefined && withGreeks && { greeks: greeksOf(chain, desk.now()) }),
  };
}

const describe = ({ symbol, underlying }: OptionContract): string => {
  const parts = optionParts(symbol);
  return parts === undefined ? symbol : `${slashedSymbol(underlying)} ${optionWords(parts)}`;
};

/** lumiwealth-tradier names the field of the Greeks after its value: `True` or `False`. */
const QUOTE_FIELDS = ['symbols', 'greeks', 'True', 'False'];

export const getQuotes = answering(QUOTE_FIELDS, 'quotes', async ({ desk, fields }) => {
  const withGreeks = fields.flag('greeks') || fields.flag('True') || fields.flag('False');
  const names = fields.list('symbols');
  if (names.length === 0) throw invalid('symbols', 'is required');
  if (names.length > MOST_SYMBOLS) throw invalid('symbols', `must be at most ${MOST_SYMBOLS}`);
  const wanted = symbolsIn(names);
  const found = new Map((await desk.market.latest(wanted)).map((quote) => [quote.symbol, quote]));
  const quotes = [];
  for (const symbol of wanted) {
    const quote = found.get(symbol);
    if (quote !== undefined && desk.instrument(symbol)?.assetClass !== 'FUTURE')
      quotes.push(await shownQuote(desk, quote, withGreeks));
  }
  const unmatched = names.filter((_, i) => !found.has(wanted[i] ?? ''));
  return {
    ...(quotes.length > 0 && { quote: oneOrMany(quotes) }),
    ...(unmatched.length > 0 && { unmatched_symbols: { symbol: oneOrMany(unmatched) } }),
  };
});

const underlyingIn = ({ fields }: TradierCall, name = 'symbol'): string => symbolIn(fields.required(name));

function expirationIn({ fields }: TradierCall): string {
  const date = fields.date('expiration');
  if (date === undefined) throw invalid('expiration', 'is required');
  return date;
}

export const getChain = answering(['symbol', 'expiration', 'greeks'], 'options', async (call) => {
  const { desk, fields } = call;
  const chain = await chainOf(desk, underlyingIn(call), expirationIn(call));
  const shown = chain.flatMap((one) => {
    const contract = desk.instrument(one.optionSymbol);
    if (contract?.assetClass !== 'OPTION') return [];
    return {
      symbol: one.optionSymbol,
      description: describe(contract),
      exch: EXCHANGE,
      type: 'option',
      ...quoteShape(one, desk.now(), true),
      change: null,
      volume: one.volume ?? 0,
      open: null,
      high: null,
      low: null,
      close: null,
      change_percentage: null,
      average_volume: 0,
      prevclose: null,
      week_52_high: 0,
      week_52_low: 0,
      ...contractShape(contract, one),
      ...(fields.flag('greeks') && { greeks: greeksOf(one, desk.now()) }),
    };
  });
  return itemsOrNull('option', shown);
});

export const getExpirations = answering(
  ['symbol', 'includeAllRoots', 'strikes', 'contractSize', 'expirationType'],
  'expirations',
  async (call) => {
    const { desk, fields } = call;
    const underlying = underlyingIn(call);
    const dates = await expirationsOf(desk, underlying);
    const [strikes, size, type] = ['strikes', 'contractSize', 'expirationType'].map((name) =>
      fields.flag(name),
    );
    if (strikes !== true && size !== true && type !== true) return itemsOrNull('date', dates);
    const shown = [];
    for (const date of dates)
      shown.push({
        date,
        ...(size === true && { contract_size: 100 }),
        ...(type === true && { expiration_type: expirationType(date) }),
        ...(strikes === true && { strikes: itemsOrNull('strike', await strikesOf(desk, underlying, date)) }),
      });
    return itemsOrNull('expiration', shown);
  },
);

export const getStrikes = answering(['symbol', 'expiration', 'includeAllRoots'], 'strikes', async (call) =>
  itemsOrNull('strike', await strikesOf(call.desk, underlyingIn(call), expirationIn(call))),
);

const MOST_OPTIONS = 20_000;

export const lookUpOptions = answering(['underlying'], 'symbols', async (call) => {
  const underlying = underlyingIn(call, 'underlying');
  const options: string[] = [];
  for (const date of await expirationsOf(call.desk, underlying)) {
    options.push(...(await chainOf(call.desk, underlying, date)).map(({ optionSymbol }) => optionSymbol));
    if (options.length > MOST_OPTIONS) break;
  }
  const roots = new Map<string, string[]>();
  for (const symbol of options) {
    const root = optionParts(symbol)?.root ?? underlying;
    roots.set(root, [...(roots.get(root) ?? []), symbol]);
  }
  return options.length === 0 ? null : [...roots].map(([rootSymbol, all]) => ({ rootSymbol, options: all }));
});

const DAY_MS = 86_400_000;
const frameOf = (desk: Desk, text: string): Timeframe => {
  const frame = timeframeOf(text, desk.calendar);
  if (frame === undefined) throw invalid('interval', 'is not supported');
  return frame;
};
const FRAMES = { daily: '1Day', weekly: '1Week', monthly: '1Month' } as const;

export const getHistory = answering(
  ['symbol', 'interval', 'start', 'end', 'session_filter'],
  'history',
  async (call) => {
    const { desk, fields } = call;
    const { calendar } = desk;
    const frame = FRAMES[fields.choice('interval', ['daily', 'weekly', 'monthly']) ?? 'daily'];
    fields.choice('session_filter', ['all', 'open']);
    const today = calendar.dateOf(desk.now());
    const end = fields.date('end') ?? today;
    const start = fields.date('start') ?? TradingDate.plusDays(today, -365);
    if (start > end) throw invalid('start', 'must not be after end');
    const until = Math.min(calendar.instantOf(end, 0, 0), desk.now());
    const [symbol = ''] = symbolsIn([fields.required('symbol')]);
    const bars = await barsIn(desk, symbol, frameOf(desk, frame), calendar.instantOf(start, 0, 0), until);
    const days = bars.map(({ timestamp, open, high, low, close, volume }) => ({
      date: calendar.dateOf(Instant.ofMs(timestamp)),
      open,
      high,
      low,
      close,
      volume,
    }));
    return itemsOrNull('day', days);
  },
);

/** `2026-11-30 09:30`, or a date, in New York. */
function minuteIn(desk: Desk, { fields }: TradierCall, name: string): Instant | undefined {
  const text = fields.text(name);
  if (text === undefined) return undefined;
  const [, day = '', hour = '0', minute = '0'] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d):(\d\d)(?::\d\d)?)?$/.exec(text) ?? [];
  const date = TradingDate.parse(day);
  if (date === undefined || hour > '23' || minute > '59')
    throw invalid(name, 'must be a time such as 2026-11-30 09:30');
  return desk.calendar.instantOf(date, Number(hour), Number(minute));
}

export const getTimesales = answering(
  ['symbol', 'interval', 'start', 'end', 'session_filter'],
  'series',
  async (call) => {
    const { desk, fields } = call;
    const { calendar } = desk;
    const interval = fields.choice('interval', ['1min', '5min', '15min']) ?? '1min';
    const isOpenOnly = fields.choice('session_filter', ['all', 'open']) === 'open';
    const now = desk.now();
    const end = Math.min(minuteIn(desk, call, 'end') ?? now, now);
    const start = minuteIn(desk, call, 'start') ?? calendar.instantOf(calendar.dateOf(now), 0, 0);
    if (end - start > 400 * DAY_MS) throw invalid('start', 'must be at most 400 days before end');
    const [symbol = ''] = symbolsIn([fields.required('symbol')]);
    const bars = await barsIn(desk, symbol, frameOf(desk, interval.replace('min', 'Min')), start, end);
    const shown = bars.flatMap((bar) => {
      const at = Instant.ofMs(bar.timestamp);
      if (isOpenOnly && !isRegularTime(calendar, at)) return [];
      const { open, high, low, close, volume } = bar;
      const vwap = Math.round(withTrades(bar).average * 1e6) / 1e6;
      const time = calendar.format(at).slice(0, 19);
      return {
        time,
        timestamp: Math.floor(at / 1000),
        price: cents((high + low) / 2),
        open,
        high,
        low,
        close,
        volume,
        vwap,
      };
    });
    return itemsOrNull('data', shown);
  },
);

const STATES = { PRE: 'premarket', REGULAR: 'open', POST: 'postmarket', CLOSED: 'closed' } as const;
const clockTime = (text: string): string => text.slice(11, 16);

export const getClock = answering(['delayed'], 'clock', ({ desk }) => {
  const { session, today, nextOpen } = desk.market.hoursAt(desk.now());
  const date = desk.calendar.dateOf(desk.now());
  const state = STATES[session];
  const isBefore = today !== undefined && Date.parse(today.extendedOpen) > desk.now();
  const [next_change, next_state] = {
    premarket: [today?.open, 'open'],
    open: [today?.close, 'postmarket'],
    postmarket: [today?.extendedClose, 'closed'],
    closed: isBefore ? [today.extendedOpen, 'premarket'] : [undefined, 'premarket'],
  }[state];
  const opens = desk.calendar.tradingDay(TradingDate.of(nextOpen.slice(0, 10)));
  const change = next_change ?? (opens && desk.calendar.format(opens.extendedOpen)) ?? nextOpen;
  return Promise.resolve({
    date,
    description:
      state === 'open' && today !== undefined
        ? `Market is open from ${clockTime(today.open)} to ${clockTime(today.close)}`
        : `Market is ${state === 'closed' ? 'closed' : `in ${state}`}`,
    state,
    timestamp: Math.floor(desk.now() / 1000),
    next_change: clockTime(change),
    next_state,
  });
});

export const getCalendar = answering(['month', 'year'], 'calendar', ({ desk, fields }) => {
  const { calendar } = desk;
  const [yearNow = 0, monthNow = 0] = calendar.dateOf(desk.now()).split('-').map(Number);
  const year = fields.integer('year', 1970, 2199) ?? yearNow;
  const month = fields.integer('month', 1, 12) ?? monthNow;
  const count = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const time = (at: Instant): string => clockTime(calendar.format(at));
  const day = Array.from({ length: count }, (_, i) => {
    const date = TradingDate.of(new Date(Date.UTC(year, month - 1, i + 1)).toISOString().slice(0, 10));
    const hours = calendar.tradingDay(date);
    if (hours === undefined) return { date, status: 'closed', description: 'Market is closed' };
    const { extendedOpen, regularOpen, regularClose, extendedClose } = hours;
    const part = (start: Instant, end: Instant) => ({ start: time(start), end: time(end) });
    return {
      date,
      status: 'open',
      description: hours.earlyClose ? 'Market closes early' : 'Market is open',
      premarket: part(extendedOpen, regularOpen),
      open: part(regularOpen, regularClose),
      postmarket: part(regularClose, extendedClose),
    };
  });
  return Promise.resolve({ month, year, days: { day } });
});

const MOST_FOUND = 100;
const KINDS = ['stock', 'option', 'etf', 'index'] as const;

function securities(call: TradierCall, isWanted: (symbol: string, name: string) => boolean) {
  const { desk, fields } = call;
  const types = fields.list('types');
  const unknown = types.find((type) => !KINDS.some((kind) => kind === type));
  if (unknown !== undefined) throw invalid('types', `must be of ${KINDS.join(', ')}`);
  const exchanges = fields.list('exchanges');
  const found = [];
  for (const { symbol, assetClass } of desk.market.listed()) {
    if (found.length === MOST_FOUND || assetClass === 'FUTURE' || assetClass === 'OPTION') continue;
    const type = assetClass === 'INDEX' ? 'index' : 'stock';
    if (
      (types.length > 0 && !types.includes(type)) ||
      (exchanges.length > 0 && !exchanges.includes(EXCHANGE))
    )
      continue;
    const description = nameOf(desk, symbol);
    if (isWanted(symbol, description.toUpperCase()))
      found.push({ symbol: slashedSymbol(symbol), exchange: EXCHANGE, type, description });
  }
  return Promise.resolve(itemsOrNull('security', found));
}

/** Securities whose symbol begins with a text or whose name contains it. */
export const search = answering(['q', 'indexes', 'exchanges', 'types'], 'securities', (call) => {
  const text = call.fields.required('q').toUpperCase();
  const withIndexes = call.fields.text('indexes') === undefined || call.fields.flag('indexes');
  return securities(
    call,
    (symbol, name) =>
      (symbol.startsWith(symbolIn(text)) || name.includes(text)) &&
      (withIndexes || call.desk.instrument(symbol)?.assetClass !== 'INDEX'),
  );
});

/** Stocks that can be sold short. */
export const easyToBorrow = answering([], 'securities', (call) =>
  securities(call, (symbol) => {
    const instrument = call.desk.instrument(symbol);
    return instrument?.assetClass === 'EQUITY' && instrument.shortable;
  }),
);
