/** Valuations of a period, and around its external flows (D186). Pure. */
import type { EquityPoint } from '@sandpit/analytics';
import type { Close, Flow } from './portfolio-record.js';
import type { Valued } from './study.js';

/** Orders the points of a period by their records. A flow at the end is followed by what changed after it at the same instant. */
export function equityPoints(
  start: Valued,
  closes: readonly Close[],
  flows: readonly Flow[],
  end: Valued | undefined,
): readonly EquityPoint[] {
  const inside = [
    ...closes.map(({ seq, at, equity, date }) => ({ seq, at, equity, closeOf: date })),
    ...flows.map(({ seq, at, amount, before }) => ({ seq, at, equity: before, flow: amount })),
  ].sort((a, b) => a.seq - b.seq);
  const points: EquityPoint[] = [start, ...inside.map(({ seq: _, ...point }) => point)];
  const last = points.at(-1);
  if (end === undefined || last === undefined) return points;
  const isChanged = last.flow !== undefined && cents(last.equity + last.flow) !== end.equity;
  if (last.at < end.at || points.length === 1 || isChanged) points.push(end);
  return points;
}

const MINUTE_MS = 60_000;

export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);

/** Binary sums of cents, back to the cent. */
export const cents = (dollars: number): number => Math.round(dollars * 100) / 100;
