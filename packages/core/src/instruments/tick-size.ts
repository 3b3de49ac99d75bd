import { Price } from '../values/price.js';
import type { Equity } from './instrument.js';

const ONE_DOLLAR = Price.of('1');
const PENNY = Price.of('0.01');
const HUNDREDTH_OF_A_PENNY = Price.of('0.0001');

/**
 * The smallest step in which an order on `instrument` at about `price` may be priced: the instrument's own `tickSize`,
 * else one cent from one dollar and 0.0001 dollar below.
 *
 * Source: SEC Rule 612 of Regulation NMS, 17 CFR 242.612 (docs/rules/tick-size.md). It binds the prices at which orders
 * are accepted and ranked, not those at which they execute.
 */
export function tickSizeFor(instrument: Equity, price: Price): Price {
  if (instrument.tickSize !== undefined) return instrument.tickSize;
  return price >= ONE_DOLLAR ? PENNY : HUNDREDTH_OF_A_PENNY;
}

/** Whether an order on `instrument` may carry this limit or stop price. */
export function isOnTick(instrument: Equity, price: Price): boolean {
  return Price.isMultipleOf(price, tickSizeFor(instrument, price));
}
