import {
  type Account,
  type Brokerage,
  type BrokerConfiguration,
  dayTradeRegimeOf,
  type MarginEligibility as CoreEligibility,
  markOrCost,
  Money,
  type Portfolio as CorePortfolio,
  Position,
  Price,
  Quantity,
  type Valuation,
  valuationOf,
} from '@sandpit/core';
import type {
  Account as ShownAccount,
  CreatedPortfolio,
  EquityPosition,
  FuturePosition,
  MarginEligibility,
  OptionPosition,
  Portfolio,
  PortfolioDetail,
  PortfolioSummary,
  PortfolioUpdate,
} from '@sandpit/protocol';
import { isoOf } from './instants.js';
import { moneyNumber, priceNumber, quantityNumber } from './numbers.js';

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

/** The broker configuration of a portfolio; one that an operator has removed since leaves the default. */
export function brokerOf(brokerage: Brokerage, portfolio: CorePortfolio): BrokerConfiguration {
  const { brokers } = brokerage.rules;
  const broker = brokers.get(portfolio.settings.brokerId) ?? brokers.get('default');
  if (broker === undefined) throw new RangeError('no broker configuration');
  return broker;
}

interface View {
  readonly portfolio: CorePortfolio;
  readonly value: Valuation;
  readonly broker: BrokerConfiguration;
  readonly brokerage: Brokerage;
}

function viewOf(brokerage: Brokerage, portfolio: CorePortfolio): View {
  const broker = brokerOf(brokerage, portfolio);
  return { portfolio, broker, brokerage, value: valuationOf(portfolio, brokerage, broker) };
}

function identity({ portfolio, broker, brokerage }: View) {
  const { terms, settings } = portfolio;
  const { calendar } = brokerage.rules;
  const { marginType, portfolioMarginEngineType } = settings;
  return {
    portfolioId: terms.portfolioId,
    accountId: terms.accountId,
    portfolioType: settings.portfolioType,
    accountType: terms.accountType,
    brokerId: settings.brokerId,
    ...(marginType !== undefined && { marginType }),
    ...(portfolioMarginEngineType !== undefined && { portfolioMarginEngineType }),
    ...(terms.name !== undefined && { name: terms.name }),
    fillModel: terms.fillModel,
    ...(settings.portfolioType === 'MARGIN' && {
      dayTradeRegime: dayTradeRegimeOf(broker, calendar.dateOf(brokerage.state.now)),
    }),
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
  maintenanceMarginRequirement: moneyNumber(value.houseRequirement),
  initialMarginRequirement: moneyNumber(value.initialRequirement),
});

const watchedRequirements = ({ value }: View) => ({
  smaBalance: moneyNumber(value.smaBalance),
  fedRequirement: moneyNumber(value.fedRequirement),
  houseRequirement: moneyNumber(value.houseRequirement),
});

const power = ({ value }: View) => ({
  overnightBuyingPower: moneyNumber(value.overnightBuyingPower),
  dayTradeBuyingPower: moneyNumber(value.dayTradeBuyingPower),
});

const times = ({ portfolio }: View) => ({
  createdAt: isoOf(portfolio.terms.createdAt),
  updatedAt: isoOf(portfolio.updatedAt),
});

/** As its creation answers it (D51). */
export function createdPortfolio(brokerage: Brokerage, portfolio: CorePortfolio): CreatedPortfolio {
  const view = viewOf(brokerage, portfolio);
  return {
    ...identity(view),
    ...balances(view),
    ...createdRequirements(view),
    ...power(view),
    ...times(view),
  };
}

/** As a get answers it (D51). */
export function portfolioDetail(brokerage: Brokerage, portfolio: CorePortfolio): PortfolioDetail {
  const view = viewOf(brokerage, portfolio);
  return {
    ...identity(view),
    ...balances(view),
    ...watchedRequirements(view),
    ...power(view),
    marginCallActive: view.value.marginCallActive,
    ...times(view),
  };
}

/** Every field: the broker switch, and streams. */
export function wholePortfolio(brokerage: Brokerage, portfolio: CorePortfolio): Portfolio {
  const view = viewOf(brokerage, portfolio);
  return {
    ...identity(view),
    ...balances(view),
    ...createdRequirements(view),
    ...watchedRequirements(view),
    ...power(view),
    marginCallActive: view.value.marginCallActive,
    ...times(view),
  };
}

export function portfolioSummary(brokerage: Brokerage, portfolio: CorePortfolio): PortfolioSummary {
  const { value } = viewOf(brokerage, portfolio);
  const { terms, settings } = portfolio;
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
export function portfolioUpdate(brokerage: Brokerage, portfolio: CorePortfolio): PortfolioUpdate {
  return {
    ...wholePortfolio(brokerage, portfolio),
    equities: equityPositions(brokerage, portfolio),
    options: optionPositions(),
    futures: futurePositions(),
  };
}

export function eligibilityOf(eligibility: CoreEligibility): MarginEligibility {
  return {
    eligible: eligibility.eligible,
    totalEquity: moneyNumber(eligibility.totalEquity),
    requiredEquity: moneyNumber(eligibility.requiredEquity),
    reasons: [...eligibility.reasons],
    currentMarginType: eligibility.currentMarginType,
    ...(eligibility.eligible && { availableEngines: [...eligibility.availableEngines] }),
  };
}

interface Held {
  readonly position: Position;
  readonly held: Quantity;
  readonly mark: Price;
  readonly costBasis: Money;
  readonly marketValue: Money;
  readonly entryPrice: Price;
}

/** What is held, by symbol. A position that was closed but has not settled yet is held no more. */
function heldOf(brokerage: Brokerage, portfolio: CorePortfolio): Held[] {
  return [...portfolio.positions.values()]
    .filter((position) => Position.held(position) !== 0)
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
    .map((position) => {
      const held = Position.held(position);
      const mark = markOrCost(position, held, brokerage);
      const costBasis = Position.costBasis(position);
      return {
        position,
        held,
        mark,
        costBasis,
        marketValue: held < 0 ? Money.negate(Money.of(mark, Quantity.abs(held))) : Money.of(mark, held),
        // Money counts 1e-4, quantity 1e-6, a price 1e-8.
        entryPrice: Price.scale(Price.ofUnits(costBasis), 1e10, Quantity.abs(held)),
      };
    });
}

/** Negative for what is lost; the cost of a short position is what came in for it. */
const unrealized = ({ held, marketValue, costBasis }: Held): Money =>
  held < 0 ? Money.add(marketValue, costBasis) : Money.subtract(marketValue, costBasis);

export function equityPositions(brokerage: Brokerage, portfolio: CorePortfolio): EquityPosition[] {
  const { portfolioId } = portfolio.terms;
  return heldOf(brokerage, portfolio).map((entry) => {
    const { position, mark, costBasis, marketValue, entryPrice } = entry;
    const { bid, ask } = brokerage.quote(position.symbol) ?? {};
    return {
      equityId: `${portfolioId}:${position.symbol}`,
      portfolioId,
      symbol: position.symbol,
      settledQuantity: quantityNumber(position.settled),
      reservedQuantity: quantityNumber(position.reserved),
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

/** Options and futures are not traded yet: their lists are there for those who ask, and empty. */
export const optionPositions = (): OptionPosition[] => [];
export const futurePositions = (): FuturePosition[] => [];
