import type { SharesOf } from '../instruments/shares-of.js';
import type { Execution } from '../orders/execution.js';
import type { MarginExcess } from '../orders/margin-excess.js';
import type { LotClosing } from '../positions/position.js';
import type { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/** An execution with its effect on the lots of the position: it opens one, or closes the oldest. Exactly one of the two is set. */
export interface BookedExecution extends Execution {
  /** The number of the new lot. */
  readonly lot: number | undefined;
  readonly closed: readonly LotClosing[] | undefined;
}

/**
 * An executed order: all executions of one fill, one for a share, one for each leg of a multi-leg order, so that no state
 * has only some of them. Its ledger entries follow from it (`entries.ts`).
 */
export interface OrderExecuted {
  readonly type: 'OrderExecuted';
  readonly order: number;
  readonly executions: readonly BookedExecution[];
  /** Remaining reservation of the order; absent = none. */
  readonly reserved: Money | undefined;
  readonly takes: MarginExcess | undefined;
  readonly cover: Quantity | undefined;
  readonly coverOthers?: readonly SharesOf[] | undefined;
  /** Absent = the exchange date of the record. */
  readonly tradeDate: TradingDate | undefined;
  /** Date of delivery, and for sales of the cash. Absent for futures, which have no delivery. */
  readonly settlementDate: TradingDate | undefined;
}
