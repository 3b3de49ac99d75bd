import type { BrokerConfiguration } from '../fees/broker.js';
import type { Instrument } from '../instruments/instrument.js';
import { buyingPowers } from '../margin/buying-power.js';
import type { Amounts, Holding } from '../margin/book.js';
import { amountsOf } from '../margin/requirement.js';
import { Position } from '../positions/position.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { cashOf } from './portfolio.js';
import type { CashView, Portfolio } from './portfolio.js';

/** Where prices and instruments come from when a portfolio is valued, and as of when. */
export interface ValuationSource {
  readonly at: Instant;
  mark(symbol: string): Price | undefined;
  instrument(symbol: string): Instrument | undefined;
}

/** Everything about a portfolio that moves with the market. Computed when it is asked for, never stored. */
export interface Valuation extends CashView {
  readonly longMarketValue: Money;
  /** Positive. */
  readonly shortMarketValue: Money;
  readonly totalEquity: Money;
  /** The equity that requirements are held against (D99): cash, and positions as far as they count. */
  readonly marginEquity: Money;
  /** 0 for CASH portfolios and under portfolio margin. */
  readonly fedRequirement: Money;
  readonly houseRequirement: Money;
  /** What opening all of it from cash would take: position by position the greater of fed and house. */
  readonly initialRequirement: Money;
  /** Margin equity above the house requirement; negative = a margin call. */
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
const bounded = (money: number): Money => Money.ofUnits(Math.max(-MOST, Math.min(money, MOST)));

export function valuationOf(
  portfolio: Portfolio,
  source: ValuationSource,
  broker: BrokerConfiguration,
): Valuation {
  const margin = portfolio.settings.portfolioType === 'MARGIN';
  const holdings: Holding[] = [];
  let long = 0;
  let short = 0;
  for (const position of portfolio.positions.values()) {
    const quantity = Position.held(position);
    if (quantity === 0) continue;
    const mark = markOrCost(position, quantity, source);
    const value = Money.of(mark, Quantity.abs(quantity));
    if (quantity > 0) long += value;
    else short += value;
    if (margin) holdings.push({ instrument: listed(position.symbol, source), quantity, mark });
  }
  const longMarketValue = bounded(long);
  const shortMarketValue = bounded(short);
  const { SETTLED_CASH, PENDING_CASH } = portfolio.balances;
  const booked = Money.add(SETTLED_CASH, PENDING_CASH);
  const cash = cashOf(portfolio, shortMarketValue);
  const totalEquity = Money.ofUnits(booked + longMarketValue - shortMarketValue);
  const { marginType = 'REG_T', portfolioMarginEngineType: engine } = portfolio.settings;
  const { fed, house, initial, counted } = margin
    ? amountsOf({ marginType, engine, house: broker, asOf: source.at, holdings })
    : unmargined(totalEquity - booked);
  const marginEquity = Money.add(booked, bounded(counted));
  const fedRequirement = bounded(fed);
  const houseRequirement = bounded(house);
  const maintenanceExcess = Money.subtract(marginEquity, houseRequirement);
  const powers = buyingPowers({
    marginType: margin ? marginType : undefined,
    totalEquity,
    cash: Money.subtract(booked, shortMarketValue),
    freeCash: cash.settledCash,
    regTExcess: Money.subtract(marginEquity, fedRequirement),
    maintenanceExcess,
    previousMaintenanceExcess: portfolio.previousClose?.maintenanceExcess,
    houseRateBps: broker.houseMaintenanceLongBps,
  });
  return {
    ...cash,
    longMarketValue,
    shortMarketValue,
    totalEquity,
    marginEquity,
    fedRequirement,
    houseRequirement,
    initialRequirement: bounded(initial),
    maintenanceExcess,
    ...powers,
    marginCallActive: margin && maintenanceExcess < 0,
  };
}

/** A CASH portfolio needs nothing beyond what it has paid for. */
const unmargined = (value: number): Amounts => ({
  fed: Money.zero,
  house: Money.zero,
  initial: Money.zero,
  counted: Money.ofUnits(value),
});

function listed(symbol: string, source: ValuationSource): Instrument {
  const instrument = source.instrument(symbol);
  if (instrument === undefined) throw new RangeError(`${symbol} is held and not listed`);
  return instrument;
}

/** The mark of a position; where there is no price at all, what it cost per share. */
export function markOrCost(position: Position, held: Quantity, source: Pick<ValuationSource, 'mark'>): Price {
  const mark = source.mark(position.symbol);
  if (mark !== undefined) return mark;
  // Money counts 1e-4 and quantity 1e-6; a price counts 1e-8.
  return Price.scale(Price.ofUnits(Position.costBasis(position)), 1e10, Quantity.abs(held));
}
