import { balanced } from '../ledger/ledger.js';
import type { Balances, EntrySubject, LedgerEntry, LedgerEntryType, Posting } from '../ledger/ledger.js';
import { cashOfExecution, commissionOf, feesOf } from '../orders/execution.js';
import { sideOf } from '../orders/order.js';
import type { OrderTerms, Side } from '../orders/order.js';
import { Money } from '../values/money.js';
import type { BookedExecution, OrderExecuted } from './trade.js';

/** Entries of one execution are numbered from a multiple of this: none has so many. */
const ENTRIES_PER_EXECUTION = 16;

type TradeTerms = Pick<OrderTerms, 'number' | 'positionIntent' | 'symbol'>;

/** What an execution moves between the accounts, charges aside. The four amounts add up to nothing. */
interface TradeAmounts {
  readonly cash: Money;
  readonly securities: Money;
  readonly realizedPnl: Money;
  /** Cash moves in whole cents: what lies between them and the exact value. */
  readonly rounding: Money;
}

function amountsOf(side: Side, execution: BookedExecution): TradeAmounts {
  const { value, closed } = execution;
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
    rounding: Money.ofUnits(way * (cash - value)),
  };
}

/** A purchase is paid from settled cash at once; the proceeds of a sale, and what is charged on it, settle later. */
const cashAccount = (side: Side) => (side === 'BUY' ? 'SETTLED_CASH' : 'PENDING_CASH');

/** Enters an execution in the balances: the same amounts as its entries, without making them. */
export function postTrade(balances: Balances, side: Side, execution: BookedExecution): void {
  const { cash, securities, realizedPnl, rounding } = amountsOf(side, execution);
  const commission = commissionOf(execution);
  let fees = Money.zero;
  for (const fee of feesOf(execution)) fees = Money.add(fees, fee.amount);
  const account = cashAccount(side);
  balances[account] = Money.ofUnits(balances[account] + cash - commission - fees);
  balances.SECURITIES = Money.add(balances.SECURITIES, securities);
  balances.REALIZED_PNL = Money.add(balances.REALIZED_PNL, realizedPnl);
  balances.ROUNDING = Money.add(balances.ROUNDING, rounding);
  balances.COMMISSIONS = Money.add(balances.COMMISSIONS, commission);
  balances.FEES = Money.add(balances.FEES, fees);
}

/** The ledger entries of an execution event: of each execution the trade, then its commission, then its fees. */
export function tradeEntries(terms: TradeTerms, event: OrderExecuted): LedgerEntry[] {
  return event.executions.flatMap((execution) => entriesOf(terms, execution));
}

function entriesOf(terms: TradeTerms, execution: BookedExecution): LedgerEntry[] {
  const side = sideOf(terms.positionIntent);
  const account = cashAccount(side);
  const { cash, securities, realizedPnl, rounding } = amountsOf(side, execution);
  const entries: LedgerEntry[] = [];
  const add = (type: LedgerEntryType, postings: readonly Posting[], about: EntrySubject): void => {
    const number = execution.number * ENTRIES_PER_EXECUTION + entries.length;
    const order = terms.number;
    entries.push({
      number,
      type,
      postings: balanced(postings),
      about,
      order,
      execution: execution.number,
    });
  };
  const { quantity, price } = execution;
  add(
    'TRADE',
    [
      { account, amount: cash },
      { account: 'SECURITIES', amount: securities },
      { account: 'REALIZED_PNL', amount: realizedPnl },
      { account: 'ROUNDING', amount: rounding },
    ],
    { symbol: terms.symbol, side, quantity, price },
  );
  const charge = (type: 'COMMISSION' | 'FEE', name: string, amount: Money): void => {
    if (amount <= 0) return;
    const to = type === 'COMMISSION' ? 'COMMISSIONS' : 'FEES';
    const postings: Posting[] = [
      { account, amount: Money.negate(amount) },
      { account: to, amount },
    ];
    add(type, postings, { name });
  };
  charge('COMMISSION', 'Commission', commissionOf(execution));
  for (const fee of feesOf(execution)) charge('FEE', fee.name, fee.amount);
  return entries;
}
