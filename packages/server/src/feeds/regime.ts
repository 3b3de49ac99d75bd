/** Behavior of a synthetic market that differs from the usual one (D210). */

/** A regime as it is configured. */
export interface Regime {
  /** Simulated ms at which every symbol stands at its base price. */
  readonly start: number;
  /** Expected return of the market, continuous, a year. Each symbol has its exposure to the market times that. */
  readonly drift: number;
  /** Volatility of the market, a year; every symbol keeps its proportion to it. Absent = the usual one. */
  readonly volatility?: number;
  /** Jumps of each symbol by itself. */
  readonly jumps?: {
    /** Expected number a year. */
    readonly perYear: number;
    /** Standard deviation of the logarithm. */
    readonly size: number;
  };
  /** Standard deviation of an additional move of the market before each trading day. */
  readonly gap?: number;
}
