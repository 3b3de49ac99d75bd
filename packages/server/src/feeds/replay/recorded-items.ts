import { setImmediate as nextTurn } from 'node:timers/promises';
import { Instant, TradingDate } from '@sandpit/core';
import type { Price } from '@sandpit/core';
import { MINUTE_MS } from '../bar-window.js';
import type { ReplayArchive } from './archive.js';
import { BadReplayFile } from './bad-replay-file.js';
import { knownAt } from './file-scan.js';
import type { ScannedFile } from './file-scan.js';
import { rowBatches } from './recorded-file.js';
import {
  CLOSE_COLUMN,
  dailyRowOf,
  priceOf,
  quoteRowOf,
  startOf,
  symbolOf,
  tickOf,
  tradeRowOf,
} from './rows.js';
import type { TickRow } from '../tick-file.js';
import type { DailyRow, QuoteRow, TradeRow } from './rows.js';

/** A recorded item that becomes known at an instant. */
export type RecordedItem =
  | {
      readonly kind: 'quote';
      readonly at: Instant;
      readonly symbol: string;
      readonly row: QuoteRow;
      /** True when the low and high before its end are unusable because the interval is too long: an hour. */
      readonly endOnly: boolean;
    }
  | { readonly kind: 'trade'; readonly at: Instant; readonly symbol: string; readonly row: TradeRow }
  | { readonly kind: 'index'; readonly at: Instant; readonly symbol: string; readonly price: Price }
  | { readonly kind: 'daily'; readonly at: Instant; readonly symbol: string; readonly price: Price }
  | { readonly kind: 'tick'; readonly at: Instant; readonly symbol: string; readonly row: TickRow }
  /** The official open of a day whose minutes are recorded. */
  | { readonly kind: 'open'; readonly at: Instant; readonly symbol: string; readonly price: Price }
  /** The official close of a day whose minutes are recorded. */
  | { readonly kind: 'close'; readonly at: Instant; readonly symbol: string; readonly price: Price };

const DAY_MS = 86_400_000;

/** The items of a file from an instant on, in order, some at a time. */
export function itemsOf(
  archive: ReplayArchive,
  file: ScannedFile,
  from: Instant,
  wanted: (symbol: string) => boolean,
): AsyncGenerator<readonly RecordedItem[]> {
  if (file.kind === 'ticks') return tickItems(file, from, wanted);
  return file.kind === 'daily'
    ? dailyItems(archive, file, from, wanted)
    : minuteItems(archive, file, from, wanted);
}

/** In the order of the file, in which simulations processed them. Halts affect every listed symbol. */
async function* tickItems(
  file: ScannedFile,
  from: Instant,
  wanted: (symbol: string) => boolean,
): AsyncGenerator<readonly RecordedItem[]> {
  for await (const { rows } of rowBatches(file, file.positionFor(from))) {
    const items: RecordedItem[] = [];
    for (const each of rows) {
      const row = tickOf(file, each);
      const { received: at, symbol, kind } = row;
      if (at < from || !(kind === 'H' || kind === 'R' || symbol === '*' || wanted(symbol))) continue;
      items.push({ kind: 'tick', at, symbol, row });
    }
    yield items;
    await nextTurn();
  }
}

async function* minuteItems(
  archive: ReplayArchive,
  file: ScannedFile,
  from: Instant,
  wanted: (symbol: string) => boolean,
): AsyncGenerator<readonly RecordedItem[]> {
  const firstStart = Instant.plusMs(from, -file.rowMs);
  const endOnly = file.rowMs > MINUTE_MS;
  for await (const { rows } of rowBatches(file, file.positionFor(firstStart))) {
    const items: RecordedItem[] = [];
    for (const row of rows) {
      const symbol = symbolOf(row);
      if (!wanted(symbol) || !archive.facts.has(symbol)) continue;
      const start = startOf(file, row);
      if (start < firstStart) continue;
      const at = knownAt(file, start);
      if (file.kind === 'quotes')
        items.push({ kind: 'quote', at, symbol, row: quoteRowOf(file, row), endOnly });
      else if (file.kind === 'index')
        items.push({ kind: 'index', at, symbol, price: priceOf(file, row, CLOSE_COLUMN) });
      else items.push({ kind: 'trade', at, symbol, row: tradeRowOf(file, row) });
    }
    yield items.sort(compareItems);
    // Reading a part of a chain costs some milliseconds, and a minute of it has several parts.
    await nextTurn();
  }
}

