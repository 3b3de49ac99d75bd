/** Writes converted files into a directory for `REPLAY_PATH`: first next to it, then, once a server would accept them, in place. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { type CorporateAction, excludes } from '@sandpit/core';
import { BadReplayFile, checkRecording } from '@sandpit/server/recordings';
import {
  ACTION_COLUMNS,
  ACTION_TYPES,
  type ActionCells,
  type AnnouncedActions,
} from './announced-actions.js';
import type { FileRows } from './file-rows.js';
import { stemOf } from './file-rows.js';
import { Lines, linesIn, type SortedRow, SortedRows } from './sorted-rows.js';
import { Coverage, type Covered, rowsLeftOut, summaryOf } from './summary.js';
import { dateText, MINUTE_MS, NEW_YORK } from './times.js';
import { UnusableFile } from './unusable-file.js';
import { isAbove } from './values.js';

const HEADERS = {
  bars: 'ts,symbol,open,high,low,close,volume',
  index: 'ts,symbol,open,high,low,close',
  quotes:
    'ts,symbol,bid_open,bid_high,bid_low,bid_close,bid_size,ask_open,ask_high,ask_low,ask_close,ask_size',
  daily: 'date,symbol,open,high,low,close,volume',
  dailyWithIndices: 'date,symbol,open,high,low,close,volume,asset_class',
} as const;
const ACTIONS_HEADER = ACTION_COLUMNS.join(',');
const DAILY = 'daily_bars.csv';
const ACTIONS = 'corporate_actions.csv';

/** Description of a written file, for people and programs. */
interface Written extends Covered {
  readonly file: string;
  readonly from: string;
  readonly read: number;
  readonly rows: number;
  readonly skipped: number;
  /** Repeated rows of a symbol and time: the last one counts. Quotes of a minute are not repeated rows. */
  readonly repeated: number;
  readonly leftOut: Readonly<Record<string, number>>;
  readonly size: '1m' | '1d' | 'quotes';
  /** True if a file of that name was there before. */
  readonly replaced: boolean;
}

/** The actions of a file that was read. */
interface WrittenActions {
  readonly file: string;
  readonly from: string;
  readonly size: 'actions';
  readonly read: number;
  readonly rows: number;
  readonly skipped: number;
  readonly repeated: number;
  readonly first: string;
  readonly last: string;
}

