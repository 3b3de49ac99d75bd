import { MarginExcess } from '../orders/margin-excess.js';
import type { SetAside } from '../orders/order.js';
import { Money } from '../values/money.js';
import type { HouseRates } from './house-rates.js';
import type { MarginType } from './margin-type.js';
import { FINRA_LONG_BPS } from './reg-t/stock.js';

/** Below this equity an account may not borrow (FINRA Rule 4210(b)). */
export const MINIMUM_MARGIN_EQUITY = Money.ofDollars(2000);

/** The equity that day trading takes under the pattern-day-trader rule (FINRA Rule 4210(f)(8)(B); D110, D111). */
export const PATTERN_EQUITY = Money.ofDollars(25_000);

const DAY_TRADE_MULTIPLE = 4;

/** The rate that buying power counts at under portfolio margin: an unhedged stock's (D108, D165). */
const PORTFOLIO_BPS = 1500;

/** What a MARGIN portfolio has left for opening orders, at the current marks, beside what is open already. */
export interface AvailableMargin {
  readonly marginType: MarginType;
  readonly house: HouseRates;
  readonly totalEquity: Money;
  /** Cash that is not owed, is no proceeds of short sales, and that nothing is set aside of; negative = a loan. */
  readonly freeCash: Money;
  /** True when cash secures short puts; new orders then use the remaining cash only (D80, D81). */
  readonly keepsCash?: boolean;
  /** Above the requirements, once open orders have taken theirs. */
  readonly left: MarginExcess;
  /** Where the broker lends for the day: what stock may still be opened for, in place of the initial measure (D110). */
  readonly forTheDay?: Money;
}

/** The room of an order that is open already: what it has set aside is there for it. */
export const availableToOrder = (room: AvailableMargin, { reserved, takes }: SetAside): AvailableMargin => ({
  ...room,
  freeCash: Money.add(room.freeCash, reserved),
  left: MarginExcess.add(room.left, takes),
});

/** True when anything may be borrowed, shares included. */
export const canBorrow = (room: AvailableMargin): boolean => room.totalEquity >= MINIMUM_MARGIN_EQUITY;

/** True when a purchase may be paid with a loan. */
export const canBorrowForPurchases = (room: AvailableMargin): boolean =>
  canBorrow(room) && room.keepsCash !== true;

/**
 * How much stock may be bought or sold short and kept overnight (D108): under REG_T the lesser of what the initial and the
 * maintenance headroom allow, under PORTFOLIO what the maintenance headroom allows. Below 2,000 of equity no more than what
 * is paid for (D160).
 */
export function overnightBuyingPower(room: AvailableMargin): Money {
  const { marginType, left, freeCash } = room;
  const held = stockHeldWith(left.maintenance, room);
  const power = marginType === 'PORTFOLIO' ? held : Math.min(stockOpenedWith(left.initial), held);
  return positive(canBorrowForPurchases(room) ? power : Math.min(power, freeCash));
}

/**
 * For day trades: under REG_T four times the maintenance excess at the previous close (FINRA Rule 4210(f)(8)(B); D54),
 * under PORTFOLIO the overnight figure.
 */
export function dayTradeBuyingPower(room: AvailableMargin, previousMaintenanceExcess: Money): Money {
  if (room.marginType === 'PORTFOLIO') return overnightBuyingPower(room);
  const power = previousMaintenanceExcess * DAY_TRADE_MULTIPLE;
  return positive(canBorrowForPurchases(room) ? power : Math.min(power, room.freeCash));
}

/**
 * What an order that does not fit needs, in the same unit (D108): by the initial measure, or by the other where only that
 * is short.
 */
export function requiredBuyingPower(effect: MarginExcess, room: AvailableMargin): Money {
  const { initial, maintenance } = MarginExcess.add(room.left, effect);
  const onlyHolding = initial >= 0 && maintenance < 0;
  return room.marginType === 'PORTFOLIO' || onlyHolding
    ? positive(stockHeldWith(Money.negate(effect.maintenance), room))
    : positive(stockOpenedWith(Money.negate(effect.initial)));
}

/** The stock whose purchase takes so much of the initial headroom: half of it is lent. */
const stockOpenedWith = (initial: Money): number => 2 * initial;

/** The long stock that takes so much to hold. */
function stockHeldWith(maintenance: Money, { marginType, house }: AvailableMargin): number {
  const longBps = Math.max(FINRA_LONG_BPS, house.houseMaintenanceLongBps);
  return Money.scale(maintenance, 10_000, marginType === 'PORTFOLIO' ? PORTFOLIO_BPS : longBps);
}

/** Not negative, and an exact integer however far quotes have jumped. */
const positive = (money: number): Money =>
  Money.ofUnits(Math.min(Math.max(0, money), Number.MAX_SAFE_INTEGER));
