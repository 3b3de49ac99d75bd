import { Price } from '../values/price.js';
import { TradingDate } from '../values/trading-date.js';

/** Parts of an option symbol. */
export interface OsiSymbol {
  /** Often, not always, the symbol of the underlying: see `option-roots.ts`. */
  readonly root: string;
  readonly expiration: TradingDate;
  readonly optionType: 'CALL' | 'PUT';
  readonly strike: Price;
}

/** Root, yymmdd, right, strike in thousandths: the symbology of the Options Symbology Initiative (2010). */
const OSI = /^([A-Z0-9.]{1,6}) *(\d{6})([CP])(\d{8})$/i;

/** Prices count 1e-8, strikes in symbols 1e-3. */
const UNITS_PER_THOUSANDTH = 1e5;
const DATE_RIGHT_AND_STRIKE = 15;
const RIGHT_AND_STRIKE = 9;
const MOST_THOUSANDTHS = 99_999_999;
const ROOT = /^[A-Z0-9.]{1,6}$/i;

/** True when a symbol is long enough for an option in OSI form; symbols of other classes are shorter. A cheap test before parsing. */
export const isLongAsOsi = (symbol: string): boolean => symbol.length > DATE_RIGHT_AND_STRIKE;

/**
 * Reads an option symbol, its root padded to six characters or not, in any case. `undefined` if it is none, or has an
 * invalid date or a strike of zero.
 */
export function parseOsi(text: string): OsiSymbol | undefined {
  const [, root, date, right, strike] = OSI.exec(text) ?? [];
  if (root === undefined || date === undefined || right === undefined || strike === undefined)
    return undefined;
  const expiration = TradingDate.parse(`20${date.slice(0, 2)}-${date.slice(2, 4)}-${date.slice(4)}`);
  if (expiration === undefined || Number(strike) === 0) return undefined;
  return {
    root: root.toUpperCase(),
    expiration,
    optionType: right.toUpperCase() === 'C' ? 'CALL' : 'PUT',
    strike: Price.ofUnits(Number(strike) * UNITS_PER_THOUSANDTH),
  };
}

/**
 * The one form in which option symbols are stored and returned: without blanks (D61). `undefined` if no symbol can express
 * it: a root longer than six characters, a strike finer than a thousandth or of 100,000 and more, a year outside 2000–2099.
 */
export function formatOsi({ root, expiration, optionType, strike }: OsiSymbol): string | undefined {
  const thousandths = strike / UNITS_PER_THOUSANDTH;
  if (!Number.isInteger(thousandths) || thousandths <= 0 || thousandths > MOST_THOUSANDTHS) return undefined;
  if (!expiration.startsWith('20') || !ROOT.test(root)) return undefined;
  const date = expiration.slice(2, 4) + expiration.slice(5, 7) + expiration.slice(8, 10);
  return root + date + (optionType === 'CALL' ? 'C' : 'P') + String(thousandths).padStart(8, '0');
}

/** True when a symbol in that form names a put. */
export const isPutSymbol = (symbol: string): boolean =>
  isLongAsOsi(symbol) && symbol.at(-RIGHT_AND_STRIKE) === 'P';

/** The root of a symbol in that form. */
export const rootOfOsi = (symbol: string): string => symbol.slice(0, -DATE_RIGHT_AND_STRIKE);

/** Common part of the symbols of a series, root and date: contracts are sorted by it, then by right and strike. */
export const seriesNameOf = (symbol: string): string => symbol.slice(0, -RIGHT_AND_STRIKE);
