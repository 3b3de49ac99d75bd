/** Layouts of vendors' files, as data: built-in ones, and those that a user declares in a file. */
import type { Notation } from './symbols.js';
import type { DateOrder, EpochUnit } from './times.js';

/** Fields that a row may have. Those of options build the symbol if the file has none. */
export const FIELDS = [
  'time',
  'timeOfDay',
  'symbol',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'bid',
  'bidSize',
  'ask',
  'askSize',
  'dividend',
  'gains',
  'split',
  'rtype',
  'period',
  'timespan',
  'multiplier',
  'publisher',
  'instrument',
  'root',
  'expiration',
  'strike',
  'right',
] as const;
export type Field = (typeof FIELDS)[number];

export interface Layout {
  /** `bars` of trades, whose size is found out (in a layout of the user's: minutes), `quotes` best bids and offers in any rhythm, `daily` days. */
  readonly kind: 'bars' | 'quotes' | 'daily';
  /** The column of each field, by its name in the header; by its position, from 0, without a header. */
  readonly columns: Readonly<Partial<Record<Field, string | number>>>;
  /** Columns that may be there as well; a header with others is not of this layout. `*` = any. */
  readonly others?: readonly string[];
  /** Columns that may be missing, besides the symbol and the volume. */
  readonly optional?: readonly Field[];
  readonly time: {
    readonly unit: EpochUnit | 'text';
    /** Time zone of times without an offset; default UTC. */
    readonly zone?: string;
    /** Meaning of the time of a row: the start or end of a bar, or the instant of a quote. */
    readonly marks?: 'start' | 'end' | 'at';
    /** Order of the parts of dates such as 01/05/2026. */
    readonly dates?: DateOrder;
  };
  /** Implied decimal places of prices: 9 if 5000000000 means 5. */
  readonly priceDecimals?: number;
  /** Shares in a unit of the sizes. */
  readonly lots?: number;
  /** Adjustment of past prices: none, for splits, or unknown. */
  readonly adjusted: 'none' | 'split' | 'unknown';
  /** Texts for an empty value. */
  readonly absent?: readonly string[];
  /** Lines before the first row; default 1. */
  readonly headerLines?: number;
  readonly delimiter?: string;
  readonly notation?: Notation;
}

