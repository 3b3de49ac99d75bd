import type { MarginExcess } from '../orders/margin-excess.js';
import type { SetAside } from '../orders/order.js';
import type { Refusal } from '../orders/refusal.js';
import { Money } from '../values/money.js';
import {
  canBorrow,
  canBorrowForPurchases,
  overnightBuyingPower,
  requiredBuyingPower,
  availableToOrder,
} from './buying-power.js';
import type { AvailableMargin } from './buying-power.js';
import { fitsExcess } from './effect.js';

/** An opening order at its worst price, or a part of it at the price it executes. */
export interface OpeningOrder {
  readonly isShortSale: boolean;
  /** With commission and fees; of a short sale its value with them. */
  readonly cost: Money;
  readonly effect: MarginExcess;
  /** Of shares; absent = not. */
  readonly isStock?: boolean;
}

const CENT = 100;

/**
 * Why a MARGIN portfolio cannot take an opening order; `undefined` = it can. What the order has set aside already has been judged and
 * is not judged again. Else what is left above both requirements must have room for it (D108), and below the minimum equity
 * nothing is lent: nothing is sold short, and only cash buys (D109).
 */
export function marginRefusal(
  opening: OpeningOrder,
  already: SetAside,
  room: () => AvailableMargin,
): Refusal | undefined {
  if (isWithin(opening, already)) return undefined;
  const { isShortSale, cost, effect } = opening;
  const beside = availableToOrder(room(), already);
  const isLent = canBorrow(beside);
  // What costs nothing, such as a covered call, is paid beside a loan too.
  const isPaid = !isShortSale && cost <= Money.max(beside.freeCash, Money.zero);
  const mayBorrow = isShortSale ? isLent : canBorrowForPurchases(beside);
  if ((mayBorrow || isPaid) && hasRoomFor(opening, beside)) return undefined;
  return {
    code: 'INSUFFICIENT_FUNDS',
    availableCash: Money.max(beside.freeCash, Money.zero),
    requiredAmount: Money.bounded(cost),
    availableBuyingPower: overnightBuyingPower(beside),
    requiredBuyingPower: Money.bounded(requiredBuyingPower(effect, beside)),
  };
}

/** By both measures (D108); of stock, where the broker lends for the day, by that and what is left of it (D110). */
function hasRoomFor(
  { cost, effect, isStock = false }: OpeningOrder,
  { left, forTheDay }: AvailableMargin,
): boolean {
  if (fitsExcess(effect, left)) return true;
  return (
    isStock && forTheDay !== undefined && left.maintenance + effect.maintenance >= 0 && cost <= forTheDay
  );
}

/** Parts of an order are rounded one by one: together they may take a fraction of a cent more than the whole. */
function isWithin({ isShortSale, cost, effect }: OpeningOrder, { reserved, takes }: SetAside): boolean {
  if (takes.initial === 0 && takes.maintenance === 0) return false;
  return (
    (isShortSale || cost - reserved < CENT) &&
    0 - effect.initial - takes.initial < CENT &&
    0 - effect.maintenance - takes.maintenance < CENT
  );
}
