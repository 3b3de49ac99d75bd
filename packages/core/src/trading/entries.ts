import { balanced } from '../ledger/ledger.js';
import type { LedgerEntry, LedgerEntryType, Posting } from '../ledger/ledger.js';
import { cashOfExecution, commissionOf, feesOf } from '../orders/execution.js';
import { sideOf } from '../orders/order.js';
import type { OrderTerms } from '../orders/order.js';
import { Money } from '../values/money.js';
import type { BookedExecution, OrderExecuted } from './trade.js';

/** Entries of one execution are numbered from a multiple of this: none has so many. */
const ENTRIES_PER_EXECUTION = 16;

type TradeTerms = Pick<OrderTerms, 'number' | 'positionIntent' | 'symbol'>;

/** The ledger entries of an execution event: of each execution the trade, then its commission, then its fees. */
export function tradeEntries(terms: TradeTerms, event: OrderExecuted): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (const execution of event.executions) addEntries(terms, execution, entries);
  return entries;
}

/**
 * Cash moves in whole cents; what lies between them and the exact value goes to ROUNDING. A purchase is paid from settled cash at once;
 * the proceeds of a sale, and what is charged on it, settle later.
 */
function addEntries(terms: TradeTerms, execution: BookedExecution, entries: LedgerEntry[]): void {
  const { value, price, quantity, lots } = execution;
  const cash = cashOfExecution(execution);
  const side = sideOf(terms.positionIntent);
  const buy = side === 'BUY';
  const account = buy ? 'SETTLED_CASH' : 'PENDING_CASH';
  let number = execution.number * ENTRIES_PER_EXECUTION;
  const add = (
    type: LedgerEntryType,
    postings: readonly Posting[],
    about: NonNullable<LedgerEntry['about']>,
  ): void => {
    const posted = balanced(postings);
    entries.push({ number, type, postings: posted, about, order: terms.number, execution: execution.number });
    number++;
  };
  const postings: Posting[] = [{ account, amount: buy ? Money.negate(cash) : cash }];
  if (lots.closed === undefined) {
    postings.push({ account: 'SECURITIES', amount: buy ? value : Money.negate(value) });
  } else {
    const cost = lots.closed.reduce((sum, closing) => Money.add(sum, closing.cost), Money.zero);
    const realized = buy ? Money.subtract(cost, value) : Money.subtract(value, cost);
    postings.push(
      { account: 'SECURITIES', amount: buy ? cost : Money.negate(cost) },
      { account: 'REALIZED_PNL', amount: Money.negate(realized) },
    );
  }
  postings.push({ account: 'ROUNDING', amount: Money.ofUnits(buy ? cash - value : value - cash) });
  add('TRADE', postings, { symbol: terms.symbol, side, quantity, price });
  const charge = (type: 'COMMISSION' | 'FEE', name: string, amount: Money): void => {
    if (amount <= 0) return;
    const to = type === 'COMMISSION' ? 'COMMISSIONS' : 'FEES';
    add(
      type,
      [
        { account, amount: Money.negate(amount) },
        { account: to, amount },
      ],
      { name },
    );
  };
  charge('COMMISSION', 'Commission', commissionOf(execution));
  for (const fee of feesOf(execution)) charge('FEE', fee.name, fee.amount);
}
