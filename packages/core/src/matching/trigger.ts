import type { Tradable } from '../instruments/instrument.js';
import { tickFor } from '../instruments/tick-size.js';
import type { Quote } from '../market/quote.js';
import { sideOf } from '../orders/order.js';
import type { Order, OrderTerms, Side } from '../orders/order.js';
import { Price } from '../values/price.js';
import { multiplyDivide } from '../values/scaled.js';

/** One percent in the unit of `OrderTerms.trailingPercent`, times a hundred: the whole. */
const WHOLE = 1_000_000;

/**
 * The price that triggers stops (D48): the last trade; without one the bid for sells and the ask for buys. Stops on
 * options always use these (D74).
 */
export const triggerPrice = (quote: Quote, side: Side, isOption: boolean): Price | undefined =>
  (isOption ? undefined : quote.last) ?? (side === 'SELL' ? quote.bid : quote.ask);

/**
 * Mark and stop of a trailing stop after the market was at `price`: the mark never moves back, the stop keeps its
 * distance. `undefined` if neither moves.
 */
export function trail(
  order: Pick<Order, 'terms' | 'progress'>,
  instrument: Tradable,
  side: Side,
  price: Price,
): { readonly mark: Price; readonly stopPrice: Price } | undefined {
  const { mark } = order.progress;
  if (mark !== undefined && (side === 'SELL' ? price <= mark : price >= mark)) return undefined;
  const trailingAmount = order.progress.trailingAmount ?? order.terms.trailingAmount;
  const { trailingPercent } = order.terms;
  return {
    mark: price,
    stopPrice: trailingStop(instrument, side, price, { trailingAmount, trailingPercent }),
  };
}

/**
 * The stop at a distance from an exact mark: the nearest tick of the grid at its price, halves away from the market, at least one tick from
 * the mark and one above 0 (D250).
 */
export function trailingStop(
  instrument: Tradable,
  side: Side,
  mark: Price,
  { trailingAmount, trailingPercent = 0 }: Pick<OrderTerms, 'trailingAmount' | 'trailingPercent'>,
): Price {
  // The exact stop, rounded toward the market: a half of a tick stays one, and what is beyond it stays beyond it.
  const distance = trailingAmount ?? multiplyDivide(mark, trailingPercent, WHOLE, 'down');
  const away = side === 'SELL' ? -1 : 1;
  const least = tickFor(instrument, Price.ofUnits(0));
  const exact = Math.min(mark + away * distance, Number.MAX_SAFE_INTEGER);
  if (exact <= least) return least;
  const tick = tickFor(instrument, Price.ofUnits(exact));
  const beyond = exact % tick;
  const isUp = side === 'SELL' ? beyond * 2 > tick : beyond * 2 >= tick;
  let stop = exact - beyond + (isUp ? tick : 0);
  // Below a price at which the tick grows, the next tick is a smaller one.
  const tickAt = (price: number): Price => tickFor(instrument, Price.ofUnits(price));
  while (away * (stop - mark) < tickAt(stop) && stop > least)
    stop += away * tickAt(side === 'SELL' ? stop - 1 : stop);
  return Price.ofUnits(Math.max(stop, least));
}

/** Start of a trailing stop: the last price at acceptance, else the first one after it (D48). */
export function startingTrail(
  order: Pick<Order, 'terms' | 'progress'>,
  instrument: Tradable,
  quote: Quote | undefined,
): { readonly mark?: Price; readonly stopPrice?: Price } {
  const side = sideOf(order.terms.positionIntent);
  const price =
    quote === undefined ? undefined : triggerPrice(quote, side, order.terms.assetClass === 'OPTION');
  return price === undefined ? {} : (trail(order, instrument, side, price) ?? {});
}
