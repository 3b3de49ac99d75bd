import {
  type Account,
  type AssetClass,
  type Brokerage,
  type DayTradeRegime,
  dayTradeRegimeOf,
  type Exercised,
  greeksOf,
  type Instant,
  type LastFigures,
  marginEligibility,
  futureMarginOf,
  markOrCost,
  Money,
  openVariationOf,
  type Portfolio as CorePortfolio,
  type PortfolioSettings,
  type PortfolioTerms,
  Position,
  type Price,
  pricePer,
  Quantity,
  reservedShares,
  type Tradable,
  tradableOf,
  type Valuation,
  valuationOf,
  valueOf,
} from '@sandpit/core';
import type {
  ListedPortfolio,
  Account as ShownAccount,
  CreatedPortfolio,
  EquityPosition,
  ExerciseResult,
  FuturePosition,
  MarginEligibility,
  OptionPosition,
  Portfolio,
  PortfolioDetail,
  PortfolioSummary,
  PortfolioUpdate,
  Settlement,
} from '@sandpit/protocol';
import type { ClosedPortfolioRow } from '../../store/history.js';
import { isoOf } from './instants.js';
import { merged } from './merged.js';
import { centsNumber, moneyNumber, priceNumber, quantityNumber } from './numbers.js';

export function accountOf(account: Account): ShownAccount {
  const { accountId, name, accountType, portfolioType, firstName, lastName, status } = account;
  return {
    accountId,
    id: accountId,
    ...(name !== undefined && { name }),
    accountType,
    ...(portfolioType !== undefined && { portfolioType }),
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    status,
    createdAt: isoOf(account.createdAt),
    updatedAt: isoOf(account.updatedAt),
  };
}

/** A closed portfolio, with its state at the close (D142). */
export interface ClosedPortfolio extends LastFigures {
  readonly terms: PortfolioTerms;
}

export const closedPortfolioOf = ({ terms, last }: ClosedPortfolioRow): ClosedPortfolio => ({
  terms: JSON.parse(terms) as PortfolioTerms,
  ...(JSON.parse(last) as LastFigures),
});

interface View {
  readonly terms: PortfolioTerms;
  readonly settings: PortfolioSettings;
  readonly updatedAt: Instant;
  readonly value: Valuation;
  readonly name: string | undefined;
  readonly dayTradeRegime: DayTradeRegime;
}

/** Name of a portfolio: its own, else the present one of its account (D257). */
export const nameOfPortfolio = ({ terms, account }: CorePortfolio): string | undefined =>
  terms.name ?? account.name;

/** Name of a closed portfolio at its closing. */
export function nameOfClosed(brokerage: Brokerage, { terms, name }: ClosedPortfolio): string | undefined {
  const own = name === undefined ? terms.name : (name ?? undefined);
  return own ?? brokerage.state.accounts.get(terms.accountId)?.name;
}

function viewOf(brokerage: Brokerage, portfolio: CorePortfolio): View {
  const { terms, settings, updatedAt } = portfolio;
  const value = valuationOf(portfolio, brokerage, brokerage.broker({ settings }));
  return {
    terms,
    settings,
    updatedAt,
    value,
    name: nameOfPortfolio(portfolio),
    dayTradeRegime: regimeAt(brokerage, settings, brokerage.state.now),
  };
}

function closedView(brokerage: Brokerage, closed: ClosedPortfolio): View {
  const { terms, settings, value, at } = closed;
  return {
    terms,
    settings,
    updatedAt: at,
    value,
    name: nameOfClosed(brokerage, closed),
    dayTradeRegime: regimeAt(brokerage, settings, at),
  };
}

const regimeAt = (brokerage: Brokerage, settings: PortfolioSettings, at: Instant): DayTradeRegime =>
  dayTradeRegimeOf(brokerage.broker({ settings }), brokerage.rules.calendar.dateOf(at));

