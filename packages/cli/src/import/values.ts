/** Texts of vendors' files as exact decimals and times. No number passes through a binary fraction. */

/** An unusable value of a row, described in words. */
export class BadValue extends Error {
  override readonly name = 'BadValue';
}

/** `45,000,000`, `1.5e-3`, `$254.53`. Commas only between groups of three. */
const NUMBER = /^\$?([+-]?)(?:(\d{1,3}(?:,\d{3})+)|(\d*))(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/;
/** The form of almost all prices, which needs no further arithmetic. */
const PLAIN = /^(?:0|[1-9]\d{0,6})(?:\.\d?[1-9])?$/;

/** An exact decimal: `digits` × 10^−`places`. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

/** Parses a number. `isAmbiguous`: in files with `;` between cells a single comma may be a decimal point. */
function numberOf(text: string, isAmbiguous: boolean): Decimal {
  const [, sign, grouped, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = `${grouped?.replaceAll(',', '') ?? whole}${fraction}`;
  if (sign === undefined || digits === '' || digits.length > 60)
    throw new BadValue(`"${text}" is not a number`);
  if (isAmbiguous && grouped !== undefined && !/,.*[,.]/.test(text))
    throw new BadValue(`"${text}" may have a decimal comma; write decimals with a point`);
  const value = BigInt(sign === '-' ? `-${digits}` : digits);
  const places = fraction.length - Number(exponent);
  return places >= 0 ? { digits: value, places } : { digits: value * 10n ** BigInt(-places), places: 0 };
}

/** Decimals that a price keeps, and those of a size. */
const PRICE_PLACES = 8;
const SIZE_PLACES = 6;
const MOST_UNITS = BigInt(Number.MAX_SAFE_INTEGER);

/** A form of the user's numbers, and what is implied in them. */
export interface NumberForm {
  /** Implied decimal places of a text without a point: 9 if 5000000000 means 5. */
  readonly places?: number;
  readonly lots?: number;
  readonly isAmbiguous?: boolean;
}

/**
 * The price in a text, as a decimal of at most eight places. A price within 6·10⁻⁸ of itself of a tick (0.01, below 1.00 0.0001) is that
 * tick: vendors write prices from binary fractions, even of single precision. Throws `BadValue`, also for prices that are not above 0.
 */
export function priceOf(text: string, { places = 0, isAmbiguous = false }: NumberForm = {}): string {
  if (places === 0 && PLAIN.test(text) && text !== '0') return text;
  const parsed = numberOf(text, isAmbiguous);
  const snapped = onTick({
    digits: parsed.digits,
    places: parsed.places + (text.includes('.') ? 0 : places),
  });
  const units = unitsOf(snapped, PRICE_PLACES);
  if (units <= 0n) throw new BadValue(`"${text}" is not a price above 0`);
  if (units > MOST_UNITS)
    throw new BadValue(
      `"${text}" is too large for a price; scaled prices need a layout with priceDecimals (--layout)`,
    );
  return textOf(units, PRICE_PLACES);
}

/** A size or a volume. */
export function sizeOf(text: string, { lots = 1, isAmbiguous = false }: NumberForm = {}): string {
  if (lots === 1 && /^(?:0|[1-9]\d{0,14})$/.test(text)) return text;
  const { digits, places } = numberOf(text, isAmbiguous);
  const units = unitsOf({ digits: digits * BigInt(lots), places }, SIZE_PLACES);
  if (units < 0n) throw new BadValue(`"${text}" is not a size`);
  if (units / 10n ** BigInt(SIZE_PLACES) > MOST_UNITS)
    throw new BadValue(`"${text}" is too large for a size`);
  return textOf(units, SIZE_PLACES);
}

/** The sum of amounts, and their decimal; undefined for 0. */
export function amountOf(texts: readonly string[], form: NumberForm): string | undefined {
  const units = texts.reduce(
    (sum, text) => sum + unitsOf(onTick(numberOf(text, form.isAmbiguous === true)), PRICE_PLACES),
    0n,
  );
  if (units < 0n) throw new BadValue(`"${texts.join('" + "')}" is not an amount of 0 or more`);
  return units === 0n ? undefined : textOf(units, PRICE_PLACES);
}

const CENT_PLACES = 2;
const FINE_PLACES = 4;

function onTick(value: Decimal): Decimal {
  const { digits, places } = value;
  const tickPlaces = digits < 10n ** BigInt(places) ? FINE_PLACES : CENT_PLACES;
  if (places <= tickPlaces || digits <= 0n) return value;
  const tick = 10n ** BigInt(places - tickPlaces);
  const ticks = (2n * digits + tick) / (2n * tick);
  const away = ticks * tick - digits;
  return (away < 0n ? -away : away) * 100_000_000n <= 6n * digits
    ? { digits: ticks, places: tickPlaces }
    : value;
}

/** A count of 10^−`kept`, rounded half up. */
function unitsOf({ digits, places }: Decimal, kept: number): bigint {
  if (places <= kept) return digits * 10n ** BigInt(kept - places);
  const divisor = 10n ** BigInt(places - kept);
  const doubled = 2n * digits + divisor;
  const quotient = doubled / (2n * divisor);
  return doubled < 0n && doubled % (2n * divisor) !== 0n ? quotient - 1n : quotient;
}

function textOf(units: bigint, places: number): string {
  const digits = units.toString().padStart(places + 1, '0');
  const rest = digits.slice(-places).replace(/0+$/, '');
  return `${digits.slice(0, -places)}${rest === '' ? '' : `.${rest}`}`;
}

/** The larger of two decimals, compared exactly. */
export function isAbove(a: string, b: string): boolean {
  // Rounding to a double keeps the order, and may make different decimals equal.
  const [near, far] = [Number(a), Number(b)];
  if (near !== far || a === b) return near > far;
  const [x, y] = [numberOf(a, false), numberOf(b, false)];
  return x.digits * 10n ** BigInt(y.places) > y.digits * 10n ** BigInt(x.places);
}

const MOST_TERMS = 21;
const MOST_OF_ONE = 10_000;
const LARGEST_TERM = 999_999;

/** Reads the ratio of a split, `7:1` = seven new for one old; undefined for 1 and for an empty cell. Throws `BadValue`. */
export function ratioOf(text: string): string | undefined {
  const terms = /^(\d{1,6})\s*[:/]\s*(\d{1,6})$/.exec(text);
  if (terms !== null) {
    const [fresh, old] = [Number(terms[1]), Number(terms[2])];
    if (fresh === 0 || old === 0 || fresh > LARGEST_TERM) throw new BadValue(`"${text}" is not a ratio`);
    return fresh === old ? undefined : `${fresh}:${old}`;
  }
  const { digits, places } = numberOf(text, false);
  const value = Number(digits) / 10 ** places;
  if (value === 0 || value === 1) return undefined;
  // A stock dividend of 1 to 10 %.
  if (places === 2 && value >= 1.01 && value <= 1.1) return reduced(Number(digits), 100);
  const decimals = /\.(\d+)$/.exec(text)?.[1]?.length ?? 0;
  const found = nearestRatio(value);
  if (found !== undefined) {
    const away = Math.abs(value - found.fresh / found.old);
    const isClose = away <= (1e-5 * found.fresh) / found.old || (decimals >= 4 && away <= 10 ** -decimals);
    if (isClose) return reduced(found.fresh, found.old);
  }
  throw new BadValue(
    `"${text}" is not the ratio of a split: write the ratio as text (3:2), leave the cell empty, or record a SPIN_OFF instead`,
  );
}

/** The ratio n:1, 1:n or a:b nearest to a value. */
function nearestRatio(value: number): { readonly fresh: number; readonly old: number } | undefined {
  if (!(value > 0)) return undefined;
  let nearest: { readonly fresh: number; readonly old: number } | undefined;
  const consider = (fresh: number, old: number): void => {
    if (fresh < 1 || old < 1 || fresh > MOST_OF_ONE || old > MOST_OF_ONE) return;
    const away = Math.abs(value - fresh / old);
    if (nearest === undefined || away < Math.abs(value - nearest.fresh / nearest.old))
      nearest = { fresh, old };
  };
  for (const n of [Math.floor(value), Math.ceil(value)]) consider(n, 1);
  for (const n of [Math.floor(1 / value), Math.ceil(1 / value)]) consider(1, n);
  for (let old = 1; old <= MOST_TERMS; old += 1)
    for (const fresh of [Math.floor(value * old), Math.ceil(value * old)])
      if (fresh <= MOST_TERMS) consider(fresh, old);
  return nearest;
}

function reduced(fresh: number, old: number): string {
  const divisor = common(fresh, old);
  return `${fresh / divisor}:${old / divisor}`;
}

/** The greatest common divisor. */
export const common = (a: number, b: number): number => (b === 0 ? a : common(b, a % b));
