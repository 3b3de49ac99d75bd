import type { BrokerConfiguration } from '../fees/broker.js';
import type { Instrument } from '../instruments/instrument.js';
import { buyingPowers } from '../margin/buying-power.js';
import { portfolioMarginRequirement, regTRequirement } from '../margin/requirement.js';
import { Position } from '../positions/position.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { cashOf } from './portfolio.js';
import type { CashView, Portfolio } from './portfolio.js';

/** Where prices and instruments come from when a portfolio is valued. */
export interface ValuationSource {
  mark(symbol: string): Price | undefined;
  instrument(symbol: string): Instrument | undefined;
}

/** Everything about a portfolio that moves with the market. Computed when it is asked for, never stored. */
export interface Valuation extends CashView {
  readonly longMarketValue: Money;
  /** Positive. */
  readonly shortMarketValue: Money;
  readonly totalEquity: Money;
  /** 0 for CASH portfolios and under portfolio margin. */
  readonly fedRequirement: Money;
  readonly houseRequirement: Money;
  /** The greater of fed and house. */
  readonly initialRequirement: Money;
  /** Equity above the house requirement; negative = a margin call. */
  readonly maintenanceExcess: Money;
  readonly smaBalance: Money;
  readonly overnightBuyingPower: Money;
  readonly dayTradeBuyingPower: Money;
  readonly marginCallActive: boolean;
}

/**
 * 200 billion dollars: where figures that move with the market end. A quote can jump anywhere; what is reported, compared and kept as
 * the mark of a close stays an exact integer all the same.
 */
const MOST = 2e15;
const bounded = (money: number): Money => Money.ofUnits(Math.min(money, MOST));

export function valuationOf(
  portfolio: Portfolio,
  source: ValuationSource,
  broker: BrokerConfiguration,
): Valuation {
  let longMarketValue = 0;
  let shortMarketValue = 0;
  let fed = 0;
  let house = 0;
  const { portfolioType, marginType } = portfolio.settings;
  for (const position of portfolio.positions.values()) {
    const held = Position.held(position);
    if (held === 0) continue;
    const mark = markOrCost(position, held, source);
    const value = Money.of(mark, Quantity.abs(held));
    if (held > 0) longMarketValue += value;
    else shortMarketValue += value;
    if (portfolioType !== 'MARGIN') continue;
    const instrument = source.instrument(position.symbol);
    if (instrument?.assetClass !== 'EQUITY') continue;
    const requirement =
      marginType === 'PORTFOLIO'
        ? portfolioMarginRequirement(held, mark)
        : regTRequirement(instrument, held, mark, broker);
    fed += requirement.fed;
    house += requirement.house;
  }
  longMarketValue = bounded(longMarketValue);
  shortMarketValue = bounded(shortMarketValue);
  fed = bounded(fed);
  house = bounded(house);
  const cash = cashOf(portfolio);
  const { SETTLED_CASH, PENDING_CASH } = portfolio.balances;
  const totalEquity = Money.ofUnits(SETTLED_CASH + PENDING_CASH + longMarketValue - shortMarketValue);
  const maintenanceExcess = Money.ofUnits(totalEquity - house);
  const powers = buyingPowers({
    marginType: portfolioType === 'MARGIN' ? (marginType ?? 'REG_T') : undefined,
    totalEquity,
    cash: Money.ofUnits(SETTLED_CASH + PENDING_CASH - shortMarketValue),
    freeCash: cash.settledCash,
    regTExcess: Money.ofUnits(totalEquity - fed),
    maintenanceExcess,
    previousMaintenanceExcess: portfolio.previousClose?.maintenanceExcess,
    houseRateBps: broker.houseMaintenanceLongBps,
  });
  return {
    ...cash,
    longMarketValue: Money.ofUnits(longMarketValue),
    shortMarketValue: Money.ofUnits(shortMarketValue),
    totalEquity,
    fedRequirement: Money.ofUnits(fed),
    houseRequirement: Money.ofUnits(house),
    initialRequirement: Money.ofUnits(Math.max(fed, house)),
    maintenanceExcess,
    ...powers,
    marginCallActive: portfolioType === 'MARGIN' && maintenanceExcess < 0,
  };
}

/** The mark of a position; where there is no price at all, what it cost per share. */
export function markOrCost(position: Position, held: Quantity, source: Pick<ValuationSource, 'mark'>): Price {
  const mark = source.mark(position.symbol);
  if (mark !== undefined) return mark;
  // Money counts 1e-4 and quantity 1e-6; a price counts 1e-8.
  return Price.scale(Price.ofUnits(Position.costBasis(position)), 1e10, Quantity.abs(held));
}
