import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';

/** One delivery month of a future. */
export interface FutureContract {
  readonly assetClass: 'FUTURE';
  readonly symbol: string;
  readonly root: string;
  /** Dollars per point of price and contract, from 0.1 to 12,500,000; at most six decimals. */
  readonly multiplier: number;
  readonly tickSize: Price;
  readonly settlement: 'PHYSICAL' | 'CASH';
  readonly lastTradeDate: TradingDate;
  /** Start of possible delivery notices to holders; absent = never. */
  readonly firstNoticeDate?: TradingDate;
  /** Per contract; absent = the margin by `marginOf` for its root and date. */
  readonly initialMargin?: Money;
  readonly maintenanceMargin?: Money;
  /** Per pair of one month against another; absent = a part of `maintenanceMargin`. */
  readonly spreadMargin?: Money;
}
