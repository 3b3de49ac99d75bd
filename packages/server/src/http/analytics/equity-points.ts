/** Valuations of a period, and around its external flows (D186). Pure. */
import type { EquityPoint } from '@sandpit/analytics';
import type { Close, Flow } from './portfolio-record.js';
import type { Valued } from './study.js';

/** Orders the points of a period by their records. Where something followed the last of them at the instant of the end, the end does. */
export function equityPoints(
  start: Valued,
  closes: readonly Close[],
  flows: readonly Flow[],
  end: Valued,
): readonly EquityPoint[] {
  const points: EquityPoint[] = [start, ...pointsIn(closes, flows)];
  const last = points.at(-1);
  const isFollowed =
    last === undefined || last.at < end.at || cents(last.equity + (last.flow ?? 0)) !== cents(end.equity);
  if (points.length === 1 || isFollowed) points.push(end);
  return points;
}

/** Session closes and flows in order of their records. */
export function pointsIn(closes: readonly Close[], flows: readonly Flow[]): readonly EquityPoint[] {
  return [
    ...closes.map(({ seq, at, equity, date }) => ({ seq, at, equity, closeOf: date })),
    ...flows.map(({ seq, at, amount, before }) => ({ seq, at, equity: before, flow: amount })),
  ]
    .sort((a, b) => a.seq - b.seq)
    .map(({ seq: _, ...point }) => point);
}

/** Binary sums of cents, back to the cent. */
export const cents = (dollars: number): number => Math.round(dollars * 100) / 100;
