/**
 * Quantiles of Student's t distribution with whole degrees of freedom. The distribution then has a finite sum (Abramowitz and Stegun 26.7.3 and
 * 26.7.4) that is inverted by bisection.
 */

/** Halvings of an interval below 2: more than a double has digits. */
const HALVINGS = 60;

/** The value that |t| exceeds with probability 1 − `confidence`: `tQuantile(0.95, n)` is the factor of a two-sided 95 % interval. */
export function tQuantile(confidence: number, degreesOfFreedom: number): number {
  if (!Number.isInteger(degreesOfFreedom) || degreesOfFreedom < 1) return NaN;
  let low = 0;
  let high = Math.PI / 2;
  for (let i = 0; i < HALVINGS; i += 1) {
    const middle = (low + high) / 2;
    if (probabilityWithin(middle, degreesOfFreedom) < confidence) low = middle;
    else high = middle;
  }
  return Math.sqrt(degreesOfFreedom) * Math.tan((low + high) / 2);
}

/** Probability that |t| is at most √ν · tan θ. */
function probabilityWithin(angle: number, degreesOfFreedom: number): number {
  const cosine = Math.cos(angle);
  const isOdd = degreesOfFreedom % 2 === 1;
  // Powers of the cosine: 1, 3, 5 … ν − 2 for an odd ν, 0, 2, 4 … ν − 2 for an even one.
  let term = isOdd ? cosine : 1;
  let total = degreesOfFreedom === 1 ? 0 : term;
  for (let power = isOdd ? 3 : 2; power <= degreesOfFreedom - 2; power += 2) {
    term *= (cosine * cosine * (power - 1)) / power;
    total += term;
  }
  const summed = Math.sin(angle) * total;
  return isOdd ? (2 / Math.PI) * (angle + summed) : summed;
}
