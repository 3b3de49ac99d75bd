/** Indicators over bars. Each value belongs to the bar of the same index; undefined = not enough bars yet. */
import type { Bar } from '@sandpit/protocol';

/** The indicators that a chart offers, by their short names. */
export const INDICATORS = ['SMA 20', 'SMA 50', 'EMA 20', 'Bollinger', 'VWAP', 'RSI 14', 'MACD'] as const;
export type Indicator = (typeof INDICATORS)[number];

/** Indicators that are no prices: each is drawn below the candles. */
export const HAVE_PANES: ReadonlySet<Indicator> = new Set(['RSI 14', 'MACD']);

export type Series = readonly (number | undefined)[];

/** Simple moving average of closes over `length` bars. */
export function simpleAverage(bars: readonly Bar[], length: number): Series {
  let sum = 0;
  return bars.map(({ close }, index) => {
    sum += close - (bars[index - length]?.close ?? 0);
    return index < length - 1 ? undefined : sum / length;
  });
}

/** Exponential moving average of closes, smoothing 2 / (length + 1), begun with the simple average of the first `length` bars. */
export const exponentialAverage = (bars: readonly Bar[], length: number): Series =>
  smoothed(
    bars.map(({ close }) => close),
    length,
  );

/** Exponential average of the values from the first defined one on. */
function smoothed(values: Series, length: number): Series {
  const weight = 2 / (length + 1);
  let count = 0;
  let sum = 0;
  let last: number | undefined;
  return values.map((value) => {
    if (value === undefined) return undefined;
    count += 1;
    sum += value;
    if (count >= length) last = last === undefined ? sum / length : last + weight * (value - last);
    return last;
  });
}

export interface Macd {
  /** Fast less slow exponential average of closes. */
  readonly line: Series;
  /** Exponential average of the line. */
  readonly signal: Series;
  /** Line less signal. */
  readonly histogram: Series;
}

/** Moving average convergence divergence (Appel): exponential averages of 12 and 26 closes, and a signal of 9 values. */
export function movingAverageConvergence(bars: readonly Bar[], fast = 12, slow = 26, signal = 9): Macd {
  const less = (a: Series, b: Series): Series =>
    a.map((value, index) => {
      const other = b[index];
      return value === undefined || other === undefined ? undefined : value - other;
    });
  const line = less(exponentialAverage(bars, fast), exponentialAverage(bars, slow));
  const average = smoothed(line, signal);
  return { line, signal: average, histogram: less(line, average) };
}

/** Bollinger bands: the simple average of 20 closes, and two population standard deviations above and below it. */
export function bollingerBands(
  bars: readonly Bar[],
  length = 20,
  width = 2,
): { upper: Series; lower: Series } {
  const middle = simpleAverage(bars, length);
  const spread = middle.map((mean, index) => {
    if (mean === undefined) return undefined;
    const squares = bars
      .slice(index - length + 1, index + 1)
      .reduce((sum, { close }) => sum + (close - mean) ** 2, 0);
    return width * Math.sqrt(squares / length);
  });
  const at = (sign: 1 | -1): Series =>
    middle.map((mean, index) => {
      const distance = spread[index];
      return mean === undefined || distance === undefined ? undefined : mean + sign * distance;
    });
  return { upper: at(1), lower: at(-1) };
}

/** Volume-weighted average price since the first bar of each day; `dayOf` names the day of a bar. */
export function volumeWeightedPrice(bars: readonly Bar[], dayOf: (atMs: number) => string): Series {
  let day = '';
  let value = 0;
  let volume = 0;
  return bars.map((bar) => {
    const own = dayOf(bar.timestamp);
    if (own !== day) [day, value, volume] = [own, 0, 0];
    value += ((bar.high + bar.low + bar.close) / 3) * bar.volume;
    volume += bar.volume;
    return volume === 0 ? undefined : value / volume;
  });
}

/** Wilder's relative strength index of closes, 0 to 100. */
export function relativeStrength(bars: readonly Bar[], length = 14): Series {
  let gain = 0;
  let loss = 0;
  return bars.map(({ close }, index) => {
    const before = bars[index - 1];
    if (before === undefined) return undefined;
    const up = Math.max(0, close - before.close);
    const down = Math.max(0, before.close - close);
    if (index <= length) {
      gain += up / length;
      loss += down / length;
      if (index < length) return undefined;
    } else {
      gain = (gain * (length - 1) + up) / length;
      loss = (loss * (length - 1) + down) / length;
    }
    return gain + loss === 0 ? 50 : (100 * gain) / (gain + loss);
  });
}
