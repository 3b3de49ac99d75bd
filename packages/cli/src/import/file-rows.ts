/** Reads one file of a vendor: recognizes its layout and makes its rows ready to be sorted. */
import { basename } from 'node:path';
import { type BarSize, sizeInName, Spacing, type StatedSize, type UnknownSize, unitMs } from './bar-size.js';
import { type Field, type Layout, LAYOUTS, layoutsOf, SIZE_COLUMNS } from './layout.js';
import { type FileRecord, recordsOf } from './records.js';
import { SortedRows } from './sorted-rows.js';
import { optionOf, symbolInName, symbolOf, type FoundSymbol } from './symbols.js';
import {
  DAY_MS,
  epochOf,
  type FileTime,
  MINUTE_MS,
  NEW_YORK,
  timeOf,
  type Zone,
  zoneNamed,
} from './times.js';
import { UnusableFile } from './unusable-file.js';
import { amountOf, BadValue, isAbove, type NumberForm, priceOf, ratioOf, sizeOf } from './values.js';

/** Options of the user for a conversion. */
export interface ReadOptions {
  /** A layout by its name; else the header decides. */
  readonly vendor?: string;
  /** A layout of the user's own. */
  readonly layout?: Layout;
  /** Symbol of files that do not contain one; absent = the beginning of the file name. */
  readonly symbol?: string;
  readonly bar?: BarSize;
  /** Adjusted or possibly adjusted prices are treated as traded prices. */
  readonly asTraded?: boolean;
  /** Share of rows in percent that may be unusable. */
  readonly badRows: number;
  /** Bytes of the file that have been read. */
  readonly onProgress?: (bytes: number) => void;
}

interface Skipped {
  readonly line: number;
  readonly why: string;
}

/** A split or a dividend of a row. */
interface RowAction {
  readonly at: number;
  readonly symbol: string;
  readonly split?: string;
  readonly dividend?: string;
}

const SHOWN = 10;
const ROWS_BEFORE_REFUSAL = 1000;
/** Prices in a unit of a hundred-millionth or so: the most expensive share costs less than a million. */
const LEAST_SCALED = 10_000_000;
const RTYPES: Readonly<Record<string, number>> = {
  32: 1000,
  33: MINUTE_MS,
  34: 3_600_000,
  35: DAY_MS,
  36: DAY_MS,
};
const STEM = /(?:\.(?:csv|txt|tsv|gz))+$/i;

/** Name of a file without its folder and extensions. */
export const stemOf = (path: string): string => basename(path).replace(STEM, '');

/** Reads a file, plain or gzip. Throws `UnusableFile`. */
export async function readFileRows(path: string, directory: string, wanted: ReadOptions): Promise<FileRows> {
  let rows: FileRows | undefined;
  let delimiter = wanted.layout?.delimiter;
  const delimiterOf = (first: string): string => {
    if (wanted.vendor !== undefined) delimiter ??= LAYOUTS[wanted.vendor]?.delimiter;
    return (delimiter ??= likelyDelimiter(first));
  };
  const header: FileRecord[] = [];
  for await (const record of recordsOf(path, delimiterOf, wanted.onProgress ?? (() => undefined))) {
    if (rows !== undefined) {
      rows.take(record);
      continue;
    }
    header.push(record);
    const layout = layoutFor(path, header, wanted);
    if (header.length < Math.max(1, layout.headerLines ?? 1)) continue;
    rows = new FileRows({ path, directory, layout, header, wanted, isAmbiguous: delimiter === ';' });
    if (layout.headerLines === 0) rows.take(record);
  }
  if (rows === undefined) throw new UnusableFile(path, 'its header is all that it has');
  rows.finish();
  return rows;
}

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The character that splits the header into a known one, else the most frequent. */
function likelyDelimiter(first: string): string {
  const cellsBy = (delimiter: string): string[] =>
    first.split(delimiter).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
  const known = DELIMITERS.find((delimiter) => layoutsOf(cellsBy(delimiter)).length > 0);
  return known ?? [...DELIMITERS].sort((a, b) => cellsBy(b).length - cellsBy(a).length)[0] ?? ',';
}

