import type { Portfolio } from '../portfolios/portfolio.js';
import { Money } from '../values/money.js';

/** What buying powers are taken from, all at the current marks. */
export interface BuyingPowerBasis {
  readonly portfolio: Portfolio;
  readonly totalEquity: Money;
  /** Settled cash that nothing is set aside of. */
  readonly freeCash: Money;
  readonly regTExcess: Money;
  readonly maintenanceExcess: Money;
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

const positive = (money: number): Money => Money.ofUnits(Math.max(0, money));

/**
 * How much stock may be bought (or sold short).
 *
 * CASH: the free settled cash, for both (D52). REG_T overnight: `min(excess / 50 %, maintenance excess / house rate)`;
 * below 2,000 of equity only what is paid for. REG_T day trades: four times the maintenance excess at the previous close
 * (FINRA Rule 4210(f)(8)(B); D54). PORTFOLIO: excess over 15 % of unhedged stock. Before what open orders set aside.
 */
export function buyingPowers(basis: BuyingPowerBasis): BuyingPowers {
  const { portfolio, freeCash, maintenanceExcess, regTExcess } = basis;
  const { portfolioType, marginType } = portfolio.settings;
  if (portfolioType === 'CASH') {
    return { smaBalance: Money.zero, overnightBuyingPower: freeCash, dayTradeBuyingPower: freeCash };
  }
  if (marginType === 'PORTFOLIO') {
    const power = positive(Money.scale(maintenanceExcess, 10_000, SWEEP_BPS));
    return { smaBalance: Money.zero, overnightBuyingPower: power, dayTradeBuyingPower: power };
  }
  const sma = positive(regTExcess);
  const dayTrade = positive((portfolio.previousClose?.maintenanceExcess ?? 0) * DAY_TRADE_MULTIPLE);
  if (basis.totalEquity < MINIMUM_MARGIN_EQUITY) {
    const { SETTLED_CASH, PENDING_CASH } = portfolio.balances;
    const paid = positive(SETTLED_CASH + PENDING_CASH);
    return { smaBalance: sma, overnightBuyingPower: paid, dayTradeBuyingPower: Money.min(paid, dayTrade) };
  }
  const overnight = Math.min(sma * 2, Money.scale(positive(maintenanceExcess), 10_000, basis.houseRateBps));
  return { smaBalance: sma, overnightBuyingPower: positive(overnight), dayTradeBuyingPower: dayTrade };
}
