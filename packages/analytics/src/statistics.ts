/** Sums, means and deviations of returns, in doubles, added in the order given. */

/** Deviations below this are rounding noise: a ratio over one would be meaningless. */
const NEGLIGIBLE = 1e-12;

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Arithmetic mean; NaN for no values. */
export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** Sample standard deviation, with n − 1; NaN for fewer than two values. */
export function sampleDeviation(values: readonly number[]): number {
  return Math.sqrt(sampleCovariance(values, values));
}

/** Sample covariance of pairs, with n − 1; NaN for fewer than two pairs. */
export function sampleCovariance(xs: readonly number[], ys: readonly number[]): number {
  const meanX = mean(xs);
  const meanY = mean(ys);
  return sum(xs.map((x, index) => (x - meanX) * ((ys[index] ?? NaN) - meanY))) / (xs.length - 1);
}

/** Root mean square of the negative values, all values counted in the mean. */
export function downsideDeviation(values: readonly number[]): number {
  return Math.sqrt(mean(values.map((value) => Math.min(value, 0) ** 2)));
}

/** `numerator / denominator`; undefined when the denominator is negligible or either is not a number. */
export function ratio(numerator: number, denominator: number): number | undefined {
  const quotient = numerator / denominator;
  return Math.abs(denominator) < NEGLIGIBLE || !Number.isFinite(quotient) ? undefined : quotient;
}