function layoutFor(
  path: string,
  [first]: readonly FileRecord[],
  { layout: own, vendor }: ReadOptions,
): Layout {
  if (own !== undefined) return own;
  if (vendor !== undefined) {
    const layout = Object.hasOwn(LAYOUTS, vendor) ? LAYOUTS[vendor] : undefined;
    if (layout !== undefined) return layout;
    throw new UnusableFile(
      path,
      `there is no layout ${vendor}; there are ${Object.keys(LAYOUTS).join(', ')}`,
    );
  }
  const { cells = [], line = 1 } = first ?? {};
  // `download(group_by="ticker")` has the line of the tickers first.
  const isByTicker = cells[0] === 'Ticker' && !cells.includes('Open') && !cells.includes('Date');
  const names = isByTicker ? ['Price', 'Open', 'High', 'Low', 'Close'] : [...new Set(cells)];
  const [name, ...others] = layoutsOf(names);
  const layout = name === undefined ? undefined : LAYOUTS[name];
  if (layout === undefined)
    throw new UnusableFile(
      path,
      `line ${line}: the header matches no known layout ("${cells.join(',').slice(0, 120)}"); name a layout (--vendor) or declare one (--layout)`,
    );
  if (others.length > 0)
    throw new UnusableFile(
      path,
      `the header may be that of ${[name, ...others].join(' or ')}: say which (--vendor)`,
    );
  return layout;
}

type Places = Readonly<Partial<Record<Field, number>>>;

/** Columns of one symbol; several in files with columns for each ticker. */
interface Columns {
  readonly places: Places;
  readonly ticker?: string;
}

interface Parts {
  readonly path: string;
  readonly directory: string;
  readonly layout: Layout;
  readonly header: readonly FileRecord[];
  readonly wanted: ReadOptions;
  readonly isAmbiguous: boolean;
}

/** The rows of one file, ready to be sorted, and counts of those read, left out and unusable. */
export class FileRows {
  readonly path: string;
  readonly layout: Layout;
  readonly rows: SortedRows;
  /** Dividends and splits. */
  readonly actions: RowAction[] = [];
  /** Rows but for headers. */
  read = 0;
  skipped = 0;
  /** The first of the unusable rows. */
  readonly examples: Skipped[] = [];
  /** Rows of kinds that Sandpit does not keep. */
  readonly leftOut = new Map<string, number>();
  readonly indices = new Set<string>();
  size: BarSize | 'quotes' = 'quotes';
  /** True when days are dated by UTC. */
  isUtcDated = false;
  readonly #wanted: ReadOptions;
  readonly #columns: readonly Columns[];
  readonly #header: readonly string[];
  readonly #width: number;
  readonly #absent: ReadonlySet<string>;
  readonly #zone: Zone;
  readonly #prices: NumberForm;
  readonly #sizes: NumberForm;
  readonly #spacing = new Spacing();
  readonly #stated: StatedSize | undefined;
  readonly #known = new Map<string, FoundSymbol>();
  readonly #names = new Set<string>();
  /** The latest instant of each symbol, for hours that clocks show twice. */
  readonly #latest = new Map<string, { readonly ms: number; readonly isBackward: boolean }>();
  readonly #constant = new Map<Field, string>();
  #statedByRows: StatedSize | undefined;
  #areAllScaled = true;
  #firstPriceLine = 0;
  #hasPoints = false;
  #hasWallTimes = false;

