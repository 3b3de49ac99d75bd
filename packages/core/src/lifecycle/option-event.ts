import type { LedgerEntry } from '../ledger/ledger.js';
import type { LotClosing } from '../positions/position.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/** Option events other than trades, by the names that users see (D90). */
export type OptionEventType =
  | 'EXERCISED'
  | 'ASSIGNED'
  | 'EXPIRED'
  | 'CASH_SETTLED'
  /** A long closed at its value, or assigned shares sold at the mark, because payment or delivery was not possible (D88). */
  | 'SOLD_AT_EXPIRY'
  /** Shares bought at the mark to be delivered (D88). */
  | 'BUY_IN';

/** A lot of shares that an option event opens. */
export interface OpenedLot {
  readonly lot: number;
  /** Negative in a short position. */
  readonly quantity: Quantity;
  readonly cost: Money;
}

/** Shares that an exercise or an assignment moves in a portfolio. */
export interface SharesMoved {
  readonly symbol: string;
  /** Signed: positive = received. Delivered on the settlement date, like the cash of a sale. */
  readonly quantity: Quantity;
  /** Closed parts of opposite lots, oldest first; empty if there were none. */
  readonly closed: readonly LotClosing[];
  /** The remainder opens a lot for each lot of the contract, in the order in which these were opened (D244); empty if none is left. */
  readonly opened: readonly OpenedLot[];
}

/** Contracts were exercised, assigned, settled or expired: no order, no execution, no day trade (D87). */
export interface OptionEnded {
  readonly type: 'OptionEnded';
  readonly portfolioId: string;
  readonly act: OptionEventType;
  /** The contract. */
  readonly symbol: string;
  /** Whole contracts, positive. */
  readonly quantity: Quantity;
  /** The strike. */
  readonly price: Price;
  /** Cash moved, fees aside; negative = paid. Whole cents. */
  readonly amount: Money;
  /** Waived cost: a CASH portfolio loses no more than it has (D88). Absent = none. */
  readonly waived?: Money;
  /** Closed lots of the contract; absent if only shares were traded (D88). */
  readonly closed?: readonly LotClosing[];
  readonly shares?: SharesMoved;
  /** Settlement date of shares and pending cash; absent if there are neither. */
  readonly settlementDate?: TradingDate;
  /** True if there was no price of the underlying (D85). */
  readonly unpriced?: true;
  readonly entries: readonly LedgerEntry[];
}

/** A holder set the number of contracts that are not to be exercised at expiration (D86); 0 = all are exercised, the default. */
export interface ExerciseInstructed {
  readonly type: 'ExerciseInstructed';
  readonly portfolioId: string;
  readonly symbol: string;
  readonly quantity: Quantity;
}
