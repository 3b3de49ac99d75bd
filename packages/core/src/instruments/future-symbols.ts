import type { ContractMonth } from './future-dates.js';

/** Letters of the months, January first. */
const MONTH_CODES = 'FGHJKMNQUVXZ';

const SYMBOL = /^([A-Z0-9]{1,4}?)([FGHJKMNQUVXZ])(\d{1,2})$/;

/** Parts of a future's symbol. */
export interface FutureSymbol extends ContractMonth {
  readonly root: string;
}

/**
 * Reads the symbol of a future, `ESZ26` or `ESZ6`: a single digit means the nearest year that is not before the last one (D91).
 * `undefined` if it is none. The root may be unknown.
 */
export function parseFutureSymbol(text: string, thisYear: number): FutureSymbol | undefined {
  const [, root, code, digits] = SYMBOL.exec(text) ?? [];
  if (root === undefined || code === undefined || digits === undefined) return undefined;
  const year = digits.length === 2 ? 2000 + Number(digits) : nearestYear(Number(digits), thisYear - 1);
  return { root, month: MONTH_CODES.indexOf(code) + 1, year };
}

const nearestYear = (digit: number, from: number): number => from + ((digit - (from % 10) + 10) % 10);

/** The one form in which symbols of futures are stored and returned: with two digits of the year, 2000–2099. */
export const formatFutureSymbol = ({ root, month, year }: FutureSymbol): string =>
  `${root}${monthCode(month)}${String(year % 100).padStart(2, '0')}`;

export const monthCode = (month: number): string => MONTH_CODES.charAt(month - 1);
