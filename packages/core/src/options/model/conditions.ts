import { exp } from './exponential.js';

/*
 * Conditions that all options of one underlying and one expiration share. A chain computes them once. Inside the model
 * amounts are dollars per share in floating point, times are years of 365 days from now.
 */

/** A cash dividend per share with a future ex-date. */
export interface DividendAhead {
  /** Until it goes ex. */
  readonly years: number;
  /** Dollars per share. */
  readonly amount: number;
}

/** A dividend with the present value of 1.00 at its ex-date. */
export interface DiscountedDividend extends DividendAhead {
  readonly discount: number;
}

export interface Conditions {
  /** Price of the underlying. */
  readonly spot: number;
  /** Until settlement of the option; never below a minute. */
  readonly years: number;
  /** Continuous, per year. */
  readonly rate: number;
  /** Dividends before expiration, in order of time. */
  readonly dividends: readonly DiscountedDividend[];
  /** Present value of the dividends, dollars per share. */
  readonly dividendsValue: number;
  /** Present value of 1.00 at expiration. */
  readonly discount: number;
  /** Spot less the present value of the dividends: the part that moves (D71). */
  readonly escrowed: number;
}

const MINUTES_A_YEAR = 365 * 24 * 60;
const SHORTEST_YEARS = 1 / MINUTES_A_YEAR;
/** Dividends can exceed a price that has fallen; the model needs a remainder that moves. */
const LEAST_LEFT = 1e-6;

/**
 * The conditions of an expiration (D71). `years` below one minute count as one minute; past dividends and those that go ex
 * at expiration or later do not count.
 */
export function conditionsAt(
  spot: number,
  years: number,
  rate: number,
  dividends: readonly DividendAhead[] = [],
): Conditions {
  const until = years > SHORTEST_YEARS ? years : SHORTEST_YEARS;
  const ahead = dividends
    .filter((one) => one.years > 0 && one.years < until && one.amount > 0)
    .sort((a, b) => a.years - b.years)
    .map((one): DiscountedDividend => ({ ...one, discount: exp(-rate * one.years) }));
  const dividendsValue = ahead.reduce((sum, one) => sum + one.amount * one.discount, 0);
  const discount = exp(-rate * until);
  const escrowed = escrowedOf(spot, dividendsValue);
  return { spot, years: until, rate, dividends: ahead, dividendsValue, discount, escrowed };
}

/** Conditions at another price of the underlying. Shares the dividends array, which trees use as a cache key. */
export const atSpot = (conditions: Conditions, spot: number): Conditions => ({
  ...conditions,
  spot,
  escrowed: escrowedOf(spot, conditions.dividendsValue),
});

/** Conditions at another rate. */
export const atRate = ({ spot, years, dividends }: Conditions, rate: number): Conditions =>
  conditionsAt(spot, years, rate, dividends);

const escrowedOf = (spot: number, dividendsValue: number): number =>
  Math.max(spot - dividendsValue, spot * LEAST_LEFT);
