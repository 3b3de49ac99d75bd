import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { type Field, type Layout, LAYOUTS, layoutsOf } from './layout.js';
import { type Row, Rows } from './rows.js';
import { BadValue, dateOf, decimalOf, epochOf, instantOf, optionOf, symbolOf } from './values.js';

/** Options of the user for a conversion. */
export interface ConvertOptions {
  /** A layout by its name; else the header decides. */
  readonly vendor?: string;
  /** A layout of the user's own. */
  readonly layout?: Layout;
  /** Symbol of files that do not contain one; absent = the beginning of the file name. */
  readonly symbol?: string;
  /** Adjusted or possibly adjusted prices are treated as traded prices. */
  readonly asTraded?: boolean;
  /** Bytes of the file that have been read. */
  readonly onProgress?: (bytes: number) => void;
}

/** A file that cannot be converted at all, and why. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';

  constructor(path: string, why: string) {
    super(`${path}: ${why}`);
  }
}

const MINUTE_MS = 60_000;

/** Reads a file of a vendor, plain or gzip, into the rows of the neutral layout. Throws `UnusableFile`. */
export async function convert(path: string, wanted: ConvertOptions): Promise<Rows> {
  const file = createReadStream(path);
  let bytes = 0;
  file.on('data', (chunk) => wanted.onProgress?.((bytes += chunk.length)));
  const input = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  let reader: RowReader | undefined;
  const head: string[] = [];
  let line = 0;
  try {
    for await (const raw of createInterface({ input, crlfDelay: Infinity })) {
      line += 1;
      const text = raw.replace(/^\uFEFF/, '');
      if (reader === undefined) {
        head.push(text);
        reader = readerFor(path, head, wanted);
        if (reader.headerLines > 0) continue;
      } else if (line <= reader.headerLines) {
        reader.nameOf(text);
        continue;
      }
      if (text.trim() !== '') reader.take(text, line);
    }
  } catch (error) {
    if (error instanceof UnusableFile) throw error;
    throw new UnusableFile(path, `cannot be read from line ${line + 1} on (${(error as Error).message})`);
  }
  if (reader === undefined) throw new UnusableFile(path, 'it is empty');
  return reader.rows;
}

function readerFor(path: string, [first = '']: readonly string[], wanted: ConvertOptions): RowReader {
  const layout = wanted.layout ?? layoutBy(path, first, wanted.vendor);
  if (layout.adjusted !== 'none' && wanted.asTraded !== true) {
    const why =
      layout.adjusted === 'split'
        ? 'its prices are adjusted for splits: a split would count twice'
        : 'it does not say whether its prices are adjusted';
    throw new UnusableFile(path, `${why}. With --as-traded they are taken as traded`);
  }
  return new RowReader(path, layout, cellsOf(first, layout), wanted.symbol);
}

function layoutBy(path: string, first: string, vendor: string | undefined): Layout {
  if (vendor !== undefined) {
    const layout = LAYOUTS[vendor];
    if (layout !== undefined) return layout;
    throw new UnusableFile(
      path,
      `there is no layout ${vendor}; there are ${Object.keys(LAYOUTS).join(', ')}`,
    );
  }
  const [name, ...others] = layoutsOf(first.split(',').map((cell) => cell.trim()));
  const layout = name === undefined ? undefined : LAYOUTS[name];
  if (layout === undefined)
    throw new UnusableFile(
      path,
      'its header is of no known layout; name one (--vendor) or declare one (--layout)',
    );
  if (others.length > 0)
    throw new UnusableFile(path, `it may be ${[name, ...others].join(' or ')}: say which (--vendor)`);
  return layout;
}

const cellsOf = (text: string, { delimiter = ',' }: Layout): string[] =>
  text.split(delimiter).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));

/** The rows of one file. */
class RowReader {
  readonly rows: Rows;
  readonly headerLines: number;
  readonly #layout: Layout;
  readonly #places: Readonly<Partial<Record<Field, number>>>;
  readonly #width: number;
  readonly #absent: ReadonlySet<string>;
  #symbol: string | undefined;

