import { Instant, Price, Quantity, TradingDate } from '@sandpit/core';
import { type TickRow, tickRowOf } from '../tick-file.js';
import { BadReplayFile } from './bad-replay-file.js';
import type { RecordedFile, Row } from './recorded-file.js';

/** Prices of one bar. */
export interface PriceBar {
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
}

/** One side of the market during a minute; `size` is the displayed size at its end. */
interface SideBar extends PriceBar {
  readonly size?: Quantity;
}

export interface DailyRow extends PriceBar {
  readonly date: TradingDate;
  readonly symbol: string;
  readonly volume: number;
}

export interface TradeRow extends PriceBar {
  /** Start of the minute. */
  readonly start: Instant;
  readonly symbol: string;
  readonly volume: number;
}

export interface QuoteRow {
  /** Start of the minute. */
  readonly start: Instant;
  readonly symbol: string;
  /** Absent = no quote on this side. */
  readonly bid?: SideBar;
  readonly ask?: SideBar;
}

/** Cells with the time and symbol; every kind of row begins with them. */
export function symbolOf(row: Row): string {
  return (row.cells[1] ?? '').toUpperCase();
}

/** The symbol of a row, all of it in one case: `TpC` is a preferred share of T, and TPC is another. */
export function checkedSymbolOf(file: RecordedFile, row: Row): string {
  const text = row.cells[1] ?? '';
  const symbol = text.toUpperCase();
  if (symbol === '') throw new BadReplayFile(file.path, row.line, 'no symbol');
  if (symbol !== text && text !== text.toLowerCase())
    throw new BadReplayFile(
      file.path,
      row.line,
      `"${text}" is in mixed case; write symbols in capitals (a preferred share as T.PRC)`,
    );
  return symbol;
}

export function dateOf(file: RecordedFile, row: Row): TradingDate {
  const text = row.cells[0] ?? '';
  const date = TradingDate.parse(text);
  if (date === undefined) throw new BadReplayFile(file.path, row.line, `not a date (YYYY-MM-DD): "${text}"`);
  return date;
}

/** Rows of one minute follow each other, and so do the minutes of one day. */
let latestDate = { text: '', ms: Number.NaN };

/** The start of the minute of a row, from `2015-12-24T14:30:00Z`. */
export function startOf(file: RecordedFile, row: Row): Instant {
  const text = row.cells[0] ?? '';
  const time = /^T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)Z$/.exec(text.slice(10));
  if (latestDate.text !== text.slice(0, 10)) {
    const date = TradingDate.parse(text.slice(0, 10));
    latestDate = {
      text: text.slice(0, 10),
      ms: date === undefined ? Number.NaN : TradingDate.dayOf(date) * 86_400_000,
    };
  }
  if (!time || Number.isNaN(latestDate.ms)) {
    throw new BadReplayFile(file.path, row.line, `not an instant in UTC (YYYY-MM-DDTHH:MM:SSZ): "${text}"`);
  }
  return Instant.ofMs(
    latestDate.ms + (Number(time[1]) * 3600 + Number(time[2]) * 60 + Number(time[3])) * 1000,
  );
}

/** Parses a tick; throws `BadReplayFile` with its problem. */
export function tickOf(file: RecordedFile, row: Row): TickRow {
  const tick = tickRowOf(row.cells);
  if (typeof tick === 'string') throw new BadReplayFile(file.path, row.line, tick);
  return tick;
}

export function dailyRowOf(file: RecordedFile, row: Row): DailyRow {
  return {
    date: dateOf(file, row),
    symbol: symbolOf(row),
    ...priceBarOf(file, row, 2),
    volume: volumeOf(file, row),
  };
}

export function tradeRowOf(file: RecordedFile, row: Row): TradeRow {
  return {
    start: startOf(file, row),
    symbol: symbolOf(row),
    ...priceBarOf(file, row, 2),
    volume: volumeOf(file, row),
  };
}

export function quoteRowOf(file: RecordedFile, row: Row): QuoteRow {
  const bid = sideOf(file, row, 2);
  const ask = sideOf(file, row, 7);
  return { start: startOf(file, row), symbol: symbolOf(row), ...(bid && { bid }), ...(ask && { ask }) };
}

function volumeOf(file: RecordedFile, row: Row): number {
  const text = row.cells[VOLUME_COLUMN] ?? '';
  const volume = Number(text);
  if (!(volume >= 0 && volume <= Number.MAX_SAFE_INTEGER)) {
    throw new BadReplayFile(file.path, row.line, `not a volume: "${text}"`);
  }
  return Math.round(volume);
}

/** A price with as many decimals as the file has; up to eight are exact. */
export function priceOf(file: RecordedFile, row: Row, column: number): Price {
  const text = row.cells[column] ?? '';
  const price = Price.parse(text);
  if (price === undefined || price <= 0)
    throw new BadReplayFile(file.path, row.line, `not a price above zero: "${text}"`);
  return price;
}

/** Cells of a daily row and of a minute of trades; the last one of daily rows alone. */
export const CLOSE_COLUMN = 5;
export const VOLUME_COLUMN = 6;
export const ASSET_CLASS_COLUMN = 7;

export function priceBarOf(file: RecordedFile, row: Row, column: number): PriceBar {
  const bar = {
    open: priceOf(file, row, column),
    high: priceOf(file, row, column + 1),
    low: priceOf(file, row, column + 2),
    close: priceOf(file, row, column + 3),
  };
  if (bar.low > Math.min(bar.open, bar.close) || bar.high < Math.max(bar.open, bar.close)) {
    throw new BadReplayFile(file.path, row.line, 'open and close do not lie between low and high');
  }
  return bar;
}

function sideOf(file: RecordedFile, row: Row, column: number): SideBar | undefined {
  if (row.cells[column + 3] === '') return undefined;
  const bar = priceBarOf(file, row, column);
  const text = row.cells[column + 4] ?? '';
  if (text === '') return bar;
  const size = Quantity.parse(text);
  if (size === undefined || size < 0) throw new BadReplayFile(file.path, row.line, `not a size: "${text}"`);
  return { ...bar, size };
}
