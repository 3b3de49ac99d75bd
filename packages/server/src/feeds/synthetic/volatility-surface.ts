import { exp, log } from '@sandpit/core';

/** Per standard deviation that a strike is away from the forward: far calls have a lower volatility, far puts a higher one. */
const SKEW = -0.11;
/** Per squared standard deviation. */
const SMILE = 0.018;
/** Wings flatten toward this many deviations: an unbounded smile would give butterflies negative prices. */
const FLATTENS_AT = 4;

/** Half-life of a volatility shock, in years. */
const HALF_LIFE_YEARS = 0.35;
const DECAY = log(2) / HALF_LIFE_YEARS;
/** Long terms are a little dearer than what usually happens. */
const LONG_TERM_PREMIUM = 0.08;

/**
 * The volatility at the money until `years` from now, as a fraction of a year (D126): the usual volatility, times today's relative
 * volatility of the market (1 = as usual), which decays.
 */
export function termVolatility(usual: number, nervousness: number, years: number): number {
  const left = exp(-DECAY * years);
  return usual * (1 + (nervousness - 1) * left) * (1 + LONG_TERM_PREMIUM * (1 - left));
}

/**
 * The volatility of a strike (D126): at the money × (1 + skew · d + smile · d²), d being ln(K/F) / (σ √T), the distance in standard
 * deviations, compressed far away so that the wings become flat. No butterfly has a negative price, and no later expiration is cheaper than
 * an earlier one (`volatility-surface.test.ts`).
 */
export function strikeVolatility(strike: number, forward: number, atTheMoney: number, years: number): number {
  const deviations = log(strike / forward) / (atTheMoney * Math.sqrt(years));
  const ratio = deviations / FLATTENS_AT;
  const drawnIn = deviations / Math.sqrt(1 + ratio * ratio);
  return atTheMoney * (1 + SKEW * drawnIn + SMILE * drawnIn * drawnIn);
}