/** A recording that is being written. Every method throws `UnusableFile`. */
export class Recording {
  /** Where sorted runs and finished files wait. Its name begins with a dot, so that no server reads it. */
  readonly workshop: string;
  readonly #directory: string;
  readonly #made: string | undefined;
  readonly #finished: string;
  readonly #written: Written[] = [];
  readonly #days: FileRows[] = [];
  readonly #empty: FileRows[] = [];
  readonly #daily: SortedRows;
  readonly #indices = new Set<string>();
  readonly #actions = new Map<string, ActionCells>();
  readonly #announced: WrittenActions[] = [];
  readonly #actionDates = new Map<string, Map<string, number | undefined>>();
  readonly #whole = {
    bars: new Coverage('1m', this.#actionDates),
    quotes: new Coverage('quotes', this.#actionDates),
  };
  /** Input files by the output file they became. */
  readonly #sources = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = directory;
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new UnusableFile(directory, 'it is a file; --to names a directory');
    this.#made = mkdirSync(directory, { recursive: true });
    this.workshop = mkdtempSync(join(directory, '.import-'));
    this.#finished = join(this.workshop, 'finished');
    mkdirSync(this.#finished);
    this.#daily = new SortedRows(this.workshop);
  }

  /** Takes over the rows of a file. */
  add(file: FileRows): void {
    for (const { at, symbol, split, dividend } of file.actions) {
      const date = dateText(file.size === '1d' ? file.dateMs(at) : NEW_YORK.wallOf(at));
      const on = { ex_date: date, symbol };
      if (split !== undefined) this.#act({ ...on, type: 'split', split_new_for_old: split }, file.path);
      if (dividend !== undefined)
        this.#act({ ...on, type: 'cash_dividend', cash_per_share: dividend }, file.path);
    }
    if (file.rows.size === 0) this.#empty.push(file);
    else if (file.size === '1d') this.#addDays(file);
    else this.#writeMinutes(file);
  }

  /** Takes over the actions of a file, before the prices that they move. */
  announce({ path, rows }: AnnouncedActions): void {
    const before = this.#actions.size;
    for (const { line, cells } of rows) this.#act(cells, path, line);
    const dates = rows.map(({ cells: { ex_date: date = '' } }) => date).sort();
    const added = this.#actions.size - before;
    this.#announced.push({
      file: ACTIONS,
      from: basename(path),
      size: 'actions',
      read: rows.length,
      rows: added,
      skipped: 0,
      repeated: rows.length - added,
      first: dates[0] ?? '',
      last: dates.at(-1) ?? '',
    });
  }

  /** Checks everything as a server does at its start, and moves it into place. */
  async finish(): Promise<{
    readonly written: readonly (Written | WrittenActions)[];
    readonly summary: string;
  }> {
    if (this.#days.length > 0) this.#writeDays();
    const without = this.#empty.map((file) => ({
      rows: 0,
      size: 'quotes' as const,
      skipped: file.skipped,
      repeated: 0,
      leftOut: leftOutOf([file]),
    }));
    if (this.#written.length === 0 && this.#empty.length === 0)
      throw new UnusableFile(
        this.#announced.map(({ from }) => from).join(' '),
        'corporate actions alone are no recording; name the files of prices too',
      );
    if (this.#written.length === 0)
      throw new UnusableFile(
        this.#empty[0]?.path ?? '',
        `no row is left to import (${rowsLeftOut(without)})`,
      );
    this.#writeActions();
    try {
      await checkRecording(this.#finished);
    } catch (error) {
      if (!(error instanceof BadReplayFile)) throw error;
      const why = error.message.replaceAll(this.#finished, this.#directory);
      throw new UnusableFile(this.#directory, `a server would not start with it (${why})`);
    }
    for (const name of readdirSync(this.#finished)) {
      if (existsSync(join(this.#directory, `${name}.gz`)))
        throw new UnusableFile(
          join(this.#directory, `${name}.gz`),
          `it is there already, packed; remove or unpack it`,
        );
    }
    for (const name of readdirSync(this.#finished))
      renameSync(join(this.#finished, name), join(this.#directory, name));
    rmSync(this.workshop, { recursive: true });
    const { bars, quotes } = this.#whole;
    const whole = this.#written.some(({ size }) => size !== 'quotes') ? bars : quotes;
    return {
      written: [...this.#written, ...this.#announced],
      summary: summaryOf(whole.covered(), [...this.#written, ...without]),
    };
  }

  /** Removes what it has written. */
  abandon(): void {
    rmSync(this.#made ?? this.workshop, { recursive: true, force: true });
  }

  /** Notes an action. A symbol has one of a kind on a day, and one of those that change its number of shares (D208). */
  #act(cells: ActionCells, path: string, line?: number): void {
    const { ex_date: date = '', type = '', split_new_for_old: ratio = '' } = cells;
    const symbol = cells.symbol?.toUpperCase() ?? '';
    const action = { ...cells, symbol };
    const key = `${date},${symbol},${type}`;
    const where = line === undefined ? '' : `line ${line}: `;
    const known = this.#actions.get(key);
    if (known !== undefined && termsOf(known) !== termsOf(action))
      throw new UnusableFile(
        path,
        `${where}${key.replaceAll(',', ' ')} is there twice, as ${termsOf(known)} and ${termsOf(action)}; leave one out`,
      );
    const other = excludedBy(action, this.#actions);
    if (other !== undefined) throw new UnusableFile(path, `${where}${conflictOf(action, other)}`);
    this.#actions.set(key, action);
    const [fresh, old] = ratio.split(':').map(Number);
    const isSplit = type === 'split' || type === 'stock_dividend';
    let dates = this.#actionDates.get(symbol);
    if (dates === undefined) this.#actionDates.set(symbol, (dates = new Map<string, number | undefined>()));
    dates.set(date, isSplit && old !== undefined ? (fresh ?? 1) / old : dates.get(date));
  }

  #addDays(file: FileRows): void {
    const order = this.#days.push(file);
    for (const index of file.indices) this.#indices.add(index);
    const latest = new Map<string, number>();
    for (const { at, symbol, line, values } of file.rows.rows()) {
      const date = file.dateMs(at);
      const before = latest.get(symbol);
      if (before !== undefined && before !== at && file.dateMs(before) === date)
        throw new UnusableFile(
          file.path,
          `line ${line}: a second bar of ${symbol} on ${dateText(date)}; these are not days`,
        );
      latest.set(symbol, at);
      this.#daily.add({ at: date, symbol, order, line, values });
    }
  }

  #writeDays(): void {
    const place = join(this.#directory, DAILY);
    const before = existsSync(place) ? [dailyRowsIn(place, this.#indices)] : [];
    const header = this.#indices.size > 0 || hasIndices(place) ? HEADERS.dailyWithIndices : HEADERS.daily;
    const lines = new Lines(join(this.#finished, DAILY));
    lines.put(header);
    const coverage = new Coverage('1d', this.#actionDates);
    let repeated = 0;
    let rows = 0;
    for (const row of merged([...before, unrepeated(this.#daily.rows(), () => (repeated += 1))])) {
      const isIndex = this.#indices.has(row.symbol);
      const ending = header === HEADERS.daily ? '' : isIndex ? ',INDEX' : ',';
      lines.put(`${dateText(row.at)},${row.symbol},${row.values}${ending}`);
      if (row.order === 0) continue;
      rows += 1;
      coverage.addDay(row.symbol, row.at, row.values);
      this.#whole.bars.addDay(row.symbol, row.at, row.values);
    }
    lines.close();
    this.#describe(DAILY, '1d', this.#days, rows, repeated, coverage);
  }

  #writeMinutes(file: FileRows): void {
    const isQuotes = file.size === 'quotes';
    const stem = stemOf(file.path).replace(/_(?:trades|quotes)$/, '');
    const coverage = new Coverage(isQuotes ? 'quotes' : '1m', this.#actionDates);
    let [bars, index]: [Lines | undefined, Lines | undefined] = [undefined, undefined];
    const open = (ending: string, header: string): Lines => {
      const name = `${stem}_${ending}.csv`;
      const other = this.#sources.get(name);
      if (other !== undefined)
        throw new UnusableFile(
          file.path,
          `it would become ${name}, as ${other} does; import the two into directories of their own (one below the other's is read as well)`,
        );
      this.#sources.set(name, file.path);
      const lines = new Lines(join(this.#finished, name));
      lines.put(header);
      return lines;
    };
    let repeated = 0;
    const rows = file.rows.rows();
    for (const row of isQuotes ? minutesOf(rows) : unrepeated(rows, () => (repeated += 1))) {
      if (!isQuotes && row.at % MINUTE_MS !== 0) continue;
      const start = `${new Date(row.at).toISOString().slice(0, 19)}Z,${row.symbol}`;
      if (file.indices.has(row.symbol))
        (index ??= open('index', HEADERS.index)).put(
          `${start},${row.values.slice(0, row.values.lastIndexOf(','))}`,
        );
      else
        (bars ??= open(isQuotes ? 'quotes' : 'trades', isQuotes ? HEADERS.quotes : HEADERS.bars)).put(
          `${start},${row.values}`,
        );
      coverage.addMinute(row.symbol, row.at, row.values);
      (isQuotes ? this.#whole.quotes : this.#whole.bars).addMinute(row.symbol, row.at, row.values);
    }
    const count = (bars?.count ?? 0) + (index?.count ?? 0) - (bars ? 1 : 0) - (index ? 1 : 0);
    bars?.close();
    index?.close();
    const name = `${stem}_${bars === undefined && index !== undefined ? 'index' : isQuotes ? 'quotes' : 'trades'}.csv`;
    this.#describe(name, isQuotes ? 'quotes' : '1m', [file], count, repeated, coverage);
  }

  #describe(
    file: string,
    size: Written['size'],
    from: readonly FileRows[],
    rows: number,
    repeated: number,
    coverage: Coverage,
  ): void {
    this.#written.push({
      file,
      from: from.map(({ path }) => basename(path)).join(' '),
      read: from.reduce((sum, each) => sum + each.read, 0),
      rows,
      skipped: from.reduce((sum, each) => sum + each.skipped, 0),
      repeated,
      leftOut: leftOutOf(from),
      size,
      replaced: existsSync(join(this.#directory, file)) && file !== DAILY,
      ...coverage.covered(),
    });
  }

  #writeActions(): void {
    if (this.#actions.size === 0) return;
    const place = join(this.#directory, ACTIONS);
    const all = new Map<string, Readonly<Record<string, string>>>();
    let header: readonly string[] = ACTION_COLUMNS;
    if (existsSync(place)) {
      const [first = '', ...lines] = linesIn(place);
      if (!first.startsWith(ACTIONS_HEADER))
        throw new UnusableFile(
          place,
          `its columns do not begin with ${ACTIONS_HEADER}; import into another directory`,
        );
      const columns = (header = first.split(','));
      for (const line of lines.filter((each) => each !== '')) {
        const cells = line.split(',').map((cell, index) => [columns[index] ?? '', cell] as const);
        all.set(line.split(',', 3).join(','), Object.fromEntries(cells));
      }
    }
    for (const [key, action] of this.#actions) {
      const other = excludedBy(action, all);
      if (other !== undefined)
        throw new UnusableFile(place, `it is there already, and ${conflictOf(action, other)}`);
      all.set(key, action);
    }
    const columns = [...new Set([...header, ...[...this.#actions.values()].flatMap(Object.keys)])];
    const rows = [...all.values()].map((row) => columns.map((column) => row[column] ?? '').join(','));
    writeFileSync(join(this.#finished, ACTIONS), `${[columns.join(','), ...rows.sort()].join('\n')}\n`);
  }
}

type Cells = Readonly<Partial<Record<'ex_date' | 'symbol' | 'type', string>>>;

/** The type of an action as the core names it. */
const typeOf = ({ type = '' }: Cells): Pick<CorporateAction, 'type'> => ({
  type: type.toUpperCase() as CorporateAction['type'],
});

/** An action of another type on the symbol and day of `action` that cannot be beside it; `undefined` without one. */
function excludedBy(action: Cells, actions: ReadonlyMap<string, Cells>): Cells | undefined {
  for (const type of ACTION_TYPES) {
    if (type === action.type) continue;
    const other = actions.get([action.ex_date, action.symbol, type].join(','));
    if (other !== undefined && excludes(typeOf(action), typeOf(other))) return other;
  }
  return undefined;
}

const conflictOf = (
  { symbol = '', type = '', ex_date: date = '' }: Cells,
  { type: other = '' }: Cells,
): string => `${symbol} has a ${type} and a ${other} on ${date}; leave one out or move it to another day`;

/** The terms of an action, for comparison and messages. */
const termsOf = ({ ex_date: _, symbol: __, type: ___, ...terms }: ActionCells): string =>
  Object.keys(terms)
    .sort()
    .map((column) => `${column} ${terms[column as keyof typeof terms] ?? ''}`)
    .join(', ');

function leftOutOf(files: readonly FileRows[]): Record<string, number> {
  const leftOut: Record<string, number> = {};
  for (const each of files)
    for (const [kind, count] of each.leftOut) leftOut[kind] = (leftOut[kind] ?? 0) + count;
  return leftOut;
}

/** Rows without those that a later one of the same symbol and time replaces. */
function* unrepeated(rows: Iterable<SortedRow>, onRepeated: () => void): Generator<SortedRow> {
  let latest: SortedRow | undefined;
  for (const row of rows) {
    if (latest?.at === row.at && latest.symbol === row.symbol) onRepeated();
    else if (latest !== undefined) yield latest;
    latest = row;
  }
  if (latest !== undefined) yield latest;
}

/** Rows of several sorted sources; of equal ones the last source's. */
function* merged(sources: readonly Iterable<SortedRow>[]): Generator<SortedRow> {
  const heads = sources.map((source) => source[Symbol.iterator]());
  const rows = heads.map((head) => head.next().value as SortedRow | undefined);
  for (;;) {
    let least: SortedRow | undefined;
    for (const row of rows)
      if (row !== undefined && (least === undefined || isNotAfter(row, least))) least = row;
    if (least === undefined) return;
    yield least;
    for (const [i, row] of rows.entries())
      if (row?.at === least.at && row.symbol === least.symbol)
        rows[i] = heads[i]?.next().value as SortedRow | undefined;
  }
}

const isNotAfter = (a: SortedRow, b: SortedRow): boolean =>
  a.at < b.at || (a.at === b.at && a.symbol <= b.symbol);

/** The rows of a file of days that an import wrote before. Adds its indices. */
function* dailyRowsIn(path: string, indices: Set<string>): Generator<SortedRow> {
  let line = 0;
  for (const text of linesIn(path)) {
    line += 1;
    if (line === 1) {
      if (text !== HEADERS.daily && text !== HEADERS.dailyWithIndices)
        throw new UnusableFile(
          path,
          'it was not written by an import (its columns are others); import into another directory',
        );
      continue;
    }
    if (text === '') continue;
    const cells = text.split(',');
    const [date = '', symbol = ''] = cells;
    if (cells[7] === 'INDEX') indices.add(symbol);
    yield { at: Date.parse(date), symbol, order: 0, line, values: cells.slice(2, 7).join(',') };
  }
}

function hasIndices(path: string): boolean {
  if (!existsSync(path)) return false;
  for (const header of linesIn(path)) return header === HEADERS.dailyWithIndices;
  return false;
}

/** Best bids or offers of a minute: open, high, low and close. */
interface Side {
  open: string;
  high: string;
  low: string;
  close: string;
  size: string;
}

/** The minutes of sorted quotes. */
function* minutesOf(rows: Iterable<SortedRow>): Generator<SortedRow> {
  let minute: SortedRow | undefined;
  let [bid, ask]: [Side | undefined, Side | undefined] = [undefined, undefined];
  const done = (): SortedRow[] =>
    minute === undefined ? [] : [{ ...minute, values: `${sideText(bid)},${sideText(ask)}` }];
  for (const row of rows) {
    if (minute?.at !== row.at || minute.symbol !== row.symbol) {
      yield* done();
      minute = row;
      [bid, ask] = [undefined, undefined];
    }
    const [bidPrice = '', bidSize = '', askPrice = '', askSize = ''] = row.values.split(',');
    bid = followed(bid, bidPrice, bidSize);
    ask = followed(ask, askPrice, askSize);
  }
  yield* done();
}

/** A side without a price ends there, as a quote of size 0. */
function followed(side: Side | undefined, price: string, size: string): Side | undefined {
  if (price === '') return undefined;
  if (side === undefined) return { open: price, high: price, low: price, close: price, size };
  side.close = price;
  side.size = size;
  if (isAbove(price, side.high)) side.high = price;
  if (isAbove(side.low, price)) side.low = price;
  return side;
}

const sideText = (side: Side | undefined): string =>
  side === undefined ? ',,,,' : `${side.open},${side.high},${side.low},${side.close},${side.size}`;
