import type { MarginInterestTier } from '../brokers/broker.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';

/** Accruals are kept unrounded off the books, in units of 10^-8 dollars (D118). */
export type Accrual = number;

const UNITS_PER_MONEY = 10_000;
const DAYS_A_YEAR = 360;
const BPS = 10_000;
/** Fee base of short stock: 102 % of its price, in whole dollars per share. */
const COLLATERAL_PERCENT = 102;
const PRICE_UNITS_PER_MILLIONTH = 100;
const MILLION = 1e6;
const CENT: Accrual = 1e6;

/** A day's accrual, capped so that the sum stays exact: after about ninety million dollars between two postings it stops growing. */
export const accruable = (more: Accrual, accrued: Accrual): Accrual =>
  Math.min(more, Number.MAX_SAFE_INTEGER - accrued);

/** A day's interest on a loan, each part of it at the rate of its tier. */
export function dailyInterest(loan: Money, tiers: readonly MarginInterestTier[]): Accrual {
  let interest = 0;
  tiers.forEach(({ from, rateAnnualBps }, i) => {
    const upTo = tiers[i + 1]?.from ?? loan;
    const part = Math.max(0, Math.min(loan, upTo) - from);
    interest += (part * UNITS_PER_MONEY * rateAnnualBps) / (BPS * DAYS_A_YEAR);
  });
  return Math.round(interest);
}

/** A day's fee for short shares: on 102 % of the price, rounded up to the next dollar, at least one. */
export function dailyBorrowFee(price: Price, shares: Quantity, rateAnnual: number): Accrual {
  // Rounded first: prices after a split can end in a third of a cent, and rounding noise must not add a dollar.
  const millionths = multiplyDivide(price, COLLATERAL_PERCENT, PRICE_UNITS_PER_MILLIONTH * 100, 'half-up');
  const dollars = Math.max(1, Math.ceil(millionths / MILLION));
  return Math.round((dollars * (shares / MILLION) * rateAnnual * 1e8) / DAYS_A_YEAR);
}

/** The posted amount of an accrual: to the cent, half up. */
export const postedOf = (accrual: Accrual): Money =>
  Money.toCents(Money.ofUnits(Math.round(accrual / UNITS_PER_MONEY)));

/** 0 for an accrual below a cent, else the accrual. */
export const unlessBelowCent = (accrual: Accrual): Accrual => (accrual < CENT ? 0 : accrual);
