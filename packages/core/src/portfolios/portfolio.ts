import type { Balances } from '../ledger/ledger.js';
import type { MarginEngine, MarginType } from '../margin/margin-type.js';
import type { FillModel } from '../matching/fill-model.js';
import type { Order } from '../orders/order.js';
import type { DayTradeTracker } from '../positions/day-trade.js';
import type { Position } from '../positions/position.js';
import type { Obligation } from '../settlement/obligation.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { TradingDate } from '../values/trading-date.js';
import type { Account, AccountType, PortfolioType } from './account.js';

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
}

export interface Portfolio {
  readonly terms: PortfolioTerms;
  /** Derived: the account it belongs to. */
  readonly account: Account;
  settings: PortfolioSettings;
  updatedAt: Instant;
  promotionalCashAdded: boolean;
  readonly balances: Balances;
  /** Σ of what open BUY orders have set aside. */
  reservedCash: Money;
  /** Σ of the buying power that open short sales have set aside. */
  reservedShort: Money;
  /** By symbol. Empty positions are removed. */
  readonly positions: Map<string, Position>;
  /** By number, oldest first. */
  readonly openOrders: Map<number, Order>;
  /** Client order ids of open orders, with the order's number. */
  readonly clientOrderIds: Map<string, number>;
  /** By settlement date. */
  readonly obligations: Map<TradingDate, Obligation>;
  previousClose?: CloseMark;
  /** By symbol; of the latest date each symbol was traded on. */
  readonly dayTrades: Map<string, DayTradeTracker>;
}

/**
 * Cash as it is reported (D16). The books know one signed settled balance; reserving sets part of it aside without
 * moving it, and what is below zero is the loan:
 * `settledCash + reservedCash − marginLoan` = the ledger's SETTLED_CASH.
 */
export interface CashView {
  readonly settledCash: Money;
  readonly pendingCash: Money;
  readonly reservedCash: Money;
  readonly marginLoan: Money;
}

export function cashOf(portfolio: Portfolio): CashView {
  const settled = portfolio.balances.SETTLED_CASH;
  const positive = Money.max(settled, Money.zero);
  const reservedCash = Money.min(portfolio.reservedCash, positive);
  return {
    settledCash: Money.subtract(positive, reservedCash),
    pendingCash: portfolio.balances.PENDING_CASH,
    reservedCash,
    marginLoan: Money.max(Money.negate(settled), Money.zero),
  };
}
