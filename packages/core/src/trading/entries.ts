import type { AssetClass } from '../instruments/instrument.js';
import { balanced } from '../ledger/ledger.js';
import type {
  Balances,
  EntrySubject,
  LedgerAccount,
  LedgerEntry,
  LedgerEntryType,
  Posting,
} from '../ledger/ledger.js';
import { cashOfExecution, commissionOf, feesOf, tradedBy } from '../orders/execution.js';
import { sideOf } from '../orders/order.js';
import type { OrderTerms, PositionIntent, Side } from '../orders/order.js';
import { ENTRIES_PER_EXECUTION } from '../values/ids.js';
import { Money } from '../values/money.js';
import type { BookedExecution, OrderExecuted } from './trade.js';

type TradeTerms = Pick<OrderTerms, 'number' | 'positionIntent' | 'symbol' | 'assetClass' | 'legs'>;

/** Amounts that an execution moves between the accounts, charges aside. They sum to 0. */
interface TradeAmounts {
  readonly cash: Money;
  readonly securities: Money;
  readonly realizedPnl: Money;
  readonly futuresPnl: Money;
  /** Difference between the cash, in whole cents, and the exact value. */
  readonly rounding: Money;
}

function amountsOf(assetClass: AssetClass, side: Side, execution: BookedExecution): TradeAmounts {
  const { value, closed } = execution;
  if (assetClass === 'FUTURE') return variationOf(side, execution);
  let cost = value;
  if (closed !== undefined) {
    cost = Money.zero;
    for (const closing of closed) cost = Money.add(cost, closing.cost);
  }
  const cash = cashOfExecution(execution);
  const way = side === 'BUY' ? 1 : -1;
  return {
    cash: Money.ofUnits(-way * cash),
    securities: Money.ofUnits(way * cost),
    realizedPnl: Money.ofUnits(way * (value - cost)),
    futuresPnl: Money.zero,
    rounding: Money.ofUnits(way * (cash - value)),
  };
}

/** The notional of a future is not paid: closing contracts posts their variation since the last daily settlement (D95). */
function variationOf(side: Side, { value, closed, variation = Money.zero }: BookedExecution): TradeAmounts {
  let exact = Money.zero;
  if (closed !== undefined) {
    const marked = closed.reduce((sum, closing) => Money.add(sum, closing.marked ?? Money.zero), Money.zero);
    exact = side === 'SELL' ? Money.subtract(value, marked) : Money.subtract(marked, value);
  }
  return {
    cash: variation,
    securities: Money.zero,
    realizedPnl: Money.zero,
    futuresPnl: Money.negate(exact),
    rounding: Money.subtract(exact, variation),
  };
}

/** Direction of a fill's cash: that of its order; for multi-leg orders the larger side, so that sales pay for purchases (D81). */
export function cashSideOf(
  terms: Pick<OrderTerms, 'symbol' | 'positionIntent' | 'legs'>,
  executions: readonly BookedExecution[],
): Side {
  if (terms.legs === undefined) return sideOf(terms.positionIntent);
  let net = 0;
  for (const execution of executions) {
    const cash = cashOfExecution(execution);
    net += sideOf(tradedBy(terms, execution).positionIntent) === 'BUY' ? cash : 0 - cash;
  }
  return net >= 0 ? 'BUY' : 'SELL';
}

/**
 * A purchase is paid from settled cash at once. The proceeds of a sale and the variation of a future settle later.
 * Charges of a future are paid from settled cash at once (D93).
 */
function accountsOf(
  assetClass: AssetClass,
  side: Side,
): { readonly cash: LedgerAccount; readonly charges: LedgerAccount } {
  if (assetClass === 'FUTURE') return { cash: 'PENDING_CASH', charges: 'SETTLED_CASH' };
  const account = side === 'BUY' ? 'SETTLED_CASH' : 'PENDING_CASH';
  return { cash: account, charges: account };
}

/** Posts an execution to the balances: the same amounts as its entries, without creating them. */
export function postTrade(
  balances: Balances,
  assetClass: AssetClass,
  intent: PositionIntent,
  cashSide: Side,
  execution: BookedExecution,
): void {
  const side = sideOf(intent);
  const { cash, securities, realizedPnl, futuresPnl, rounding } = amountsOf(assetClass, side, execution);
  const commission = commissionOf(execution);
  let fees = Money.zero;
  for (const fee of feesOf(execution)) fees = Money.add(fees, fee.amount);
  const accounts = accountsOf(assetClass, cashSide);
  balances[accounts.cash] = Money.add(balances[accounts.cash], cash);
  balances[accounts.charges] = Money.ofUnits(balances[accounts.charges] - commission - fees);
  balances.SECURITIES = Money.add(balances.SECURITIES, securities);
  balances.REALIZED_PNL = Money.add(balances.REALIZED_PNL, realizedPnl);
  if (futuresPnl !== 0) balances.FUTURES_PNL = Money.add(balances.FUTURES_PNL, futuresPnl);
  balances.ROUNDING = Money.add(balances.ROUNDING, rounding);
  balances.COMMISSIONS = Money.add(balances.COMMISSIONS, commission);
  balances.FEES = Money.add(balances.FEES, fees);
}

/** The ledger entries of an execution event: of each execution the trade, then its commission, then its fees. */
export function tradeEntries(terms: TradeTerms, event: OrderExecuted): LedgerEntry[] {
  const cashSide = cashSideOf(terms, event.executions);
  return event.executions.flatMap((execution) => entriesOf(terms, cashSide, execution));
}

function entriesOf(terms: TradeTerms, cashSide: Side, execution: BookedExecution): LedgerEntry[] {
  const { assetClass } = terms;
  const { symbol, positionIntent } = tradedBy(terms, execution);
  const side = sideOf(positionIntent);
  const accounts = accountsOf(assetClass, cashSide);
  const { cash, securities, realizedPnl, futuresPnl, rounding } = amountsOf(assetClass, side, execution);
  const entries: LedgerEntry[] = [];
  const add = (type: LedgerEntryType, postings: readonly Posting[], about: EntrySubject): void => {
    const number = execution.number * ENTRIES_PER_EXECUTION + entries.length;
    const order = terms.number;
    const kept = balanced(postings);
    // Opening a future moves nothing.
    if (kept.length === 0) return;
    entries.push({
      number,
      type,
      postings: kept,
      about,
      order,
      execution: execution.number,
    });
  };
  const { quantity, price } = execution;
  add(
    'TRADE',
    [
      { account: accounts.cash, amount: cash },
      { account: 'SECURITIES', amount: securities },
      { account: 'REALIZED_PNL', amount: realizedPnl },
      { account: 'FUTURES_PNL', amount: futuresPnl },
      { account: 'ROUNDING', amount: rounding },
    ],
    { symbol, side, quantity, price },
  );
  const charge = (type: 'COMMISSION' | 'FEE', name: string, amount: Money): void => {
    if (amount <= 0) return;
    const to = type === 'COMMISSION' ? 'COMMISSIONS' : 'FEES';
    const postings: Posting[] = [
      { account: accounts.charges, amount: Money.negate(amount) },
      { account: to, amount },
    ];
    add(type, postings, { name });
  };
  charge('COMMISSION', 'Commission', commissionOf(execution));
  for (const fee of feesOf(execution)) charge('FEE', fee.name, fee.amount);
  return entries;
}