function identity({ terms, settings, name, dayTradeRegime }: View) {
  const { marginType, portfolioMarginEngineType } = settings;
  return {
    portfolioId: terms.portfolioId,
    accountId: terms.accountId,
    portfolioType: settings.portfolioType,
    accountType: terms.accountType,
    brokerId: settings.brokerId,
    ...(marginType !== undefined && { marginType }),
    ...(portfolioMarginEngineType !== undefined && { portfolioMarginEngineType }),
    ...(name !== undefined && { name }),
    fillModel: terms.fillModel,
    ...(settings.portfolioType === 'MARGIN' && { dayTradeRegime }),
  };
}

function balances({ value }: View) {
  return {
    settledCash: moneyNumber(value.settledCash),
    pendingCash: moneyNumber(value.pendingCash),
    reservedCash: moneyNumber(value.reservedCash),
    longMarketValue: moneyNumber(value.longMarketValue),
    shortMarketValue: moneyNumber(value.shortMarketValue),
    totalEquity: moneyNumber(value.totalEquity),
    marginLoan: moneyNumber(value.marginLoan),
  };
}

const createdRequirements = ({ value }: View) => ({
  maintenanceMarginRequirement: centsNumber(value.houseRequirement),
  initialMarginRequirement: centsNumber(value.initialRequirement),
});

const watchedRequirements = ({ value }: View) => ({
  smaBalance: moneyNumber(value.smaBalance),
  fedRequirement: centsNumber(value.fedRequirement),
  houseRequirement: centsNumber(value.houseRequirement),
});

const power = ({ value }: View) => ({
  overnightBuyingPower: centsNumber(value.overnightBuyingPower),
  dayTradeBuyingPower: centsNumber(value.dayTradeBuyingPower),
});

const times = ({ terms, updatedAt }: View) => ({
  createdAt: isoOf(terms.createdAt),
  updatedAt: isoOf(updatedAt),
});

/** Answer to the creation of a portfolio (D51). */
export const createdPortfolio = (brokerage: Brokerage, portfolio: CorePortfolio): CreatedPortfolio =>
  createdOf(viewOf(brokerage, portfolio));

const createdOf = (view: View): CreatedPortfolio =>
  merged(identity(view), balances(view), createdRequirements(view), power(view), times(view));

/** Answer to a get of a portfolio (D51). */
export const portfolioDetail = (brokerage: Brokerage, portfolio: CorePortfolio): PortfolioDetail =>
  detailOf(viewOf(brokerage, portfolio));

export const closedDetail = (brokerage: Brokerage, closed: ClosedPortfolio): PortfolioDetail => ({
  ...detailOf(closedView(brokerage, closed)),
  status: 'CLOSED',
});

const detailOf = (view: View): PortfolioDetail =>
  merged(
    identity(view),
    balances(view),
    watchedRequirements(view),
    power(view),
    { marginCallActive: view.value.marginCallActive },
    times(view),
  );

/** Every field: the broker switch, and streams. */
export const wholePortfolio = (brokerage: Brokerage, portfolio: CorePortfolio): Portfolio =>
  wholeOf(viewOf(brokerage, portfolio));

const wholeOf = (view: View): Portfolio =>
  merged(
    identity(view),
    balances(view),
    createdRequirements(view),
    watchedRequirements(view),
    power(view),
    { marginCallActive: view.value.marginCallActive },
    times(view),
  );

export const portfolioSummary = (brokerage: Brokerage, portfolio: CorePortfolio): PortfolioSummary =>
  summaryOf(viewOf(brokerage, portfolio));

export const closedSummary = (brokerage: Brokerage, closed: ClosedPortfolio): ListedPortfolio => ({
  ...summaryOf(closedView(brokerage, closed)),
  status: 'CLOSED',
});

function summaryOf({ terms, settings, value }: View): PortfolioSummary {
  return {
    portfolioId: terms.portfolioId,
    accountId: terms.accountId,
    portfolioType: settings.portfolioType,
    accountType: terms.accountType,
    brokerId: settings.brokerId,
    totalEquity: moneyNumber(value.totalEquity),
    settledCash: moneyNumber(value.settledCash),
  };
}

