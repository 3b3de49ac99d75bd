import { exp, log } from './exponential.js';
import { bell, cumulative, quantile, quantileFromHalf } from './normal.js';
import { normalizedRest, normalizedValue, normalizedVega } from './normalized.js';

/*
 * The volatility at which a European option has a value, after P. Jäckel, "Let's Be Rational" (Wilmott, 2015): the range of values is
 * divided in four, in each of which a function of the value is nearly straight. A rational cubic through the known values at the
 * ends of the part is the first guess, and Householder's iteration of the third order does the rest, usually in two steps.
 */

const MOST_STEPS = 12;
const PI = 3.141592653589793;
const SQRT_THREE = 1.7320508075688772;
const SQRT_TWO_PI = 2.5066282746310002;
const PRECISION = 1e-15;

/**
 * s = σ√T at which `normalizedValue(x, s)` is `value`, for x ≤ 0 and 0 < value < e^(x/2); 0 and Infinity outside of that.
 */
export function normalizedVolatility(x: number, value: number): number {
  if (!(value > 0)) return 0;
  const most = exp(0.5 * x);
  if (value >= most) return Infinity;
  // At the money it is 2Φ(s/2) − 1.
  if (x === 0) return 2 * quantileFromHalf(0.5 * value);
  const center = Math.sqrt(-2 * x);
  const atCenter = normalizedValue(x, center);
  const vegaAtCenter = normalizedVega(x, center);
  return value < atCenter
    ? belowCenter(x, value, center, atCenter, vegaAtCenter)
    : aboveCenter(x, value, most, center, atCenter, vegaAtCenter);
}

/** The value is steepest at the center; its tangent there meets 0 where the lowest part ends. */
function belowCenter(
  x: number,
  value: number,
  center: number,
  atCenter: number,
  vegaAtCenter: number,
): number {
  const low = center - atCenter / vegaAtCenter;
  const atLow = normalizedValue(x, low);
  if (value >= atLow) {
    const vegaAtLow = normalizedVega(x, low);
    const guess = rationalCubic(
      { at: atLow, value: low, slope: 1 / vegaAtLow },
      { at: atCenter, value: center, slope: 1 / vegaAtCenter },
      value,
      0,
      'RIGHT',
    );
    return iterate(x, value, guess, 0, center, straight);
  }
  const guess = lowestGuess(x, value, low, atLow);
  return iterate(x, value, guess, 0, low, inverseLogarithm);
}

/** The first guess for the lowest values: Φ(−|x| / (√3 s))³, which they are proportional to in the limit, times the scale of b. */
function lowestGuess(x: number, value: number, low: number, atLow: number): number {
  const scale = (-2 * PI * x) / (3 * SQRT_THREE);
  const z = x / (SQRT_THREE * low);
  const tail = cumulative(z);
  const squares = z * z + (low * low) / 8;
  const slope = 2 * PI * z * z * tail * tail * exp(squares);
  const overDensity = (tail * SQRT_TWO_PI) / bell(z);
  const curvature =
    (PI / 6) *
    ((z * z) / (low * low * low)) *
    tail *
    (-8 * SQRT_THREE * low * x + (3 * low * low * (low * low - 8) - 8 * x * x) * overDensity) *
    exp(2 * z * z + (low * low) / 4);
  const mapped = rationalCubic(
    { at: 0, value: 0, slope: 1 },
    { at: atLow, value: scale * tail * tail * tail, slope },
    value,
    curvature,
    'RIGHT',
  );
  const root = exp(log(mapped / scale) / 3);
  const guess = Math.abs(x / (SQRT_THREE * quantile(root)));
  return guess > 0 && guess < low ? guess : 0.5 * low;
}

/** Above the center its tangent meets the value at infinite volatility where the highest part begins. */
function aboveCenter(
  x: number,
  value: number,
  most: number,
  center: number,
  atCenter: number,
  vegaAtCenter: number,
): number {
  const high = center + (most - atCenter) / vegaAtCenter;
  const atHigh = normalizedValue(x, high);
  if (value <= atHigh) {
    const guess = rationalCubic(
      { at: atCenter, value: center, slope: 1 / vegaAtCenter },
      { at: atHigh, value: high, slope: 1 / normalizedVega(x, high) },
      value,
      0,
      'LEFT',
    );
    return iterate(x, value, guess, center, Infinity, straight);
  }
  const h = x / high;
  const mapped = rationalCubic(
    { at: atHigh, value: cumulative(-0.5 * high), slope: -0.5 * exp(0.5 * h * h) },
    { at: most, value: 0, slope: -0.5 },
    value,
    (Math.sqrt(PI / 2) * exp(h * h + (high * high) / 8) * h * h) / high,
    'LEFT',
  );
  const guess = mapped > 0 && mapped < 0.5 ? -2 * quantile(mapped) : high;
  return iterate(x, value, guess, center, Infinity, logarithmOfRest);
}