  constructor(path: string, layout: Layout, header: readonly string[], symbol: string | undefined) {
    this.#layout = layout;
    this.headerLines = layout.headerLines ?? 1;
    this.#width = header.length;
    this.#absent = new Set(layout.absent ?? ['']);
    this.#symbol = symbol ?? /^[A-Za-z]{1,6}(?=[_.-])/.exec(basename(path))?.[0];
    const places: Partial<Record<Field, number>> = {};
    for (const [field, column] of Object.entries(layout.columns) as [Field, string | number][]) {
      const place = typeof column === 'number' ? column : header.indexOf(column);
      if (place >= 0) places[field] = place;
    }
    this.#places = places;
    if (places.time === undefined) throw new UnusableFile(path, 'it has no column for the time');
    this.rows = new Rows(path, layout.kind);
  }

  /** A further line of the header, which may name the symbol. */
  nameOf(text: string): void {
    const [label, symbol] = cellsOf(text, this.#layout);
    if (label === 'Ticker' && symbol !== undefined) this.#symbol = symbol;
  }

  take(text: string, line: number): void {
    this.rows.read += 1;
    try {
      const cells = cellsOf(text, this.#layout);
      if (cells.length !== this.#width) throw new BadValue(`${cells.length} cells instead of ${this.#width}`);
      this.rows.add(this.#rowOf(cells), refuse);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      this.rows.skip(line, error.message);
    }
  }

  #rowOf(cells: readonly string[]): Row {
    const { kind } = this.#layout;
    const of = (field: Field): string => cells[this.#places[field] ?? -1] ?? '';
    const price = (field: Field): string => {
      const text = of(field);
      if (this.#absent.has(text)) return '';
      return decimalOf(text, text.includes('.') ? 0 : this.#layout.priceDecimals);
    };
    const size = (field: Field): string => {
      const text = of(field);
      if (this.#absent.has(text)) return '';
      return this.#layout.lots === 100 ? `${wholeOf(text)}00` : decimalOf(text);
    };
    if (kind === 'daily') {
      const date = dateOf(of('time'));
      const symbol = this.#symbolOf(of, Number(date.slice(0, 4)));
      const [open, high, low, close] = [price('open'), price('high'), price('low'), price('close')];
      const volume = size('volume') || '0';
      return {
        kind,
        at: date,
        symbol,
        open,
        high,
        low,
        close,
        volume,
        dividend: of('dividend'),
        split: of('split'),
      };
    }
    const ms = this.#instantOf(of);
    const symbol = this.#symbolOf(of, new Date(ms).getUTCFullYear());
    if (kind === 'bars') {
      const [open, high, low, close] = [price('open'), price('high'), price('low'), price('close')];
      const start = this.#layout.time.marks === 'end' ? ms - MINUTE_MS : ms;
      return { kind, at: stampOf(start), symbol, open, high, low, close, volume: size('volume') || '0' };
    }
    // A quote at the end of a minute belongs to that minute.
    const start = Math.floor((ms - 1) / MINUTE_MS) * MINUTE_MS;
    return {
      kind,
      at: stampOf(start),
      symbol,
      bid: price('bid'),
      bidSize: size('bidSize'),
      ask: price('ask'),
      askSize: size('askSize'),
    };
  }

  #instantOf(of: (field: Field) => string): number {
    const { unit, zone = 'UTC' } = this.#layout.time;
    const text = [of('time'), of('timeOfDay')].filter((part) => part !== '').join(' ');
    if (unit !== 'text') return epochOf(text, unit);
    // Databento writes nanoseconds unless texts are requested.
    return /^\d{19}$/.test(text) ? epochOf(text, 'ns') : instantOf(text, zone);
  }

  #symbolOf(of: (field: Field) => string, year: number): string {
    if (this.#places.root !== undefined)
      return optionOf(of('root'), of('expiration'), of('strike'), of('right'));
    const text = of('symbol') || this.#symbol;
    if (text === undefined) throw new BadValue('nothing names the symbol (--symbol)');
    return symbolOf(text, year);
  }
}

const refuse = (why: string): never => {
  throw new BadValue(why);
};

const wholeOf = (text: string): string =>
  /^[1-9]\d*$/.test(text) ? text : refuse(`"${text}" is no number of lots`);

const stampOf = (ms: number): string => {
  if (ms % MINUTE_MS !== 0) throw new BadValue(`${new Date(ms).toISOString()} is not the start of a minute`);
  return new Date(ms).toISOString().replace('.000Z', 'Z');
};
