import { decimalOf } from './values.js';

/** A row of a vendor's file in a neutral form. `at` is a minute's start in UTC, or a date. Empty = no value. */
export type Row =
  | {
      readonly kind: 'bars' | 'daily';
      readonly at: string;
      readonly symbol: string;
      readonly open: string;
      readonly high: string;
      readonly low: string;
      readonly close: string;
      readonly volume: string;
      readonly dividend?: string;
      readonly split?: string;
    }
  | {
      readonly kind: 'quotes';
      readonly at: string;
      readonly symbol: string;
      readonly bid: string;
      readonly bidSize: string;
      readonly ask: string;
      readonly askSize: string;
    };

export interface Skipped {
  readonly line: number;
  readonly why: string;
}

const SHOWN = 10;

const HEADERS = {
  bars: 'ts,symbol,open,high,low,close,volume',
  quotes:
    'ts,symbol,bid_open,bid_high,bid_low,bid_close,bid_size,ask_open,ask_high,ask_low,ask_close,ask_size',
  daily: 'date,symbol,open,high,low,close,volume',
} as const;

export const ACTIONS_HEADER = 'ex_date,symbol,type,split_new_for_old,cash_per_share';

/** Best bids or offers of a minute: open, high, low and close. */
interface Side {
  open: string;
  high: string;
  low: string;
  close: string;
  size: string;
}

/** Converted rows of one file, and counts of those read, skipped and repeated. */
export class Rows {
  readonly path: string;
  readonly kind: keyof typeof HEADERS;
  /** Non-empty lines. */
  read = 0;
  skipped = 0;
  /** Repeated rows of a symbol and time: the last one counts. Quotes of a minute are not repeated rows. */
  repeated = 0;
  /** The first of the skipped rows. */
  readonly examples: Skipped[] = [];
  /** Dividends and splits, as lines. */
  readonly actions: string[] = [];
  readonly #lines = new Map<string, string>();
  readonly #minutes = new Map<string, { bid: Side | undefined; ask: Side | undefined }>();

  constructor(path: string, kind: keyof typeof HEADERS) {
    this.path = path;
    this.kind = kind;
  }

  get header(): string {
    return HEADERS[this.kind];
  }

  skip(line: number, why: string): void {
    this.skipped += 1;
    if (this.examples.length < SHOWN) this.examples.push({ line, why });
  }

  /** Adds a row, or throws its problem through `refuse`. */
  add(row: Row, refuse: (why: string) => never): void {
    const key = `${row.at},${row.symbol}`;
    if (row.kind === 'quotes') {
      if (row.bid !== '' && row.ask !== '' && Number(row.bid) > Number(row.ask)) refuse('bid above ask');
      const minute = this.#minutes.get(key) ?? { bid: undefined, ask: undefined };
      this.#minutes.set(key, minute);
      minute.bid = followed(minute.bid, row.bid, row.bidSize);
      minute.ask = followed(minute.ask, row.ask, row.askSize);
      return;
    }
    const { open, high, low, close, volume } = row;
    const prices = [open, high, low, close].map(Number);
    if ([open, high, low, close].includes('')) refuse('a price is missing');
    if (Math.min(...prices) < Number(low) || Math.max(...prices) > Number(high))
      refuse('open or close outside of low and high');
    if (this.#lines.has(key)) this.repeated += 1;
    this.#lines.set(key, `${key},${open},${high},${low},${close},${volume}`);
    if (row.kind === 'daily') this.#act(row.at, row.symbol, row.dividend, row.split);
  }

  #act(date: string, symbol: string, dividend = '', split = ''): void {
    if (Number(dividend) > 0) this.actions.push(`${date},${symbol},cash_dividend,,${decimalOf(dividend)}`);
    if (Number(split) > 0 && Number(split) !== 1)
      this.actions.push(`${date},${symbol},split,${ratioOf(split)},`);
  }

  /** All rows, by time and symbol. */
  lines(): string[] {
    for (const [key, { bid, ask }] of this.#minutes)
      this.#lines.set(key, `${key},${sideText(bid)},${sideText(ask)}`);
    return [...this.#lines.values()].sort();
  }
}

/** A side without a price ends there, as a quote of size 0. */
function followed(side: Side | undefined, price: string, size: string): Side | undefined {
  if (price === '') return undefined;
  if (side === undefined) return { open: price, high: price, low: price, close: price, size };
  side.close = price;
  side.size = size;
  if (Number(price) > Number(side.high)) side.high = price;
  if (Number(price) < Number(side.low)) side.low = price;
  return side;
}

const sideText = (side: Side | undefined): string =>
  side === undefined ? ',,,,' : `${side.open},${side.high},${side.low},${side.close},${side.size}`;

/** `0.125` is 1:8, `1.5` is 3:2. */
function ratioOf(text: string): string {
  const [whole = '', fraction = ''] = decimalOf(text).split('.');
  const [numerator, denominator] = [Number(whole + fraction), 10 ** fraction.length];
  const divisor = common(numerator, denominator);
  return `${numerator / divisor}:${denominator / divisor}`;
}

const common = (a: number, b: number): number => (b === 0 ? a : common(b, a % b));
