import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import { hasRoomFor, LEDGER_ACCOUNTS } from '../../ledger/ledger.js';
import type { LedgerEntry, Posting } from '../../ledger/ledger.js';
import { MINIMUM_MARGIN_EQUITY } from '../../margin/buying-power.js';
import { valueOf } from '../../instruments/instrument.js';
import { holdingsIn } from '../../portfolios/book-sums.js';
import type { CloseMark, Portfolio, PortfolioSettings } from '../../portfolios/portfolio.js';
import { valuationOf, worthOf } from '../../portfolios/valuation.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import { openNewAccount, accountLimitRejection, frozenAccountRejection } from './accounts.js';
import { noteShortfall } from '../margin/day-shortfall.js';
import { endOrder } from '../orders/end-order.js';
import { postAccrualsOf } from '../margin/interest.js';
import { closeCalls } from '../margin/margin-calls.js';
import { meetCallsByCash, meetCallsNow } from '../margin/meet-calls.js';
import { heldBeyond } from '../orders/option-level.js';
import { secureAllOptions, secureShortfall } from '../options/secure-options.js';
import { changeSma } from '../margin/sma.js';

/**
 * Opens a portfolio with its initial cash, settled (D10). An unknown account id is opened with it (D7); an account
 * that was opened as a retirement account holds portfolios of its own type only (D140).
 */
export function openPortfolio(
  d: Decision,
  command: Extract<Command, { type: 'OpenPortfolio' }>,
): Portfolio | Rejection {
  const { by, accountId, initialCash } = command;
  if (command.accountType !== 'INDIVIDUAL' && command.portfolioType !== 'CASH') {
    return { code: 'INVALID', messages: ['IRA and ROTH_IRA accounts must use CASH portfolios'] };
  }
  const account = d.state.accounts.get(accountId);
  if (account?.requiredType !== undefined && account.requiredType !== command.accountType) {
    return {
      code: 'INVALID',
      messages: [`accountType must be ${account.requiredType}, that of the account`],
    };
  }
  const refused =
    brokerProblem(d, command.brokerId) ??
    frozenAccountRejection(account, 'portfolios cannot be opened') ??
    (account === undefined ? accountLimitRejection(d, by, command.proAccounts) : undefined);
  if (refused !== undefined) return refused;
  if (account === undefined) openNewAccount(d, accountId, { accountType: command.accountType });
  const { portfolioId, number } = d.nextPortfolio();
  d.emit({
    type: 'PortfolioOpened',
    terms: {
      portfolioId,
      number,
      accountId,
      accountType: command.accountType,
      ...(command.name !== undefined && { name: command.name }),
      fillModel: command.fillModel,
      initialCash,
      initialSettings: settingsOf(command),
      createdAt: d.at,
    },
    previousClose: newPortfolioMark(d, initialCash),
  });
  d.emit({
    type: 'LedgerPosted',
    portfolioId,
    entries: [d.capitalEntry('INITIAL_CASH', initialCash)],
  });
  changeSma(d, portfolioOf(d, portfolioId), 'INITIAL_CASH', initialCash);
  return portfolioOf(d, portfolioId);
}

function settingsOf(command: Extract<Command, { type: 'OpenPortfolio' }>): PortfolioSettings {
  const { portfolioType, brokerId } = command;
  if (portfolioType === 'CASH') return { portfolioType, brokerId };
  const marginType = command.marginType ?? 'REG_T';
  if (marginType === 'REG_T') return { portfolioType, brokerId, marginType };
  return {
    portfolioType,
    brokerId,
    marginType,
    portfolioMarginEngineType: command.portfolioMarginEngineType ?? 'TIMS',
  };
}

/** A new portfolio has no close yet: its cash is the base of its day-trade buying power (D54). */
function newPortfolioMark(d: Decision, cash: Money): CloseMark {
  const { calendar } = d.rules;
  const date = calendar.previousTradingDay(calendar.dateOf(d.at));
  return { date, totalEquity: cash, maintenanceExcess: cash };
}

/**
 * The refusal of any change to a closed portfolio (D142). The state has open ones only: the keeper of the closed ones
 * returns it.
 */
export const PORTFOLIO_CLOSED: Rejection = { code: 'CONFLICT', message: 'Portfolio is closed' };

