import type { Split } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import { isForShares } from '../../instruments/instrument.js';
import { tickFor } from '../../instruments/tick-size.js';
import { trailingStop } from '../../matching/trigger.js';
import { remainingOf, sideOf } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import type { RenamedOrder } from '../../orders/order-event.js';
import { restatedPieces } from '../../orders/script-pieces.js';
import type { OrderScript } from '../../orders/script.js';
import { NET_TICK } from '../../orders/shape.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide } from '../../values/scaled.js';
import { adjustOrder } from './adjust-order.js';
import { cancelNow } from './cancel-order.js';
import { isFractional } from './run-script.js';

/**
 * Adjusts open orders at constant value: more shares, or contracts, at lower prices; buys round down to the tick, sells up. An order
 * without a remainder, or with a price of 0, is canceled. `renamed`: new symbols of an option order.
 */
export function splitOrder(
  d: Decision,
  order: Order,
  { ratio }: Pick<Split, 'ratio'>,
  renamed?: RenamedOrder,
): void {
  const { new: more, old } = ratio;
  const { progress, terms } = order;
  const isPackage = terms.legs !== undefined;
  const instrument = d.tradedBy(renamed ?? terms);
  const side = sideOf(terms.positionIntent);
  const direction = side === 'BUY' ? 'down' : 'up';
  const divided = (value: Price): Price => Price.scale(value, old, more);
  const price = (value: Price): Price => {
    const exact = divided(value);
    if (!isPackage) return Price.roundToTick(exact, tickFor(instrument, exact), direction);
    // The size of a net price is adjusted, also for a credit.
    const size = Price.roundToTick(Price.ofUnits(Math.abs(exact)), NET_TICK, direction);
    return Price.ofUnits(exact < 0 ? 0 - size : size);
  };
  const keepsFractions = isForShares(terms.assetClass) && d.broker(d.portfolioOf(order)).fractionalShares;
  const units = (value: Quantity): Quantity => {
    const multiplied = Quantity.ofUnits(multiplyDivide(value, more, old, 'down'));
    return keepsFractions ? multiplied : Quantity.wholePart(multiplied);
  };
  // The remainder is multiplied separately: it must never exceed the reservation.
  const left = units(remainingOf(progress));
  const filledQuantity = units(progress.filledQuantity);
  const quantity = Quantity.add(filledQuantity, left);
  const limitPrice = progress.limitPrice === undefined ? undefined : price(progress.limitPrice);
  const whole = progress.trailingAmount ?? terms.trailingAmount;
  const trailingAmount = whole && divided(whole);
  const mark = progress.mark && divided(progress.mark);
  const stopPrice =
    mark === undefined
      ? progress.stopPrice && price(progress.stopPrice)
      : trailingStop(instrument, side, mark, { trailingAmount, trailingPercent: terms.trailingPercent });
  const isWorthless = (limitPrice === 0 && !isPackage) || stopPrice === 0;
  if (left === 0 || isWorthless || !Quantity.isHoldable(quantity)) {
    cancelNow(d, order, 'CORPORATE_ACTION');
    return;
  }
  const least = (value: Price): Price =>
    Price.ofUnits(Math.max(price(value), isPackage ? 0 : tickFor(instrument, value)));
  const script = restatedScript(d, order, { units, price: least });
  const { scriptRun } = progress;
  adjustOrder(
    d,
    order,
    {
      quantity,
      ...(script !== undefined &&
        scriptRun !== undefined &&
        terms.notional === undefined && { scriptRun: { ...scriptRun, next: 0 } }),
      ...(filledQuantity !== 0 && { filledQuantity }),
      ...(limitPrice !== undefined && { limitPrice }),
      ...(stopPrice !== undefined && { stopPrice }),
      ...(trailingAmount !== undefined && { trailingAmount }),
      ...(mark !== undefined && { mark }),
      ...(progress.averagePrice !== undefined && { averagePrice: divided(progress.averagePrice) }),
      ...(progress.reservedQuantity !== 0 && { reservedQuantity: left }),
      // The exact sum counts old shares; from here on the average is used.
      ...(progress.notionalSum !== undefined && { notionalSum: null }),
    },
    { renamed, script },
  );
}

/** Script of executions restated for a split; undefined for other scripts. Percentages of an order for an amount stay (D248). */
function restatedScript(
  d: Decision,
  order: Order,
  ratio: { readonly units: (value: Quantity) => Quantity; readonly price: (value: Price) => Price },
): OrderScript | undefined {
  const { script: given, notional } = order.terms;
  const script = given?.script;
  if (given === undefined || script?.type !== 'FILL') return undefined;
  const next = order.progress.scriptRun?.next ?? 0;
  const pieces =
    notional === undefined
      ? restatedPieces(order.progress, script.pieces, next, isFractional(d, order), ratio)
      : script.pieces.map(({ quantity, price, ...piece }) => ({
          ...piece,
          ...(quantity !== undefined && { quantity: ratio.units(quantity) }),
          ...(price !== undefined && { price: ratio.price(price) }),
        }));
  return { ...given, script: { ...script, pieces } };
}
