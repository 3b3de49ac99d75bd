import type { LatencyProfile } from '../orders/order.js';
import { uniform } from '../values/seeded.js';

/** Medians of the named profiles in milliseconds (D29). */
const MEDIAN_MS: Readonly<Record<Exclude<LatencyProfile, 'CUSTOM'>, number>> = {
  RETAIL: 150,
  INSTITUTIONAL: 20,
  COLOCATED: 1,
};

/**
 * Quantiles of a draw in multiples of the median, at evenly spaced probabilities 0, 1/16 … 1: right-skewed like network
 * delays, 1 at the middle. A table, because powers and logarithms are not the same on every machine.
 */
const QUANTILES = [
  0.45, 0.56, 0.63, 0.69, 0.75, 0.81, 0.87, 0.93, 1, 1.08, 1.17, 1.28, 1.41, 1.58, 1.84, 2.3, 4,
] as const;

/** Default latency of CUSTOM orders (D154). */
const CUSTOM_MS = 100;

const STREAM = 7;

/** The delay of one message of this profile in whole ms. CUSTOM is exact; no profile is no delay. */
export function latencyMs(
  profile: LatencyProfile | undefined,
  customMs: number | undefined,
  seed: number,
  draw: number,
): number {
  if (profile === undefined) return 0;
  if (profile === 'CUSTOM') return customMs ?? CUSTOM_MS;
  const position = uniform(seed, STREAM, draw) * (QUANTILES.length - 1);
  const below = Math.floor(position);
  const low = QUANTILES[below] ?? 1;
  const high = QUANTILES[below + 1] ?? low;
  return Math.max(1, Math.round(MEDIAN_MS[profile] * (low + (high - low) * (position - below))));
}
