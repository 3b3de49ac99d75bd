import type { Quote } from '../../market/quote.js';
import { Price } from '../../values/price.js';

/**
 * The mark of an option by its quote (D72), with a missing bid counted as 0: `last` if it lies within bid and ask, else the nearer of
 * the two; without `last` the midpoint, rounded down to the price unit. Without an ask the greater of `last` and the bid. `undefined`
 * without any price: then the model is used if the underlying has a price, otherwise the cost.
 */
export function optionMarkOf({ bid, ask, last }: Quote): Price | undefined {
  if (ask === undefined) {
    if (bid === undefined || last === undefined) return bid ?? last;
    return last > bid ? last : bid;
  }
  const lowest = bid ?? Price.ofUnits(0);
  if (last === undefined) return Price.ofUnits(Math.floor((lowest + ask) / 2));
  if (last < lowest) return lowest;
  return last > ask ? ask : last;
}