/** A portfolio with its positions, as streams show it. */
export const portfolioUpdate = (brokerage: Brokerage, portfolio: CorePortfolio): PortfolioUpdate =>
  merged(wholePortfolio(brokerage, portfolio), {
    equities: equityPositions(brokerage, portfolio),
    options: optionPositions(brokerage, portfolio),
    futures: futurePositions(brokerage, portfolio),
  });

/** The last event that streams send for a portfolio. */
export const closedUpdate = (brokerage: Brokerage, closed: ClosedPortfolio): PortfolioUpdate =>
  merged(wholeOf(closedView(brokerage, closed)), {
    status: 'CLOSED' as const,
    equities: [],
    options: [],
    futures: [],
  });

export function eligibilityOf(brokerage: Brokerage, portfolio: CorePortfolio): MarginEligibility {
  const broker = brokerage.broker(portfolio);
  const eligibility = marginEligibility(portfolio, brokerage, broker, brokerage.rules.portfolioMarginEquity);
  return {
    eligible: eligibility.eligible,
    totalEquity: moneyNumber(eligibility.totalEquity),
    requiredEquity: moneyNumber(eligibility.requiredEquity),
    reasons: [...eligibility.reasons],
    currentMarginType: eligibility.currentMarginType,
    ...(eligibility.eligible && { availableEngines: [...eligibility.availableEngines] }),
  };
}

export const closedEligibility = (
  { rules }: Brokerage,
  { settings, value }: ClosedPortfolio,
): MarginEligibility => ({
  eligible: false,
  totalEquity: moneyNumber(value.totalEquity),
  requiredEquity: moneyNumber(rules.portfolioMarginEquity),
  reasons: ['The portfolio is closed'],
  currentMarginType: settings.marginType ?? 'NONE',
});

interface ValuedPosition {
  readonly position: Position;
  readonly instrument: Tradable;
  readonly held: Quantity;
  readonly mark: Price;
  readonly costBasis: Money;
  readonly marketValue: Money;
  readonly entryPrice: Price;
}

/** Positions of an asset class, by symbol. Excludes closed positions that have not settled yet. */
function heldOf(brokerage: Brokerage, portfolio: CorePortfolio, assetClass: AssetClass): ValuedPosition[] {
  return [...portfolio.positions.values()]
    .filter((position) => position.assetClass === assetClass && Position.held(position) !== 0)
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
    .map((position) => {
      const held = Position.held(position);
      const instrument = tradableOf(position.symbol, brokerage.instrument(position.symbol));
      const mark = markOrCost(position, instrument, held, brokerage);
      const costBasis = Position.costBasis(position);
      return {
        position,
        instrument,
        held,
        mark,
        costBasis,
        marketValue: valueOf(instrument, mark, held),
        entryPrice: pricePer(instrument, costBasis, Quantity.abs(held)),
      };
    });
}

/** Negative for a loss; the cost of a short position is its proceeds. */
const unrealized = ({ held, marketValue, costBasis }: ValuedPosition): Money =>
  held < 0 ? Money.add(marketValue, costBasis) : Money.subtract(marketValue, costBasis);

export function equityPositions(brokerage: Brokerage, portfolio: CorePortfolio): EquityPosition[] {
  const { portfolioId } = portfolio.terms;
  return heldOf(brokerage, portfolio, 'EQUITY').map((entry) => {
    const { position, mark, costBasis, marketValue, entryPrice } = entry;
    const { bid, ask } = brokerage.quote(position.symbol) ?? {};
    return {
      equityId: `${portfolioId}:${position.symbol}`,
      portfolioId,
      symbol: position.symbol,
      settledQuantity: quantityNumber(position.settled),
      reservedQuantity: quantityNumber(reservedShares(portfolio, position.symbol)),
      pendingQuantity: quantityNumber(position.pending),
      costBasis: moneyNumber(costBasis),
      price: priceNumber(mark),
      ...(bid !== undefined && { bid: priceNumber(bid) }),
      ...(ask !== undefined && { ask: priceNumber(ask) }),
      marketValue: moneyNumber(marketValue),
      entryPrice: priceNumber(entryPrice),
      unrealizedPnl: moneyNumber(unrealized(entry)),
    };
  });
}