  constructor({ path, directory, layout, header, wanted, isAmbiguous }: Parts) {
    this.path = path;
    this.layout = layout;
    this.rows = new SortedRows(directory);
    this.#wanted = wanted;
    const first = header[0]?.cells ?? [];
    // Vendors end the header, or the rows, with commas.
    this.#width = first.findLastIndex((cell) => cell !== '') + 1;
    this.#absent = new Set(layout.absent ?? ['']);
    this.#zone = zoneNamed(layout.time.zone ?? 'UTC') ?? NEW_YORK;
    this.#prices = {
      isAmbiguous,
      ...(layout.priceDecimals !== undefined && { places: layout.priceDecimals }),
    };
    this.#sizes = { isAmbiguous, ...(layout.lots !== undefined && { lots: layout.lots }) };
    this.#header =
      layout.headerLines === 0
        ? []
        : (header.find(({ cells }) => cells.includes(String(layout.columns.time)))?.cells ?? first);
    this.#stated = sizeInName(stemOf(path));
    this.#columns =
      layout === LAYOUTS.yfinance ? this.#tickerColumns(header) : [{ places: this.#placesIn(this.#header) }];
  }

  take({ cells, line }: FileRecord): void {
    if (this.#isHeader(cells)) return;
    const filled = this.#columns.filter(
      ({ places }) => this.#columns.length === 1 || this.#hasPrices(cells, places),
    );
    for (const columns of filled) {
      this.read += 1;
      try {
        if (!this.#hasWidth(cells)) throw new BadValue(`${cells.length} cells instead of ${this.#width}`);
        this.#add(cells, columns, line);
      } catch (error) {
        if (!(error instanceof BadValue)) throw error;
        this.#skip(cells, columns, line, error.message);
      }
    }
    if (this.read === ROWS_BEFORE_REFUSAL) this.#refuseAdjusted();
  }

  /** Decides the size of the bars. Throws `UnusableFile`. */
  finish(): void {
    const { layout, path } = this;
    const { bar } = this.#wanted;
    if (this.read === 0) throw new UnusableFile(path, 'its header is all that it has');
    this.#refuseAdjusted();
    this.#refuseBroken();
    const size = this.#sizeFound();
    if (layout.kind !== 'quotes' && this.rows.size > 0) {
      if (bar !== undefined && layout.kind === 'daily' && bar === '1m')
        throw new UnusableFile(path, 'the layout says days, --bar says 1m');
      if (typeof size === 'object') throw new UnusableFile(path, size.why);
      this.size = size;
      this.isUtcDated = this.#spacing.isUtcDates;
      if (size === '1m' && this.#spacing.offMinute > 0) {
        this.skipped += this.#spacing.offMinute;
        if (this.examples.length < SHOWN)
          this.examples.push({ line: this.#spacing.firstOffMinuteLine, why: 'not the start of a minute' });
      }
      if (layout.priceDecimals === undefined && this.#areAllScaled)
        throw new UnusableFile(
          path,
          `line ${this.#firstPriceLine}: all prices are whole numbers of ${LEAST_SCALED} and more, as scaled ones are; declare their scale (--layout with priceDecimals)`,
        );
    }
    this.#refuseBroken();
  }

  #refuseBroken(): void {
    if (this.skipped <= (this.read * this.#wanted.badRows) / 100) return;
    const [{ line, why } = { line: 0, why: '' }] = this.examples;
    throw new UnusableFile(
      this.path,
      `line ${line}: ${why}; ${this.skipped} of ${this.read} rows cannot be used. Mend them, or --bad-rows 100 imports the others`,
    );
  }

  /** The date of a daily row. */
  dateMs(at: number): number {
    if (this.isUtcDated) return at;
    const wall = (this.#hasWallTimes ? this.#zone : NEW_YORK).wallOf(at);
    return Math.floor(wall / DAY_MS) * DAY_MS;
  }

  #sizeFound(): BarSize | UnknownSize {
    const { kind } = this.layout;
    const declared = this.#wanted.layout === undefined ? undefined : kind === 'daily' ? '1d' : '1m';
    return this.#spacing.size(this.#statedByRows ?? this.#stated, declared, this.#wanted.bar);
  }

  #refuseAdjusted(): void {
    const { adjusted, kind } = this.layout;
    if (adjusted === 'none' || this.#wanted.asTraded === true) return;
    const size = kind === 'quotes' ? '1m' : this.#sizeFound();
    if (typeof size === 'object' && this.rows.size > 0) throw new UnusableFile(this.path, size.why);
    const why =
      adjusted === 'split'
        ? 'its prices are adjusted for splits: a split would count twice'
        : 'it does not say whether its prices are adjusted';
    throw new UnusableFile(this.path, `${why}. With --as-traded they are taken as traded`);
  }

  #isHeader(cells: readonly string[]): boolean {
    return (
      this.#header.length > 0 &&
      cells.length >= this.#header.length &&
      this.#header.every((name, i) => cells[i] === name)
    );
  }

  #hasWidth(cells: readonly string[]): boolean {
    return cells.length >= this.#width && cells.slice(this.#width).every((cell) => cell === '');
  }

  #hasPrices(cells: readonly string[], places: Places): boolean {
    return (['open', 'high', 'low', 'close'] as const).some(
      (field) => !this.#absent.has(cells[places[field] ?? -1] ?? ''),
    );
  }

  #placesIn(header: readonly string[], isOf: (place: number) => boolean = () => true): Places {
    const places: Partial<Record<Field, number>> = {};
    const { columns, headerLines } = this.layout;
    for (const [field, column] of Object.entries(columns) as [Field, string | number][]) {
      const place =
        typeof column === 'number'
          ? column
          : header.findIndex((name, i) => name === column && (field === 'time' || isOf(i)));
      if (place >= 0 && (headerLines !== 0 || place < this.#width)) places[field] = place;
      else if (this.#wanted.layout !== undefined)
        throw new UnusableFile(
          this.path,
          `line 1: no column ${JSON.stringify(column)} for ${field}; ${headerLines === 0 ? `there are ${this.#width}, counted from 0` : `the header has ${header.join(', ')}`}`,
        );
    }
    for (const name of SIZE_COLUMNS) {
      const place = header.indexOf(name);
      if (place >= 0) places[name] ??= place;
    }
    const missing = (
      this.layout.kind === 'quotes' ? ['time', 'bid', 'ask'] : ['time', 'open', 'high', 'low', 'close']
    ).find((field) => places[field as Field] === undefined);
    if (missing !== undefined) throw new UnusableFile(this.path, `line 1: no column for ${missing}`);
    return places;
  }

  /** Columns of each ticker of a data frame with three lines of header. */
  #tickerColumns(header: readonly FileRecord[]): Columns[] {
    const lineOf = (name: string): readonly string[] =>
      header.find(({ cells }) => cells[0] === name)?.cells ?? [];
    const [prices, tickers, index] = [lineOf('Price'), lineOf('Ticker'), header[2]?.cells[0] ?? ''];
    if (tickers.length === 0 || !/^(?:Date|Datetime)$/.test(index))
      throw new UnusableFile(
        this.path,
        'its three lines of header are not those of yfinance (Price, Ticker, Date)',
      );
    const names = [...new Set(tickers.slice(1).filter((ticker) => ticker !== ''))];
    const time = ['Price', ...prices.slice(1)];
    if (names.length > 1 && this.#wanted.symbol !== undefined)
      throw new UnusableFile(
        this.path,
        `it has ${names.length} symbols (${names.slice(0, SHOWN).join(', ')}), --symbol names one`,
      );
    return names.map((ticker) => ({ ticker, places: this.#placesIn(time, (i) => tickers[i] === ticker) }));
  }

  #skip(cells: readonly string[], { places }: Columns, line: number, why: string): void {
    const actions = (['dividend', 'gains', 'split'] as const).filter((field) => places[field] !== undefined);
    const isPlain = actions.every((field) => {
      const text = cells[places[field] ?? -1] ?? '';
      const isNone =
        text === '' ||
        this.#absent.has(text) ||
        Number(text) === 0 ||
        (field === 'split' && Number(text) === 1);
      return isNone && this.#hasWidth(cells);
    });
    if (!isPlain)
      throw new UnusableFile(
        this.path,
        `line ${line}: ${why}; the row has, or may have, a dividend or a split, which must not be lost: mend it`,
      );
    this.skipped += 1;
    if (this.examples.length < SHOWN) this.examples.push({ line, why });
  }

  #add(cells: readonly string[], columns: Columns, line: number): void {
    const { layout } = this;
    const of = (field: Field): string => cells[columns.places[field] ?? -1] ?? '';
    this.#checkConstants(of, line);
    this.#checkSize(of, line);
    const time = this.#timeOf(of);
    const found = this.#symbolOf(of, columns, new Date(time.ms).getUTCFullYear());
    if ('leftOut' in found) {
      this.leftOut.set(found.leftOut, (this.leftOut.get(found.leftOut) ?? 0) + 1);
      return;
    }
    const { symbol } = found;
    const values = layout.kind === 'quotes' ? this.#quoteOf(of) : this.#barOf(of, line);
    const ms = this.#instantOf(time, symbol);
    if (layout.kind === 'quotes') {
      // A quote at the end of a minute belongs to that minute.
      const at = Math.floor((ms - 1) / MINUTE_MS) * MINUTE_MS;
      this.rows.add({ at, symbol, order: ms, line, values });
      return;
    }
    const [dividend, split] = [
      amountOf(
        [of('dividend'), of('gains')].filter((text) => !this.#absent.has(text) && text !== ''),
        this.#prices,
      ),
      this.#absent.has(of('split')) || of('split') === '' ? undefined : ratioOf(of('split')),
    ];
    if (found.isIndex) this.indices.add(symbol);
    const isMidnight = (time.kind === 'wall' && time.ms % DAY_MS === 0) || NEW_YORK.wallOf(ms) % DAY_MS === 0;
    this.#spacing.add(symbol, ms, time.kind === 'date', isMidnight, line);
    this.rows.add({ at: ms, symbol, order: 0, line, values });
    if (dividend !== undefined || split !== undefined)
      this.actions.push({
        at: ms,
        symbol,
        ...(dividend !== undefined && { dividend }),
        ...(split !== undefined && { split }),
      });
  }

  /** Rows of several venues, or of several instruments of which none is named, would mix. */
  #checkConstants(of: (field: Field) => string, line: number): void {
    const fields =
      this.#columns[0]?.places.symbol === undefined
        ? (['publisher', 'instrument'] as const)
        : (['publisher'] as const);
    for (const field of fields) {
      const text = of(field);
      if (text === '') continue;
      const first = this.#constant.get(field);
      if (first === undefined) this.#constant.set(field, text);
      else if (first !== text)
        throw new UnusableFile(
          this.path,
          field === 'publisher'
            ? `line ${line}: rows of publishers ${first} and ${text}, whose bars would mix; import one venue`
            : `line ${line}: several instruments (${first}, ${text}) and no symbols; export the file with symbols`,
        );
    }
  }

  #checkSize(of: (field: Field) => string, line: number): void {
    if (this.layout.kind === 'quotes') return;
    const stated = statedSize(of);
    if (stated === undefined) return;
    this.#statedByRows ??= stated;
    if (stated.ms !== this.#statedByRows.ms)
      throw new UnusableFile(
        this.path,
        `line ${line}: ${stated.by} after rows of ${this.#statedByRows.by}; import each size on its own`,
      );
  }

  #timeOf(of: (field: Field) => string): FileTime {
    const { unit, dates } = this.layout.time;
    const text = [of('time'), of('timeOfDay')].filter((part) => part !== '').join(' ');
    if (unit !== 'text') return { kind: 'instant', ms: epochOf(text, unit) };
    return timeOf(text, dates);
  }

  /** The instant of a row; of a bar its start. */
  #instantOf(time: FileTime, symbol: string): number {
    let { ms } = time;
    if (time.kind === 'wall') {
      this.#hasWallTimes = true;
      ms = this.#ofClock(time.ms, symbol);
    }
    if (time.kind === 'date' && this.layout.kind === 'quotes') throw new BadValue('a date without a time');
    const isEnd = this.layout.time.marks === 'end' && this.layout.kind === 'bars' && time.kind !== 'date';
    return isEnd ? ms - MINUTE_MS : ms;
  }

  /** A time that clocks show twice is the earlier instant first, and the later one once the file has passed it. */
  #ofClock(wall: number, symbol: string): number {
    const instants = this.#zone.instantsOf(wall);
    const [earlier, later] = instants;
    if (earlier === undefined)
      throw new BadValue(
        `${new Date(wall).toISOString().slice(0, 16)} did not exist in ${this.#zone.name}: clocks were put forward`,
      );
    if (this.#isFixed) return earlier;
    const before = this.#latest.get(symbol);
    let ms = earlier;
    if (later !== undefined && before !== undefined)
      ms = before.isBackward ? (later < before.ms ? later : earlier) : earlier > before.ms ? earlier : later;
    if (before?.ms !== ms)
      this.#latest.set(symbol, { ms, isBackward: before !== undefined && ms < before.ms });
    return ms;
  }

  get #isFixed(): boolean {
    return this.#zone.name === 'UTC' || /^[+-]/.test(this.#zone.name);
  }

  #symbolOf(of: (field: Field) => string, { places, ticker }: Columns, year: number): FoundSymbol {
    if (places.root !== undefined) return optionOf(of('root'), of('expiration'), of('strike'), of('right'));
    const own = of('symbol') || ticker || '';
    const given = this.#wanted.symbol;
    if (given !== undefined && own !== '') {
      this.#names.add(own);
      if (this.#names.size > 1)
        throw new UnusableFile(
          this.path,
          `it has several symbols (${[...this.#names].join(', ')}), --symbol names one`,
        );
    }
    const text = given ?? own;
    const key = text.length < 8 ? `${text} ${year}` : text;
    let found = this.#known.get(key);
    if (found === undefined) {
      found =
        text === ''
          ? this.#symbolInName()
          : symbolOf(text, year, given === undefined ? this.layout.notation : 'common');
      if (given !== undefined && 'leftOut' in found)
        throw new UnusableFile(
          this.path,
          `--symbol ${given} is of a kind that Sandpit does not keep (${found.leftOut})`,
        );
      this.#known.set(key, found);
    }
    return found;
  }

  #symbolInName(): FoundSymbol {
    if (this.#columns[0]?.places.symbol !== undefined) throw new BadValue('the symbol is missing');
    const found = symbolInName(stemOf(this.path), this.layout.notation ?? 'common');
    if ('why' in found) throw new UnusableFile(this.path, found.why);
    if ('leftOut' in found)
      throw new UnusableFile(
        this.path,
        `its name is that of ${found.leftOut}, which Sandpit does not keep; if it is another symbol, name it (--symbol)`,
      );
    return found;
  }

  #barOf(of: (field: Field) => string, line: number): string {
    const [open, high, low, close] = (['open', 'high', 'low', 'close'] as const).map((field) => {
      const text = of(field);
      if (this.#absent.has(text)) throw new BadValue(`no price in ${field}`);
      return this.#price(text, line);
    }) as [string, string, string, string];
    if (isAbove(low, open) || isAbove(low, close) || isAbove(open, high) || isAbove(close, high))
      throw new BadValue('open or close outside of low and high');
    return `${open},${high},${low},${close},${this.#size(of('volume')) || '0'}`;
  }

  #quoteOf(of: (field: Field) => string): string {
    const price = (field: Field): string => (this.#absent.has(of(field)) ? '' : this.#price(of(field), 0));
    const [bid, ask] = [price('bid'), price('ask')];
    if (bid !== '' && ask !== '' && isAbove(bid, ask)) throw new BadValue('bid above ask');
    return `${bid},${this.#size(of('bidSize'))},${ask},${this.#size(of('askSize'))}`;
  }

  #price(text: string, line: number): string {
    const price = priceOf(text, this.#prices);
    if (this.#areAllScaled) {
      this.#firstPriceLine ||= line;
      this.#areAllScaled = !text.includes('.') && Number(price) >= LEAST_SCALED;
    }
    if (this.#prices.places !== undefined && this.#wanted.layout === undefined) {
      // Databento writes all prices of a file in one way.
      const hasPoint = text.includes('.');
      if (!hasPoint && this.#hasPoints)
        throw new BadValue(`"${text}" has no point, and the prices before it have one`);
      this.#hasPoints ||= hasPoint;
    }
    return price;
  }

  #size(text: string): string {
    return this.#absent.has(text) || text === '' ? '' : sizeOf(text, this.#sizes);
  }
}

/** The size of its bar that a row states. */
function statedSize(of: (field: Field) => string): StatedSize | undefined {
  const [rtype, period, timespan] = [of('rtype'), of('period'), of('timespan')];
  if (rtype !== '') {
    const ms = RTYPES[rtype];
    if (ms === undefined) throw new BadValue(`rtype ${rtype} is not that of a bar`);
    return { ms, by: `rtype ${rtype}` };
  }
  if (period !== '') {
    const unit = unitMs(period);
    const ms = /^\d{1,4}$/.test(period) && period !== '0' ? Number(period) * MINUTE_MS : unit;
    if (ms === undefined) throw new BadValue(`"${period}" is not a period`);
    return { ms, by: `<PER> ${period}` };
  }
  if (timespan === '') return undefined;
  const ms = unitMs(timespan);
  const count = Number(of('multiplier') || '1');
  if (ms === undefined || !Number.isInteger(count) || count < 1)
    throw new BadValue(`"${timespan}" is not a timespan`);
  return { ms: ms * count, by: `timespan ${count === 1 ? '' : `${count} `}${timespan}` };
}
