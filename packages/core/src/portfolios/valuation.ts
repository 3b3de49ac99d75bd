import type { BrokerConfiguration } from '../brokers/broker.js';
import { pricePer } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import { isPutSymbol } from '../instruments/osi.js';
import type { Amounts, Holding, MarginTerms, Requirement } from '../margin/book.js';
import { dayTradeBuyingPower, overnightBuyingPower, PATTERN_EQUITY } from '../margin/buying-power.js';
import type { AvailableMargin } from '../margin/buying-power.js';
import { flagLacking } from '../margin/lacking.js';
import { offsetGroupOf, underlyingsIn } from '../margin/offset-groups.js';
import { dayTradeRegimeOf } from '../margin/day-trade-regime.js';
import { isRestricting } from '../margin/margin-account.js';
import { amountsOf, requirementOf } from '../margin/requirement.js';
import { MarginExcess } from '../orders/margin-excess.js';
import { Position } from '../positions/position.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import {
  bookMarketOf,
  holdingsIn,
  marginTermsOf,
  markOrCost,
  sumsOf,
  valuedInstrument,
  valuesOf,
} from './book-sums.js';
import type { MarketValues, ValuationSource } from './book-sums.js';
import { cashOf, dayTradingExcess } from './portfolio.js';
import type { CashBooks, CashView, Portfolio } from './portfolio.js';

/** All figures of a portfolio that move with the market. Computed on demand, never stored. */
export interface Valuation extends CashView {
  readonly longMarketValue: Money;
  /** Positive. */
  readonly shortMarketValue: Money;
  /** The stock part of it: its proceeds are not spendable. */
  readonly collateral: Money;
  /** Variation of futures since their last daily settlement; part of pending cash. */
  readonly variation: Money;
  readonly totalEquity: Money;
  /** The equity contribution that is compared with requirements (D99): cash, and positions as far as they count. */
  readonly marginEquity: Money;
  /** 0 for CASH portfolios and under portfolio margin. */
  readonly fedRequirement: Money;
  readonly houseRequirement: Money;
  /** Requirement to open all positions from cash: position by position the greater of Reg T initial and house. */
  readonly initialRequirement: Money;
  /** Margin equity above the house requirement; negative = a margin call. */
  readonly maintenanceExcess: Money;
  /** Excess with futures at their initial margin, the limit of opening orders. */
  readonly openingExcess: Money;
  readonly smaBalance: Money;
  readonly overnightBuyingPower: Money;
  readonly dayTradeBuyingPower: Money;
  readonly marginCallActive: boolean;
  /** Margin available to opening orders; absent for CASH portfolios, which use their free settled cash. */
  readonly availableMargin: AvailableMargin | undefined;
}

const { bounded } = Money;

/** Option level from which margin rules determine the collateral of short puts. */
const UNCOVERED_LEVEL = 4;

export function valuationOf(
  portfolio: Portfolio,
  source: ValuationSource,
  broker: BrokerConfiguration,
): Valuation {
  if (portfolio.settings.portfolioType === 'CASH') {
    const worth = worthOf(portfolio, source);
    return { ...worth, ...withoutMargin(worth) };
  }
  const sums = sumsOf(portfolio, source, broker);
  const worth = worthWith(portfolio, sums.values);
  return { ...worth, ...marginOf(portfolio, worth, sums.amounts, source, broker) };
}

/** The part of a portfolio that its value depends on. */
export interface Books extends CashBooks {
  readonly positions: ReadonlyMap<string, Position>;
}

/** Cash and positions at their marks. */
export const worthOf = (books: Books, source: Pick<ValuationSource, 'mark' | 'instrument'>): Worth =>
  worthWith(books, valuesOf(books.positions.values(), source));

/** Cash and the given position values. */
function worthWith(books: CashBooks, { long, short, shortStock, variation }: MarketValues): Worth {
  const { SETTLED_CASH, PENDING_CASH } = books.balances;
  const longMarketValue = bounded(long);
  const shortMarketValue = bounded(short);
  // Only the variation of a future since the last daily settlement is owned (D16, D95).
  const made = bounded(variation);
  // Premium received is cash; proceeds of short stock are collateral (D139).
  const collateral = bounded(shortStock);
  const cash = cashOf(books, collateral);
  return {
    ...cash,
    pendingCash: Money.add(cash.pendingCash, made),
    longMarketValue,
    shortMarketValue,
    collateral,
    variation: made,
    totalEquity: Money.ofUnits(SETTLED_CASH + PENDING_CASH + made + longMarketValue - shortMarketValue),
  };
}

