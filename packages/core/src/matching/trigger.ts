import type { Quote } from '../market/quote.js';
import { sideOf } from '../orders/order.js';
import type { Order, Side } from '../orders/order.js';
import { Price } from '../values/price.js';

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
  side: Side,
  price: Price,
): { readonly mark: Price; readonly stopPrice: Price } | undefined {
  const { mark, trailingAmount = order.terms.trailingAmount } = order.progress;
  if (mark !== undefined && (side === 'SELL' ? price <= mark : price >= mark)) return undefined;
  const distance = trailingAmount ?? Price.scale(price, order.terms.trailingPercent ?? 0, WHOLE);
  const stop =
    side === 'SELL' ? Math.max(price - distance, 1) : Math.min(price + distance, Number.MAX_SAFE_INTEGER);
  const stopPrice = Price.ofUnits(stop);
  return { mark: price, stopPrice };
}

/** Start of a trailing stop: the last price at acceptance, else the first one after it (D48). */
export function startingTrail(
  order: Pick<Order, 'terms' | 'progress'>,
  quote: Quote | undefined,
): { readonly mark?: Price; readonly stopPrice?: Price } {
  const side = sideOf(order.terms.positionIntent);
  const price =
    quote === undefined ? undefined : triggerPrice(quote, side, order.terms.assetClass === 'OPTION');
  return price === undefined ? {} : (trail(order, side, price) ?? {});
}
