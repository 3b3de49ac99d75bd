/** Daily returns over time and by size, for charts. */
import { type EquityPoint, linkReturns } from './linked-index.js';
import { type DayReturn, daysOf, ratiosOf } from './performance.js';

/** Returns of the finished days of a period, by the dates of their closes. */
export const dailyReturnsOf = (points: readonly EquityPoint[]): readonly DayReturn[] =>
  daysOf(linkReturns(points).days);

/** Yearly Sharpe ratio of the last `window` days, for each day with that many earlier days and a ratio. */
export function rollingSharpeOf(
  days: readonly DayReturn[],
  window: number,
  dailyRiskFree: number,
  periodsPerYear: number,
): readonly { readonly date: string; readonly sharpe: number }[] {
  const returns = days.map((day) => day.return);
  return days.slice(window - 1).flatMap(({ date }, index) => {
    const { sharpe } = ratiosOf(returns.slice(index, index + window), dailyRiskFree, periodsPerYear);
    return sharpe === undefined ? [] : [{ date, sharpe }];
  });
}

/** A range of values, the lower bound included, and how many lie in it. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Values by size, in ranges of one round width with a bound at 0: at most about `bins` of them; the last includes its upper bound. */
export function histogramOf(values: readonly number[], bins: number): readonly Bin[] {
  const finite = values.filter(Number.isFinite);
  const least = finite.reduce((low, value) => Math.min(low, value), Infinity);
  const most = finite.reduce((high, value) => Math.max(high, value), -Infinity);
  if (finite.length === 0) return [];
  const width = roundStep((most - least) / bins || Math.abs(most) || 1);
  const first = Math.floor(least / width);
  const last = Math.max(first, Math.ceil(most / width) - 1);
  const counts = new Array<number>(last - first + 1).fill(0);
  for (const value of finite) {
    const bin = Math.min(Math.floor(value / width), last) - first;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((count, index) => ({
    from: (first + index) * width,
    to: (first + index + 1) * width,
    count,
  }));
}

/** The least of 1, 2, 2.5, 5 and 10 times a power of ten that is at or above a positive number. */
export function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  const factor = [1, 2, 2.5, 5].find((one) => one * power >= atLeast * (1 - 1e-9)) ?? 10;
  return factor * power;
}
