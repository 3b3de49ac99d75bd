import type { IndexPoint } from './linked-index.js';

/** The largest decline of the linked index below its running maximum. */
export interface Drawdown {
  /** Decline as a fraction of the peak: −0.2 = 20 %; 0 if the index never declined. */
  readonly fraction: number;
  /** Profit and loss from peak to trough, without flows; dollars, negative or 0. */
  readonly amount: number;
  readonly peakAt: number;
  readonly troughAt: number;
  /** First point at or above the peak after the trough; absent = not recovered. */
  readonly recoveredAt?: number;
}

/** Finds the maximum drawdown; of equal ones the earliest. Undefined for no points. */
export function maxDrawdownOf(points: readonly IndexPoint[]): Drawdown | undefined {
  const [first] = points;
  if (first === undefined) return undefined;
  let peak = first;
  let deepest = { fraction: 0, peak: first, trough: first };
  for (const point of points) {
    if (point.index > peak.index) peak = point;
    const fraction = point.index / peak.index - 1;
    if (fraction < deepest.fraction) deepest = { fraction, peak, trough: point };
  }
  const recovered =
    deepest.fraction === 0
      ? undefined
      : points.find(({ at, index }) => at > deepest.trough.at && index >= deepest.peak.index);
  return {
    fraction: deepest.fraction,
    amount: deepest.trough.pnl - deepest.peak.pnl,
    peakAt: deepest.peak.at,
    troughAt: deepest.trough.at,
    ...(recovered !== undefined && { recoveredAt: recovered.at }),
  };
}
