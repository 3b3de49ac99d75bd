import type { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';

/** `new` shares for each `old` one: 7 new for 1 old is a forward split, 1 new for 20 old a reverse split. */
export interface Split {
  readonly type: 'SPLIT';
  readonly symbol: string;
  readonly exDate: TradingDate;
  readonly ratio: { readonly new: number; readonly old: number };
}

/** Dollars per share, owed to (or by, when short) whoever holds at the close before `exDate`. */
export interface CashDividend {
  readonly type: 'CASH_DIVIDEND';
  readonly symbol: string;
  readonly exDate: TradingDate;
  /** Absent = paid on the ex-date. */
  readonly payDate?: TradingDate;
  readonly amountPerShare: Price;
}

export type CorporateAction = Split | CashDividend;
