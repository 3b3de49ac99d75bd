/** Bars, market hours, instruments and movers. */
import { type HoursId, Instant, marketHours, TradingDate } from '@sandpit/core';
import {
  barsIn,
  type Desk,
  isRegularTime,
  previousClose,
  timeframeOf,
  yearFigures,
  words,
} from '@sandpit/dialect-port';
import { invalid, refused } from './refusals.js';
import { answering, type SchwabCall, wordIn } from './request.js';
import { descriptionOf, instrumentIn, symbolOut } from './symbols.js';
import { cusipOf } from './wire.js';

const PERIODS = {
  day: [1, 2, 3, 4, 5, 10],
  month: [1, 2, 3, 6],
  year: [1, 2, 3, 5, 10, 15, 20],
  ytd: [1],
} as const;
const PERIOD_TYPES = ['day', 'month', 'year', 'ytd'] as const;
/** The first is the default. */
const FREQUENCY_TYPES = {
  day: ['minute'],
  month: ['weekly', 'daily'],
  year: ['monthly', 'weekly', 'daily'],
  ytd: ['weekly', 'daily'],
} as const;
const MINUTES = [1, 5, 10, 15, 30];
const FRAMES = { daily: '1Day', weekly: '1Week', monthly: '1Month' } as const;
const HISTORY_FIELDS: readonly string[] = words(
  'symbol periodType period frequencyType frequency startDate endDate needExtendedHoursData',
  'needPreviousClose',
);
const MINUTE_MS = 60_000;
/** Bars of minutes reach back this many of their lengths, whatever start is asked for. */
const MOST_CANDLES = 20_000;

/** Start of a period that ends on a date. */
function beginOf(desk: Desk, type: (typeof PERIOD_TYPES)[number], period: number, end: number): number {
  const { calendar } = desk;
  let date = calendar.dateOf(Instant.ofMs(end));
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const back = (years: number, months: number): TradingDate =>
    TradingDate.of(
      new Date(Date.UTC(year - years, month - 1 - months, Math.min(day, 28))).toISOString().slice(0, 10),
    );
  switch (type) {
    case 'day':
      date = calendar.isTradingDay(date) ? date : calendar.previousTradingDay(date);
      for (let i = 1; i < period; i++) date = calendar.previousTradingDay(date);
      break;
    case 'month':
      date = back(0, period);
      break;
    case 'year':
      date = back(period, 0);
      break;
    case 'ytd':
      date = TradingDate.of(`${year}-01-01`);
  }
  return calendar.instantOf(date, 0, 0);
}

export const getPriceHistory = answering(HISTORY_FIELDS, async (call) => {
  const { desk, fields, head } = call;
  const instrument = instrumentIn(desk, fields.required('symbol'));
  if (instrument === undefined) throw refused(head, 404, 'Symbol not found');
  const type = wordIn(call, 'periodType', PERIOD_TYPES) ?? 'day';
  const periods: readonly number[] = PERIODS[type];
  const period = fields.number('period') ?? (type === 'day' ? 10 : 1);
  if (!periods.includes(period))
    throw invalid(head, 'period', `must be one of ${periods.join(', ')} for ${type}`);
  const allowed: readonly string[] = FREQUENCY_TYPES[type];
  const frequencyType =
    wordIn(call, 'frequencyType', ['minute', 'daily', 'weekly', 'monthly']) ?? allowed[0] ?? 'daily';
  if (!allowed.includes(frequencyType))
    throw invalid(head, 'frequencyType', `must be one of ${allowed.join(', ')} for ${type}`);
  const frequency = fields.number('frequency') ?? 1;
  const isMinute = frequencyType === 'minute';
  if (!(isMinute ? MINUTES : [1]).includes(frequency))
    throw invalid(head, 'frequency', `must be ${isMinute ? `one of ${MINUTES.join(', ')}` : '1'}`);
  const now = desk.now();
  const time = (name: string) => fields.integer(name, 0, 4_102_444_800_000);
  const end = Math.min(time('endDate') ?? now, now);
  const asked = time('startDate') ?? beginOf(desk, type, period, end);
  const start = isMinute ? Math.max(asked, end - MOST_CANDLES * frequency * MINUTE_MS) : asked;
  const frame = isMinute ? `${frequency}Min` : FRAMES[frequencyType as keyof typeof FRAMES];
  const timeframe = timeframeOf(frame, desk.calendar);
  if (timeframe === undefined) throw invalid(head, 'frequency', 'is not supported');
  const isExtended =
    fields.text('needExtendedHoursData') === undefined || fields.flag('needExtendedHoursData');
  const bars = start > end ? [] : await barsIn(desk, instrument.symbol, timeframe, start, end);
  const candles = bars
    .filter(({ timestamp }) => !isMinute || isExtended || isRegularTime(desk.calendar, timestamp))
    .map(({ open, high, low, close, volume, timestamp }) => ({
      open,
      high,
      low,
      close,
      volume: Math.round(volume),
      datetime: timestamp,
    }));
  const close = fields.flag('needPreviousClose') ? await previousClose(desk, instrument.symbol) : undefined;
  const { calendar } = desk;
  return {
    candles,
    symbol: symbolOut(desk, instrument.symbol),
    empty: candles.length === 0,
    ...(close !== undefined && {
      previousClose: close,
      previousCloseDate: calendar.instantOf(calendar.previousTradingDay(calendar.dateOf(now)), 0, 0),
    }),
  };
});

