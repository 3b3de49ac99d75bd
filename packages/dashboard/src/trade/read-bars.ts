import type { Bar, BarTimeframe } from '@sandpit/protocol';
import type { Broker } from '../broker.ts';
import { barOf, partsOf, startOfBar } from './forming-bar.ts';

const LIMIT = 500;
/** Interval between two reads of bars, ms; quotes extend the last one in between. */
export const BARS_MS = 15_000;

export interface LoadedBars {
  readonly bars: readonly Bar[];
  readonly timeframe: BarTimeframe;
}

/** Finished bars, and the forming one aggregated from shorter ones. */
export async function readBars(broker: Broker, symbol: string, timeframe: BarTimeframe): Promise<LoadedBars> {
  const part = partsOf(timeframe);
  const [{ bars }, { now }] = await Promise.all([
    broker.call('getBars', { params: { symbol }, query: { timeframe, limit: LIMIT } }),
    broker.call('getMarketHours'),
  ]);
  const last = bars.at(-1);
  const start = startOfBar(timeframe, Date.parse(now), last);
  if (part === undefined || (last !== undefined && start <= last.timestamp)) return { bars, timeframe };
  const parts = await broker.call('getBars', {
    params: { symbol },
    query: { timeframe: part, from: new Date(start).toISOString(), limit: LIMIT },
  });
  const forming = barOf(parts.bars, start);
  return { bars: forming === undefined ? bars : [...bars, forming], timeframe };
}