export type Worth = CashView &
  Pick<Valuation, 'longMarketValue' | 'shortMarketValue' | 'collateral' | 'variation' | 'totalEquity'>;
type Margin = Omit<Valuation, keyof Worth>;

/** A CASH portfolio has no requirement beyond its purchases, and buys with its free settled cash (D52). */
const withoutMargin = ({ totalEquity, settledCash }: Worth): Margin => ({
  marginEquity: totalEquity,
  fedRequirement: Money.zero,
  houseRequirement: Money.zero,
  initialRequirement: Money.zero,
  maintenanceExcess: totalEquity,
  openingExcess: totalEquity,
  smaBalance: Money.zero,
  overnightBuyingPower: settledCash,
  dayTradeBuyingPower: settledCash,
  marginCallActive: false,
  availableMargin: undefined,
});

/** Margin figures that limit orders, and those that follow from the same marks. */
type OrderMargin = Omit<Margin, 'overnightBuyingPower' | 'dayTradeBuyingPower' | 'availableMargin'> & {
  readonly availableMargin: AvailableMargin;
};

function orderMarginOf(
  portfolio: Portfolio,
  { collateral, variation, totalEquity }: Worth,
  amounts: Amounts,
  source: ValuationSource,
  broker: BrokerConfiguration,
): OrderMargin {
  const { SETTLED_CASH, PENDING_CASH } = portfolio.balances;
  const { reservedByOrders: orders, reservedByPositions: positions } = portfolio;
  const terms = marginTermsOf(portfolio, broker, source);
  const { fed, house, opening, initial, counted } = amounts;
  const marginEquity = Money.ofUnits(SETTLED_CASH + PENDING_CASH + variation + bounded(counted));
  const fedRequirement = bounded(fed);
  const houseRequirement = bounded(house);
  const marginExcess: MarginExcess = {
    // A ledger balance, which market declines do not change (D107).
    initial:
      terms.marginType === 'REG_T' ? portfolio.margin.sma : Money.subtract(marginEquity, fedRequirement),
    maintenance: Money.subtract(marginEquity, houseRequirement),
  };
  const inCall = marginExcess.maintenance < 0 || portfolio.margin.calls.some(isRestricting);
  const availableMargin: AvailableMargin = {
    marginType: terms.marginType,
    house: broker,
    totalEquity,
    freeCash: Money.ofUnits(SETTLED_CASH + PENDING_CASH - collateral - orders.cash - positions.cash),
    keepsCash: reservesCashForPuts(portfolio, broker),
    left: MarginExcess.subtract(
      { ...marginExcess, maintenance: Money.subtract(marginEquity, bounded(opening)) },
      MarginExcess.add(orders.headroom, positions.headroom),
    ),
  };
  return {
    marginEquity,
    fedRequirement,
    houseRequirement,
    initialRequirement: bounded(initial),
    maintenanceExcess: marginExcess.maintenance,
    openingExcess: Money.subtract(marginEquity, bounded(opening)),
    smaBalance: terms.marginType === 'PORTFOLIO' ? Money.zero : portfolio.margin.sma,
    marginCallActive: inCall,
    availableMargin,
  };
}

function marginOf(
  portfolio: Portfolio,
  worth: Worth,
  amounts: Amounts,
  source: ValuationSource,
  broker: BrokerConfiguration,
): Margin {
  const { availableMargin, ...margin } = orderMarginOf(portfolio, worth, amounts, source, broker);
  const { marginCallActive: inCall } = margin;
  const forTheDay = dayTradePower(portfolio, availableMargin, { broker, source, inCall });
  return {
    ...margin,
    overnightBuyingPower: inCall ? Money.zero : overnightBuyingPower(availableMargin),
    dayTradeBuyingPower: forTheDay,
    availableMargin: usesDayTradingLeverage(portfolio, source, broker)
      ? { ...availableMargin, forTheDay }
      : availableMargin,
  };
}

