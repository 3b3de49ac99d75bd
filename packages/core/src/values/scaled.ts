/**
 * Exact arithmetic on scaled integers.
 *
 * Cash, prices and quantities are JavaScript integers that count small units, so that sums are exact and journal
 * records are plain JSON. Products can leave the safe-integer range; they are then computed with BigInt. A
 * result that is itself beyond the safe range is returned as the nearest double: large enough to fail every
 * comparison with what a portfolio can hold, and never allowed into the books (see `Money.isPostable`).
 */

/** Rounding of a quotient to a whole number. `half-up` rounds halves away from zero. */
export type Rounding = 'half-up' | 'up' | 'down';

/** `value / divisor` for integers, rounded as named; `up` and `down` are away from and toward zero. */
export function divideRounded(value: number, divisor: number, rounding: Rounding): number {
  const remainder = value % divisor;
  const quotient = (value - remainder) / divisor;
  if (remainder === 0) return quotient;
  const away = value < 0 !== divisor < 0 ? -1 : 1;
  if (rounding === 'down') return quotient;
  if (rounding === 'up') return quotient + away;
  return Math.abs(remainder) * 2 >= Math.abs(divisor) ? quotient + away : quotient;
}

/** `a × b / divisor`, exact before the only rounding, for products of any size. */
export function multiplyDivide(a: number, b: number, divisor: number, rounding: Rounding): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER && product >= -Number.MAX_SAFE_INTEGER) {
    return divideRounded(product, divisor, rounding) + 0;
  }
  return multiplyDivideBig(a, b, divisor, rounding);
}

/** `a × b × c / divisor`, as `multiplyDivide`. */
export function multiplyTwiceDivide(
  a: number,
  b: number,
  c: number,
  divisor: number,
  rounding: Rounding,
): number {
  const factor = b * c;
  if (Number.isSafeInteger(factor)) return multiplyDivide(a, factor, divisor, rounding);
  return divideBig(BigInt(a) * BigInt(b) * BigInt(c), BigInt(divisor), rounding);
}

/** `a × b / (c × d)`, as `multiplyDivide`. */
export function multiplyDivideTwice(a: number, b: number, c: number, d: number, rounding: Rounding): number {
  const divisor = c * d;
  if (Number.isSafeInteger(divisor)) return multiplyDivide(a, b, divisor, rounding);
  return divideBig(BigInt(a) * BigInt(b), BigInt(c) * BigInt(d), rounding);
}

function multiplyDivideBig(a: number, b: number, divisor: number, rounding: Rounding): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a * b;
  return divideBig(BigInt(a) * BigInt(b), BigInt(divisor), rounding);
}

function divideBig(value: bigint, by: bigint, rounding: Rounding): number {
  const remainder = value % by;
  const quotient = value / by;
  if (remainder === 0n || rounding === 'down') return Number(quotient);
  const away = value < 0n !== by < 0n ? -1n : 1n;
  if (rounding === 'up') return Number(quotient + away);
  const twice = (remainder < 0n ? -remainder : remainder) * 2n;
  return Number(twice >= (by < 0n ? -by : by) ? quotient + away : quotient);
}

/**
 * The integer that counts `text` in units of 10^-scale, or `undefined` if `text` is not a plain decimal or has
 * more decimals than the scale. Accepts what `String(number)` prints, exponents included.
 */
export function parseScaled(text: string, scale: number): number | undefined {
  const match = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (!match) return undefined;
  const fraction = match[3] ?? '';
  const exponent = Number(match[4] ?? '0') + scale - fraction.length;
  let digits = (match[2] ?? '') + fraction;
  if (exponent < 0) {
    if (!/^0*$/.test(digits.slice(exponent))) return undefined;
    digits = digits.slice(0, exponent);
  } else {
    if (exponent > 40) return /^0*$/.test(digits) ? 0 : undefined;
    digits += '0'.repeat(exponent);
  }
  const value = Number(digits === '' ? '0' : digits);
  if (!Number.isSafeInteger(value)) return undefined;
  return match[1] === '-' && value !== 0 ? -value : value;
}

/** The shortest decimal text of an integer that counts units of 10^-scale. */
export function formatScaled(value: number, scale: number): string {
  const unit = 10 ** scale;
  if (value % unit === 0) return String(value / unit + 0);
  const negative = value < 0;
  const digits = String(Math.abs(value)).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  let end = digits.length;
  while (end > whole.length && digits.charCodeAt(end - 1) === 48) end--;
  const fraction = end === whole.length ? '' : `.${digits.slice(whole.length, end)}`;
  return (negative ? '-' : '') + whole + fraction;
}

/** Greatest common divisor of two whole numbers; with 0 it is the other number. */
export function greatestCommonDivisor(a: number, b: number): number {
  let [divisor, rest] = [a, b];
  while (rest !== 0) [divisor, rest] = [rest, divisor % rest];
  return divisor;
}
