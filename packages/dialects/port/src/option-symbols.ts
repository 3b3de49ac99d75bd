/** Forms of option symbols: root, date, type and strike in one text. */

/** The parts of an option symbol without padding. */
export interface OptionParts {
  readonly root: string;
  /** `2026-12-18`. */
  readonly expiration: string;
  readonly optionType: 'CALL' | 'PUT';
  readonly strike: number;
}

const SYMBOL = /^([A-Z0-9.]{1,6}?)(\d\d)(\d\d)(\d\d)([CP])(\d{8})$/;

/** Undefined for a text that is not an option symbol. */
export function optionParts(symbol: string): OptionParts | undefined {
  const [, root, year = '', month = '', day = '', type, strike] = SYMBOL.exec(symbol) ?? [];
  if (root === undefined) return undefined;
  return {
    root,
    expiration: `20${year}-${month}-${day}`,
    optionType: type === 'P' ? 'PUT' : 'CALL',
    strike: Number(strike) / 1000,
  };
}

/** The root of an option symbol; empty for another symbol. */
export const rootOf = (symbol: string): string => optionParts(symbol)?.root ?? '';

/** An option symbol in any form: lower case, with spaces between root and date. */
export const plainOptionSymbol = (text: string): string => text.toUpperCase().replace(/\s+/g, '');

/** A padded option symbol: `AAPL  261218C00200000`. */
export function paddedOptionSymbol(symbol: string): string {
  const root = rootOf(symbol);
  return root.padEnd(6) + symbol.slice(root.length);
}

/** Symbols of class shares with a slash: `BRK/B`, which is `BRK.B` in `/v1`. */
export const slashedSymbol = (symbol: string): string =>
  /^[A-Z]{1,5}\.[A-Z]$/.test(symbol) ? symbol.replace('.', '/') : symbol;

/** `Dec 18 2026 $200.00 Call`. */
export function optionWords({ expiration, strike, optionType }: OptionParts): string {
  const [year, month, day] = expiration.split('-').map(Number);
  const date = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day));
  const shown = date.toLocaleDateString('en-US', { month: 'short', day: '2-digit', timeZone: 'UTC' });
  return `${shown} ${String(year)} $${strike.toFixed(2)} ${optionType === 'PUT' ? 'Put' : 'Call'}`;
}
