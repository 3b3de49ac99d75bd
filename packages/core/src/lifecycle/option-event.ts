import type { LedgerEntry } from '../ledger/ledger.js';
import type { LotClosing } from '../positions/position.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/** What can become of contracts beside a trade, by the names under which users find it (D90). */
export type OptionEventType =
  | 'EXERCISED'
  | 'ASSIGNED'
  | 'EXPIRED'
  | 'CASH_SETTLED'
  /** A long closed at what it is worth, or assigned shares sold at the mark, because they could not be paid for or delivered (D88). */
  | 'SOLD_AT_EXPIRY'
  /** Shares bought at the mark to be delivered (D88). */
  | 'BUY_IN';

/** What an exercise or an assignment does to the shares of a portfolio. */
export interface SharesMoved {
  readonly symbol: string;
  /** Signed: positive = they come in. Delivered, like the cash of a sale, on the settlement date. */
  readonly quantity: Quantity;
  /** What it closes of the lots on the other side, oldest first; empty where there were none. */
  readonly closed: readonly LotClosing[];
  /** What is left opens a lot. */
  readonly opened?: { readonly lot: number; readonly quantity: Quantity; readonly cost: Money };
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
  /** Cash that it moved, fees aside; negative = paid. Whole cents. */
  readonly amount: Money;
  /** What it would have cost beyond that: a CASH portfolio loses no more than there is (D88). Absent = nothing. */
  readonly waived?: Money;
  /** Lots of the contract that are gone; absent where only shares were traded (D88). */
  readonly closed?: readonly LotClosing[];
  readonly shares?: SharesMoved;
  /** When shares are delivered and pending cash comes in; absent where there are neither. */
  readonly settlementDate?: TradingDate;
  /** True where nothing said what the underlying was worth (D85). */
  readonly unpriced?: true;
  readonly entries: readonly LedgerEntry[];
}

/** A holder said how many contracts are not to be exercised when they expire (D86); 0 = all are, as usual. */
export interface ExerciseInstructed {
  readonly type: 'ExerciseInstructed';
  readonly portfolioId: string;
  readonly symbol: string;
  readonly quantity: Quantity;
}
