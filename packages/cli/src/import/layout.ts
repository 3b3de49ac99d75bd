/** Layouts of vendors' files, as data: built-in ones, and those that a user declares in a file. */

/** Fields that a row may have. Those of options build the symbol if the file has none. */
export type Field =
  | 'time'
  | 'timeOfDay'
  | 'symbol'
  | 'open'
  | 'high'
  | 'low'
  | 'close'
  | 'volume'
  | 'bid'
  | 'bidSize'
  | 'ask'
  | 'askSize'
  | 'dividend'
  | 'split'
  | 'root'
  | 'expiration'
  | 'strike'
  | 'right';

export interface Layout {
  /** `bars` are minutes of trades, `quotes` best bids and offers in any rhythm, `daily` days with dividends and splits. */
  readonly kind: 'bars' | 'quotes' | 'daily';
  /** The column of each field, by its name in the header; by its position, from 0, without a header. */
  readonly columns: Readonly<Partial<Record<Field, string | number>>>;
  /** Columns that may be there as well; a header with others is not of this layout. `*` = any. */
  readonly others?: readonly string[];
  readonly time: {
    readonly unit: 's' | 'ms' | 'us' | 'ns' | 'text';
    /** Time zone of times without an offset. */
    readonly zone?: 'UTC' | 'America/New_York';
    /** Meaning of the time of a row: the start or end of a bar, or the instant of a quote. */
    readonly marks?: 'start' | 'end' | 'at';
  };
  /** Implied decimal places: 9 if 5000000000 means 5. */
  readonly priceDecimals?: number;
  readonly lots?: 100;
  /** Adjustment of past prices: none, for splits, or unknown. */
  readonly adjusted: 'none' | 'split' | 'unknown';
  /** Texts for an empty value. */
  readonly absent?: readonly string[];
  /** Lines before the first row; default 1. */
  readonly headerLines?: number;
  readonly delimiter?: string;
}

const NOTHING = ['', 'NaN', 'nan', 'null', 'N/A'];
const UNDEFINED_PRICE = '9223372036854775807';
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
    columns: { time: 'ts_event', symbol: 'symbol', ...bar },
    others: ['rtype', 'publisher_id', 'instrument_id'],
    time: { unit: 'text', zone: 'UTC' },
    adjusted: 'none',
    absent: [...NOTHING, UNDEFINED_PRICE],
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
    },
    others: [
      'ts_event',
      'rtype',
      'publisher_id',
      'instrument_id',
      'side',
      'price',
      'size',
      'flags',
      'sequence',
      'bid_ct_00',
      'ask_ct_00',
    ],
    time: { unit: 'text', zone: 'UTC', marks: 'at' },
    adjusted: 'none',
    absent: [...NOTHING, UNDEFINED_PRICE],
  },
  'alpaca-bars': {
    kind: 'bars',
    columns: { time: 'timestamp', symbol: 'symbol', ...bar },
    others: ['trade_count', 'vwap'],
    time: { unit: 'text', zone: 'UTC' },
    adjusted: 'unknown',
  },
  tiingo: {
    kind: 'daily',
    columns: { time: 'date', symbol: 'ticker', ...bar, dividend: 'divCash', split: 'splitFactor' },
    others: ['adjClose', 'adjHigh', 'adjLow', 'adjOpen', 'adjVolume'],
    time: { unit: 'text', zone: 'UTC' },
    adjusted: 'none',
  },
  wiki: {
    kind: 'daily',
    columns: {
      ...{
        time: 'Date',
        symbol: 'ticker',
        open: 'Open',
        high: 'High',
        low: 'Low',
        close: 'Close',
        volume: 'Volume',
      },
      ...{ dividend: 'Ex-Dividend', split: 'Split Ratio' },
    },
    others: ['Adj. Open', 'Adj. High', 'Adj. Low', 'Adj. Close', 'Adj. Volume'],
    time: { unit: 'text' },
    adjusted: 'none',
  },
  yahoo: {
    kind: 'daily',
    columns: { time: 'Date', open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' },
    others: ['Adj Close'],
    time: { unit: 'text' },
    adjusted: 'split',
    absent: NOTHING,
  },
  // `to_csv` of yfinance: three lines of header, the first with the names.
  yfinance: {
    kind: 'daily',
    columns: { time: 'Price', open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' },
    others: ['Adj Close'],
    time: { unit: 'text' },
    adjusted: 'split',
    absent: NOTHING,
    headerLines: 3,
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
  // Has no header: used only when the user names it.
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
    time: { unit: 'text', zone: 'America/New_York' },
    adjusted: 'split',
    headerLines: 0,
  },
  stooq: {
    kind: 'daily',
    columns: {
      ...{
        time: '<DATE>',
        symbol: '<TICKER>',
        open: '<OPEN>',
        high: '<HIGH>',
        low: '<LOW>',
        close: '<CLOSE>',
        volume: '<VOL>',
      },
    },
    others: ['<PER>', '<TIME>', '<OPENINT>'],
    time: { unit: 'text' },
    adjusted: 'unknown',
  },
};

/** A symbol may come from the name of the file, or from the user. */
const MAY_BE_MISSING: ReadonlySet<string> = new Set(['symbol', 'volume', 'dividend', 'split']);

/** The layouts whose columns a header has, and no others. */
export function layoutsOf(header: readonly string[]): string[] {
  return Object.entries(LAYOUTS)
    .filter(([, { columns, others = [] }]) => {
      const named = Object.entries(columns).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      );
      if (named.length === 0) return false;
      const known = new Set([...named.map(([, name]) => name), ...others]);
      const isWhole = named.every(([field, name]) => header.includes(name) || MAY_BE_MISSING.has(field));
      return isWhole && (known.has('*') || header.every((name) => known.has(name)));
    })
    .map(([name]) => name);
}
