import type { Equity } from '../../instruments/equity.js';
import { valueOf } from '../../instruments/instrument.js';
import { Money } from '../../values/money.js';
import type { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { Amounts } from '../book.js';

/** How far a stock is moved either way: what an unhedged one can lose is its portfolio-margin requirement. */
export const SWEEP_BPS = 1500;

/** What one unhedged stock position takes under portfolio margin: the worst loss of a 15 % move either way. */
export function sweptStock(equity: Equity, quantity: Quantity, mark: Price): Amounts {
  const value = valueOf(equity, mark, Quantity.abs(quantity));
  const house = Money.scale(value, SWEEP_BPS, 10_000);
  return { fed: Money.zero, house, initial: house, counted: quantity < 0 ? Money.negate(value) : value };
}
