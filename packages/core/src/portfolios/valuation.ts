import type { BrokerConfiguration } from '../fees/broker.js';
import { pricePer, tradableOf } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import { isPutSymbol } from '../instruments/osi.js';
import type { Amounts, Holding, MarginTerms, Requirement } from '../margin/book.js';
import { dayTradeBuyingPower, overnightBuyingPower, PATTERN_EQUITY } from '../margin/buying-power.js';
import type { AvailableMargin } from '../margin/buying-power.js';
import { offsetGroupOf, underlyingsIn } from '../margin/offset-groups.js';
import { dayTradeRegimeOf } from '../margin/day-trade-regime.js';
import { isRestricting } from '../margin/margin-account.js';
import { amountsOf, requirementOf } from '../margin/requirement.js';
import { MarginExcess } from '../orders/margin-excess.js';
import { Position } from '../positions/position.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import { bookMarketOf, holdingsIn, marginTermsOf, markOrCost, sumsOf, valuesOf } from './book-sums.js';
import type { MarketValues, ValuationSource } from './book-sums.js';
import { cashOf, dayTradingExcess } from './portfolio.js';
import type { CashBooks, CashView, Portfolio } from './portfolio.js';

/** Everything about a portfolio that moves with the market. Computed when it is asked for, never stored. */
export interface Valuation extends CashView {
  readonly longMarketValue: Money;
  /** Positive. */
  readonly shortMarketValue: Money;
  /** The part of it that is stock: its proceeds are no money to spend. */
  readonly collateral: Money;
  /** What futures have made since their last daily settlement; part of pending cash. */
  readonly variation: Money;
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
  /** The same with futures at their initial margin: what opening orders are judged by. */
  readonly openingExcess: Money;
  readonly smaBalance: Money;
  readonly overnightBuyingPower: Money;
  readonly dayTradeBuyingPower: Money;
  readonly marginCallActive: boolean;
  /** What is left for opening orders; absent for CASH portfolios, which have their free settled cash. */
  readonly availableMargin: AvailableMargin | undefined;
}

const { bounded } = Money;

/** From this option level on margin decides what stands under short puts. */
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

/** What a portfolio is worth is a matter of these. */
export interface Books extends CashBooks {
  readonly positions: ReadonlyMap<string, Position>;
}

/** Cash and what is held, at its marks. */
export const worthOf = (books: Books, source: Pick<ValuationSource, 'mark' | 'instrument'>): Worth =>
  worthWith(books, valuesOf(books.positions.values(), source));

/** Cash, and what is held at what it adds up to. */
function worthWith(books: CashBooks, { long, short, shortStock, variation }: MarketValues): Worth {
  const { SETTLED_CASH, PENDING_CASH } = books.balances;
  const longMarketValue = bounded(long);
  const shortMarketValue = bounded(short);
  // Of a future nobody owns anything but what it has made since the last daily settlement (D16, D95).
  const made = bounded(variation);
  // Premium that was received is money; what stock was sold short for is collateral (D139).
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

/** A CASH portfolio needs nothing beyond what it has paid for, and buys with its free settled cash (D52). */
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

/** What of a margin portfolio's figures its orders are judged by, and what else follows from the same marks. */
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
    // Kept in a ledger, which falls of the market do not touch (D107).
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

/** What a MARGIN portfolio has left for opening orders, without the figures that are only shown. */
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
 * What a MARGIN portfolio has left at least, wherever prices are: where nothing is sold short and there are no futures, what is held takes no more
 * than it counts, so that the excess is no less than the cash. Nothing is valued for it. `undefined` where that says nothing.
 */
export function minimumAvailableMargin(
  portfolio: Portfolio,
  broker: BrokerConfiguration,
): AvailableMargin | undefined {
  const { settings, owing, balances, reservedByOrders: orders, reservedByPositions: positions } = portfolio;
  const { marginType = 'REG_T' } = settings;
  const cash = Money.add(balances.SETTLED_CASH, balances.PENDING_CASH);
  if (owing.size > 0 || cash < 0) return undefined;
  // Multiplied, a requirement may be more than what is held is worth.
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

/** Whether cash is set aside under short puts of a MARGIN portfolio below option level 4, or will be by an order (D80, D81). */
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

/** True when stock is opened by day-trade buying power (D110): the broker lends for the day, and the rule of the day allows it. */
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
 * Day-trade buying power (D110). LEGACY_PDT: four times the excess at the previous close, less four times what it took initially
 * to open what was opened today and is still open, and what is open to be opened. INTRADAY_MARGIN: four times the excess of now.
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
  // Once the day is marked, what was opened on it counts in its excess.
  const isMarked = portfolio.previousClose !== undefined && portfolio.previousClose.date >= today;
  const open = Money.add(
    portfolio.reservedByOrders.headroom.initial,
    isMarked ? Money.zero : initialOf(openedOn(portfolio, today, source), portfolio, source, broker),
  );
  return dayTradeBuyingPower(availableMargin, Money.subtract(before, open));
}

/** What was opened on a date and is still open, at what it cost to open; without what of it is taken as `closed`, by symbol. */
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
    const instrument = tradableOf(symbol, source.instrument(symbol));
    const quantity = Position.held(position) < 0 ? Quantity.negate(left) : left;
    opened.push({ instrument, quantity, mark: pricePer(instrument, tracker.openValue, openQuantity) });
  }
  return opened;
}

/** What opening these takes initially, a spread as the spread it is (D110). */
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

/** What holding everything in a MARGIN portfolio takes, group by group (D121); `undefined` for a CASH portfolio. */
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

/** What is held of the chain that an instrument lies in: all that a trade in it changes the requirement of. */
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
    const other = tradableOf(position.symbol, source.instrument(position.symbol));
    if (offsetGroupOf(other, terms) !== chain) continue;
    held.push({ instrument: other, quantity, mark: markOrCost(position, other, quantity, source) });
  }
  return held;
}

/** Positions among which are all of the chain that an instrument lies in: what is held on an underlying is at hand, as are futures. */
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
