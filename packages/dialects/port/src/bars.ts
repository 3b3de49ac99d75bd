/** Bars of any length, aggregated from those of `/v1`, and the prices at which days closed. */
import { type Calendar, Instant, TradingDate } from '@sandpit/core';
import type { Bar } from '@sandpit/protocol';
import type { BarSize, Desk } from './port.js';
import { Refused } from './refused.js';

const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 15 * MINUTE_MS;
/** The day on which summer time ends. */
const LONGEST_DAY_MS = 25 * 60 * MINUTE_MS;

/** A requested length: the bar size of `/v1` from which it is aggregated, and the start of its bars. */
export interface Timeframe {
  readonly size: BarSize;
  /** No bar of the size lasts longer. */
  readonly sizeMs: number;
  /** Start of the bar that contains a `/v1` bar. */
  readonly beginOf: (timestamp: number) => number;
}

/** A bar of `/v1` with estimates of its trades. */
export interface VolumeBar extends Bar {
  /** Number of trades: one per round lot of 100 or part of it. */
  readonly trades: number;
  /** The mean of high, low and close; of bars that were joined, weighted by their volume. */
  readonly average: number;
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

/** `5Min`, `2Hour`, `1Day`, `1Week`, `3Month`. Days begin at midnight in New York, and so do weeks and months. Undefined for any other text. */
export function timeframeOf(text: string, calendar: Calendar): Timeframe | undefined {
  const [, digits = '', name = ''] = /^(\d{1,2})([A-Za-z]{1,5})$/.exec(text) ?? [];
  const unit = name === 'T' || name === 'Min' ? 'Min' : UNITS[name.toLowerCase()];
  const count = Number(digits);
  if (unit === undefined || count < 1) return undefined;
  const every = (ms: number) => (timestamp: number) => Math.floor(timestamp / ms) * ms;
  const ofDate = (beginOf: (date: TradingDate) => TradingDate) => (timestamp: number) =>
    calendar.instantOf(beginOf(calendar.dateOf(Instant.ofMs(timestamp))), 0, 0);
  switch (unit) {
    case 'Min': {
      const base = count % 15 === 0 ? 15 : count % 5 === 0 ? 5 : 1;
      const size = `${base}Min` as const as BarSize;
      return { size, sizeMs: base * MINUTE_MS, beginOf: every(count * MINUTE_MS) };
    }
    case 'Hour':
      return { size: '1Hour', sizeMs: 60 * MINUTE_MS, beginOf: every(count * 60 * MINUTE_MS) };
    case 'Day':
      return { size: '1Day', sizeMs: LONGEST_DAY_MS, beginOf: ofDate((date) => date) };
    case 'Week':
      return { size: '1Day', sizeMs: LONGEST_DAY_MS, beginOf: ofDate(mondayOf) };
    case 'Month':
      return { size: '1Day', sizeMs: LONGEST_DAY_MS, beginOf: ofDate((date) => monthOf(date, count)) };
  }
}

/** The Monday of a date's week: the first day of all, a Thursday, was number 0. */
const mondayOf = (date: TradingDate): TradingDate =>
  TradingDate.plusDays(date, -((TradingDate.dayOf(date) + 3) % 7));

const monthOf = (date: TradingDate, count: number): TradingDate => {
  const [year = '', month = ''] = date.split('-');
  const first = Math.floor((Number(month) - 1) / count) * count + 1;
  return TradingDate.of(`${year}-${String(first).padStart(2, '0')}-01`);
};

/** Maximum number of bars per response of `/v1`. */
const BARS_AT_ONCE = 1000;
/** Maximum number of stretches of time searched for one answer: a longer range is answered in pages. */
const MOST_STRETCHES = 40;

export interface BarPage {
  readonly bars: readonly VolumeBar[];
  /** Start of the next page, ms; undefined at the end. */
  readonly next: number | undefined;
}

/** Bars that begin in [from, until], oldest first, up to a limit. The current day's bar contains the trades so far. */
export async function barsBetween(
  desk: Desk,
  symbol: string,
  { size, sizeMs, beginOf }: Timeframe,
  from: number,
  until: number,
  limit: number,
): Promise<BarPage> {
  const bars: VolumeBar[] = [];
  const stretchMs = (BARS_AT_ONCE - 1) * sizeMs;
  let latest = -Infinity;
  let at = from;
  for (let stretch = 0; at <= until; stretch++) {
    if (stretch === MOST_STRETCHES) return { bars, next: Math.max(from, beginOf(at)) };
    const end = Math.min(at + stretchMs, until + sizeMs);
    const found = await barsOf(desk, symbol, size, at, end);
    const isLast = end >= until + sizeMs;
    const running = isLast && size === '1Day' ? await runningDay(desk, symbol) : undefined;
    for (const bar of running === undefined ? found : [...found, running]) {
      if (bar.timestamp <= latest) continue;
      latest = bar.timestamp;
      const timestamp = beginOf(bar.timestamp);
      if (timestamp < from || timestamp > until) continue;
      const last = bars.at(-1);
      if (last?.timestamp === timestamp) bars[bars.length - 1] = joined(last, withTrades(bar));
      else if (bars.length === limit) return { bars, next: timestamp };
      else bars.push({ ...withTrades(bar), timestamp });
    }
    // A bar that begins before the end of a stretch and ends after it is in the next.
    at = isLast ? until + 1 : end - sizeMs;
  }
  return { bars, next: undefined };
}

const ROUND_LOT = 100;

/** A bar with its number of trades, which is known for aggregated bars. */
export const withTrades = (bar: Bar & Partial<VolumeBar>): VolumeBar => ({
  ...bar,
  trades: bar.trades ?? Math.ceil(bar.volume / ROUND_LOT),
  average: bar.average ?? (bar.high + bar.low + bar.close) / 3,
});

const joined = (a: VolumeBar, b: VolumeBar): VolumeBar => {
  const volume = a.volume + b.volume;
  const average =
    volume === 0 ? (a.average + b.average) / 2 : (a.average * a.volume + b.average * b.volume) / volume;
  return {
    timestamp: a.timestamp,
    open: a.open,
    high: Math.max(a.high, b.high),
    low: Math.min(a.low, b.low),
    close: b.close,
    volume,
    trades: a.trades + b.trades,
    average,
  };
};

/** The bar of the current session, from its minutes so far; it begins at midnight. */
export async function runningDay(
  desk: Pick<Desk, 'calendar' | 'market' | 'now'>,
  symbol: string,
): Promise<VolumeBar | undefined> {
  const { calendar, market } = desk;
  const now = desk.now();
  const date = calendar.dateOf(now);
  const day = calendar.tradingDay(date);
  if (day === undefined || now < day.regularOpen || now >= day.regularClose) return undefined;
  const quarter = Instant.ofMs(
    Math.max(day.regularOpen, Math.floor(now / QUARTER_HOUR_MS) * QUARTER_HOUR_MS),
  );
  const quarters = { symbol, size: '15Min', from: day.regularOpen, until: now, limit: BARS_AT_ONCE } as const;
  const parts = [
    ...(await market.bars(quarters)),
    ...(await market.bars({ ...quarters, size: '1Min', from: quarter })),
  ];
  const timestamp = calendar.instantOf(date, 0, 0);
  return parts
    .map((part) => ({ ...withTrades(part), timestamp }))
    .reduce<VolumeBar | undefined>((sum, part) => (sum === undefined ? part : joined(sum, part)), undefined);
}

/** True inside the regular session of a day. */
export function isRegularTime(calendar: Calendar, timestamp: number): boolean {
  const at = Instant.ofMs(timestamp);
  const day = calendar.tradingDay(calendar.dateOf(at));
  return day !== undefined && at >= day.regularOpen && at < day.regularClose;
}

async function barsOf(
  desk: Desk,
  symbol: string,
  timeframe: BarSize,
  from: number,
  to: number,
): Promise<readonly Bar[]> {
  const query = { timeframe, from: isoAt(from), to: isoAt(to), limit: String(BARS_AT_ONCE) };
  const { bars } = await desk.run('getBars', { params: { symbol }, query });
  return bars;
}

const isoAt = (ms: number): string => new Date(ms).toISOString();

/** The current day, if it has begun, and the latest completed days, newest first; none for a symbol that is not listed. */
export async function latestDays(desk: Desk, symbol: string, limit: number): Promise<readonly VolumeBar[]> {
  const running = await runningDay(desk, symbol);
  const over = (await latestBars(desk, symbol, '1Day', limit)).map((bar) => ({
    ...withTrades(bar),
    timestamp: midnightOf(desk.calendar, bar.timestamp),
  }));
  return (running === undefined ? over : [running, ...over]).slice(0, limit);
}

/** Whole days, which begin at midnight in New York. */
export const dayFrame = (calendar: Calendar): Timeframe => ({
  size: '1Day',
  sizeMs: LONGEST_DAY_MS,
  beginOf: (timestamp) => midnightOf(calendar, timestamp),
});

const midnightOf = (calendar: Calendar, timestamp: number): Instant =>
  calendar.instantOf(calendar.dateOf(Instant.ofMs(timestamp)), 0, 0);

/** Units of a price in a dollar. */
const PRICE_UNITS = 1e8;

/** The price at which an option closed on the last day before today. */
export async function optionClose(desk: Desk, symbol: string): Promise<number | undefined> {
  const { calendar, market } = desk;
  const day = calendar.tradingDay(calendar.previousTradingDay(calendar.dateOf(desk.now())));
  const quote = day && market.quoteAt(symbol, Instant.plusMs(day.regularClose, -1));
  const price = quote?.last ?? quote?.bid ?? quote?.ask;
  return price === undefined ? previousClose(desk, symbol) : price / PRICE_UNITS;
}

/** The price at which the last day before today closed, restated for splits since. */
export async function previousClose(desk: Desk, symbol: string): Promise<number | undefined> {
  const { calendar, market } = desk;
  const date = calendar.dateOf(desk.now());
  const today = calendar.instantOf(date, 0, 0);
  const day = (await latestDays(desk, symbol, 3)).find(({ timestamp }) => timestamp < today);
  if (day !== undefined)
    return day.close / market.splitsSince(symbol, calendar.dateOf(Instant.ofMs(day.timestamp)));
  // A fork with pushed quotes lacks the bars of its parent. Official closes are restated.
  const close = market.closeBefore(symbol, date);
  return close && close / PRICE_UNITS;
}

/** The latest bars that are over, newest first; none for a symbol that is not listed. */
export async function latestBars(
  desk: Desk,
  symbol: string,
  timeframe: BarSize,
  limit: number,
): Promise<readonly Bar[]> {
  try {
    const query = { timeframe, limit: String(limit) };
    const { bars } = await desk.run('getBars', { params: { symbol }, query });
    return bars.toReversed();
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return [];
    throw error;
  }
}
