import type { Decision } from '../../decision.js';
import type { Tradable } from '../../instruments/instrument.js';
import type { HouseOrigin } from '../../orders/order.js';
import type { OrderRequest } from '../../orders/order-request.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Quantity } from '../../values/quantity.js';
import { reachMarket } from './reach-market.js';

/** Places the house's market order that closes this part of a position (negative = short), without any check. */
export function placeHouseOrder(
  d: Decision,
  portfolio: Portfolio,
  instrument: Tradable,
  held: Quantity,
  origin: HouseOrigin,
): void {
  const { symbol, assetClass } = instrument;
  const request: OrderRequest = {
    portfolioId: portfolio.terms.portfolioId,
    symbol,
    assetClass,
    orderType: 'MARKET',
    positionIntent: held < 0 ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE',
    quantity: Quantity.abs(held),
    timeInForce: 'DAY',
    origin,
  };
  const number = d.numberHouseOrder(request);
  d.emit({
    type: 'OrderAccepted',
    number,
    tier: 'ENTERPRISE',
    request,
    ...(instrument.assetClass === 'OPTION' && { underlying: instrument.underlying }),
  });
  const order = d.state.orders.get(number);
  if (order !== undefined) reachMarket(d, order);
}
