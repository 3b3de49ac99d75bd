import {
  divideRounded,
  formatScaled,
  multiplyDivide,
  multiplyDivideTwice,
  multiplyTwiceDivide,
  parseScaled,
} from './scaled.js';
import type { Price } from './price.js';
import type { Quantity } from './quantity.js';

declare const brand: unique symbol;

/**
 * An amount of US dollars, as an integer count of 1/10,000 dollar.
 *
 * Cash moves in whole cents only (`toCents`); costs and market values keep the finer unit, so that the cost of
 * whole shares at any four-decimal price is exact.
 */
export type Money = number & { readonly [brand]: 'Money' };

const SCALE = 4;
const UNITS_PER_CENT = 100;
/** Price (1e-8) × quantity (1e-6) counts 1e-14 dollars; money counts 1e-4. */
const PRICE_QUANTITY_TO_MONEY = 1e10;
const UNITS_PER_SHARE = 1e6;
/** Multipliers have at most six decimals. */
const MULTIPLIER_SCALE = 1e6;

/** Largest amount that is posted, 100 billion dollars: sums of postings stay exact integers. */
const LARGEST_POSTING = 1e15;
/**
 * 200 billion dollars: limit of figures that move with the market. A quote can jump anywhere; reported, compared and stored
 * figures still stay exact integers.
 */
const LARGEST_FIGURE = 2e15;

export const Money = {
  zero: 0 as Money,
  /** A count of 1/10,000 dollar that is known to be an integer. */
  ofUnits: (units: number): Money => units as Money,
  /** Whole dollars. */
  ofDollars: (dollars: number): Money => (dollars * 10_000) as Money,
  /** Parses a decimal number of dollars; `undefined` beyond four decimals or the safe range. */
  parse: (text: string): Money | undefined => parseScaled(text, SCALE) as Money | undefined,
  format: (money: Money): string => formatScaled(money, SCALE),
  add: (a: Money, b: Money): Money => (a + b) as Money,
  subtract: (a: Money, b: Money): Money => (a - b) as Money,
  negate: (a: Money): Money => (0 - a) as Money,
  max: (a: Money, b: Money): Money => (a > b ? a : b),
  min: (a: Money, b: Money): Money => (a < b ? a : b),
  abs: (a: Money): Money => Math.abs(a) as Money,

  /** price × quantity, rounded half up to 1/10,000 dollar. Exact for whole shares at four-decimal prices. */
  of(price: Price, quantity: Quantity): Money {
    if (quantity % UNITS_PER_SHARE === 0) {
      return multiplyDivide(price, quantity / UNITS_PER_SHARE, 10_000, 'half-up') as Money;
    }
    return multiplyDivide(price, quantity, PRICE_QUANTITY_TO_MONEY, 'half-up') as Money;
  },

  /** Shares that an amount buys at a price, in millionths, rounded down: `of` them never exceeds it. */
  sharesFor(money: Money, price: Price): Quantity {
    return multiplyDivide(money, PRICE_QUANTITY_TO_MONEY, price, 'down') as Quantity;
  },

  /** price × quantity × multiplier, rounded half up to 1/10,000 dollar; exact as `of`, for any multiplier. */
  ofContracts(price: Price, quantity: Quantity, multiplier: number): Money {
    if (quantity % UNITS_PER_SHARE === 0 && Number.isInteger(multiplier)) {
      // Nearly all contracts: the product stays small enough to need no long arithmetic.
      return multiplyDivide(price, (quantity / UNITS_PER_SHARE) * multiplier, 10_000, 'half-up') as Money;
    }
    const factor = Math.round(multiplier * MULTIPLIER_SCALE);
    if (quantity % UNITS_PER_SHARE === 0) {
      const divisor = 10_000 * MULTIPLIER_SCALE;
      return multiplyTwiceDivide(price, quantity / UNITS_PER_SHARE, factor, divisor, 'half-up') as Money;
    }
    const divisor = PRICE_QUANTITY_TO_MONEY * MULTIPLIER_SCALE;
    return multiplyTwiceDivide(price, quantity, factor, divisor, 'half-up') as Money;
  },

  /** The price at which a quantity has the value `money`: the inverse of `ofContracts`, rounded half up to 10^-8. */
  perUnit(money: Money, quantity: Quantity, multiplier: number): Price {
    const factor = Math.round(multiplier * MULTIPLIER_SCALE);
    const scale = PRICE_QUANTITY_TO_MONEY * MULTIPLIER_SCALE;
    return multiplyDivideTwice(money, scale, quantity, factor, 'half-up') as Price;
  },

  /** Rounded half up (away from zero) to whole cents: the unit of cash payments. */
  toCents: (money: Money): Money =>
    (divideRounded(money, UNITS_PER_CENT, 'half-up') * UNITS_PER_CENT) as Money,
  /** Rounded up (away from zero) to whole cents: how regulatory fees are charged. */
  upToCents: (money: Money): Money => (divideRounded(money, UNITS_PER_CENT, 'up') * UNITS_PER_CENT) as Money,
  /** Rounded down (toward zero) to whole cents. */
  downToCents: (money: Money): Money =>
    (divideRounded(money, UNITS_PER_CENT, 'down') * UNITS_PER_CENT) as Money,

  /** money × numerator / denominator, rounded half up to 1/10,000 dollar. */
  scale: (money: Money, numerator: number, denominator: number): Money =>
    multiplyDivide(money, numerator, denominator, 'half-up') as Money,

  /** Limits a figure that moves with the market to the largest supported one, in both directions. */
  bounded: (amount: number): Money => Math.max(-LARGEST_FIGURE, Math.min(amount, LARGEST_FIGURE)) as Money,
  /** True when an amount may enter the books. */
  isPostable: (money: Money): boolean => Math.abs(money) <= LARGEST_POSTING,
} as const;
