import type { Balances } from '../ledger/ledger.js';
import type { MarginAccount } from '../margin/margin-account.js';
import type { MarginEngine, MarginType } from '../margin/margin-type.js';
import type { FillModel } from '../matching/fill-model.js';
import type { OpenOrders } from '../orders/open-orders.js';
import type { DayTradeTracker } from '../positions/day-trade.js';
import { Position } from '../positions/position.js';
import type { Obligation } from '../settlement/obligation.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import type { Account, AccountType, PortfolioType } from './account.js';
import type { OnOrder } from './contracts-on-order.js';
import type { Reservation, Secured } from './reservation.js';

/** What may change about a portfolio's set-up. */
export interface PortfolioSettings {
  readonly portfolioType: PortfolioType;
  readonly marginType?: MarginType;
  readonly portfolioMarginEngineType?: MarginEngine;
  readonly brokerId: string;
}

export interface PortfolioTerms {
  readonly portfolioId: string;
  /** Running number of the portfolio in its simulation. */
  readonly number: number;
  readonly tenantId: string;
  readonly accountId: string;
  readonly accountType: AccountType;
  readonly name?: string;
  readonly fillModel: FillModel;
  readonly initialCash: Money;
  /** What reset goes back to. */
  readonly initialSettings: PortfolioSettings;
  readonly createdAt: Instant;
}

/** A portfolio as of the last regular close: what the day's fixed figures are taken from. */
export interface CloseMark {
  readonly date: TradingDate;
  readonly totalEquity: Money;
  /** Equity above the maintenance requirement; negative = a deficit. */
  readonly maintenanceExcess: Money;
  /** Cash transferred since: in less out; absent = none. */
  readonly transferred?: Money;
}

/**
 * What LEGACY_PDT day trades go by: the excess of the previous close, less what has been withdrawn since. Cash that came in since does not buy for
 * the day; it pays for withdrawals of the day (D110, D220).
 */
export const dayTradingExcess = (close: CloseMark | undefined): Money =>
  Money.add(close?.maintenanceExcess ?? Money.zero, Money.min(close?.transferred ?? Money.zero, Money.zero));

export interface Portfolio {
  readonly terms: PortfolioTerms;
  /** Derived: the account it belongs to. */
  readonly account: Account;
  settings: PortfolioSettings;
  updatedAt: Instant;
  promotionalCashAdded: boolean;
  readonly balances: Balances;
  /** Σ of what open orders have set aside. */
  readonly reservedByOrders: Reservation;
  /** Derived: Σ of what positions have: cash and shares under short options. Stock needs none. */
  readonly reservedByPositions: Reservation;
  /** What is set aside under short options, by underlying. */
  readonly secured: Map<string, Secured>;
  /** By symbol. Empty positions are removed. */
  readonly positions: Map<string, Position>;
  /** Derived: the symbols of the options that are held, by underlying. */
  readonly optionsOn: Map<string, Set<string>>;
  /** Derived: what open orders may still take from what covers short options. */
  readonly contractsOnOrder: OnOrder;
  readonly openOrders: OpenOrders;
  /** Client order ids of open orders, with the order's number. */
  readonly clientOrderIds: Map<string, number>;
  /** By settlement date. */
  readonly obligations: Map<TradingDate, Obligation>;
  previousClose?: CloseMark;
  /** By symbol; of the latest date each symbol was traded on. */
  readonly dayTrades: Map<string, DayTradeTracker>;
  /** Of MARGIN portfolios: memorandum account, calls, accruals. */
  readonly margin: MarginAccount;
  /** Derived: what is sold short, and futures: what can take more than it is worth. */
  readonly owing: Set<string>;
}

/**
 * Cash as it is reported (D16, D139). The books know one signed settled and one pending balance; together these are
 * `settledCash + pendingCash + reservedCash − marginLoan`, whatever is set aside and lent.
 */
export interface CashView {
  readonly settledCash: Money;
  readonly pendingCash: Money;
  readonly reservedCash: Money;
  readonly marginLoan: Money;
}

/** What cash is reported by: a part of a portfolio. */
export interface CashBooks {
  readonly settings: Pick<PortfolioSettings, 'portfolioType'>;
  readonly balances: Pick<Balances, 'SETTLED_CASH' | 'PENDING_CASH'>;
  readonly reservedByOrders: Pick<Reservation, 'cash'>;
  readonly reservedByPositions: Pick<Reservation, 'cash'>;
  readonly obligations: ReadonlyMap<TradingDate, Pick<Obligation, 'cash'>>;
}

/**
 * The loan is what the cash of the books, settled or pending, does not cover of what buying back the short positions
 * would take (D139): the proceeds of short sales are collateral, and buying and selling on one day borrows nothing. What
 * is lent is there to be shown as settled; what is owed before the money for it has settled is taken from what is pending.
 */
export function cashOf(portfolio: CashBooks, shortMarketValue: Money): CashView {
  const { SETTLED_CASH: settled, PENDING_CASH: pending } = portfolio.balances;
  const marginLoan = Money.max(Money.ofUnits(shortMarketValue - settled - pending), Money.zero);
  const reserved = Money.ofUnits(
    portfolio.reservedByOrders.cash + portfolio.reservedByPositions.cash + owedCash(portfolio),
  );
  const reservedCash = Money.min(reserved, Money.max(settled, Money.zero));
  const free = Money.ofUnits(settled - reservedCash + marginLoan);
  const settledCash = Money.max(free, Money.zero);
  return {
    settledCash,
    pendingCash: Money.ofUnits(pending + free - settledCash),
    reservedCash,
    marginLoan,
  };
}

/** Keeps note of whether a position is one that can take more than it is worth. */
export function noteRiskSide({ owing }: Portfolio, position: Position): void {
  if (Position.held(position) < 0 || position.assetClass === 'FUTURE') owing.add(position.symbol);
  else owing.delete(position.symbol);
}

/**
 * What a CASH portfolio will pay on settlement dates to come, for options that were settled in cash against it: kept from being spent, for it
 * never owes.
 */
export function owedCash({ settings, obligations }: Pick<CashBooks, 'settings' | 'obligations'>): Money {
  let owed = 0;
  if (settings.portfolioType === 'CASH')
    for (const { cash } of obligations.values()) if (cash < 0) owed -= cash;
  return Money.ofUnits(owed);
}

/** Shares of a position that something is set aside of: for open closing orders, and under short options (D56). */
export const reservedShares = (portfolio: Portfolio, symbol: string): Quantity =>
  Quantity.add(
    portfolio.reservedByOrders.shares.get(symbol) ?? Quantity.zero,
    portfolio.reservedByPositions.shares.get(symbol) ?? Quantity.zero,
  );

/** Settled cash that nothing is set aside of: what a CASH portfolio has to spend. */
export function freeCash(portfolio: Portfolio): Money {
  const { balances, reservedByOrders, reservedByPositions } = portfolio;
  return Money.ofUnits(
    balances.SETTLED_CASH - reservedByOrders.cash - reservedByPositions.cash - owedCash(portfolio),
  );
}
