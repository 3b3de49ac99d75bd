/** Bars of any length, made of those that `/v1` has. */
import { Instant } from '@sandpit/core';
import type { Bar } from '@sandpit/protocol';
import { Refused } from '../operations.js';
import type { AlpacaCall } from './request.js';
import { invalid } from './refusals.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

type Size = '1Min' | '5Min' | '15Min' | '1Hour' | '1Day';

/** A length that was asked for: so many of what there is, and which bars belong together. */
export interface Timeframe {
  readonly size: Size;
  readonly sizeMs: number;
  /** Where the bar begins that this one is a part of. */
  readonly groupOf: (timestamp: number) => number;
}

const UNITS: Readonly<Record<string, 'Min' | 'Hour' | 'Day' | 'Week' | 'Month'>> = {
  min: 'Min',
  t: 'Min',
  hour: 'Hour',
  h: 'Hour',
  day: 'Day',
  d: 'Day',
  week: 'Week',
  w: 'Week',
  month: 'Month',
  m: 'Month',
};

/** `5Min`, `2Hour`, `1Day`, `1Week`, `3Month`. */
export function timeframeOf(text: string): Timeframe {
  const [, digits = '', name = ''] = /^(\d{1,2})([A-Za-z]{1,5})$/.exec(text) ?? [];
  const unit = name === 'T' || name === 'Min' ? 'Min' : UNITS[name.toLowerCase()];
  const count = Number(digits);
  if (unit === undefined || count < 1) throw invalid(`invalid timeframe: ${text}`);
  const every = (ms: number) => (timestamp: number) => Math.floor(timestamp / ms) * ms;
  switch (unit) {
    case 'Min': {
      const base = count % 15 === 0 ? 15 : count % 5 === 0 ? 5 : 1;
      const size = `${base}Min` as const as Size;
      return { size, sizeMs: base * MINUTE_MS, groupOf: every(count * MINUTE_MS) };
    }
    case 'Hour':
      return { size: '1Hour', sizeMs: 60 * MINUTE_MS, groupOf: every(count * 60 * MINUTE_MS) };
    case 'Day':
      return { size: '1Day', sizeMs: DAY_MS, groupOf: (timestamp) => timestamp };
    case 'Week':
      return { size: '1Day', sizeMs: DAY_MS, groupOf: (timestamp) => mondayOf(timestamp) };
    case 'Month':
      return { size: '1Day', sizeMs: DAY_MS, groupOf: (timestamp) => monthOf(timestamp, count) };
  }
}

/** The midnight of the Monday before, in UTC: days are stamped within their date. */
const mondayOf = (timestamp: number): number => {
  const day = Math.floor(timestamp / DAY_MS);
  return (day - ((day + 3) % 7)) * DAY_MS;
};

const monthOf = (timestamp: number, count: number): number => {
  const date = new Date(timestamp);
  return Date.UTC(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / count) * count, 1);
};

/** What `/v1` gives at once. */
const BARS_AT_ONCE = 1000;
/** Stretches of time that are looked through for one answer: a longer one is told in pages. */
const MOST_STRETCHES = 40;

export interface BarPage {
  readonly bars: readonly Bar[];
  /** Where to go on, ms; undefined at the end. */
  readonly next: number | undefined;
}

/** Bars that start in [from, until], oldest first, at most so many. */
export async function barsBetween(
  call: AlpacaCall,
  symbol: string,
  { size, sizeMs, groupOf }: Timeframe,
  from: number,
  until: number,
  limit: number,
): Promise<BarPage> {
  const bars: Bar[] = [];
  const stretchMs = BARS_AT_ONCE * sizeMs;
  let at = from;
  for (let stretch = 0; at <= until; stretch++) {
    if (stretch === MOST_STRETCHES) return { bars, next: at };
    const end = Math.min(at + stretchMs, until + sizeMs);
    for (const bar of await barsOf(call, symbol, size, at, end)) {
      const last = bars.at(-1);
      const group = groupOf(bar.timestamp);
      if (last !== undefined && groupOf(last.timestamp) === group) bars[bars.length - 1] = joined(last, bar);
      else if (bars.length === limit) return { bars, next: bar.timestamp };
      else bars.push(bar);
    }
    // Stretches meet: what starts where one ends is in the next.
    at = end >= until + sizeMs ? until + 1 : end;
  }
  return { bars, next: undefined };
}

const joined = (a: Bar, b: Bar): Bar => ({
  timestamp: a.timestamp,
  open: a.open,
  high: Math.max(a.high, b.high),
  low: Math.min(a.low, b.low),
  close: b.close,
  volume: a.volume + b.volume,
});

async function barsOf(
  call: AlpacaCall,
  symbol: string,
  timeframe: Size,
  from: number,
  to: number,
): Promise<readonly Bar[]> {
  const query = { timeframe, from: isoAt(from), to: isoAt(to), limit: String(BARS_AT_ONCE) };
  const { bars } = await call.operations.run(call, 'getBars', { params: { symbol }, query });
  return bars;
}

const isoAt = (ms: number): string => new Date(ms).toISOString();

/** The latest bars of days that are over, newest first; none for a symbol that has none. */
export async function dailyBars(call: AlpacaCall, symbol: string, limit: number): Promise<readonly Bar[]> {
  return latestBars(call, symbol, '1Day', limit);
}

/** The latest bars that are over, newest first; none for a symbol that is not listed. */
export async function latestBars(
  call: AlpacaCall,
  symbol: string,
  timeframe: Size,
  limit: number,
): Promise<readonly Bar[]> {
  try {
    const query = { timeframe, limit: String(limit) };
    const { bars } = await call.operations.run(call, 'getBars', { params: { symbol }, query });
    return bars.toReversed();
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return [];
    throw error;
  }
}

/** The instant that a page ends before, as a token. */
export const tokenOf = (next: number): string => Buffer.from(String(next)).toString('base64url');

/** The instant of a token. */
export function instantOfToken(token: string): number {
  const ms = Number(Buffer.from(token, 'base64url').toString());
  if (!Number.isSafeInteger(ms)) throw invalid('invalid page_token');
  return Instant.ofMs(ms);
}
