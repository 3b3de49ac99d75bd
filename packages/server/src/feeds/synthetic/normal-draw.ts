import { log } from '@sandpit/core';

/**
 * A draw of the standard normal distribution from one hash, by the inverse of its distribution function (Wichura, algorithm AS 241, PPND16).
 * Increments of a path that is built by halving are independent only if its draws are normal.
 */

/** Coefficients of a rational function, the highest power first. */
type Coefficients = readonly [number, number, number, number, number, number, number, number];

const HASHES = 0x100000000;

const CENTER_TOP: Coefficients = [
  2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
  13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
];
const CENTER_BOTTOM: Coefficients = [
  5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
  5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1,
];
const TAIL_TOP: Coefficients = [
  7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
  3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734,
];
const TAIL_BOTTOM: Coefficients = [
  1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
  0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1,
];
const FAR_TOP: Coefficients = [
  2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
  0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772,
];
const FAR_BOTTOM: Coefficients = [
  2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
  0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1,
];

/** Written out: a loop takes twice as long. */
const valueAt = (c: Coefficients, x: number): number =>
  ((((((c[0] * x + c[1]) * x + c[2]) * x + c[3]) * x + c[4]) * x + c[5]) * x + c[6]) * x + c[7];

const ratioAt = (top: Coefficients, bottom: Coefficients, x: number): number =>
  valueAt(top, x) / valueAt(bottom, x);

/** A normal draw from an unsigned 32-bit hash. Symmetric: the complement of a hash gives the negative draw. */
export function normalDraw(hash: number): number {
  const probability = (hash + 0.5) / HASHES;
  const fromCenter = probability - 0.5;
  if (Math.abs(fromCenter) <= 0.425)
    return fromCenter * ratioAt(CENTER_TOP, CENTER_BOTTOM, 0.180625 - fromCenter * fromCenter);
  const tail = fromCenter < 0 ? probability : 1 - probability;
  const depth = Math.sqrt(-log(tail));
  const size =
    depth <= 5 ? ratioAt(TAIL_TOP, TAIL_BOTTOM, depth - 1.6) : ratioAt(FAR_TOP, FAR_BOTTOM, depth - 5);
  return fromCenter < 0 ? -size : size;
}

/** The largest draw in size. */
export const LARGEST_NORMAL_DRAW = normalDraw(HASHES - 1);
