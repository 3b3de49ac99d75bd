import type { Dividend } from '../../corporate-actions/corporate-action.js';
import { effectiveAt } from '../../corporate-actions/corporate-action.js';
import type { Calendar } from '../../calendar/calendar.js';
import { expirationDayOf } from '../../instruments/option.js';
import type { OptionContract, OptionSeries } from '../../instruments/option.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import type { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { americanSensitivities, americanValue } from './american.js';
import { conditionsAt } from './conditions.js';
import type { Conditions } from './conditions.js';
import { europeanSensitivities, europeanValue } from './european.js';
import { LOWEST_VOLATILITY } from './implied-volatility.js';
import type { OptionTerms } from './option-terms.js';

/*
 * Connects instruments and instants with the model. A chain calls `conditionsOf` once per expiration and the rest once per contract.
 */

const UNITS_PER_DOLLAR = 1e8;
const MS_A_YEAR = 365 * 24 * 3_600_000;
const DAYS_A_YEAR = 365;
/** One hundredth, in which vega and rho count the volatility and the rate. */
const POINT = 0.01;

export const dollarsOf = (price: Price): number => price / UNITS_PER_DOLLAR;

/** End of a series' time: the end of its trading, or the opening of the day on which it settles (D71). */
export function settlesAt(contract: OptionSeries, calendar: Calendar): Instant {
  return contract.settleSession === 'AM'
    ? calendar.instantOf(expirationDayOf(contract, calendar), 9, 30)
    : tradingEndsAt(contract, calendar);
}

/** Market data of an underlying for the valuation of its options. */
export interface UnderlyingNow {
  /** Positive. */
  readonly price: Price;
  readonly now: Instant;
  /** Continuous, per year: 0.04 is 4 %. */
  readonly rate: number;
  /** Announced cash dividends; past ones, and those that go ex at the settlement or later, do not count. */
  readonly dividends: readonly Dividend[];
}

/** The conditions of the series that settle at one instant (D71). */
export function conditionsOf(
  { price, now, rate, dividends }: UnderlyingNow,
  settlement: Instant,
  calendar: Calendar,
): Conditions {
  return conditionsAt(
    dollarsOf(price),
    (settlement - now) / MS_A_YEAR,
    rate,
    dividends.map((dividend) => ({
      years: (effectiveAt(calendar, dividend) - now) / MS_A_YEAR,
      amount: dollarsOf(dividend.amountPerShare),
    })),
  );
}

export const optionTermsOf = ({ optionType, style, strike }: OptionContract): OptionTerms => ({
  optionType,
  style,
  strike: dollarsOf(strike),
});

/** Value of one long option and its sensitivities, per share, in the units of D71. */
export interface Greeks {
  /** Dollars. */
  readonly value: number;
  /** Per 1.00 of the underlying. */
  readonly delta: number;
  /** Change of `delta` per 1.00 of the underlying. */
  readonly gamma: number;
  /** Per calendar day that passes. */
  readonly theta: number;
  /** Per 0.01 of volatility. */
  readonly vega: number;
  /** Per 0.01 of the rate. */
  readonly rho: number;
}

/** The model's value in dollars per share (D71). Throws RangeError unless `volatility` (per year, 0.2 is 20 %) is positive. */
export function optionValue(
  { optionType, style, strike }: OptionTerms,
  conditions: Conditions,
  volatility: number,
): number {
  requireVolatility(volatility);
  return (style === 'EUROPEAN' ? europeanValue : americanValue)(optionType, strike, conditions, volatility);
}

/** Option value, rounded half up to 10⁻⁸, so that decisions may depend on it (D71, D125). */
export function optionPrice(terms: OptionTerms, conditions: Conditions, volatility: number): Price {
  return roundedPrice(optionValue(terms, conditions, volatility));
}

/** A positive number of dollars, rounded half up to 10⁻⁸. Throws RangeError beyond the range of prices. */
export function roundedPrice(dollars: number): Price {
  const units = Math.floor(dollars * UNITS_PER_DOLLAR + 0.5);
  if (!Number.isSafeInteger(units)) throw new RangeError(`not a price: ${dollars}`);
  return Price.ofUnits(units);
}

/** Value and Greeks (D71). Throws RangeError unless `volatility` is positive. */
export function optionGreeks(
  { optionType, style, strike }: OptionTerms,
  conditions: Conditions,
  volatility: number,
): Greeks {
  requireVolatility(volatility);
  const sensitivities = style === 'EUROPEAN' ? europeanSensitivities : americanSensitivities;
  const { value, delta, gamma, theta, vega, rho } = sensitivities(optionType, strike, conditions, volatility);
  return { value, delta, gamma, theta: theta / DAYS_A_YEAR, vega: vega * POINT, rho: rho * POINT };
}

/**
 * Greeks of an option whose price no volatility explains (D252). In the money it is the underlying against the discounted strike, unless
 * its exercise is due at once; out of the money it is nothing.
 */
export function intrinsicGreeks(terms: OptionTerms, conditions: Conditions): Omit<Greeks, 'value'> {
  const { optionType, style, strike } = terms;
  const { spot, escrowed, discount, years, rate } = conditions;
  const sign = optionType === 'CALL' ? 1 : -1;
  const due = strike * discount;
  const now = sign * (spot - strike);
  const isDue = style === 'AMERICAN' && now > 0 && optionValue(terms, conditions, LOWEST_VOLATILITY) <= now;
  if (isDue) return { delta: sign, gamma: 0, theta: 0, vega: 0, rho: 0 };
  if (sign * (escrowed - due) <= 0) return { delta: 0, gamma: 0, theta: 0, vega: 0, rho: 0 };
  const theta = (-sign * rate * due) / DAYS_A_YEAR;
  return { delta: sign, gamma: 0, theta, vega: 0, rho: sign * years * due * POINT };
}

function requireVolatility(volatility: number): void {
  if (!(volatility > 0 && volatility < Infinity)) throw new RangeError(`not a volatility: ${volatility}`);
}
