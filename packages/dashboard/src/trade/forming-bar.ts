/** The bar that is not over yet: the server knows a bar only at its end, a chart shows the one that grows. */
import type { Bar, BarTimeframe } from '@sandpit/protocol';
import { asIfInNewYork } from '../format.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const LENGTHS: Readonly<Record<BarTimeframe, number>> = {
  '1Min': MINUTE_MS,
  '5Min': 5 * MINUTE_MS,
  '15Min': 15 * MINUTE_MS,
  '1Hour': 60 * MINUTE_MS,
  '1Day': DAY_MS,
};

/** The shorter bars from which an unfinished longer one is aggregated; undefined = none. */
export const partsOf = (timeframe: BarTimeframe): BarTimeframe | undefined =>
  timeframe === '1Min' ? undefined : timeframe === '1Day' ? '5Min' : '1Min';

/** The start of the bar that contains an instant, ms. A day begins at the New York time at which the last daily bar began. */
export function startOfBar(timeframe: BarTimeframe, atMs: number, last: Bar | undefined): number {
  const length = LENGTHS[timeframe];
  if (timeframe !== '1Day') return Math.floor(atMs / length) * length;
  const local = asIfInNewYork(atMs);
  const timeOfDay = last === undefined ? 0 : modulo(asIfInNewYork(last.timestamp), DAY_MS);
  const start = Math.floor((local - timeOfDay) / DAY_MS) * DAY_MS + timeOfDay;
  return atMs - (local - start);
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

/** The bar aggregated from shorter bars; undefined without any. */
export function barOf(parts: readonly Bar[], timestamp: number): Bar | undefined {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return {
    timestamp,
    open: first.open,
    high: Math.max(...parts.map(({ high }) => high)),
    low: Math.min(...parts.map(({ low }) => low)),
    close: last.close,
    volume: parts.reduce((sum, { volume }) => sum + volume, 0),
  };
}

/** Bars with a price added: the last one grows, or another begins. A price of the past changes nothing. */
export function withPrice(
  bars: readonly Bar[],
  timeframe: BarTimeframe,
  price: number,
  atMs: number,
): readonly Bar[] {
  const last = bars.at(-1);
  const start = startOfBar(timeframe, atMs, last);
  if (last === undefined || start > last.timestamp)
    return [...bars, { timestamp: start, open: price, high: price, low: price, close: price, volume: 0 }];
  if (start < last.timestamp || last.close === price) return bars;
  const grown = {
    ...last,
    high: Math.max(last.high, price),
    low: Math.min(last.low, price),
    close: price,
  };
  return [...bars.slice(0, -1), grown];
}
