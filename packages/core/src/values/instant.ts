declare const brand: unique symbol;

/** A point in time: integer milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number & { readonly [brand]: 'Instant' };

export const Instant = {
  /** Before everything. */
  earliest: -8.64e15 as Instant,
  /** Milliseconds since the epoch that are known to be an integer. */
  ofMs: (ms: number): Instant => ms as Instant,
  plusMs: (instant: Instant, ms: number): Instant => (instant + ms) as Instant,
  max: (a: Instant, b: Instant): Instant => (a > b ? a : b),
  min: (a: Instant, b: Instant): Instant => (a < b ? a : b),
} as const;
