import { setImmediate as nextTurn } from 'node:timers/promises';
import { Instant, Price, TradingDate } from '@sandpit/core';
import type { Bar, TradingDay } from '@sandpit/core';
import { BAR_MS } from '../bar-window.js';
import type { BarWindow } from '../bar-window.js';
import type { BarQuery } from '../feed.js';
import { SECOND_MS } from '../open-hours.js';
import type { PricePath } from './reseeded-path.js';
import type { VolumeProfile } from './volume-profile.js';

/** Start of the earliest bar: a query without a start must terminate. */
const EARLIEST = Instant.ofMs(TradingDate.dayOf(TradingDate.of('1998-01-01')) * 86_400_000);
/** Seconds covered between two turns of the event loop: a few milliseconds of work. */
const SECONDS_PER_TURN = 50_000;
/** Seconds that a bar counts at least: one of a minute costs as much work as one of 25. */
const LEAST_SECONDS = 1500;
/** Guards comparisons of path values against the rounding of logarithms. */
const ROUNDING = 1e-9;

/** Last prices that rise with a path. Prices in units of `Price`. */
export interface TradedPath {
  readonly symbol: string;
  readonly path: PricePath;
  /** The last trade at a second whose path value is already known. */
  lastOf(second: number, pathValue: number): number;
  /** The path value at which the middle of the market is a price, near the last second; ±Infinity if it never reaches it. */
  pathValueOf(price: number): number;
  /** Maximum distance of a last trade near a price from the midpoint. */
  farthestLast(price: number): number;
}

/** The days with an instant in [from, until), newest first. */
export type DaysBackwards = (from: Instant, until: Instant) => Iterable<TradingDay>;

/** Bars of the `last` prices of every second, exact: what `events` would have shown, without walking there. */
export async function syntheticBars(
  query: BarQuery,
  model: TradedPath,
  volumes: VolumeProfile,
  daysBackwards: DaysBackwards,
): Promise<readonly Bar[]> {
  const from = Instant.max(query.from, EARLIEST);
  const newestFirst: Bar[] = [];
  let covered = 0;
  for (const day of daysBackwards(from, query.until)) {
    for (const window of windowsOf(day, query.size)) {
      if (window.end > query.until) continue;
      if (window.start < from || newestFirst.length >= query.limit) return newestFirst.reverse();
      newestFirst.push(barOf(window, day, model, volumes));
      covered += Math.max((window.end - window.start) / SECOND_MS, LEAST_SECONDS);
      if (covered < SECONDS_PER_TURN) continue;
      covered = 0;
      await nextTurn();
    }
  }
  return newestFirst.reverse();
}

/** The windows of a day, newest first. */
function* windowsOf(day: TradingDay, size: BarQuery['size']): Generator<BarWindow> {
  if (size === '1Day') {
    yield { start: day.regularOpen, end: day.regularClose };
    return;
  }
  const length = BAR_MS[size];
  const first = Math.floor(day.extendedOpen / length) * length;
  for (let start = Math.floor((day.extendedClose - 1) / length) * length; start >= first; start -= length) {
    yield { start: Instant.ofMs(start), end: Instant.ofMs(start + length) };
  }
}

function barOf(window: BarWindow, day: TradingDay, model: TradedPath, volumes: VolumeProfile): Bar {
  const from = Math.ceil(Math.max(window.start, day.extendedOpen) / SECOND_MS);
  const until = Math.ceil(Math.min(window.end, day.extendedClose) / SECOND_MS);
  const open = model.lastOf(from, model.path.at(from));
  const close = model.lastOf(until - 1, model.path.at(until - 1));
  const { high, low } = extremes(model, from, until, open, close);
  return {
    symbol: model.symbol,
    at: window.start,
    open: Price.ofUnits(open),
    high: Price.ofUnits(high),
    low: Price.ofUnits(low),
    close: Price.ofUnits(close),
    volume: volumes.between(window.start, window.end, day),
  };
}

function extremes(
  model: TradedPath,
  from: number,
  until: number,
  open: number,
  close: number,
): { high: number; low: number } {
  let high = Math.max(open, close);
  let low = Math.min(open, close);
  // A path value beyond these can belong to a trade beyond the extremes found so far.
  let above = model.pathValueOf(high - model.farthestLast(high)) - ROUNDING;
  let below = model.pathValueOf(low + model.farthestLast(low)) + ROUNDING;
  model.path.explore(
    from,
    until,
    (lowest, highest) => highest >= above || lowest <= below,
    (second, value) => {
      if (value < above && value > below) return;
      const last = model.lastOf(second, value);
      if (last > high) {
        high = last;
        above = model.pathValueOf(high - model.farthestLast(high)) - ROUNDING;
      }
      if (last < low) {
        low = last;
        below = model.pathValueOf(low + model.farthestLast(low)) + ROUNDING;
      }
    },
  );
  return { high, low };
}
