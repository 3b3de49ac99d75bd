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

/** Settings of a portfolio that may change. */
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
  readonly accountId: string;
  readonly accountType: AccountType;
  readonly name?: string;
  readonly fillModel: FillModel;
  readonly initialCash: Money;
  /** Settings that a reset restores. */
  readonly initialSettings: PortfolioSettings;
  readonly createdAt: Instant;
}

/** A portfolio as of the last regular close, the base of the day's fixed figures. */
export interface CloseMark {
  readonly date: TradingDate;
  readonly totalEquity: Money;
  /** Equity above the maintenance requirement; negative = a deficit. */
  readonly maintenanceExcess: Money;
  /** Cash transferred since: deposits less withdrawals; absent = none. */
  readonly transferred?: Money;
  /** The mark before this one, in force until midnight of its date: figures of the start of that day. Absent for the first one. */
  readonly before?: Pick<CloseMark, 'date' | 'totalEquity' | 'maintenanceExcess'>;
}

/**
 * Excess that limits LEGACY_PDT day trades: that of the previous close, less withdrawals since. Cash deposited since does not count for day
 * trades; it offsets withdrawals of the day (D110, D220).
 */
export const dayTradingExcess = (close: CloseMark | undefined): Money =>
  Money.add(close?.maintenanceExcess ?? Money.zero, Money.min(close?.transferred ?? Money.zero, Money.zero));

export interface Portfolio {
  /** Only its name changes. */
  terms: PortfolioTerms;
  /** Derived: the account it belongs to. */
  readonly account: Account;
  settings: PortfolioSettings;
  updatedAt: Instant;
  promotionalCashAdded: boolean;
  readonly balances: Balances;
  /** Σ of the reservations of open orders. */
  readonly reservedByOrders: Reservation;
  /** Derived: Σ of the collateral of positions: cash and shares for short options. Stock requires none. */
  readonly reservedByPositions: Reservation;
  /** Collateral of short options, by underlying. */
  readonly secured: Map<string, Secured>;
  /** By symbol. Empty positions are removed. */
  readonly positions: Map<string, Position>;
  /** Derived: the symbols of the options that are held, by underlying. */
  readonly optionsOn: Map<string, Set<string>>;
  /** Derived: contracts that open orders may still use of the collateral of short options. */
  readonly contractsOnOrder: OnOrder;
  readonly openOrders: OpenOrders;
  /** Client order ids of open orders, with the order's number. */
  readonly clientOrderIds: Map<string, number>;
  /** By settlement date. */
  readonly obligations: Map<TradingDate, Obligation>;
  previousClose?: CloseMark;
  /** By symbol; of the latest date each symbol was traded on. */
  readonly dayTrades: Map<string, DayTradeTracker>;
  /** MARGIN portfolios only: SMA, calls, accruals. */
  readonly margin: MarginAccount;
  /** Derived: short positions and futures, which can lose more than their value. */
  readonly owing: Set<string>;
}

/**
 * Cash as it is reported (D16, D139). The books have one signed settled and one pending balance; together these are
 * `settledCash + pendingCash + reservedCash − marginLoan`, regardless of reservations and loans.
 */
export interface CashView {
  readonly settledCash: Money;
  readonly pendingCash: Money;
  readonly reservedCash: Money;
  readonly marginLoan: Money;
}

/** The part of a portfolio that its cash is reported from. */
export interface CashBooks {
  readonly settings: Pick<PortfolioSettings, 'portfolioType'>;
  readonly balances: Pick<Balances, 'SETTLED_CASH' | 'PENDING_CASH'>;
  readonly reservedByOrders: Pick<Reservation, 'cash'>;
  readonly reservedByPositions: Pick<Reservation, 'cash'>;
  readonly obligations: ReadonlyMap<TradingDate, Pick<Obligation, 'cash'>>;
}

/**
 * Splits cash for reports. The loan is the cost of buying back short positions that the cash of the books, settled or pending, does not
 * cover (D139): the proceeds of short sales are collateral, and buying and selling on one day borrows nothing. The loan is shown as settled
 * cash; a debit whose funds have not settled is subtracted from pending cash.
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

/** Adds or removes a position among those that can lose more than their value. */
export function noteRiskSide({ owing }: Portfolio, position: Position): void {
  if (Position.held(position) < 0 || position.assetClass === 'FUTURE') owing.add(position.symbol);
  else owing.delete(position.symbol);
}

/**
 * Amount that a CASH portfolio will pay on later settlement dates, for options settled in cash against it. It is not available to spend,
 * because a CASH portfolio cannot owe.
 */
export function owedCash({ settings, obligations }: Pick<CashBooks, 'settings' | 'obligations'>): Money {
  let owed = 0;
  if (settings.portfolioType === 'CASH')
    for (const { cash } of obligations.values()) if (cash < 0) owed -= cash;
  return Money.ofUnits(owed);
}

/** Reserved shares of a position: for open closing orders, and as collateral of short options (D56). */
export const reservedShares = (portfolio: Portfolio, symbol: string): Quantity =>
  Quantity.add(
    portfolio.reservedByOrders.shares.get(symbol) ?? Quantity.zero,
    portfolio.reservedByPositions.shares.get(symbol) ?? Quantity.zero,
  );

/** Settled cash without reservations: the spendable cash of a CASH portfolio. */
export function freeCash(portfolio: Portfolio): Money {
  const { balances, reservedByOrders, reservedByPositions } = portfolio;
  return Money.ofUnits(
    balances.SETTLED_CASH - reservedByOrders.cash - reservedByPositions.cash - owedCash(portfolio),
  );
}
