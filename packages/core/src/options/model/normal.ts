import { exp, log } from './exponential.js';

/*
 * The normal distribution. The distribution function and its tails are W. J. Cody's rational Chebyshev approximations
 * (Mathematics of Computation 23, 1969; as in Algorithm 715, ACM TOMS 19, 1993), the inverse is M. J. Wichura's PPND16 (Algorithm
 * AS 241, Applied Statistics 37, 1988), both good to about the last digit of a double.
 */

const INVERSE_SQRT_TWO_PI = 0.3989422804014327;
const CENTER = 0.66291;
const MIDDLE = 5.656854249492381;

/** e^(−x²/2), with the part of the square that a double leaves out: in the far tails it is several digits. */
export function bell(x: number): number {
  const square = x * x;
  if (!(square < 1500)) return 0;
  // Dekker: the high half of x times 2^27 + 1 has no more than 26 bits, so that its products are exact.
  const split = x * 134217729;
  const high = split - (split - x);
  const low = x - high;
  const leftOut = low * low - (square - high * high - 2 * high * low);
  const value = exp(-0.5 * square);
  return value - value * 0.5 * leftOut;
}

/** The density of the normal distribution. */
export const density = (x: number): number => INVERSE_SQRT_TWO_PI * bell(x);

/** Φ(x) − ½ for |x| up to `CENTER`. */
function aroundHalf(x: number): number {
  const z = x * x;
  return (
    (x *
      ((((0.065682337918207449113 * z + 2.2352520354606839287) * z + 161.02823106855587881) * z +
        1067.6894854603709582) *
        z +
        18154.981253343561249)) /
    ((((z + 47.20258190468824187) * z + 976.09855173777669322) * z + 10260.932208618978205) * z +
      45507.789335026729956)
  );
}

/** (1 − Φ(x)) · e^(x²/2) for x from 0 up: the tail without its bell factor. Never too small for a number. */
export function tailRatio(x: number): number {
  if (x <= CENTER) return (0.5 - aroundHalf(x)) * exp(0.5 * x * x);
  if (x <= MIDDLE) {
    return (
      ((((((((1.0765576773720192317e-8 * x + 0.39894151208813466764) * x + 8.8831497943883759412) * x +
        93.506656132177855979) *
        x +
        597.27027639480026226) *
        x +
        2494.5375852903726711) *
        x +
        6848.1904505362823326) *
        x +
        11602.651437647350124) *
        x +
        9842.7148383839780218) /
      ((((((((x + 22.266688044328115691) * x + 235.38790178262499861) * x + 1519.377599407554805) * x +
        6485.558298266760755) *
        x +
        18615.571640885098091) *
        x +
        34900.952721145977266) *
        x +
        38912.003286093271411) *
        x +
        19685.429676859990727)
    );
  }
  const z = 1 / (x * x);
  const correction =
    (z *
      (((((0.02307344176494017303 * z + 0.21589853405795699) * z + 0.1274011611602473639) * z +
        0.022235277870649807) *
        z +
        0.001421619193227893466) *
        z +
        2.9112874951168792e-5)) /
    (((((z + 1.28426009614491121) * z + 0.468238212480865118) * z + 0.0659881378689285515) * z +
      0.00378239633202758244) *
      z +
      7.29751555083966205e-5);
  return (INVERSE_SQRT_TWO_PI - correction) / x;
}

/** Φ(x), the probability of a value up to x; small ones to their last digits too. */
export function cumulative(x: number): number {
  if (x > CENTER) return 1 - tailRatio(x) * bell(x);
  if (x < -CENTER) return tailRatio(-x) * bell(x);
  return 0.5 + aroundHalf(x);
}

/** The x with Φ(x) = probability; infinite at 0 and 1, NaN outside. */
export function quantile(probability: number): number {
  const fromHalf = probability - 0.5;
  if (Math.abs(fromHalf) <= 0.425) return quantileAroundHalf(fromHalf);
  if (!(probability > 0 && probability < 1)) {
    return probability === 0 ? -Infinity : probability === 1 ? Infinity : NaN;
  }
  return fromHalf < 0 ? -farQuantile(probability) : farQuantile(1 - probability);
}

/** The x with Φ(x) − ½ = `fromHalf`, which keeps the digits of small ones. */
export function quantileFromHalf(fromHalf: number): number {
  return Math.abs(fromHalf) <= 0.425 ? quantileAroundHalf(fromHalf) : quantile(fromHalf + 0.5);
}

function quantileAroundHalf(q: number): number {
  const r = 0.180625 - q * q;
  return (
    (q *
      (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r +
        45921.953931549871457) *
        r +
        13731.693765509461125) *
        r +
        1971.5909503065514427) *
        r +
        133.14166789178437745) *
        r +
        3.387132872796366608)) /
    (((((((5226.495278852854561 * r + 28729.085735721942674) * r + 39307.89580009271061) * r +
      21213.794301586595867) *
      r +
      5394.1960214247511077) *
      r +
      687.1870074920579083) *
      r +
      42.313330701600911252) *
      r +
      1)
  );
}

/** Distance above the middle at which the upper tail has this small probability. */
function farQuantile(tail: number): number {
  const root = Math.sqrt(-log(tail));
  if (root <= 5) {
    const r = root - 1.6;
    return (
      (((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r + 0.24178072517745061177) * r +
        1.27045825245236838258) *
        r +
        3.64784832476320460504) *
        r +
        5.7694972214606914055) *
        r +
        4.6303378461565452959) *
        r +
        1.42343711074968357734) /
      (((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r + 0.0151986665636164571966) * r +
        0.14810397642748007459) *
        r +
        0.68976733498510000455) *
        r +
        1.6763848301838038494) *
        r +
        2.05319162663775882187) *
        r +
        1)
    );
  }
  const r = root - 5;
  return (
    (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 0.0012426609473880784386) * r +
      0.026532189526576123093) *
      r +
      0.29656057182850489123) *
      r +
      1.7848265399172913358) *
      r +
      5.4637849111641143699) *
      r +
      6.6579046435011037772) /
    (((((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r + 1.8463183175100546818e-5) * r +
      7.868691311456132591e-4) *
      r +
      0.0148753612908506148525) *
      r +
      0.13692988092273580531) *
      r +
      0.59983220655588793769) *
      r +
      1)
  );
}
