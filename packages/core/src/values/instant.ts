declare const brand: unique symbol;

/** A point in time: integer milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number & { readonly [brand]: 'Instant' };

export const Instant = {
  /** The first instant that the clock of a simulation can show: 1970-01-01T00:00:00.000Z. */
  first: 0 as Instant,
  /** The last instant that the clock of a simulation can show: 2199-12-31T23:59:59.999Z. */
  last: 7_258_118_399_999 as Instant,
  /** Before all other instants. */
  earliest: -8.64e15 as Instant,
  /** Milliseconds since the epoch that are known to be an integer. */
  ofMs: (ms: number): Instant => ms as Instant,
  plusMs: (instant: Instant, ms: number): Instant => (instant + ms) as Instant,
  max: (a: Instant, b: Instant): Instant => (a > b ? a : b),
  min: (a: Instant, b: Instant): Instant => (a < b ? a : b),
} as const;