const MARKETS = ['equity', 'option', 'bond', 'future', 'forex'] as const;
type MarketId = (typeof MARKETS)[number];
const PRODUCTS: Readonly<Record<'equity' | 'option', readonly (readonly [string, string, HoursId])[]>> = {
  equity: [['EQ', 'equity', 'EQUITIES']],
  option: [
    ['EQO', 'equity option', 'OPTIONS'],
    ['IND', 'index option', 'LATE_OPTIONS'],
  ],
};

/** The hours of a market on a date. Bonds and forex have no market here; the answer about futures has no hours. */
function hoursOf(desk: Desk, market: MarketId, date: TradingDate): Readonly<Record<string, object>> {
  const { calendar } = desk;
  const marketType = market.toUpperCase();
  if (market !== 'equity' && market !== 'option') {
    const noon = calendar.instantOf(date, 12, 0);
    const isOpen = market === 'future' && marketHours(calendar, 'FUTURES').tradeDateOf(noon) === date;
    return { [market]: { date, marketType, product: market, isOpen } };
  }
  const day = calendar.tradingDay(date);
  const part = (start: Instant, end: Instant) => [
    { start: calendar.format(start), end: calendar.format(end) },
  ];
  return Object.fromEntries(
    PRODUCTS[market].map(([product, productName, hours]) => {
      const shape = { date, marketType, product, productName, isOpen: day !== undefined };
      if (day === undefined) return [product, shape];
      const isShares = market === 'equity';
      const sessionHours = {
        ...(isShares && { preMarket: part(day.extendedOpen, day.regularOpen) }),
        regularMarket: part(day.regularOpen, marketHours(calendar, hours).closeOn('REGULAR', date)),
        ...(isShares && { postMarket: part(day.regularClose, day.extendedClose) }),
      };
      return [product, { ...shape, sessionHours }];
    }),
  );
}

function hoursFor(call: SchwabCall, markets: readonly MarketId[]) {
  const { desk, fields } = call;
  const date = fields.date('date') ?? desk.calendar.dateOf(desk.now());
  return Promise.resolve(Object.fromEntries(markets.map((market) => [market, hoursOf(desk, market, date)])));
}

const isMarket = (text: string): text is MarketId => MARKETS.some((one) => one === text);

export const listMarkets = answering(['markets', 'date'], (call) => {
  const names = call.fields.list('markets').map((name) => name.toLowerCase());
  const markets = names.filter(isMarket);
  if (names.length === 0 || markets.length < names.length)
    throw invalid(call.head, 'markets', `must be of ${MARKETS.join(', ')}`);
  return hoursFor(call, markets);
});

export const getMarket = answering(['date'], (call) => {
  const market = (call.params['market'] ?? '').toLowerCase();
  if (!isMarket(market)) throw invalid(call.head, 'the market', `must be one of ${MARKETS.join(', ')}`);
  return hoursFor(call, [market]);
});