/** Margin of a MARGIN portfolio available to opening orders, without the figures for display. */
export function availableMarginOf(
  portfolio: Portfolio,
  source: ValuationSource,
  broker: BrokerConfiguration,
): AvailableMargin {
  const { values, amounts } = sumsOf(portfolio, source, broker);
  const worth = worthWith(portfolio, values);
  const { availableMargin, marginCallActive: inCall } = orderMarginOf(
    portfolio,
    worth,
    amounts,
    source,
    broker,
  );
  if (!usesDayTradingLeverage(portfolio, source, broker)) return availableMargin;
  return {
    ...availableMargin,
    forTheDay: dayTradePower(portfolio, availableMargin, { broker, source, inCall }),
  };
}

/**
 * Lower bound of a MARGIN portfolio's available margin at any prices. Without short positions and futures, the requirement never exceeds
 * the equity contribution of the positions, so the excess is at least the cash. Needs no valuation. `undefined` if there is no such
 * bound.
 */
export function minimumAvailableMargin(
  portfolio: Portfolio,
  broker: BrokerConfiguration,
): AvailableMargin | undefined {
  const { settings, owing, balances, reservedByOrders: orders, reservedByPositions: positions } = portfolio;
  const { marginType = 'REG_T' } = settings;
  const cash = Money.add(balances.SETTLED_CASH, balances.PENDING_CASH);
  if (owing.size > 0 || cash < 0) return undefined;
  // With a factor above 1 a requirement may exceed the market value.
  if (marginType === 'PORTFOLIO' && (broker.portfolioMarginFactorBps ?? 0) > 10_000) return undefined;
  const initial = marginType === 'REG_T' ? portfolio.margin.sma : cash;
  return {
    marginType,
    house: broker,
    totalEquity: cash,
    freeCash: Money.ofUnits(cash - orders.cash - positions.cash),
    keepsCash: reservesCashForPuts(portfolio, broker),
    left: MarginExcess.subtract(
      { initial, maintenance: cash },
      MarginExcess.add(orders.headroom, positions.headroom),
    ),
  };
}

/** True when cash is reserved for short puts of a MARGIN portfolio below option level 4, or will be by an order (D80, D81). */
function reservesCashForPuts(
  { reservedByPositions, contractsOnOrder, openOrders }: Portfolio,
  { optionLevel }: BrokerConfiguration,
): boolean {
  if (optionLevel >= UNCOVERED_LEVEL) return false;
  if (reservedByPositions.cash > 0) return true;
  if (contractsOnOrder.size === 0) return false;
  for (const { terms, progress } of openOrders)
    if (terms.positionIntent === 'SELL_TO_OPEN' && isPutSymbol(terms.symbol) && progress.reserved > 0)
      return true;
  return false;
}

/** True when stock is opened with day-trade buying power (D110): the broker lends intraday, and the day-trade rule allows it. */
function usesDayTradingLeverage(
  { settings, previousClose }: Portfolio,
  { at, options }: ValuationSource,
  broker: BrokerConfiguration,
): boolean {
  if (broker.dayTradingLeverage !== true || settings.marginType === 'PORTFOLIO') return false;
  return (
    dayTradeRegimeOf(broker, options.calendar.dateOf(at)) === 'INTRADAY_MARGIN' ||
    (previousClose !== undefined && previousClose.totalEquity >= PATTERN_EQUITY)
  );
}

/**
 * Day-trade buying power (D110). LEGACY_PDT: four times the excess at the previous close, less four times the initial requirement of
 * positions opened today that are still open, and of open orders. INTRADAY_MARGIN: four times the current excess.
 */