interface End {
  readonly at: number;
  readonly value: number;
  readonly slope: number;
}

/**
 * R. Delbourgo and J. A. Gregory's rational cubic (SIAM Journal on Scientific and Statistical Computing 6, 1985) between two ends,
 * with the second derivative given at one of them, unless that would bend it the wrong way.
 */
function rationalCubic(
  left: End,
  right: End,
  at: number,
  curvature: number,
  curvedAt: 'LEFT' | 'RIGHT',
): number {
  const width = right.at - left.at;
  const t = (at - left.at) / width;
  const chord = (right.value - left.value) / width;
  const bend = 0.5 * width * curvature + (right.slope - left.slope);
  const wanted = curvedAt === 'RIGHT' ? bend / (right.slope - chord) : bend / (chord - left.slope);
  // At least this much keeps it monotone and convex or concave like its ends.
  const least = Math.max(
    (left.slope + right.slope) / chord,
    Math.abs(
      (right.slope - left.slope) /
        (left.slope < right.slope
          ? Math.min(chord - left.slope, right.slope - chord)
          : Math.max(chord - left.slope, right.slope - chord)),
    ),
  );
  const control = Math.max(Number.isNaN(wanted) ? 0 : wanted, Number.isNaN(least) ? 0 : least, 0);
  const rest = 1 - t;
  if (!(control < 1e10)) return right.value * t + left.value * rest;
  return (
    (right.value * t * t * t +
      (control * right.value - width * right.slope) * t * t * rest +
      (control * left.value + width * left.slope) * t * rest * rest +
      left.value * rest * rest * rest) /
    (1 + (control - 3) * t * rest)
  );
}

/** Newton's step for a function of the value, and its second and third derivatives divided by the first. */
interface Step {
  newton: number;
  second: number;
  third: number;
}

type Objective = (x: number, s: number, value: number, step: Step) => void;

/** Derivatives of b divided by the first: the second and third. */
const secondOf = (x: number, s: number): number => (x * x) / (s * s * s) - 0.25 * s;
const thirdOf = (x: number, s: number, second: number): number =>
  second * second - (3 * x * x) / (s * s * s * s) - 0.25;

const straight: Objective = (x, s, value, step) => {
  const second = secondOf(x, s);
  step.newton = (value - normalizedValue(x, s)) / normalizedVega(x, s);
  step.second = second;
  step.third = thirdOf(x, s, second);
};

/** 1 / ln b */
const inverseLogarithm: Objective = (x, s, value, step) => {
  const b = normalizedValue(x, s);
  const relative = normalizedVega(x, s) / b;
  const logarithm = log(b);
  const wanted = log(value);
  const second = secondOf(x, s);
  step.newton = ((wanted - logarithm) * logarithm) / wanted / relative;
  step.second = second - relative * (1 + 2 / logarithm);
  step.third =
    thirdOf(x, s, second) +
    2 * relative * relative * (1 + (3 / logarithm) * (1 + 1 / logarithm)) -
    3 * second * relative * (1 + 2 / logarithm);
};

/** ln of the difference to the value at infinite volatility. */
const logarithmOfRest: Objective = (x, s, value, step) => {
  const rest = normalizedRest(x, s);
  const relative = normalizedVega(x, s) / rest;
  const second = secondOf(x, s);
  step.newton = log(rest / (exp(0.5 * x) - value)) / relative;
  step.second = second + relative;
  step.third = thirdOf(x, s, second) + relative * (2 * relative + 3 * second);
};

/** Householder's iteration, kept between two bounds that close in. */
function iterate(
  x: number,
  value: number,
  guess: number,
  lowest: number,
  highest: number,
  objective: Objective,
): number {
  const step: Step = { newton: 0, second: 0, third: 0 };
  let low = lowest;
  let high = highest;
  let s = guess;
  for (let i = 0; i < MOST_STEPS; i++) {
    objective(x, s, value, step);
    const { newton, second, third } = step;
    if (newton > 0) low = s;
    else if (newton < 0) high = s;
    const bend = (1 + 0.5 * second * newton) / (1 + newton * (second + (third * newton) / 6));
    // A step that bends back or grows out of proportion is Newton's.
    let next = s + newton * (bend > 0.2 && bend < 5 ? bend : 1);
    if (!(next > low && next < high)) {
      if (next === s) return s;
      next = high < Infinity ? 0.5 * (low + high) : 2 * s;
    }
    const moved = Math.abs(next - s);
    s = next;
    if (moved <= PRECISION * s) break;
  }
  return s;
}
