import type { Quote } from '../market/quote.js';
import { sideOf } from '../orders/order.js';
import type { Order, Side } from '../orders/order.js';
import { Price } from '../values/price.js';

/** One percent in the unit of `OrderTerms.trailingPercent`, times a hundred: the whole. */
const WHOLE = 1_000_000;

/**
 * The price that sets off stops (D48): the last trade; where a quote has none, sells look at the bid and buys at the ask. Those on
 * options always do (D74).
 */
export const triggerPrice = (quote: Quote, side: Side, isOption: boolean): Price | undefined =>
  (isOption ? undefined : quote.last) ?? (side === 'SELL' ? quote.bid : quote.ask);

/**
 * Where a trailing stop stands once the market has been at `price`: the mark never moves back, the stop keeps its
 * distance. `undefined` where nothing moves.
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

/** Where a trailing stop starts: with the last price at acceptance; where there was none, with the first it meets (D48). */
export function startingTrail(
  order: Pick<Order, 'terms' | 'progress'>,
  quote: Quote | undefined,
): { readonly mark?: Price; readonly stopPrice?: Price } {
  const side = sideOf(order.terms.positionIntent);
  const price =
    quote === undefined ? undefined : triggerPrice(quote, side, order.terms.assetClass === 'OPTION');
  return price === undefined ? {} : (trail(order, side, price) ?? {});
}
