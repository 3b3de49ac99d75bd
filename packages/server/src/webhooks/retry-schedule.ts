const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Until the next try, ms, by how many have failed (D192). */
const DELAYS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Maximum random extension of a delay, so that events that failed together are not retried together. */
const JITTER = 0.2;

/** Tries of an event in all. */
export const MOST_TRIES = DELAYS.length + 1;

/** Milliseconds until the next try after `failed` tries; undefined after the last. `chance`: from 0 to 1. */
export function retryDelay(failed: number, chance: number): number | undefined {
  const delay = DELAYS[failed - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * chance));
}

/** Time without a success after which a webhook is disabled. */
export const LONGEST_FAILING_MS = 72 * HOUR;

/** Retention of finished deliveries. */
export const KEPT_MS = 30 * 24 * HOUR;

/** An earlier secret signs this long after a rotation. */
export const OVERLAP_MS = 24 * HOUR;
