import type { Calendar } from '../calendar/calendar.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/** Margin rate class of an underlying: a stock's, or the lower one of a broad index and its funds. */
export type UnderlyingClass = 'EQUITY' | 'NARROW_INDEX' | 'BROAD_INDEX';

/** Whole shares of a symbol that one contract delivers. */
export interface DeliveredShares {
  readonly symbol: string;
  readonly shares: number;
}

/** A listed option contract. */
export interface OptionContract {
  readonly assetClass: 'OPTION';
  /** OSI symbol without blanks. */
  readonly symbol: string;
  /** The stock or index it is on; not always the root of the symbol (`SPXW` is on SPX). */
  readonly underlying: string;
  readonly underlyingClass: UnderlyingClass;
  readonly optionType: 'CALL' | 'PUT';
  readonly strike: Price;
  /** The date in the symbol. Until February 2015 a Saturday: see `expirationDayOf`. */
  readonly expiration: TradingDate;
  /** Dollars per point of price and contract; at most six decimals. */
  readonly multiplier: number;
  readonly style: 'AMERICAN' | 'EUROPEAN';
  readonly settlement: 'PHYSICAL' | 'CASH';
  /** AM: settled at the opening prices of its expiration date, after its last trading day, the day before. */
  readonly settleSession: 'AM' | 'PM';
  /** Shares that one contract delivers; may differ from `multiplier` after a corporate action. */
  readonly deliverable: number;
  /** The fraction of a share, beyond those, that is paid in cash at exercise; absent = none. */
  readonly inLieu?: Quantity;
  /**
   * Value of that fraction when a split left the contract without a whole share to deliver: collateral of a short call if brokers pay out
   * fractions.
   */
  readonly inLieuAtSplit?: Money;
  /** Cash that one contract delivers beside its shares, fixed by a corporate action (D208); absent = none. */
  readonly cash?: Money;
  /** Shares of other symbols that one contract delivers beside those of its underlying (D208); absent = none. */
  readonly others?: readonly DeliveredShares[];
  /** Contracts that are valued only: shares of other symbols whose value is part of `cash` (`withOthersInCash`), instead of `others`. */
  readonly othersInCash?: readonly DeliveredShares[];
  /** Minimum price increment of its orders; absent = that of its class (D70). */
  readonly tickSize?: Price;
}

/** True when two contracts deliver the same shares of other symbols. */
export const hasSameOthers = (
  { others: a = [] }: Pick<OptionContract, 'others'>,
  { others: b = [] }: Pick<OptionContract, 'others'>,
): boolean =>
  a.length === b.length &&
  a.every(({ symbol, shares }, index) => b[index]?.symbol === symbol && b[index].shares === shares);

/** Terms that the contracts of one expiration share, except strikes. */
export type OptionSeries = Omit<OptionContract, 'symbol' | 'optionType' | 'strike'>;

/** The day that counts as the expiration of a series: its date, or the last trading day before it (D69). */
export function expirationDayOf(contract: OptionSeries, calendar: Calendar): TradingDate {
  const { expiration } = contract;
  return calendar.isTradingDay(expiration) ? expiration : calendar.previousTradingDay(expiration);
}

/** The last trading day of a series: its expiration, or the trading day before if it settles in the morning. */
export function lastTradeDateOf(contract: OptionSeries, calendar: Calendar): TradingDate {
  const day = expirationDayOf(contract, calendar);
  return contract.settleSession === 'AM' ? calendar.previousTradingDay(day) : day;
}
