/** Ranges of the chart: each with the bars that show it well. Pure. */
import type { Bar, BarTimeframe } from '@sandpit/protocol';

export interface Range {
  readonly name: string;
  readonly title: string;
  readonly timeframe: BarTimeframe;
  readonly days: number;
}

export const RANGES: readonly Range[] = [
  { name: 'day', title: 'Day', timeframe: '5Min', days: 1 },
  { name: 'week', title: 'Week', timeframe: '15Min', days: 7 },
  { name: 'month', title: 'Month', timeframe: '1Hour', days: 31 },
  { name: 'quarter', title: 'Quarter', timeframe: '1Day', days: 92 },
  { name: 'year', title: 'Year', timeframe: '1Day', days: 365 },
];

const DAY_MS = 86_400_000;

/** The range that is shown; undefined once other bars are chosen. */
export const rangeOf = (name: string, timeframe: BarTimeframe): Range | undefined =>
  RANGES.find((one) => one.name === name && one.timeframe === timeframe);

/** The number of the latest bars that a range shows; undefined without a range. Bars ascend in time. */
export function barsIn(
  range: Range | undefined,
  bars: readonly Pick<Bar, 'timestamp'>[],
): number | undefined {
  const last = bars.at(-1);
  if (range === undefined || last === undefined) return undefined;
  const since = last.timestamp - range.days * DAY_MS;
  return bars.filter(({ timestamp }) => timestamp > since).length;
}
