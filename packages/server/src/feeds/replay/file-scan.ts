import { Instant, isLongAsOsi, Price, TradingDate } from '@sandpit/core';
import type { Calendar, UsualDay } from '@sandpit/core';
import { BadReplayFile } from './bad-replay-file.js';
import type { FilePosition } from './csv-lines.js';
import { rowBatches } from './recorded-file.js';
import type { RecordedFile, Row } from './recorded-file.js';
import {
  ASSET_CLASS_COLUMN,
  checkedSymbolOf,
  CLOSE_COLUMN,
  dateOf,
  startOf,
  symbolOf,
  tickOf,
  VOLUME_COLUMN,
} from './rows.js';
import { UsualDays } from './usual-days.js';

/** A file that was read through once. */
export interface ScannedFile extends RecordedFile {
  /** Keys of the first and last row: the start of the minute; for a daily row midnight UTC of its date. */
  readonly first: Instant;
  readonly last: Instant;
  /** Position at which to start reading for rows from a key on; for a packed file only the beginning. */
  positionFor(key: Instant): FilePosition | undefined;
}

/** One place to start at per this many bytes. */
const BYTES_PER_MARK = 1 << 18;
const DAY_MS = 86_400_000;
const UNITS_PER_SHARE = 1e6;
/** Options on futures (`ESH20 C3100`) cannot be listed (D98). */
const OPTION_ON_FUTURE = /^[A-Z0-9]{1,3}[FGHJKMNQUVXZ]\d{2} [CP]\d/;

/** Facts about one symbol of a recording, without its rows. */
export class SymbolFacts {
  hasDaily = false;
  hasTrades = false;
  hasTicks = false;
  /** Types of session with volume in a minute. */
  readonly traded = new Set<'REGULAR' | 'EXTENDED'>();
  /** From files of an index. */
  isIndex = false;
  /** The day of its first row. */
  firstDate: string | undefined;
  /** The span of its minute rows; daily rows inside it are not replayed. */
  minutes: { readonly first: Instant; readonly last: Instant } | undefined;
  /** Usual days of daily bars and of intraday trades. */
  private readonly ofDays = new UsualDays();
  private readonly ofTrades = new UsualDays();

  addMinute(start: Instant): void {
    const { minutes } = this;
    if (!minutes) this.minutes = { first: start, last: start };
    else if (start < minutes.first) this.minutes = { first: start, last: minutes.last };
    else if (start > minutes.last) this.minutes = { first: minutes.first, last: start };
  }

  addDay(date: string, volume: number, close: () => Price | undefined): void {
    this.ofDays.add(date, volume, close);
  }

  addTrades(date: string, volume: number, close: () => Price | undefined): void {
    this.ofTrades.add(date, volume, close);
  }

  /** Average volume and volatility from days before an instant; undefined until there are 20 of them. */
  usualDayAt(at: Instant): UsualDay | undefined {
    return this.ofDays.at(at) ?? this.ofTrades.at(at);
  }
}

/**
 * The first reading of a file: order of rows, number of cells, dates and symbols are checked here, prices when
 * they are reached.
 */
export class FileScan {
  private readonly file: RecordedFile;
  private readonly calendar: Calendar;
  private readonly facts: Map<string, SymbolFacts>;
  private readonly marks: { key: Instant; position: FilePosition }[] = [];
  private first: Instant | undefined;
  private last = Instant.ofMs(Number.NEGATIVE_INFINITY);
  private lastSymbol = '';

  constructor(file: RecordedFile, calendar: Calendar, facts: Map<string, SymbolFacts>) {
    this.file = file;
    this.calendar = calendar;
    this.facts = facts;
  }

  async run(): Promise<ScannedFile> {
    const { file, marks } = this;
    for await (const { rows, position } of rowBatches(file)) {
      const [row] = rows;
      if (row) this.mark(row, position);
      for (const each of rows) this.add(each);
    }
    return {
      ...file,
      first: this.first ?? Instant.ofMs(Number.POSITIVE_INFINITY),
      last: this.last,
      // Strictly before: rows with the wanted key may stand on both sides of a mark.
      positionFor: (key) => marks.findLast((mark) => mark.key < key)?.position,
    };
  }

  private mark(row: Row, position: FilePosition): void {
    const before = this.marks.at(-1)?.position.offset ?? 0;
    if (this.file.path.endsWith('.gz') || position.offset - before < BYTES_PER_MARK) return;
    this.marks.push({ key: keyOf(this.file, row), position });
  }

