/*
 * The exponential and the natural logarithm, built from + − × ÷ alone, which IEEE 754 fixes to the last bit. `Math.exp`
 * and `Math.log` are left to the engine, and what a decision depends on must be the same on every machine (D125). The
 * result differs from the true value by less than one unit in its last place.
 */

const STEPS = 32;
const STEPS_PER_UNIT = 46.16624130844683;
/** ln 2 / 32 in two parts; multiples of the first by up to 2^16 are exact. */
const STEP_HIGH = 0.021660849392446835;
const STEP_LOW = 5.145609244655338e-14;

/** 2^(j/32), the nearest doubles. */
// prettier-ignore
const ROOTS = Float64Array.of(
  1, 1.0218971486541166, 1.0442737824274138, 1.0671404006768237, 1.0905077326652577, 1.1143867425958924,
  1.1387886347566916, 1.1637248587775775, 1.189207115002721, 1.215247359980469, 1.241857812073484,
  1.2690509571917332, 1.2968395546510096, 1.3252366431597413, 1.3542555469368927, 1.383909881963832,
  1.4142135623730951, 1.4451808069770467, 1.4768261459394993, 1.5091644275934228, 1.5422108254079407,
  1.5759808451078865, 1.6104903319492543, 1.645755478153965, 1.681792830507429, 1.718619298122478,
  1.7562521603732995, 1.7947090750031072, 1.8340080864093424, 1.8741676341103, 1.9152065613971474,
  1.9571441241754002,
);

/** Differences to the nearest doubles. */
// prettier-ignore
const REMAINDERS = Float64Array.of(
  0, 5.109225028973444e-17, 8.551889705537965e-17, -7.899853966841582e-17, -3.046782079812471e-17,
  1.0410278456845571e-16, 8.912812676025408e-17, 3.8292048369240935e-17, 3.982015231465646e-17,
  -7.712630692681488e-17, 4.658027591836937e-17, 2.667932131342186e-18, 2.5382502794888315e-17,
  -2.8587312100388614e-17, 7.70094837980299e-17, -6.770511658794786e-17, -9.667293313452913e-17,
  -3.0237581349939873e-17, -3.483994556892796e-17, -1.016455327754295e-16, 7.949834809697621e-17,
  -1.0136916471278304e-17, 2.4707192569797888e-17, -1.0125679913673774e-16, 8.199010020581497e-17,
  -1.851380418263111e-17, 2.960140695448873e-17, 1.8227458427912087e-17, 3.283107224245627e-17,
  -6.122763413004143e-17, -1.0619946056195963e-16, 8.960767791036668e-17,
);

const LOWEST_POWER = -1022;
const HIGHEST_POWER = 1023;

/** 2^n for n from −1022 to 1023, each exact. */
const POWERS_OF_TWO = powersOfTwo();

function powersOfTwo(): Float64Array {
  const powers = new Float64Array(HIGHEST_POWER - LOWEST_POWER + 1);
  powers[-LOWEST_POWER] = 1;
  for (let n = 1; n <= HIGHEST_POWER; n++)
    powers[n - LOWEST_POWER] = 2 * (powers[n - 1 - LOWEST_POWER] as number);
  for (let n = -1; n >= LOWEST_POWER; n--)
    powers[n - LOWEST_POWER] = 0.5 * (powers[n + 1 - LOWEST_POWER] as number);
  return powers;
}

const TWO_TO_MINUS_100 = 7.888609052210118e-31;
const LARGEST_ARGUMENT = 709.782712893384;
const SMALLEST_ARGUMENT = -745.1332191019412;

/** e^x; 0 or Infinity if that is too small or too large for a double. */
export function exp(x: number): number {
  if (!(x <= LARGEST_ARGUMENT)) return x > 0 ? Infinity : x;
  if (x < SMALLEST_ARGUMENT) return 0;
  // x = (32 · power + step) · ln 2 / 32 + rest, so that e^x = 2^power · 2^(step / 32) · e^rest.
  const steps = Math.floor(x * STEPS_PER_UNIT + 0.5);
  const rest = x - steps * STEP_HIGH - steps * STEP_LOW;
  const step = steps & (STEPS - 1);
  const power = (steps - step) / STEPS;
  const series =
    rest + rest * rest * (1 / 2 + rest * (1 / 6 + rest * (1 / 24 + rest * (1 / 120 + rest * (1 / 720)))));
  const root = ROOTS[step] as number;
  const value = root + ((REMAINDERS[step] as number) + root * series);
  if (power > HIGHEST_POWER) return value * 2 * (POWERS_OF_TWO[power - 1 - LOWEST_POWER] as number);
  if (power >= LOWEST_POWER) return value * (POWERS_OF_TWO[power - LOWEST_POWER] as number);
  return value * (POWERS_OF_TWO[power + 100 - LOWEST_POWER] as number) * TWO_TO_MINUS_100;
}

/** ln 2 in two parts; multiples of the first by whole numbers up to 2^11 are exact. */
const LN2_HIGH = 0.6931471805598903;
const LN2_LOW = 5.497923018708371e-14;
const SQRT_TWO = Math.sqrt(2);
const SMALLEST_NORMAL = 2.2250738585072014e-308;

const bits = new DataView(new ArrayBuffer(8));

/** ln x; −Infinity of 0, NaN of negative numbers. */
export function log(x: number): number {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN;
  if (x === Infinity) return x;
  if (x < SMALLEST_NORMAL) return log(x * 18014398509481984) - 54 * LN2_HIGH - 54 * LN2_LOW;
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  let power = (high >>> 20) - 1023;
  bits.setUint32(0, (high & 0xfffff) | 0x3ff00000);
  let mantissa = bits.getFloat64(0);
  if (mantissa > SQRT_TWO) {
    mantissa *= 0.5;
    power += 1;
  }
  // With f = mantissa − 1 and s = f / (2 + f): ln(1 + f) = 2 artanh s, whose series loses no digits in this form.
  const f = mantissa - 1;
  const s = f / (2 + f);
  const z = s * s;
  const series =
    z *
    (2 / 3 +
      z *
        (2 / 5 +
          z *
            (2 / 7 +
              z *
                (2 / 9 +
                  z *
                    (2 / 11 +
                      z *
                        (2 / 13 +
                          z * (2 / 15 + z * (2 / 17 + z * (2 / 19 + z * (2 / 21 + z * (2 / 23)))))))))));
  const half = 0.5 * f * f;
  return power * LN2_HIGH - (half - (s * (half + series) + power * LN2_LOW) - f);
}
