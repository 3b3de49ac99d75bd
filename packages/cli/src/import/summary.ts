/** Describes what an import has covered: symbols, sessions, gaps, and jumps that an action would explain. */
import { calendarById, TradingDate } from '@sandpit/core';
import { NEW_YORK, dateText } from './times.js';

/** The largest ratio of an open to the close of the session before, or of that close to the open. */
interface OvernightRatio {
  readonly symbol: string;
  readonly date: string;
  readonly ratio: number;
}

export interface Covered {
  readonly symbols: number;
  readonly sessions: number;
  /** Trading days between the first and the last row of a symbol that have none, over all symbols. */
  readonly gaps: number;
  readonly firstGap?: string;
  /** Rows on days without a session, which a replay leaves out. */
  readonly outsideSessions: number;
  /** Largest ratio of adjacent closes without a split or dividend between them. */
  readonly largestOvernightRatio?: OvernightRatio;
  /** Splits over which the price hardly moves: prices that are adjusted already. */
  readonly unmovedSplits: readonly string[];
  /** In New York: the quickest way to see a wrong zone. */
  readonly first: string;
  readonly last: string;
}

/** Dates of actions of each symbol; of splits with the new shares for an old one. */
type Actions = ReadonlyMap<string, ReadonlyMap<string, number | undefined>>;

const calendar = calendarById('XNYS');
/** `2026-01-05 09:30` */
const clockText = (at: number): string =>
  new Date(NEW_YORK.wallOf(at)).toISOString().slice(0, 16).replace('T', ' ');

export class Coverage {
  readonly #size: '1m' | '1d' | 'quotes';
  readonly #actions: Actions;
  readonly #latest = new Map<string, { date: string; close: string }>();
  readonly #sessions = new Set<string>();
  #gaps = 0;
  #firstGap: string | undefined;
  #outside = 0;
  #largest: OvernightRatio | undefined;
  readonly #unmoved: string[] = [];
  #first = '';
  #last = '';
  /** Time of the latest row. Many rows share a time. */
  #at = Number.NaN;
  #date = '';
  #today = '';
  #isSession = false;

  constructor(size: '1m' | '1d' | 'quotes', actions: Actions) {
    this.#size = size;
    this.#actions = actions;
  }

  addMinute(symbol: string, at: number, values: string): void {
    if (at !== this.#at) {
      this.#at = at;
      const text = clockText(at);
      this.#date = text.slice(0, 10);
      this.#span(text);
    }
    this.#follow(symbol, this.#date, values);
  }

  addDay(symbol: string, at: number, values: string): void {
    const date = dateText(at);
    this.#span(date);
    this.#follow(symbol, date, values);
  }

