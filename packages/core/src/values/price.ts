import { formatScaled, multiplyDivide, parseScaled } from './scaled.js';

declare const brand: unique symbol;

/** A price per share (or points per unit), as an integer count of 10^-8. Fine enough for every listed tick size. */
export type Price = number & { readonly [brand]: 'Price' };

const SCALE = 8;

export const Price = {
  /** A count of 10^-8 that is known to be an integer. */
  ofUnits: (units: number): Price => units as Price,
  /** Parses a decimal; `undefined` beyond eight decimals or the safe range. */
  parse: (text: string): Price | undefined => parseScaled(text, SCALE) as Price | undefined,
  format: (price: Price): string => formatScaled(price, SCALE),
  /** For literals in code and tests: throws on anything that is not exactly a price. */
  of(text: string): Price {
    const price = Price.parse(text);
    if (price === undefined) throw new RangeError(`not a price: ${text}`);
    return price;
  },
  isMultipleOf: (price: Price, tick: Price): boolean => price % tick === 0,
  /** The nearest multiple of `tick` that is not above (`down`) or not below (`up`) a positive price. */
  roundToTick(price: Price, tick: Price, direction: 'up' | 'down'): Price {
    const remainder = price % tick;
    if (remainder === 0) return price;
    return (price - remainder + (direction === 'up' ? tick : 0)) as Price;
  },
  /** price × numerator / denominator, rounded half up to 10^-8. */
  scale: (price: Price, numerator: number, denominator: number): Price =>
    multiplyDivide(price, numerator, denominator, 'half-up') as Price,
} as const;
