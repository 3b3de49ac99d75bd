import type { Conditions } from './conditions.js';
import { log } from './exponential.js';
import { cumulative, density } from './normal.js';
import type { OptionType } from './option-terms.js';

/*
 * European options: Black's formula on the forward of the spot without its dividends (D71). With an escrowed
 * spot it is the formula of Black and Scholes.
 */

/** The value of a European option in dollars per share. `volatility` is positive, a year. */
export function europeanValue(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
): number {
  const { escrowed, discount, years } = conditions;
  const due = strike * discount;
  const deviation = volatility * Math.sqrt(years);
  const d1 = log(escrowed / due) / deviation + 0.5 * deviation;
  const d2 = d1 - deviation;
  const value =
    optionType === 'CALL'
      ? escrowed * cumulative(d1) - due * cumulative(d2)
      : due * cumulative(-d2) - escrowed * cumulative(-d1);
  return value > 0 ? value : 0;
}

/** Value and derivatives per share: of the volatility and the rate per 1.00, of time a year. */
export interface Sensitivities {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  readonly theta: number;
  readonly vega: number;
  readonly rho: number;
}

export function europeanSensitivities(
  optionType: OptionType,
  strike: number,
  conditions: Conditions,
  volatility: number,
): Sensitivities {
  const { escrowed, discount, years } = conditions;
  const due = strike * discount;
  const root = Math.sqrt(years);
  const deviation = volatility * root;
  const d1 = log(escrowed / due) / deviation + 0.5 * deviation;
  const d2 = d1 - deviation;
  const isCall = optionType === 'CALL';
  const delta = isCall ? cumulative(d1) : -cumulative(-d1);
  const held = isCall ? -due * cumulative(d2) : due * cumulative(-d2);
  const value = Math.max(escrowed * delta + held, 0);
  const height = density(d1);
  const gamma = height / (escrowed * deviation);
  return {
    value,
    delta,
    gamma,
    theta: thetaOf(conditions, volatility, value, delta, gamma),
    vega: escrowed * height * root,
    rho: rhoOf(conditions, delta, held),
  };
}

/** The rate discounts the strike, whose part in the value is `held`, and the dividends, which the escrowed spot is without. */
function rhoOf({ years, dividends }: Conditions, delta: number, held: number): number {
  const income = dividends.reduce((sum, one) => sum + one.years * one.amount * one.discount, 0);
  return delta * income - years * held;
}

/**
 * Theta of an option that is not exercised, by the differential equation of its value. The escrowed
 * dividends grow at the rate, so the whole spot earns interest and the escrowed spot moves.
 */
export function thetaOf(
  { spot, escrowed, rate }: Conditions,
  volatility: number,
  value: number,
  delta: number,
  gamma: number,
): number {
  const moves = volatility * escrowed;
  return rate * (value - spot * delta) - 0.5 * moves * moves * gamma;
}