  covered(): Covered {
    return {
      symbols: this.#latest.size,
      sessions: this.#sessions.size,
      gaps: this.#gaps,
      ...(this.#firstGap !== undefined && { firstGap: this.#firstGap }),
      outsideSessions: this.#outside,
      ...(this.#largest !== undefined && { largestOvernightRatio: this.#largest }),
      unmovedSplits: this.#unmoved,
      first: this.#first,
      last: this.#last,
    };
  }

  #span(text: string): void {
    if (this.#first === '' || text < this.#first) this.#first = text;
    if (text > this.#last) this.#last = text;
  }

  #follow(symbol: string, date: string, values: string): void {
    if (date !== this.#today) {
      this.#today = date;
      this.#isSession = isTradingDay(date);
      if (this.#isSession) this.#sessions.add(date);
    }
    if (!this.#isSession) this.#outside += 1;
    const close = this.#size === 'quotes' ? '' : (values.split(',', 4)[3] ?? '');
    const before = this.#latest.get(symbol);
    if (before === undefined) {
      this.#latest.set(symbol, { date, close });
      return;
    }
    // Files may be read out of order.
    if (date < before.date) return;
    if (before.date !== date && this.#isSession) this.#overnight(symbol, before, date, values);
    before.date = date;
    before.close = close;
  }

  #overnight(
    symbol: string,
    before: { readonly date: string; readonly close: string },
    date: string,
    values: string,
  ): void {
    let missing = TradingDate.of(date);
    for (
      missing = calendar.previousTradingDay(missing);
      missing > before.date;
      missing = calendar.previousTradingDay(missing)
    ) {
      this.#gaps += 1;
      this.#firstGap ??= `${symbol} ${missing}`;
    }
    if (this.#size === 'quotes') return;
    const change = Number(values.slice(0, values.indexOf(','))) / Number(before.close);
    const ratio = Math.round(Math.max(change, 1 / change) * 10_000) / 10_000;
    const acted = [...(this.#actions.get(symbol) ?? [])].filter(([day]) => day > before.date && day <= date);
    if (acted.length === 0 && ratio > (this.#largest?.ratio ?? 1)) this.#largest = { symbol, date, ratio };
    for (const [day, split] of acted)
      if (split !== undefined && Math.abs(Math.log(change)) < Math.abs(Math.log(change * split)))
        this.#unmoved.push(`${symbol} ${day}`);
  }
}

const tradingDays = new Map<string, boolean>();
function isTradingDay(date: string): boolean {
  let is = tradingDays.get(date);
  if (is === undefined) tradingDays.set(date, (is = calendar.isTradingDay(TradingDate.of(date))));
  return is;
}

/** Counts of a file that was read, for the summary. */
type Counts = Readonly<{
  rows: number;
  size: '1m' | '1d' | 'quotes';
  skipped: number;
  repeated: number;
  leftOut: Readonly<Record<string, number>>;
}>;

/** Summary of an import, in sentences. */
export function summaryOf(whole: Covered, files: readonly Counts[]): string {
  const rowsOf = (size: Counts['size']): number =>
    files.filter((each) => each.size === size).reduce((sum, { rows }) => sum + rows, 0);
  const sizes = (['1d', '1m', 'quotes'] as const).filter((size) => rowsOf(size) > 0);
  const { largestOvernightRatio: largest, firstGap } = whole;
  const lines = [
    [
      counted(whole.symbols, 'symbol'),
      ...sizes.map((size) => counted(rowsOf(size), BARS[size])),
      counted(whole.sessions, 'session'),
      `${whole.first} to ${whole.last} (New York)`,
    ].join(', '),
    `${counted(whole.gaps, 'gap')}${firstGap === undefined ? '' : ` (first: ${firstGap})`}`,
    largest === undefined
      ? 'no overnight change without an action'
      : `largest overnight ratio without an action: ${largest.ratio} (${largest.symbol} ${largest.date})`,
    rowsLeftOut(files),
    ...(whole.outsideSessions > 0
      ? [`${counted(whole.outsideSessions, 'row')} on days without a session`]
      : []),
    ...(whole.unmovedSplits.length > 0
      ? [
          `the price does not follow the split of ${whole.unmovedSplits.slice(0, 3).join(', ')}: prices may be adjusted, and the split would count twice`,
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** `70 warrants left out, 2 unusable` */
export function rowsLeftOut(files: readonly Counts[]): string {
  const leftOut = new Map<string, number>();
  for (const each of files)
    for (const [kind, count] of Object.entries(each.leftOut))
      leftOut.set(kind, (leftOut.get(kind) ?? 0) + count);
  const sum = (of: (each: Counts) => number): number => files.reduce((total, each) => total + of(each), 0);
  const repeated = sum((each) => each.repeated);
  return [
    ...[...leftOut].map(([kind, count]) => `${count} ${kind} left out`),
    `${sum(({ skipped }) => skipped)} unusable`,
    ...(repeated > 0 ? [`${repeated} repeated (the last one counts)`] : []),
  ].join(', ');
}

const BARS = { '1d': 'daily bar', '1m': 'minute bar', quotes: 'quoted minute' } as const;
const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`;
