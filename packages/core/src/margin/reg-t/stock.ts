import type { Equity } from '../../instruments/equity.js';
import { valueOf } from '../../instruments/instrument.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { Amounts } from '../book.js';
import type { HouseRates } from '../house-rates.js';

const INITIAL_BPS = 5000;
const FIVE_DOLLARS = Price.of('5');
const FIVE_PER_SHARE = Price.of('5');
const TWO_FIFTY_PER_SHARE = Price.of('2.5');
export const FINRA_LONG_BPS = 2500;
const FINRA_SHORT_BPS = 3000;

/**
 * Reg T amounts of one stock position, signed quantity, at its mark (D100).
 *
 * Initial: 50 % (Regulation T, 12 CFR 220.12), for a short sale in addition to its proceeds. Maintenance (FINRA
 * Rule 4210(c)): long 25 %; short the greater of 30 % and $5.00 a share, below $5 the greater of 100 % and $2.50 a share;
 * times the factor of a leveraged fund, at most 100 % (Regulatory Notice 09-53); and at least the house's rate.
 */
export function regTStock(equity: Equity, quantity: Quantity, mark: Price, rates: HouseRates): Amounts {
  const shares = Quantity.abs(quantity);
  const value = valueOf(equity, mark, shares);
  const half = Money.scale(value, INITIAL_BPS, 10_000);
  const factor = Math.max(1, Math.abs(equity.leverageFactor));
  const scaled = (bps: number): Money =>
    Money.scale(value, Math.min(10_000, Math.round(bps * factor)), 10_000);
  if (quantity >= 0) {
    const house = scaled(Math.max(FINRA_LONG_BPS, rates.houseMaintenanceLongBps));
    return { fed: half, house, opening: house, initial: Money.max(half, house), counted: value };
  }
  const rate = scaled(Math.max(FINRA_SHORT_BPS, rates.houseMaintenanceShortBps));
  const low = mark < FIVE_DOLLARS;
  const least = low
    ? Money.max(value, valueOf(equity, TWO_FIFTY_PER_SHARE, shares))
    : valueOf(equity, FIVE_PER_SHARE, shares);
  const house = Money.max(rate, least);
  // The minimums of low-priced stock apply at initiation too.
  const fed = low ? Money.max(half, least) : half;
  return { fed, house, opening: house, initial: Money.max(fed, house), counted: Money.negate(value) };
}
