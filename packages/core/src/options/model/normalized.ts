import { bell, cumulative, tailRatio } from './normal.js';
import { exp } from './exponential.js';

/*
 * Black's formula in the two numbers it depends on (P. Jäckel, "Let's Be Rational", Wilmott, 2015): for an option out of the money, x =
 * −|ln(F/K)| and s = σ√T, its undiscounted value divided by √(F·K). With h = x/s and t = s/2 it is
 *
 *   b(x, s) = e^(x/2) Φ(h + t) − e^(−x/2) Φ(h − t) = e^(−(h² + t²)/2) · (r(h + t) − r(h − t)),   r(z) = Φ(z) e^(z²/2),
 *
 * a difference of numbers that can agree in nearly all their digits. Each of the methods here keeps them in the range where it is used.
 */

const SQRT_TWO_PI = 2.5066282746310002;
const INVERSE_SQRT_TWO_PI = 0.3989422804014327;
/** Farther out than this the tails have an asymptotic series. */
const FAR = -13;
/** A narrower difference than this has a series in t. */
const NARROW = 0.21;

/** b(x, s) for x ≤ 0 and s ≥ 0; less than e^(x/2). */
export function normalizedValue(x: number, s: number): number {
  if (!(s > 0)) return 0;
  const h = x / s;
  const t = 0.5 * s;
  if (h < FAR && h + t < FAR + 3) return normalizedVega(x, s) * differenceFar(h, t);
  if (t < NARROW) return normalizedVega(x, s) * differenceNarrow(h, t);
  if (h + t > 0.85) return exp(0.5 * x) * cumulative(h + t) - exp(-0.5 * x) * cumulative(h - t);
  return bell(h) * bell(t) * (bellRatio(h + t) - bellRatio(h - t));
}

/** The derivative of b by s. */
export const normalizedVega = (x: number, s: number): number =>
  INVERSE_SQRT_TWO_PI * bell(x / s) * bell(0.5 * s);

/** Difference to e^(x/2), the value at infinite volatility, to its last digits. */
export function normalizedRest(x: number, s: number): number {
  const h = x / s;
  const t = 0.5 * s;
  return exp(0.5 * x) * cumulative(-h - t) + exp(-0.5 * x) * cumulative(h - t);
}

/** r(z) = Φ(z) e^(z²/2) */
const bellRatio = (z: number): number => (z <= 0 ? tailRatio(-z) : exp(0.5 * z * z) - tailRatio(z));

/*
 * Both series are of the difference of Y(z) = Φ(z) / φ(z) between h + t and h − t; φ(h)φ(t)√2π, the vega, is what to multiply it by.
 */

/**
 * Far out Y(z) = Σ (−1)^k (2k − 1)!! / |z|^(2k + 1), whose differences are sums of positive numbers: with A = 1 / (|h| − t), B = 1 / (|h| + t)
 * and D_k = A^(2k + 1) − B^(2k + 1), D_(k + 1) = A² D_k + (A² − B²) B^(2k + 1).
 */
function differenceFar(h: number, t: number): number {
  const near = 1 / (-h - t);
  const far = 1 / (t - h);
  const nearSquare = near * near;
  const farSquare = far * far;
  const apart = 2 * t * near * far;
  const squaresApart = apart * (near + far);
  let difference = apart;
  let power = far;
  let factor = 1;
  let sum = difference;
  for (let k = 0; k < 40; k++) {
    difference = nearSquare * difference + squaresApart * power;
    power *= farSquare;
    factor *= -(2 * k + 1);
    const term = factor * difference;
    sum += term;
    if (Math.abs(term) < 1e-17 * sum) break;
  }
  return sum;
}

/** Taylor's series in t, whose odd terms are left: Y' = 1 + hY, and Y^(n + 1) = h Y^(n) + n Y^(n − 1). */
function differenceNarrow(h: number, t: number): number {
  const square = t * t;
  let before = h <= 0 ? SQRT_TWO_PI * tailRatio(-h) : SQRT_TWO_PI * (exp(0.5 * h * h) - tailRatio(h));
  let derivative = 1 + h * before;
  let power = 2 * t;
  let sum = power * derivative;
  for (let n = 1; n < 40; n += 2) {
    before = h * derivative + n * before;
    derivative = h * before + (n + 1) * derivative;
    power *= square / ((n + 1) * (n + 2));
    const term = power * derivative;
    sum += term;
    if (Math.abs(term) < 1e-17 * sum) break;
  }
  return sum;
}
