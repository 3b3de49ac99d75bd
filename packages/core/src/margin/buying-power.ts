import { MarginExcess } from '../orders/margin-excess.js';
import type { SetAside } from '../orders/order.js';
import { Money } from '../values/money.js';
import type { HouseRates } from './house-rates.js';
import type { MarginType } from './margin-type.js';
import { FINRA_LONG_BPS } from './reg-t/stock.js';

/** Minimum equity for borrowing (FINRA Rule 4210(b)). */
export const MINIMUM_MARGIN_EQUITY = Money.ofDollars(2000);

/** Equity that day trading requires under the pattern-day-trader rule (FINRA Rule 4210(f)(8)(B); D110, D111). */
export const PATTERN_EQUITY = Money.ofDollars(25_000);

const DAY_TRADE_MULTIPLE = 4;

/** Rate of buying power under portfolio margin: that of an unhedged stock (D108, D165). */
const PORTFOLIO_BPS = 1500;

/** Margin of a MARGIN portfolio available to opening orders, at current marks and after open orders. */
export interface AvailableMargin {
  readonly marginType: MarginType;
  readonly house: HouseRates;
  readonly totalEquity: Money;
  /** Cash without debits, proceeds of short sales and reservations; negative = a loan. */
  readonly freeCash: Money;
  /** True when cash secures short puts; new orders then use the remaining cash only (D80, D81). */
  readonly keepsCash?: boolean;
  /** Excess over the requirements, less those of open orders. */
  readonly left: MarginExcess;
  /** Intraday leverage only: amount of stock that may still be opened, instead of the initial measure (D110). */
  readonly forTheDay?: Money;
}

/** Available margin of an order that is already open: its own reservation is added back. */
export const availableToOrder = (room: AvailableMargin, { reserved, takes }: SetAside): AvailableMargin => ({
  ...room,
  freeCash: Money.add(room.freeCash, reserved),
  left: MarginExcess.add(room.left, takes),
});

/** True when the account may borrow cash or shares. */
export const canBorrow = (room: AvailableMargin): boolean => room.totalEquity >= MINIMUM_MARGIN_EQUITY;

/** True when a purchase may be paid with a loan. */
export const canBorrowForPurchases = (room: AvailableMargin): boolean =>
  canBorrow(room) && room.keepsCash !== true;

/**
 * Value of stock that may be bought or sold short and kept overnight (D108): under REG_T the lesser of the initial and the
 * maintenance limits, under PORTFOLIO the maintenance limit. Below $2,000 of equity at most the free cash
 * (D160).
 */
export function overnightBuyingPower(room: AvailableMargin): Money {
  const { marginType, left, freeCash } = room;
  const held = stockHeldWith(left.maintenance, room);
  const power = marginType === 'PORTFOLIO' ? held : Math.min(stockOpenedWith(left.initial), held);
  return positive(canBorrowForPurchases(room) ? power : Math.min(power, freeCash));
}

/**
 * Day-trade buying power: under REG_T four times the maintenance excess at the previous close (FINRA Rule 4210(f)(8)(B); D54),
 * under PORTFOLIO the overnight figure.
 */
export function dayTradeBuyingPower(room: AvailableMargin, previousMaintenanceExcess: Money): Money {
  if (room.marginType === 'PORTFOLIO') return overnightBuyingPower(room);
  const power = previousMaintenanceExcess * DAY_TRADE_MULTIPLE;
  return positive(canBorrowForPurchases(room) ? power : Math.min(power, room.freeCash));
}

/**
 * Buying power that a refused order requires (D108): by the initial measure, or by maintenance if only that
 * is short.
 */
export function requiredBuyingPower(effect: MarginExcess, room: AvailableMargin): Money {
  const { initial, maintenance } = MarginExcess.add(room.left, effect);
  const onlyHolding = initial >= 0 && maintenance < 0;
  return room.marginType === 'PORTFOLIO' || onlyHolding
    ? positive(stockHeldWith(Money.negate(effect.maintenance), room))
    : positive(stockOpenedWith(Money.negate(effect.initial)));
}

/** Value of stock that an initial excess can open: half of it is lent. */
const stockOpenedWith = (initial: Money): number => 2 * initial;

/** Value of long stock that a maintenance excess can hold. */
function stockHeldWith(maintenance: Money, { marginType, house }: AvailableMargin): number {
  const longBps = Math.max(FINRA_LONG_BPS, house.houseMaintenanceLongBps);
  return Money.scale(maintenance, 10_000, marginType === 'PORTFOLIO' ? PORTFOLIO_BPS : longBps);
}

/** Bounds an amount to a non-negative exact integer, however far quotes have jumped. */
const positive = (money: number): Money =>
  Money.ofUnits(Math.min(Math.max(0, money), Number.MAX_SAFE_INTEGER));