/** Names a portfolio, or removes its name (D257). Its present name is no change. */
export function renamePortfolio(
  d: Decision,
  { portfolioId, name }: Extract<Command, { type: 'RenamePortfolio' }>,
): Portfolio | Rejection {
  const portfolio = portfolioToChange(d, { portfolioId }, 'portfolios cannot be renamed');
  if ('code' in portfolio || portfolio.terms.name === name) return portfolio;
  d.emit({ type: 'PortfolioRenamed', portfolioId, ...(name !== undefined && { name }), at: d.at });
  return portfolio;
}

/** Switches to another broker configuration, unless orders are open (contract 4.1). */
export function switchBroker(
  d: Decision,
  command: Extract<Command, { type: 'SwitchBroker' }>,
): Portfolio | Rejection {
  const portfolio = portfolioToChange(d, command, 'the broker cannot be switched');
  if ('code' in portfolio) return portfolio;
  const refused = brokerProblem(d, command.brokerId);
  if (refused !== undefined) return refused;
  if (portfolio.openOrders.size > 0) {
    return { code: 'CONFLICT', message: 'Cannot switch broker while the portfolio has open orders' };
  }
  const broker = d.rules.brokers.get(command.brokerId);
  const beyond = broker && heldBeyond(d, portfolio, broker);
  if (beyond !== undefined) return { code: 'BROKER_RESTRICTION', message: beyond };
  postAccrualsOf(d, portfolio);
  d.emit({
    type: 'PortfolioChanged',
    portfolioId: command.portfolioId,
    change: 'BROKER',
    settings: { ...portfolio.settings, brokerId: command.brokerId },
    promotionalCashAdded: portfolio.promotionalCashAdded,
    at: d.at,
  });
  secureAllOptions(d, portfolio);
  meetCallsNow(d, portfolio);
  return portfolio;
}

function brokerProblem(d: Decision, brokerId: string): Rejection | undefined {
  if (d.rules.brokers.has(brokerId)) return undefined;
  return { code: 'BROKER_NOT_ALLOWED', allowed: [...d.rules.brokers.keys()] };
}

export interface ResetSummary {
  readonly portfolio: Portfolio;
  readonly positionsClosed: number;
  readonly ordersCancelled: number;
  readonly newCashBalance: Money;
  readonly oldCashBalance: Money;
  readonly realizedPnl: Money;
}

/** Resets a portfolio to its initial state: orders canceled, positions closed at their marks, the initial cash restored (D10, D57). */
export function resetPortfolio(
  d: Decision,
  command: Extract<Command, { type: 'ResetPortfolio' }>,
): ResetSummary | Rejection {
  const portfolio = portfolioToChange(d, command, 'portfolios cannot be reset');
  if ('code' in portfolio) return portfolio;
  postAccrualsOf(d, portfolio);
  const { portfolioId, initialCash } = portfolio.terms;
  const open = portfolio.openOrders.oldestFirst();
  // Exits that never became active are not counted (D155).
  const ordersCancelled = open.filter(({ progress }) => progress.status !== 'CREATED').length;
  const { SETTLED_CASH, PENDING_CASH } = portfolio.balances;
  const held = [...portfolio.positions.values()].filter((position) => Position.held(position) !== 0);
  const closed = holdingsIn(portfolio, d).map(({ instrument, quantity, mark }) => ({
    symbol: instrument.symbol,
    value: Money.bounded(valueOf(instrument, mark, Quantity.abs(quantity))),
  }));
  const value = valuationOf(portfolio, d, d.broker(portfolio));
  const equityBefore = worthOf(portfolio, d).totalEquity;
  const cost = held.reduce((sum, position) => sum + Position.booked(position), 0);
  const realizedPnl = Money.ofUnits(value.longMarketValue - value.shortMarketValue + value.variation - cost);
  for (const order of open) {
    if (d.state.orders.has(order.terms.number)) {
      endOrder(d, order, { transition: 'CANCELED', cancelReason: 'RESET' });
    }
  }
  const entries = [resetEntry(d, portfolio)];
  const summary = {
    positionsClosed: held.length,
    ordersCancelled,
    newCashBalance: initialCash,
    // Variation that is not posted yet is pending cash (D95).
    oldCashBalance: Money.add(Money.add(SETTLED_CASH, PENDING_CASH), value.variation),
  };
  closeCalls(d, portfolio);
  d.emit({
    type: 'PortfolioReset',
    portfolioId,
    ...summary,
    realizedPnl,
    equityBefore,
    ...(closed.length > 0 && { closed }),
    previousClose: newPortfolioMark(d, initialCash),
    at: d.at,
  });
  d.emit({ type: 'LedgerPosted', portfolioId, entries });
  changeSma(d, portfolio, 'INITIAL_CASH', initialCash);
  return { portfolio, ...summary, realizedPnl };
}

