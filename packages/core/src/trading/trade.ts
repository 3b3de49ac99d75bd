import type { Execution } from '../orders/execution.js';
import type { MarginExcess } from '../orders/margin-excess.js';
import type { LotClosing } from '../positions/position.js';
import type { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/** An execution with what it does to the lots of the position: it opens one, or closes the oldest. One of the two is there. */
export interface BookedExecution extends Execution {
  /** The number of the new lot. */
  readonly lot: number | undefined;
  readonly closed: readonly LotClosing[] | undefined;
}

/**
 * An order executed: all executions of one fill, one for a share, one for each leg of a multi-leg order, so that there is never a state
 * with some of them. Its ledger entries follow from it (`entries.ts`).
 */
export interface OrderExecuted {
  readonly type: 'OrderExecuted';
  readonly order: number;
  readonly executions: readonly BookedExecution[];
  /** What stays set aside for the rest of the order; absent = nothing. */
  readonly reserved: Money | undefined;
  readonly takes: MarginExcess | undefined;
  readonly cover: Quantity | undefined;
  /** Absent = the exchange date of the record. */
  readonly tradeDate: TradingDate | undefined;
  /** When what was traded is delivered; for sales also when the cash comes in. Absent for futures, which are never delivered. */
  readonly settlementDate: TradingDate | undefined;
}
