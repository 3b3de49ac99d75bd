import type { Split } from '../corporate-actions/corporate-action.js';
import type { Decision } from '../decision.js';
import { isForShares } from '../instruments/instrument.js';
import { tickFor } from '../instruments/tick-size.js';
import { remainingOf, sideOf } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import type { RenamedOrder } from '../orders/order-event.js';
import { NET_TICK } from '../orders/shape.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import { adjustOrder } from './adjust-order.js';
import { cancelNow } from './cancel-order.js';

/**
 * Open orders keep their value: more shares, or contracts, at lower prices, buys rounded down to the tick, sells up. One that has nothing left to
 * trade, or a price of nothing, is canceled. `renamed`: of options, what they trade from now on.
 */
export function splitOrder(d: Decision, order: Order, { ratio }: Split, renamed?: RenamedOrder): void {
  const { new: more, old } = ratio;
  const { progress, terms } = order;
  const isPackage = terms.legs !== undefined;
  const instrument = d.tradedBy(renamed ?? terms);
  const direction = sideOf(terms.positionIntent) === 'BUY' ? 'down' : 'up';
  const divided = (value: Price): Price => Price.scale(value, old, more);
  const price = (value: Price): Price => {
    const exact = divided(value);
    if (!isPackage) return Price.roundToTick(exact, tickFor(instrument, exact), direction);
    // A net price may be a credit, which is no less of one for being negative.
    const size = Price.roundToTick(Price.ofUnits(Math.abs(exact)), NET_TICK, direction);
    return Price.ofUnits(exact < 0 ? 0 - size : size);
  };
  const keepsFractions = isForShares(terms.assetClass) && d.broker(d.portfolioOf(order)).fractionalShares;
  const units = (value: Quantity): Quantity => {
    const multiplied = Quantity.ofUnits(multiplyDivide(value, more, old, 'down'));
    return keepsFractions ? multiplied : Quantity.wholePart(multiplied);
  };
  // What is left is multiplied by itself: it must never come to more than what it has set aside.
  const left = units(remainingOf(progress));
  const filledQuantity = units(progress.filledQuantity);
  const quantity = Quantity.add(filledQuantity, left);
  const limitPrice = progress.limitPrice === undefined ? undefined : price(progress.limitPrice);
  const stopPrice = progress.stopPrice === undefined ? undefined : price(progress.stopPrice);
  const trailingAmount = progress.trailingAmount ?? terms.trailingAmount;
  const isWorthless = (limitPrice === 0 && !isPackage) || stopPrice === 0;
  if (left === 0 || isWorthless || !Quantity.isHoldable(quantity)) {
    cancelNow(d, order, 'CORPORATE_ACTION');
    return;
  }
  adjustOrder(
    d,
    order,
    {
      quantity,
      ...(filledQuantity !== 0 && { filledQuantity }),
      ...(limitPrice !== undefined && { limitPrice }),
      ...(stopPrice !== undefined && { stopPrice }),
      ...(trailingAmount !== undefined && { trailingAmount: divided(trailingAmount) }),
      ...(progress.mark !== undefined && { mark: divided(progress.mark) }),
      ...(progress.averagePrice !== undefined && { averagePrice: divided(progress.averagePrice) }),
      ...(progress.reservedQuantity !== 0 && { reservedQuantity: left }),
      // An exact sum over the old shares; from here on it is taken from the average.
      ...(progress.notionalSum !== undefined && { notionalSum: null }),
    },
    renamed,
  );
}