/** One entry that resets every account. */
function resetEntry(d: Decision, portfolio: Portfolio): LedgerEntry {
  const { initialCash } = portfolio.terms;
  const target: Record<string, Money> = { SETTLED_CASH: initialCash, CAPITAL: Money.negate(initialCash) };
  const postings: Posting[] = LEDGER_ACCOUNTS.map((account) => ({
    account,
    amount: Money.subtract(target[account] ?? Money.zero, portfolio.balances[account]),
  }));
  return d.entry('RESET', postings);
}

/** Deposits or withdraws cash (D63). Withdrawals are limited to the withdrawable amount. */
export function transferCash(
  d: Decision,
  command: Extract<Command, { type: 'TransferCash' }>,
): LedgerEntry | Rejection {
  const portfolio = portfolioToChange(d, command, 'cash cannot be transferred');
  if ('code' in portfolio) return portfolio;
  const { portfolioId, amount } = command;
  if (amount < 0) {
    const availableCash = withdrawable(d, portfolio);
    const requiredAmount = Money.negate(amount);
    if (requiredAmount > availableCash) return { code: 'INSUFFICIENT_FUNDS', availableCash, requiredAmount };
  }
  if (!hasRoomFor(portfolio.balances, Money.abs(amount))) {
    return { code: 'INVALID', messages: ['amount must not take the books beyond 100 billion dollars'] };
  }
  const entry = d.capitalEntry(
    'TRANSFER',
    amount,
    command.reason === undefined ? undefined : { name: command.reason },
  );
  const equityBefore = worthOf(portfolio, d).totalEquity;
  d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry], equityBefore });
  changeSma(d, portfolio, 'TRANSFER', amount);
  secureShortfall(d, portfolio);
  noteShortfall(d, portfolio, { initial: amount, maintenance: amount }, Money.zero);
  meetCallsByCash(d, portfolio);
  return entry;
}

/**
 * Withdrawable cash. CASH portfolio: its free settled cash. MARGIN portfolio: its excess over the requirements, borrowed against its
 * holdings if that exceeds its cash; but with a remaining loan or short position, the minimum equity must remain too (D109).
 */
function withdrawable(d: Decision, portfolio: Portfolio): Money {
  const {
    settledCash,
    shortMarketValue,
    totalEquity,
    availableMargin: room,
  } = valuationOf(portfolio, d, d.broker(portfolio));
  if (room === undefined) return settledCash;
  const { left, freeCash, keepsCash } = room;
  const beyondMinimum = Money.subtract(totalEquity, MINIMUM_MARGIN_EQUITY);
  const borrowable = shortMarketValue > 0 ? beyondMinimum : Money.max(beyondMinimum, freeCash);
  const most = keepsCash === true ? Money.min(borrowable, freeCash) : borrowable;
  return Money.max(Money.min(Money.min(left.initial, left.maintenance), most), Money.zero);
}

/** The portfolio of a command, or a rejection if there is none such or its account is frozen (D141). */
export function portfolioToChange(
  d: Decision,
  { portfolioId }: { readonly portfolioId: string },
  refusedWhileFrozen: string,
): Portfolio | Rejection {
  const portfolio = d.state.portfolios.get(portfolioId);
  if (portfolio === undefined) return { code: 'NOT_FOUND', what: 'Portfolio' };
  return frozenAccountRejection(portfolio.account, refusedWhileFrozen) ?? portfolio;
}

function portfolioOf(d: Decision, portfolioId: string): Portfolio {
  const portfolio = d.state.portfolios.get(portfolioId);
  if (portfolio === undefined) throw new RangeError('portfolio was not opened');
  return portfolio;
}
