import { Decimal } from 'decimal.js';

/*
 * Slow references for the mathematics of options: forty digits, by series that differ from those in use.
 */

const Precise = Decimal.clone({ precision: 60, toExpNeg: -9e15, toExpPos: 9e15, minE: -9e15, maxE: 9e15 });
const SQRT_TWO_PI = new Precise(2).times(Precise.acos(-1)).sqrt();

const scratch = new DataView(new ArrayBuffer(8));

/** A double as the number it is, not as the shortest decimal that is read as it. */
export function precise(value: number | Decimal): Decimal {
  if (typeof value !== 'number') return value;
  scratch.setFloat64(0, value);
  const bits = scratch.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = exponent === 0 ? fraction : fraction | 0x10000000000000n;
  const size = new Precise(mantissa.toString()).times(new Precise(2).pow(Math.max(exponent, 1) - 1075));
  return value < 0 ? size.neg() : size;
}

export const preciseExp = (x: number | Decimal): Decimal => precise(x).exp();
export const preciseLog = (x: number | Decimal): Decimal => precise(x).ln();

export function preciseDensity(x: number | Decimal): Decimal {
  const value = precise(x);
  return preciseExp(value.times(value).div(-2)).div(SQRT_TWO_PI);
}

/** Φ(x): around 0 by the series of positive terms, in the tails by the continued fraction. */
export function preciseCumulative(x: number | Decimal): Decimal {
  const value = precise(x);
  const size = value.abs();
  if (size.lt(6)) {
    let term = size;
    let sum = size;
    for (let n = 3; !term.lt(sum.times(1e-58)); n += 2) {
      term = term.times(size).times(size).div(n);
      sum = sum.plus(term);
      if (term.isZero()) break;
    }
    const half = sum.times(preciseDensity(size));
    return value.isNegative() ? precise(0.5).minus(half) : half.plus(0.5);
  }
  let fraction = size;
  for (let n = 160; n >= 1; n--) fraction = size.plus(precise(n).div(fraction));
  const tail = preciseDensity(size).div(fraction);
  return value.isNegative() ? tail : precise(1).minus(tail);
}

/** Black's undiscounted value over √(F·K), as a function of x = ln(F/K) and s = σ√T. */
export function preciseNormalized(x: number | Decimal, s: number | Decimal): Decimal {
  const log = precise(x);
  const deviation = precise(s);
  const h = log.div(deviation);
  const t = deviation.div(2);
  const root = preciseExp(log.div(2));
  return root.times(preciseCumulative(h.plus(t))).minus(preciseCumulative(h.minus(t)).div(root));
}

/** The s at which `preciseNormalized(x, s)` is `value`, by Newton's method from a start that is near. */
export function preciseVolatility(x: number, value: number, near: number): Decimal {
  let s = precise(near);
  for (let i = 0; i < 4; i++) {
    const vega = preciseDensity(precise(x).div(s)).times(preciseExp(s.times(s).div(-8)));
    s = s.plus(precise(value).minus(preciseNormalized(x, s)).div(vega));
  }
  return s;
}

/** The distance from a double to the next one farther from 0. */
function unitInLastPlace(value: number): number {
  const size = Math.abs(value);
  scratch.setFloat64(0, size);
  scratch.setBigInt64(0, scratch.getBigInt64(0) + 1n);
  return scratch.getFloat64(0) - size;
}

/** Error of a result in units in the last place. */
export const unitsOff = (result: number, expected: Decimal): number =>
  precise(result).minus(expected).abs().div(unitInLastPlace(expected.toNumber())).toNumber();