  private add(row: Row): void {
    const { file } = this;
    if (file.kind === 'ticks') {
      this.addTick(row);
      return;
    }
    const key = keyOf(file, row);
    if (key < this.last)
      throw new BadReplayFile(file.path, row.line, 'rows must be sorted by time, this one goes back');
    const symbol = checkedSymbolOf(file, row);
    // All rows of an instant are held in memory, so there must be only one per symbol.
    if (key === this.last && symbol === this.lastSymbol) {
      throw new BadReplayFile(file.path, row.line, `a second row of ${symbol} for the same time`);
    }
    this.last = key;
    this.lastSymbol = symbol;
    this.first ??= key;
    if (file.kind === 'interest' || OPTION_ON_FUTURE.test(symbol)) return;
    let facts = this.facts.get(symbol);
    if (!facts) this.facts.set(symbol, (facts = new SymbolFacts()));
    const date = (row.cells[0] ?? '').slice(0, 10);
    if (facts.firstDate === undefined || date < facts.firstDate) facts.firstDate = date;
    if (file.kind === 'index') facts.isIndex = true;
    if (file.kind === 'daily') this.addDaily(row, key, facts);
    else this.addMinute(row, key, facts);
  }

  /** There may be many ticks of a symbol at one instant. A halt alone lists no symbol. */
  private addTick(row: Row): void {
    const { received, symbol, kind, quote } = tickOf(this.file, row);
    if (received < this.last)
      throw new BadReplayFile(this.file.path, row.line, 'rows must be sorted by time, this one goes back');
    this.last = received;
    this.first ??= received;
    if ((kind !== 'Q' && kind !== 'T') || symbol === '*') return;
    let facts = this.facts.get(symbol);
    if (!facts) this.facts.set(symbol, (facts = new SymbolFacts()));
    facts.hasTicks = true;
    facts.addMinute(received);
    const date = this.calendar.dateOf(received);
    if (facts.firstDate === undefined || date < facts.firstDate) facts.firstDate = date;
    const { last } = quote;
    if (kind === 'T' && last !== undefined && !isLongAsOsi(symbol))
      facts.addTrades(date, Math.round((quote.lastSize ?? 0) / UNITS_PER_SHARE), () => last);
  }

  private addDaily(row: Row, key: Instant, facts: SymbolFacts): void {
    const date = TradingDate.ofDay(key / DAY_MS);
    facts.hasDaily = true;
    const assetClass = row.cells[ASSET_CLASS_COLUMN] ?? '';
    if (assetClass === 'INDEX') facts.isIndex = true;
    else if (assetClass !== '')
      throw new BadReplayFile(
        this.file.path,
        row.line,
        `not an asset class (INDEX or empty): "${assetClass}"`,
      );
    if (this.calendar.isTradingDay(date)) facts.addDay(date, tradedOf(row), () => closeOf(row));
  }

  private addMinute(row: Row, key: Instant, facts: SymbolFacts): void {
    facts.addMinute(key);
    if (this.file.kind === 'quotes') return;
    facts.hasTrades = true;
    if (this.file.kind === 'trades' && facts.traded.size < 2 && tradedOf(row) > 0)
      facts.traded.add(sessionTypeAt(this.calendar, key));
    if (this.file.kind === 'index' || isLongAsOsi(symbolOf(row))) return;
    facts.addTrades((row.cells[0] ?? '').slice(0, 10), tradedOf(row), () => closeOf(row));
  }
}

/** The type of session to which a recorded minute counts (D251). */
export function sessionTypeAt(calendar: Calendar, at: Instant): 'REGULAR' | 'EXTENDED' {
  const day = calendar.tradingDay(calendar.dateOf(at));
  return day !== undefined && at >= day.regularOpen && at < day.regularClose ? 'REGULAR' : 'EXTENDED';
}

/** The volume of a row of trades; 0 if it is invalid: cells are checked when their row is reached. */
function tradedOf(row: Row): number {
  const volume = Number(row.cells[VOLUME_COLUMN]);
  return volume > 0 && volume <= Number.MAX_SAFE_INTEGER ? Math.round(volume) : 0;
}

/** The close of a row of trades; undefined if it is invalid. */
function closeOf(row: Row): Price | undefined {
  const price = Price.parse(row.cells[CLOSE_COLUMN] ?? '');
  return price !== undefined && price > 0 ? price : undefined;
}

/** Key by which rows are sorted. */
function keyOf(file: RecordedFile, row: Row): Instant {
  if (file.kind === 'ticks') return tickOf(file, row).received;
  return file.kind === 'daily'
    ? Instant.ofMs(TradingDate.dayOf(dateOf(file, row)) * DAY_MS)
    : startOf(file, row);
}

/** A row becomes known at the end of its interval. */
export function knownAt({ rowMs }: RecordedFile, start: Instant): Instant {
  return Instant.plusMs(start, rowMs);
}
