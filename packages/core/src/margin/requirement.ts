import type { BrokerConfiguration } from '../fees/broker.js';
import type { Equity } from '../instruments/instrument.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';

/** What must be there to hold a position: by the Federal Reserve's rule at purchase, by FINRA's and the house's after. */
export interface Requirement {
  readonly fed: Money;
  readonly house: Money;
}

const INITIAL_BPS = 5000;
const FIVE_DOLLARS = Price.of('5');
const FIVE_PER_SHARE = Price.of('5');
const TWO_FIFTY_PER_SHARE = Price.of('2.5');
const FINRA_LONG_BPS = 2500;
const FINRA_SHORT_BPS = 3000;
/** What a ±15 % sweep of a stock alone can lose: the portfolio-margin requirement of unhedged shares. */
const SWEEP_BPS = 1500;

/**
 * Requirement of one stock position, signed quantity, at its mark.
 *
 * Initial: 50 % (Regulation T, 12 CFR 220.12), for a short sale in addition to its proceeds. Maintenance (FINRA
 * Rule 4210(c)): long 25 %; short the greater of 30 % and $5.00 a share, below $5 the greater of 100 % and $2.50 a share;
 * times the factor of a leveraged fund, at most 100 % (Regulatory Notice 09-53); and at least the house's rate.
 * Nothing is rounded before display.
 */
export function regTRequirement(
  equity: Equity,
  quantity: Quantity,
  mark: Price,
  broker: BrokerConfiguration,
): Requirement {
  const shares = Quantity.abs(quantity);
  const value = Money.of(mark, shares);
  const fed = Money.scale(value, INITIAL_BPS, 10_000);
  const factor = Math.max(1, Math.abs(equity.leverageFactor));
  const scaled = (bps: number): Money =>
    Money.scale(value, Math.min(10_000, Math.round(bps * factor)), 10_000);
  if (quantity >= 0) {
    return { fed, house: scaled(Math.max(FINRA_LONG_BPS, broker.houseMaintenanceLongBps)) };
  }
  const house = scaled(Math.max(FINRA_SHORT_BPS, broker.houseMaintenanceShortBps));
  if (mark >= FIVE_DOLLARS) return { fed, house: Money.max(house, Money.of(FIVE_PER_SHARE, shares)) };
  const finra = Money.max(value, Money.of(TWO_FIFTY_PER_SHARE, shares));
  // The short minimums hold at initiation too.
  return { fed: Money.max(fed, finra), house: Money.max(house, finra) };
}

/** Requirement of an unhedged stock position under portfolio margin: the worst loss of a 15 % move either way. */
export function portfolioMarginRequirement(quantity: Quantity, mark: Price): Requirement {
  const value = Money.of(mark, Quantity.abs(quantity));
  return { fed: Money.zero, house: Money.scale(value, SWEEP_BPS, 10_000) };
}