function instrumentRow(desk: Desk, symbol: string): object {
  const assetType = desk.instrument(symbol)?.assetClass ?? 'UNKNOWN';
  return {
    cusip: cusipOf(symbol),
    symbol: symbolOut(desk, symbol),
    description: descriptionOf(desk, symbol),
    exchange: assetType === 'INDEX' ? 'Index' : 'NASDAQ',
    assetType,
  };
}

const PROJECTIONS = words('symbol-search symbol-regex desc-search desc-regex search fundamental');
const MOST_FOUND = 500;
/** Patterns are letters, digits and `.*`: others could take the server long. */
const PATTERN = /^[A-Z0-9 $/]*(?:\.\*[A-Z0-9 $/]*){0,3}$/;

/** Texts that match a pattern whole. */
function patternOf(call: SchwabCall, text: string): (candidate: string) => boolean {
  if (!PATTERN.test(text)) throw invalid(call.head, 'symbol', 'as a pattern may have letters, digits and .*');
  const parts = text.split('.*');
  return (candidate) => {
    let at = 0;
    for (const [i, part] of parts.entries()) {
      const isLast = i === parts.length - 1;
      const found = isLast && i > 0 ? candidate.length - part.length : candidate.indexOf(part, at);
      if (found < at || (i === 0 && found !== 0) || !candidate.startsWith(part, found)) return false;
      at = found + part.length;
      if (isLast && at !== candidate.length) return false;
    }
    return true;
  };
}

export const findInstruments = answering(['symbol', 'projection'], async (call) => {
  const { desk, fields } = call;
  const text = fields.required('symbol').toUpperCase();
  const projection = wordIn(call, 'projection', PROJECTIONS);
  if (projection === undefined) throw invalid(call.head, 'projection', 'is required');
  if (projection === 'symbol-search' || projection === 'fundamental') {
    const found = fields.list('symbol').flatMap((name) => instrumentIn(desk, name)?.symbol ?? []);
    const instruments = [];
    for (const symbol of found.slice(0, MOST_FOUND)) {
      const row = instrumentRow(desk, symbol);
      const year = projection === 'fundamental' ? await yearFigures(desk, symbol) : undefined;
      const figures = year && { symbol: symbolOut(desk, symbol), high52: year.high, low52: year.low };
      instruments.push(figures === undefined ? row : { ...row, fundamental: figures });
    }
    return instruments.length === 0 ? {} : { instruments };
  }
  const isPattern = projection.endsWith('-regex');
  const matches = isPattern ? patternOf(call, text) : (candidate: string) => candidate.includes(text);
  const instruments = [];
  for (const { symbol, assetClass } of desk.market.listed()) {
    if (instruments.length === MOST_FOUND || assetClass === 'FUTURE' || assetClass === 'OPTION') continue;
    const names = [
      ...(projection.startsWith('desc') ? [] : [symbolOut(desk, symbol)]),
      ...(projection.startsWith('symbol') ? [] : [descriptionOf(desk, symbol).toUpperCase()]),
    ];
    if (names.some(matches)) instruments.push(instrumentRow(desk, symbol));
  }
  return instruments.length === 0 ? {} : { instruments };
});

/** An instrument by its CUSIP placeholder. */
export const getInstrument = answering([], (call) => {
  const { desk, params, head } = call;
  const found = desk.market.listed().find(({ symbol }) => cusipOf(symbol) === params['cusip']);
  if (found === undefined) throw refused(head, 404, 'CUSIP not found');
  return Promise.resolve({ instruments: [instrumentRow(desk, found.symbol)] });
});

const MOVERS: readonly string[] = words(
  '$DJI $COMPX $SPX NYSE NASDAQ OTCBB INDEX_ALL EQUITY_ALL OPTION_ALL OPTION_PUT OPTION_CALL',
);

/** Sandpit ranks no market: the list is empty. */
export const getMovers = answering(['sort', 'frequency'], ({ params, head }) => {
  if (!MOVERS.includes(params['index'] ?? ''))
    throw invalid(head, 'the index', `must be one of ${MOVERS.join(', ')}`);
  return Promise.resolve({ screeners: [] });
});
