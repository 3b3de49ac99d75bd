/** Valuations of a period, and around its external flows (D186). Pure. */
import type { EquityPoint } from '@sandpit/analytics';
import type { Close, Flow } from './portfolio-record.js';
import type { Valued, ValuedFlow } from './study.js';

/**
 * Puts the points of a period in order of time. Flows of one minute are valued together, by what they left: each is preceded by what
 * the later ones added.
 */
export function equityPoints(
  start: Valued,
  closes: readonly Close[],
  flows: readonly ValuedFlow[],
  end: Valued | undefined,
): readonly EquityPoint[] {
  const inside = [
    ...closes.map(({ seq, at, equity, date }) => ({ seq, at, equity, closeOf: date })),
    ...flows.map(({ seq, at, amount, after }) => ({ seq, at, equity: cents(after - amount), flow: amount })),
  ].sort((a, b) => a.seq - b.seq);
  const points: EquityPoint[] = [start, ...inside.map(({ seq: _, ...point }) => point)];
  const last = points.at(-1);
  if (end !== undefined && (last === undefined || last.at < end.at || points.length === 1)) points.push(end);
  return points;
}

const MINUTE_MS = 60_000;

export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);

/** Flows by the minute they fell into, each with what is left to come of its minute after it. */
export function laterInMinute(flows: readonly Flow[]): readonly (Flow & { readonly later: number })[] {
  const valued: (Flow & { later: number })[] = [];
  let minute: number | undefined;
  let later = 0;
  for (const flow of flows.toReversed()) {
    if (minuteOf(flow.at) !== minute) later = 0;
    minute = minuteOf(flow.at);
    valued.push({ ...flow, later });
    later += flow.amount;
  }
  return valued.reverse();
}

/** Binary sums of cents, back to the cent. */
export const cents = (dollars: number): number => Math.round(dollars * 100) / 100;
