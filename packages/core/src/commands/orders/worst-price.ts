import type { Decision } from '../../decision.js';
import { sideOf } from '../../orders/order.js';
import type { OrderProgress, OrderTerms } from '../../orders/order.js';
import { Price } from '../../values/price.js';

type Market = Pick<OrderTerms, 'symbol' | 'positionIntent'>;
type Prices = Pick<OrderProgress, 'limitPrice' | 'stopPrice'>;

/**
 * The price at which an opening order requires the most: for a purchase its limit, or else the ask (a stop: its stop) plus the collar, for
 * a short sale the higher of its price and the ask (a short option: or its mark, `contract-requirement.ts`). `undefined` if there is no
 * price yet.
 */
export function worstPrice(
  d: Decision,
  { symbol, positionIntent }: Market,
  { limitPrice, stopPrice }: Prices,
): Price | undefined {
  const isPurchase = sideOf(positionIntent) === 'BUY';
  if (isPurchase && limitPrice !== undefined) return limitPrice;
  const quote = d.quote(symbol);
  const market = quote?.ask ?? quote?.last ?? quote?.bid;
  const named = limitPrice ?? stopPrice;
  const price = named === undefined ? market : Price.ofUnits(Math.max(named, market ?? 0));
  if (price === undefined || !isPurchase) return price;
  return Price.scale(price, 10_000 + d.rules.marketCollarBps, 10_000);
}