/** Contract 2.3 (D84): one per series. The Greeks are those of one long contract. */
export function optionPositions(brokerage: Brokerage, portfolio: CorePortfolio): OptionPosition[] {
  return heldOf(brokerage, portfolio, 'OPTION').flatMap((entry) => {
    const { instrument, held, mark, marketValue, entryPrice } = entry;
    if (instrument.assetClass !== 'OPTION') return [];
    return {
      symbol: instrument.underlying,
      optionSymbol: instrument.symbol,
      quantity: quantityNumber(held),
      optionType: instrument.optionType,
      strike: priceNumber(instrument.strike),
      expiration: instrument.expiration,
      averageCost: priceNumber(entryPrice),
      lastPrice: priceNumber(mark),
      marketValue: moneyNumber(marketValue),
      unrealizedPnL: moneyNumber(unrealized(entry)),
      ...greeksOf(instrument, brokerage.options),
    };
  });
}

/** D97: the margins are those of the whole position, at its broker's current rates. */
export function futurePositions(brokerage: Brokerage, portfolio: CorePortfolio): FuturePosition[] {
  const { calendar } = brokerage.rules;
  const house = brokerage.broker(portfolio);
  return heldOf(brokerage, portfolio, 'FUTURE').flatMap((entry) => {
    const { instrument, position, held, mark, marketValue, entryPrice } = entry;
    if (instrument.assetClass !== 'FUTURE') return [];
    const { initial, maintenance } = futureMarginOf(
      { instrument, quantity: held, mark },
      { asOf: brokerage.at, calendar, house },
    );
    const ofAll = (one: Money): number => moneyNumber(Money.scale(one, Math.abs(held), Quantity.of(1)));
    const { settlementPrice } = position;
    return {
      symbol: instrument.symbol,
      root: instrument.root,
      quantity: quantityNumber(held),
      reservedQuantity: quantityNumber(reservedShares(portfolio, instrument.symbol)),
      multiplier: instrument.multiplier,
      entryPrice: priceNumber(entryPrice),
      ...(settlementPrice !== undefined && { settlementPrice: priceNumber(settlementPrice) }),
      lastPrice: priceNumber(mark),
      notionalValue: moneyNumber(marketValue),
      unrealizedPnl: moneyNumber(openVariationOf(position, instrument, mark)),
      openTradePnl: moneyNumber(unrealized(entry)),
      initialMargin: ofAll(initial),
      maintenanceMargin: ofAll(maintenance),
      lastTradeDate: instrument.lastTradeDate,
    };
  });
}

/** Result of an exercise. */
export const exerciseResult = ({ contract, quantity, shares, cash, at }: Exercised): ExerciseResult => ({
  optionSymbol: contract.symbol,
  quantity: quantityNumber(quantity),
  underlying: contract.underlying,
  shares: quantityNumber(shares),
  strike: priceNumber(contract.strike),
  cash: moneyNumber(cash),
  at: isoOf(at),
});

/** Unsettled obligations, the nearest first. Purchases and sales of a symbol that settle together are one delivery. */
export const settlementsOf = (_: Brokerage, { obligations }: CorePortfolio): Settlement[] =>
  [...obligations.values()]
    .sort((a, b) => (a.date < b.date ? -1 : 1))
    .map(({ date, cash, quantities }) => ({
      date,
      cash: moneyNumber(cash),
      deliveries: [...quantities]
        .filter(([, quantity]) => quantity !== 0)
        .map(([symbol, quantity]) => ({ symbol, quantity: quantityNumber(quantity) })),
    }));