const NOTHING = ['', 'NaN', 'nan', 'null', 'N/A'];
const UNDEFINED_PRICE = '9223372036854775807';
const databento = { rtype: 'rtype', publisher: 'publisher_id', instrument: 'instrument_id' } as const;
const titled = { open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' } as const;
const bar = { open: 'open', high: 'high', low: 'low', close: 'close', volume: 'volume' } as const;

/** The known layouts, by the value of `--vendor`. Sources: the vendors' documentation of their files. */
export const LAYOUTS: Readonly<Record<string, Layout>> = {
  // Massive, formerly Polygon.io: flat files.
  'massive-minutes': {
    kind: 'bars',
    columns: { time: 'window_start', symbol: 'ticker', ...bar },
    others: ['transactions', 'exchange', 'session_end_date', 'dollar_volume'],
    time: { unit: 'ns' },
    adjusted: 'none',
  },
  'massive-quotes': {
    kind: 'quotes',
    columns: {
      time: 'sip_timestamp',
      symbol: 'ticker',
      bid: 'bid_price',
      bidSize: 'bid_size',
      ask: 'ask_price',
      askSize: 'ask_size',
    },
    others: [
      'ask_exchange',
      'bid_exchange',
      'conditions',
      'indicators',
      'participant_timestamp',
      'sequence_number',
      'tape',
      'trf_timestamp',
    ],
    time: { unit: 'ns', marks: 'at' },
    adjusted: 'none',
    absent: ['', '0', '0.0'],
  },
  'databento-ohlcv': {
    kind: 'bars',
    columns: { time: 'ts_event', symbol: 'symbol', ...bar, ...databento },
    time: { unit: 'text' },
    priceDecimals: 9,
    adjusted: 'none',
    absent: [...NOTHING, UNDEFINED_PRICE],
    notation: 'nasdaq',
  },
  'databento-bbo': {
    kind: 'quotes',
    columns: {
      time: 'ts_recv',
      symbol: 'symbol',
      bid: 'bid_px_00',
      bidSize: 'bid_sz_00',
      ask: 'ask_px_00',
      askSize: 'ask_sz_00',
      ...databento,
    },
    others: ['ts_event', 'side', 'price', 'size', 'flags', 'sequence', 'bid_ct_00', 'ask_ct_00'],
    time: { unit: 'text', marks: 'at' },
    priceDecimals: 9,
    adjusted: 'none',
    absent: [...NOTHING, UNDEFINED_PRICE],
    notation: 'nasdaq',
  },
  'alpaca-bars': {
    kind: 'bars',
    columns: { time: 'timestamp', symbol: 'symbol', ...bar },
    others: ['trade_count', 'vwap'],
    time: { unit: 'text' },
    adjusted: 'unknown',
  },
  tiingo: {
    kind: 'bars',
    columns: { time: 'date', symbol: 'ticker', ...bar, dividend: 'divCash', split: 'splitFactor' },
    others: ['adjClose', 'adjHigh', 'adjLow', 'adjOpen', 'adjVolume'],
    time: { unit: 'text' },
    adjusted: 'none',
  },
  wiki: {
    kind: 'bars',
    columns: { time: 'Date', symbol: 'ticker', ...titled, dividend: 'Ex-Dividend', split: 'Split Ratio' },
    others: ['Adj. Open', 'Adj. High', 'Adj. Low', 'Adj. Close', 'Adj. Volume'],
    time: { unit: 'text' },
    adjusted: 'none',
  },
  yahoo: {
    kind: 'bars',
    columns: { time: 'Date', ...titled },
    others: ['Adj Close'],
    time: { unit: 'text' },
    adjusted: 'split',
    absent: NOTHING,
    notation: 'yahoo',
  },
  // `Ticker.history().to_csv()`: one line of header, and the actions of a day in its row.
  'yfinance-history': {
    kind: 'bars',
    columns: {
      time: 'Date',
      ...titled,
      dividend: 'Dividends',
      split: 'Stock Splits',
      gains: 'Capital Gains',
    },
    others: ['Adj Close', 'Repaired?', 'index'],
    time: { unit: 'text', zone: 'America/New_York' },
    adjusted: 'split',
    absent: NOTHING,
    notation: 'yahoo',
  },
  // The same within a day.
  'yfinance-intraday': {
    kind: 'bars',
    columns: {
      time: 'Datetime',
      ...titled,
      dividend: 'Dividends',
      split: 'Stock Splits',
      gains: 'Capital Gains',
    },
    others: ['Adj Close', 'Repaired?', 'index'],
    optional: ['dividend', 'split'],
    time: { unit: 'text', zone: 'America/New_York' },
    adjusted: 'split',
    absent: NOTHING,
    notation: 'yahoo',
  },
  // `download().to_csv()`: three lines of header, the first two with names and tickers; several tickers have their own columns.
  yfinance: {
    kind: 'bars',
    columns: {
      time: 'Price',
      ...titled,
      dividend: 'Dividends',
      split: 'Stock Splits',
      gains: 'Capital Gains',
    },
    others: ['Adj Close', 'Repaired?'],
    optional: ['dividend', 'split'],
    time: { unit: 'text', zone: 'America/New_York' },
    adjusted: 'split',
    absent: NOTHING,
    headerLines: 3,
    notation: 'yahoo',
  },
  tradingview: {
    kind: 'bars',
    columns: { time: 'time', open: 'open', high: 'high', low: 'low', close: 'close', volume: 'Volume' },
    others: ['*'],
    time: { unit: 'text' },
    adjusted: 'split',
    absent: NOTHING,
  },
  alphavantage: {
    kind: 'bars',
    columns: { time: 'timestamp', ...bar },
    time: { unit: 'text', zone: 'America/New_York' },
    adjusted: 'unknown',
  },
  'alphavantage-adjusted': {
    kind: 'bars',
    columns: { time: 'timestamp', ...bar, dividend: 'dividend_amount', split: 'split_coefficient' },
    others: ['adjusted_close'],
    time: { unit: 'text', zone: 'America/New_York' },
    adjusted: 'none',
  },
  nasdaq: {
    kind: 'bars',
    columns: { time: 'Date', open: 'Open', high: 'High', low: 'Low', close: 'Close/Last', volume: 'Volume' },
    time: { unit: 'text', dates: 'MDY' },
    adjusted: 'split',
    absent: NOTHING,
  },
  'cboe-intervals': {
    kind: 'quotes',
    columns: {
      ...{
        time: 'quote_datetime',
        root: 'root',
        expiration: 'expiration',
        strike: 'strike',
        right: 'option_type',
      },
      ...{ bid: 'bid', bidSize: 'bid_size', ask: 'ask', askSize: 'ask_size' },
    },
    others: ['*'],
    time: { unit: 'text', zone: 'America/New_York', marks: 'at' },
    adjusted: 'none',
    absent: ['', '0', '0.00', '0.0', '0.0000'],
  },
  'thetadata-quotes': {
    kind: 'quotes',
    columns: {
      ...{ time: 'timestamp', root: 'symbol', expiration: 'expiration', strike: 'strike', right: 'right' },
      ...{ bid: 'bid', bidSize: 'bid_size', ask: 'ask', askSize: 'ask_size' },
    },
    others: ['bid_exchange', 'bid_condition', 'ask_exchange', 'ask_condition'],
    time: { unit: 'text', zone: 'America/New_York', marks: 'at' },
    adjusted: 'none',
    absent: ['', '0', '0.00', '0.0', '0.0000'],
  },
  // Layouts without a header, used only when the user names them.
  firstrate: {
    kind: 'bars',
    columns: { time: 0, open: 1, high: 2, low: 3, close: 4, volume: 5 },
    time: { unit: 'text', zone: 'America/New_York' },
    adjusted: 'unknown',
    headerLines: 0,
  },
  kibot: {
    kind: 'bars',
    columns: { time: 0, timeOfDay: 1, open: 2, high: 3, low: 4, close: 5, volume: 6 },
    time: { unit: 'text', zone: 'America/New_York', dates: 'MDY' },
    adjusted: 'split',
    headerLines: 0,
  },
  'kibot-days': {
    kind: 'bars',
    columns: { time: 0, open: 1, high: 2, low: 3, close: 4, volume: 5 },
    time: { unit: 'text', zone: 'America/New_York', dates: 'MDY' },
    adjusted: 'split',
    headerLines: 0,
  },
  // Standard time of New York all year.
  histdata: {
    kind: 'bars',
    columns: { time: 0, open: 1, high: 2, low: 3, close: 4, volume: 5 },
    time: { unit: 'text', zone: 'Etc/GMT+5' },
    adjusted: 'unknown',
    headerLines: 0,
    delimiter: ';',
  },
  stooq: {
    kind: 'bars',
    columns: {
      ...{ time: '<DATE>', timeOfDay: '<TIME>', period: '<PER>', symbol: '<TICKER>' },
      ...{ open: '<OPEN>', high: '<HIGH>', low: '<LOW>', close: '<CLOSE>', volume: '<VOL>' },
    },
    others: ['<OPENINT>'],
    optional: ['timeOfDay', 'period'],
    time: { unit: 'text', zone: 'Europe/Warsaw' },
    adjusted: 'unknown',
    notation: 'stooq',
  },
};

/** A symbol may come from the name of the file, or from the user; a size from times. */
const MAY_BE_MISSING: ReadonlySet<string> = new Set([
  ...['symbol', 'volume', 'gains', 'rtype', 'publisher', 'instrument', 'timespan', 'multiplier'],
]);
/** Columns of these names state the size of a bar, whatever the layout. */
export const SIZE_COLUMNS = ['timespan', 'multiplier'] as const;

/** The layouts whose columns a header has, and no others. */
export function layoutsOf(header: readonly string[]): string[] {
  const names = header.filter((name) => name !== '' && !(SIZE_COLUMNS as readonly string[]).includes(name));
  return Object.entries(LAYOUTS)
    .filter(([, { columns, others = [], optional = [] }]) => {
      const named = Object.entries(columns).filter(
        (entry): entry is [Field, string] => typeof entry[1] === 'string',
      );
      if (named.length === 0) return false;
      const known = new Set([...named.map(([, name]) => name), ...others]);
      const isWhole = named.every(
        ([field, name]) => names.includes(name) || MAY_BE_MISSING.has(field) || optional.includes(field),
      );
      const lower = new Set([...known].map((name) => name.toLowerCase()));
      // A column such as `volume` next to a known `Volume` is not any other column.
      return (
        isWhole &&
        names.every((name) => known.has(name) || (known.has('*') && !lower.has(name.toLowerCase())))
      );
    })
    .map(([name]) => name);
}
