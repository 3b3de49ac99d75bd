import { Instant } from '@sandpit/core';
import type { Bar, Calendar } from '@sandpit/core';
import type { BarQuery, BarSize } from './feed.js';

export const MINUTE_MS = 60_000;

/** Lengths of the intraday sizes; a day is as long as its regular session. */
export const BAR_MS: Readonly<Record<Exclude<BarSize, '1Day'>, number>> = {
  '1Min': MINUTE_MS,
  '5Min': 5 * MINUTE_MS,
  '15Min': 15 * MINUTE_MS,
  '1Hour': 60 * MINUTE_MS,
};

/** The half-open interval a bar covers. */
export interface BarWindow {
  readonly start: Instant;
  readonly end: Instant;
}

/**
 * The window of that size that contains `at`. Intraday windows are aligned to the clock; the one of a day is its
 * regular session, and an instant outside it belongs to no daily bar.
 */
export function windowAt(size: BarSize, at: Instant, calendar: Calendar): BarWindow | undefined {
  if (size === '1Day') {
    const day = calendar.tradingDay(calendar.dateOf(at));
    if (!day || at < day.regularOpen || at >= day.regularClose) return undefined;
    return { start: day.regularOpen, end: day.regularClose };
  }
  const start = Math.floor(at / BAR_MS[size]) * BAR_MS[size];
  return { start: Instant.ofMs(start), end: Instant.ofMs(start + BAR_MS[size]) };
}

/** The regular session that is open at `at`, or else the latest one before. */
export function latestRegularSession(at: Instant, calendar: Calendar): BarWindow {
  let date = calendar.dateOf(at);
  let day = calendar.tradingDay(date);
  while (day === undefined || day.regularOpen > at) {
    date = calendar.previousTradingDay(date);
    day = calendar.tradingDay(date);
  }
  return { start: day.regularOpen, end: day.regularClose };
}

/** Aggregates small bars into the bars of a query. Bars are added in time order; only those that the result may still contain are kept. */
export class BarCollector {
  private readonly query: BarQuery;
  private readonly calendar: Calendar;
  private readonly done: Bar[] = [];
  private window: BarWindow | undefined;
  private current: Bar | undefined;

  constructor(query: BarQuery, calendar: Calendar) {
    this.query = query;
    this.calendar = calendar;
  }

  add(bar: Bar): void {
    if (!this.window || bar.at >= this.window.end || bar.at < this.window.start) {
      this.finish();
      this.window = windowAt(this.query.size, bar.at, this.calendar);
    }
    if (this.window)
      this.current = this.current ? join(this.current, bar) : { ...bar, at: this.window.start };
  }

  /** The bars, oldest first; no bar can be added afterwards. */
  bars(): readonly Bar[] {
    this.finish();
    return latest(this.done, this.query.limit);
  }

  private finish(): void {
    const { current, window, query, done } = this;
    this.current = undefined;
    if (!current || !window || window.start < query.from || window.end > query.until) return;
    done.push(current);
    // Dropping the oldest half at a time keeps the cost per bar constant.
    if (done.length >= 2 * query.limit + 64) done.splice(0, done.length - query.limit);
  }
}

/** The last `count` of a list. */
export function latest<T>(list: readonly T[], count: number): readonly T[] {
  return count <= 0 ? [] : list.slice(-count);
}

function join(a: Bar, b: Bar): Bar {
  return {
    symbol: a.symbol,
    at: a.at,
    open: a.open,
    high: a.high > b.high ? a.high : b.high,
    low: a.low < b.low ? a.low : b.low,
    close: b.close,
    volume: a.volume + b.volume,
  };
}