function dayTradePower(
  portfolio: Portfolio,
  availableMargin: AvailableMargin,
  {
    broker,
    source,
    inCall,
  }: { readonly broker: BrokerConfiguration; readonly source: ValuationSource; readonly inCall: boolean },
): Money {
  if (availableMargin.marginType === 'PORTFOLIO')
    return inCall ? Money.zero : overnightBuyingPower(availableMargin);
  const { calendar } = source.options;
  const today = calendar.dateOf(source.at);
  if (dayTradeRegimeOf(broker, today) === 'INTRADAY_MARGIN')
    return dayTradeBuyingPower(availableMargin, availableMargin.left.maintenance);
  const before = dayTradingExcess(portfolio.previousClose);
  // After the close mark of the day, its positions count in that excess.
  const isMarked = portfolio.previousClose !== undefined && portfolio.previousClose.date >= today;
  const open = Money.add(
    portfolio.reservedByOrders.headroom.initial,
    isMarked ? Money.zero : initialOf(openedOn(portfolio, today, source), portfolio, source, broker),
  );
  return dayTradeBuyingPower(availableMargin, Money.subtract(before, open));
}

/** Positions opened on a date and still open, at their opening cost; less the quantities in `closed`, by symbol. */
export function openedOn(
  portfolio: Portfolio,
  date: TradingDate,
  source: ValuationSource,
  closed: ReadonlyMap<string, Quantity> = new Map(),
): Holding[] {
  const opened: Holding[] = [];
  for (const [symbol, tracker] of portfolio.dayTrades) {
    const { openQuantity } = tracker;
    const position = portfolio.positions.get(symbol);
    if (tracker.date !== date || openQuantity === 0 || position === undefined) continue;
    const left = Quantity.subtract(
      openQuantity,
      Quantity.min(closed.get(symbol) ?? Quantity.zero, openQuantity),
    );
    if (left === 0) continue;
    const instrument = valuedInstrument(symbol, source);
    const quantity = Position.held(position) < 0 ? Quantity.negate(left) : left;
    opened.push({ instrument, quantity, mark: pricePer(instrument, tracker.openValue, openQuantity) });
  }
  return opened;
}

/** Initial requirement of opening these; spreads count as spreads (D110). */
export const initialOf = (
  holdings: readonly Holding[],
  portfolio: Portfolio,
  source: ValuationSource,
  broker: BrokerConfiguration,
): Money =>
  bounded(
    amountsOf({ ...marginTermsOf(portfolio, broker, source), holdings, market: bookMarketOf(source) })
      .initial,
  );

/** Maintenance requirement of a MARGIN portfolio, group by group (D121); `undefined` for a CASH portfolio. */
export function requirementOfPortfolio(
  portfolio: Portfolio,
  source: ValuationSource,
  broker: BrokerConfiguration,
): Requirement | undefined {
  if (portfolio.settings.portfolioType !== 'MARGIN') return undefined;
  const holdings = holdingsIn(portfolio, source);
  return requirementOf({
    ...marginTermsOf(portfolio, broker, source),
    holdings,
    market: bookMarketOf(source),
  });
}

/** Positions of an instrument's offset group: all whose requirement a trade in it changes. */
export function offsetGroupHeld(
  portfolio: Portfolio,
  instrument: Tradable,
  terms: MarginTerms,
  source: ValuationSource,
): Holding[] {
  const chain = offsetGroupOf(instrument, terms);
  const held: Holding[] = [];
  for (const position of candidatesFor(portfolio, instrument, terms)) {
    const quantity = Position.held(position);
    if (quantity === 0) continue;
    const other = valuedInstrument(position.symbol, source);
    if (offsetGroupOf(other, terms) !== chain) continue;
    held.push({ instrument: other, quantity, mark: markOrCost(position, other, quantity, source) });
  }
  flagLacking(held, (symbol) => {
    const position = portfolio.positions.get(symbol);
    return position === undefined ? Quantity.zero : Position.held(position);
  });
  return held;
}

/** Positions that include all of an instrument's offset group: those on an underlying are indexed, as are futures. */
function candidatesFor(
  { positions, optionsOn, owing }: Portfolio,
  instrument: Tradable,
  terms: MarginTerms,
): Position[] {
  const symbols =
    instrument.assetClass === 'FUTURE'
      ? [...owing]
      : underlyingsIn(instrument, terms).flatMap((underlying) => [
          underlying,
          ...(optionsOn.get(underlying) ?? []),
        ]);
  return symbols.flatMap((symbol) => positions.get(symbol) ?? []);
}
