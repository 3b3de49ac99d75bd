/*
 * Slow references of the option model, written independently and with the engine's own functions: a tree of 2,001 steps and one of half
 * as many, and integrals. Dollars per share, years, dividends as [years until the ex-date, amount].
 */

export interface SlowCase {
  readonly isCall: boolean;
  readonly spot: number;
  readonly strike: number;
  readonly years: number;
  readonly rate: number;
  readonly volatility: number;
  readonly dividends: readonly (readonly [number, number])[];
}

const presentValue = (dividends: SlowCase['dividends'], rate: number, from: number, at: number): number =>
  dividends.reduce(
    (sum, [years, amount]) => (years < from ? sum : sum + amount * Math.exp(-rate * (years - at))),
    0,
  );

/** The American value in the limit of two large trees. */
export function slowAmerican(one: SlowCase, steps = 2001): number {
  const half = 2 * Math.floor(steps / 4) + 1;
  const [fine, coarse] = [americanTree(one, steps), americanTree(one, half)];
  return fine + ((fine - coarse) * half) / (steps - half);
}

function americanTree(
  { isCall, spot, strike, years, rate, volatility, dividends }: SlowCase,
  n: number,
): number {
  const escrowed = spot - presentValue(dividends, rate, 0, 0);
  const step = years / n;
  const deviation = volatility * Math.sqrt(years);
  const d1 = (Math.log(escrowed / strike) + (rate + volatility ** 2 / 2) * years) / deviation;
  const chance = (z: number): number =>
    0.5 +
    Math.sign(z) * 0.5 * Math.sqrt(1 - Math.exp(-((z / (n + 1 / 3 + 0.1 / (n + 1))) ** 2) * (n + 1 / 6)));
  const p = chance(d1 - deviation);
  const grown = Math.exp(rate * step);
  const up = (grown * chance(d1)) / p;
  const down = (grown - p * up) / (1 - p);
  const sign = isCall ? 1 : -1;
  const ups = Array.from({ length: n + 1 }, (_, k) => (up / down) ** k);
  let values = ups.map((power) => Math.max(0, sign * (escrowed * down ** n * power - strike)));
  for (let i = n - 1; i >= 0; i--) {
    const now = i * step;
    // Exercise now, or a binding decision to exercise just before (a call) or after (a put) a dividend of the step that begins.
    const strikes = [strike - presentValue(dividends, rate, now + 1e-12, now)];
    for (const [at] of dividends) {
      if (at < now || at >= now + step) continue;
      const left = presentValue(dividends, rate, isCall ? at : at + 1e-12, now);
      strikes.push(strike * Math.exp(-rate * (at - now)) - left);
    }
    const best = isCall ? Math.min(...strikes) : Math.max(...strikes);
    const base = escrowed * down ** i;
    const next = values;
    values = values.slice(0, i + 1);
    for (let k = 0; k <= i; k++) {
      const alive = (p * next[k + 1]! + (1 - p) * next[k]!) / grown;
      values[k] = Math.max(alive, sign * (base * ups[k]! - best));
    }
  }
  return values[0]!;
}

/** The European value, as the integral of the payoff over the density of the logarithm of the price. */
export const slowEuropean = ({
  isCall,
  spot,
  strike,
  years,
  rate,
  volatility,
  dividends,
}: SlowCase): number =>
  Math.exp(-rate * years) *
  expected(years, rate, volatility, spot - presentValue(dividends, rate, 0, 0), (price) =>
    Math.max(0, isCall ? price - strike : strike - price),
  );

/** An American call with one dividend: at its ex-date the better of exercise and the European option. */
export function slowCallWithDividend(one: SlowCase): number {
  const { spot, strike, years, rate, volatility, dividends } = one;
  const [[at, amount] = [0, 0]] = dividends;
  const left = { ...one, years: years - at, dividends: [] };
  return (
    Math.exp(-rate * at) *
    expected(at, rate, volatility, spot - presentValue(dividends, rate, 0, 0), (price) =>
      Math.max(price + amount - strike, blackScholesCall({ ...left, spot: price })),
    )
  );
}

/** By Simpson's rule over ten standard deviations either way. */
function expected(
  years: number,
  rate: number,
  volatility: number,
  spot: number,
  payoff: (price: number) => number,
): number {
  const pieces = 8000;
  const width = 20 / pieces;
  const deviation = volatility * Math.sqrt(years);
  let sum = 0;
  for (let i = 0; i <= pieces; i++) {
    const z = -10 + i * width;
    const price = spot * Math.exp((rate - volatility ** 2 / 2) * years + deviation * z);
    const weight = i === 0 || i === pieces ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp((-z * z) / 2) * payoff(price);
  }
  return (sum * width) / 3 / Math.sqrt(2 * Math.PI);
}

function blackScholesCall({ spot, strike, years, rate, volatility }: SlowCase): number {
  const deviation = volatility * Math.sqrt(years);
  const d1 = (Math.log(spot / strike) + (rate + volatility ** 2 / 2) * years) / deviation;
  return spot * roughCumulative(d1) - strike * Math.exp(-rate * years) * roughCumulative(d1 - deviation);
}

/** Marsaglia's series; accurate to about fourteen digits around the middle, in which it is used. */
function roughCumulative(x: number): number {
  if (x < -8) return 0;
  if (x > 8) return 1;
  let sum = x;
  let term = x;
  for (let n = 3; Math.abs(term) > 1e-17; n += 2) {
    term *= (x * x) / n;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
