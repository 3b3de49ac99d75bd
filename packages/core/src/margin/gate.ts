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

/** An opening order at its worst price, or a part of it at its execution price. */
export interface OpeningOrder {
  readonly isShortSale: boolean;
  /** With commission and fees; for a short sale its value plus them. */
  readonly cost: Money;
  readonly effect: MarginExcess;
  /** True for shares; absent = false. */
  readonly isStock?: boolean;
}

const CENT = 100;

/**
 * Refusal of an opening order in a MARGIN portfolio; `undefined` = accepted. The order's reservation was checked before and
 * is not checked again. Otherwise the available margin must cover both requirements (D108), and below the minimum equity
 * the broker lends nothing: no short sales, and purchases from cash only (D109).
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
  // A cost of 0, such as that of a covered call, counts as paid even with a loan.
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

/** Checks both measures (D108); for stock with intraday leverage the day-trade amount instead of the initial one (D110). */
function hasRoomFor(
  { cost, effect, isStock = false }: OpeningOrder,
  { left, forTheDay }: AvailableMargin,
): boolean {
  if (fitsExcess(effect, left)) return true;
  return (
    isStock && forTheDay !== undefined && left.maintenance + effect.maintenance >= 0 && cost <= forTheDay
  );
}

/** Parts of an order are rounded one by one: together they may require a fraction of a cent more than the whole. */
function isWithin({ isShortSale, cost, effect }: OpeningOrder, { reserved, takes }: SetAside): boolean {
  if (takes.initial === 0 && takes.maintenance === 0) return false;
  return (
    (isShortSale || cost - reserved < CENT) &&
    0 - effect.initial - takes.initial < CENT &&
    0 - effect.maintenance - takes.maintenance < CENT
  );
}