/** A day at a time: all opens, all lows, all highs, all closes. Holds one row per symbol. */
async function* dailyItems(
  archive: ReplayArchive,
  file: ScannedFile,
  from: Instant,
  wanted: (symbol: string) => boolean,
): AsyncGenerator<readonly RecordedItem[]> {
  // The key of a date is midnight UTC, its session ends less than a day and a half later.
  const firstKey = Instant.plusMs(from, -2 * DAY_MS);
  const firstDate = TradingDate.ofDay(Math.floor(firstKey / DAY_MS));
  let day = new Map<string, DailyRow>();
  let date: TradingDate | undefined;
  for await (const { rows } of rowBatches(file, file.positionFor(firstKey))) {
    for (const row of rows) {
      const symbol = symbolOf(row);
      // Dates of the layout sort as text; parsing is for rows that are used.
      if ((row.cells[0] ?? '') < firstDate || !wanted(symbol)) continue;
      const facts = archive.facts.get(symbol);
      if (!facts) continue;
      const daily = dailyRowOf(file, row);
      if (daily.date !== date) {
        yield itemsOfDay(archive, date, day);
        day = new Map();
        date = daily.date;
      }
      if (day.has(symbol))
        throw new BadReplayFile(file.path, row.line, `${symbol} has two rows on ${daily.date}`);
      day.set(symbol, daily);
    }
  }
  yield itemsOfDay(archive, date, day);
}

/**
 * A daily bar as four trades: the open at the opening bell, the low a third through the session, the high at two thirds, the close one
 * second before the closing bell. Low always comes before high: a sequence that depends on whether the day rose would reveal its end in the
 * morning. For a long position this sequence is the pessimistic one. When there are minute bars, the daily bar gives only the open and the
 * close, at the bells.
 */
function itemsOfDay(
  archive: ReplayArchive,
  date: TradingDate | undefined,
  rows: ReadonlyMap<string, DailyRow>,
): readonly RecordedItem[] {
  const hours = date === undefined ? undefined : archive.calendar.tradingDay(date);
  if (!hours) return [];
  const third = Math.floor((hours.regularClose - hours.regularOpen) / 3000) * 1000;
  const steps: readonly [Instant, (row: DailyRow) => Price][] = [
    [hours.regularOpen, (row) => row.open],
    [Instant.plusMs(hours.regularOpen, third), (row) => row.low],
    [Instant.plusMs(hours.regularOpen, 2 * third), (row) => row.high],
    [Instant.plusMs(hours.regularClose, -1000), (row) => row.close],
  ];
  const told: RecordedItem[] = [];
  for (const row of rows.values()) {
    const { symbol } = row;
    if (hasMinutesOn(hours.date, archive, symbol))
      told.push(
        { kind: 'open', at: hours.regularOpen, symbol, price: row.open },
        { kind: 'close', at: hours.regularClose, symbol, price: row.close },
      );
    else for (const [at, priceOf] of steps) told.push({ kind: 'daily', at, symbol, price: priceOf(row) });
  }
  return told.sort(compareItems);
}

/** True when a day lies in the span of a symbol's recorded minutes, which are more precise than its daily bar. */
function hasMinutesOn(date: TradingDate, { calendar, facts }: ReplayArchive, symbol: string): boolean {
  const minutes = facts.get(symbol)?.minutes;
  if (!minutes) return false;
  return date >= calendar.dateOf(minutes.first) && date <= calendar.dateOf(minutes.last);
}

const RANK = { index: 0, quote: 1, trade: 2, daily: 3, tick: 4, open: 5, close: 6 } as const;

/** By time; in one instant indices before quotes, quotes before trades, closes last; then by symbol. */
export function compareItems(a: RecordedItem, b: RecordedItem): number {
  if (a.at !== b.at) return a.at - b.at;
  if (a.kind !== b.kind) return RANK[a.kind] - RANK[b.kind];
  if (a.kind === 'tick' && b.kind === 'tick') return a.row.seq - b.row.seq;
  if (a.symbol === b.symbol) return 0;
  return a.symbol < b.symbol ? -1 : 1;
}
