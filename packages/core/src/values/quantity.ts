import { formatScaled, parseScaled } from './scaled.js';

declare const brand: unique symbol;

/** A number of shares or contracts, as an integer count of 10^-6. Signed for positions: negative = short. */
export type Quantity = number & { readonly [brand]: 'Quantity' };

const SCALE = 6;
const UNITS = 1e6;
/** Two billion: more than any company lets one portfolio have, and less than a quarter of the safe range. */
const MOST_HELD = 2e15;

export const Quantity = {
  zero: 0 as Quantity,
  /** A count of 10^-6 that is known to be an integer. */
  ofUnits: (units: number): Quantity => units as Quantity,
  /** Whole shares or contracts. */
  of: (whole: number): Quantity => (whole * UNITS) as Quantity,
  /** Parses a decimal; `undefined` beyond six decimals or the safe range. */
  parse: (text: string): Quantity | undefined => parseScaled(text, SCALE) as Quantity | undefined,
  format: (quantity: Quantity): string => formatScaled(quantity, SCALE),
  add: (a: Quantity, b: Quantity): Quantity => (a + b) as Quantity,
  subtract: (a: Quantity, b: Quantity): Quantity => (a - b) as Quantity,
  negate: (a: Quantity): Quantity => (0 - a) as Quantity,
  min: (a: Quantity, b: Quantity): Quantity => (a < b ? a : b),
  max: (a: Quantity, b: Quantity): Quantity => (a > b ? a : b),
  abs: (a: Quantity): Quantity => Math.abs(a) as Quantity,
  /** True when a quantity may be held or ordered: sums and the products of a split's bookkeeping stay exact integers. */
  isHoldable: (quantity: Quantity): boolean => quantity <= MOST_HELD && quantity >= -MOST_HELD,
  isWhole: (quantity: Quantity): boolean => quantity % UNITS === 0,
  /** The part in whole shares, toward zero. */
  wholePart: (quantity: Quantity): Quantity => (quantity - (quantity % UNITS)) as Quantity,
} as const;
