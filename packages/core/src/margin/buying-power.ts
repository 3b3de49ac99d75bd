import { Money } from '../values/money.js';
import type { MarginType } from './margin-type.js';

/** What buying powers are taken from, all at the current marks. */
export interface BuyingPowerBasis {
  /** Absent for CASH portfolios. */
  readonly marginType: MarginType | undefined;
  readonly totalEquity: Money;
  /** Settled and pending cash together, without the proceeds of short sales; negative = a loan. */
  readonly cash: Money;
  /** Settled cash that nothing is set aside of. */
  readonly freeCash: Money;
  readonly regTExcess: Money;
  readonly maintenanceExcess: Money;
  /** Maintenance excess at the previous close; absent before the first one. */
  readonly previousMaintenanceExcess: Money | undefined;
  readonly houseRateBps: number;
}

export interface BuyingPowers {
  readonly smaBalance: Money;
  readonly overnightBuyingPower: Money;
  readonly dayTradeBuyingPower: Money;
}

/** Below this equity an account may not borrow (FINRA Rule 4210(b)). */
export const MINIMUM_MARGIN_EQUITY = Money.ofDollars(2000);
const SWEEP_BPS = 1500;
const DAY_TRADE_MULTIPLE = 4;

const positive = (money: number): Money =>
  Money.ofUnits(Math.min(Math.max(0, money), Number.MAX_SAFE_INTEGER));

/**
 * How much stock may be bought (or sold short).
 *
 * CASH: the free settled cash, for both (D52). REG_T overnight: `min(excess / 50 %, maintenance excess / house rate)`;
 * below 2,000 of equity only what is paid for. REG_T day trades: four times the maintenance excess at the previous close
 * (FINRA Rule 4210(f)(8)(B); D54). PORTFOLIO: excess over 15 % of unhedged stock. Before what open orders set aside.
 */
export function buyingPowers(basis: BuyingPowerBasis): BuyingPowers {
  const { marginType, freeCash, maintenanceExcess, regTExcess } = basis;
  if (marginType === undefined) {
    return { smaBalance: Money.zero, overnightBuyingPower: freeCash, dayTradeBuyingPower: freeCash };
  }
  if (marginType === 'PORTFOLIO') {
    const power = positive(Money.scale(maintenanceExcess, 10_000, SWEEP_BPS));
    return { smaBalance: Money.zero, overnightBuyingPower: power, dayTradeBuyingPower: power };
  }
  const sma = positive(regTExcess);
  const dayTrade = positive((basis.previousMaintenanceExcess ?? 0) * DAY_TRADE_MULTIPLE);
  if (basis.totalEquity < MINIMUM_MARGIN_EQUITY) {
    const paid = positive(basis.cash);
    return { smaBalance: sma, overnightBuyingPower: paid, dayTradeBuyingPower: Money.min(paid, dayTrade) };
  }
  const overnight = Math.min(sma * 2, Money.scale(positive(maintenanceExcess), 10_000, basis.houseRateBps));
  return { smaBalance: sma, overnightBuyingPower: positive(overnight), dayTradeBuyingPower: dayTrade };
}
