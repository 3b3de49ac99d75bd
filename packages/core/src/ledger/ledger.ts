import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/**
 * The accounts of a portfolio's books. Amounts are debit-positive: cash and securities owned are positive,
 * capital, gains and dividends received are negative. Every entry sums to zero.
 */
export type LedgerAccount =
  /** Settled cash; negative = borrowed. Includes reservations of open orders. */
  | 'SETTLED_CASH'
  /** Cash owed to (or by) the portfolio until its settlement date. */
  | 'PENDING_CASH'
  /** Cost of open lots; negative for short positions (proceeds received). */
  | 'SECURITIES'
  | 'REALIZED_PNL'
  /** Profit of futures, at each daily settlement and when they are closed. */
  | 'FUTURES_PNL'
  | 'COMMISSIONS'
  | 'FEES'
  | 'DIVIDENDS'
  /** Margin interest paid. */
  | 'INTEREST'
  /** Paid for borrowed stock that was sold short. */
  | 'BORROW_FEES'
  /** Initial, promotional and transferred cash. */
  | 'CAPITAL'
  /** Fractions of a cent between an execution's exact value and the whole cents that moved. */
  | 'ROUNDING';

export const LEDGER_ACCOUNTS: readonly LedgerAccount[] = [
  'SETTLED_CASH',
  'PENDING_CASH',
  'SECURITIES',
  'REALIZED_PNL',
  'FUTURES_PNL',
  'COMMISSIONS',
  'FEES',
  'DIVIDENDS',
  'INTEREST',
  'BORROW_FEES',
  'CAPITAL',
  'ROUNDING',
];

export type LedgerEntryType =
  | 'INITIAL_CASH'
  | 'TRANSFER'
  /** The cash paid out when a portfolio is closed (D212). */
  | 'WITHDRAWAL'
  | 'PROMOTIONAL_CASH'
  /** Cash or a position from another broker, against CAPITAL (D206). */
  | 'IMPORT'
  | 'TRADE'
  | 'COMMISSION'
  | 'FEE'
  | 'SETTLEMENT'
  | 'DIVIDEND'
  | 'CASH_IN_LIEU'
  /** Shares that meet an opposite position at a spin-off. */
  | 'SPIN_OFF'
  | 'MERGER'
  | 'DELISTING'
  | 'VARIATION'
  | 'EXERCISE'
  | 'ASSIGNMENT'
  | 'EXPIRY'
  | 'INTEREST'
  | 'BORROW_FEE'
  | 'RESET';

export interface Posting {
  readonly account: LedgerAccount;
  readonly amount: Money;
}

/** Details of an entry beyond its type: the parts of its display text. */
export interface EntrySubject {
  readonly symbol?: string;
  /** A fee's name; the reason of a transfer. */
  readonly name?: string;
  readonly date?: TradingDate;
  /** Shares, negative = short: those traded, or the fraction paid out. */
  readonly quantity?: Quantity;
  readonly price?: Price;
  readonly side?: 'BUY' | 'SELL';
}

/** A balanced change of the books. It happened at the instant of its record. */
export interface LedgerEntry {
  /** Running number among the entries of its kind in the simulation; its id follows from it. */
  readonly number: number;
  readonly type: LedgerEntryType;
  readonly postings: readonly Posting[];
  readonly about?: EntrySubject;
  /** Trades only: the order and the execution, by number. */
  readonly order?: number;
  readonly execution?: number;
}

export type Balances = Record<LedgerAccount, Money>;

export function emptyBalances(): Balances {
  return {
    SETTLED_CASH: Money.zero,
    PENDING_CASH: Money.zero,
    SECURITIES: Money.zero,
    REALIZED_PNL: Money.zero,
    FUTURES_PNL: Money.zero,
    COMMISSIONS: Money.zero,
    FEES: Money.zero,
    DIVIDENDS: Money.zero,
    INTEREST: Money.zero,
    BORROW_FEES: Money.zero,
    CAPITAL: Money.zero,
    ROUNDING: Money.zero,
  };
}

/** True when every account can change by this amount with all sums exact integers: the limit of books is 100 billion dollars. */
export function hasRoomFor(balances: Balances, amount: Money): boolean {
  // Account by account: looking them up by name costs ten times as much, for every execution.
  const { SETTLED_CASH, PENDING_CASH, SECURITIES, REALIZED_PNL, COMMISSIONS, FEES, DIVIDENDS } = balances;
  const largest = Math.max(
    Math.abs(SETTLED_CASH),
    Math.abs(PENDING_CASH),
    Math.abs(SECURITIES),
    Math.abs(REALIZED_PNL),
    Math.abs(COMMISSIONS),
    Math.abs(FEES),
    Math.abs(DIVIDENDS),
    Math.abs(balances.CAPITAL),
    Math.abs(balances.FUTURES_PNL),
    Math.abs(balances.INTEREST),
    Math.abs(balances.BORROW_FEES),
    Math.abs(balances.ROUNDING),
  );
  return Money.isPostable(Money.ofUnits(largest + amount));
}

/** Postings of an entry, without amounts of 0. Throws if they do not balance: that is a broken invariant. */
export function balanced(postings: readonly Posting[]): Posting[] {
  const kept = postings.filter((posting) => posting.amount !== 0);
  let sum = 0;
  for (const posting of kept) {
    if (!Number.isSafeInteger(posting.amount))
      throw new RangeError(`posting out of range: ${posting.account}`);
    sum += posting.amount;
  }
  if (sum !== 0) throw new RangeError('ledger entry does not balance');
  return kept;
}
