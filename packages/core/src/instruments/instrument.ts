import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { Equity } from './equity.js';
import type { FutureContract } from './future.js';
import type { IndexUnderlying } from './index-underlying.js';
import type { OptionContract } from './option.js';

/*
 * Instruments, and the properties that every decision uses. Instruments are data: they are part of the journal.
 * A decision looks an instrument up once and passes it down; class-specific behavior is in this folder.
 */

/** Instruments that can be ordered and held. */
export type Tradable = Equity | OptionContract | FutureContract;

/** Instruments that can be listed and quoted. */
export type Instrument = Tradable | IndexUnderlying;

/** The class of an order. */
export type AssetClass = Tradable['assetClass'];

/** True when an instrument can be ordered at all, even if it has stopped trading. */
export const isTradable = (instrument: Instrument): instrument is Tradable =>
  instrument.assetClass !== 'INDEX';

/** The instrument of a position or order. Throws if it is not listed or cannot be ordered, which is a bug. */
export function tradableOf(symbol: string, instrument: Instrument | undefined): Tradable {
  if (instrument === undefined || !isTradable(instrument)) throw new RangeError(`${symbol} cannot be traded`);
  return instrument;
}

/** True for stocks and funds, which have shares. */
export const isShares = (instrument: Instrument): instrument is Equity => instrument.assetClass === 'EQUITY';

/** The class of shares that options deliver. */
export const SHARES: AssetClass = 'EQUITY';

/** True when an order of this class is for shares, which is all that the lowest tier may trade (contract section 8). */
export const isForShares = (assetClass: AssetClass): boolean => assetClass === 'EQUITY';

/** Dollar change of one unit when its price moves by 1.00. */
export function multiplierOf(instrument: Tradable): number {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return 1;
    case 'OPTION':
    case 'FUTURE':
      return instrument.multiplier;
  }
}

/**
 * Value of a quantity at a price, with the sign of the quantity: for shares and options their cost, for a future its
 * notional, which is not paid. Exact before it is rounded half up to 1/10,000 dollar.
 */
export function valueOf(instrument: Tradable, price: Price, quantity: Quantity): Money {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return Money.of(price, quantity);
    case 'OPTION':
    case 'FUTURE':
      return Money.ofContracts(price, quantity, instrument.multiplier);
  }
}

/** The price per unit at which a quantity has this value: the inverse of `valueOf`, rounded half up. */
export const pricePer = (instrument: Tradable, value: Money, quantity: Quantity): Price =>
  Money.perUnit(value, quantity, multiplierOf(instrument));

/** True when an instrument can have this price: an option can be worth 0. Negative prices are not simulated (D98). */
export function isPossiblePrice(instrument: Instrument, price: Price): boolean {
  switch (instrument.assetClass) {
    case 'OPTION':
      return price >= 0;
    case 'EQUITY':
    case 'FUTURE':
    case 'INDEX':
      return price > 0;
  }
}

/** Delivery and payment of a trade: by the cycle of the date, on the next day, or never (a future is marked). */
export type SettlementKind = 'EQUITY_CYCLE' | 'NEXT_DAY' | 'NONE';

export function settlementOf(instrument: Tradable): SettlementKind {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return 'EQUITY_CYCLE';
    case 'OPTION':
      return 'NEXT_DAY';
    case 'FUTURE':
      return 'NONE';
  }
}

/** Class that determines the commission and fees of an order (D82). */
export type FeeClass =
  'SHARES' | 'SHARE_OPTIONS' | 'NARROW_INDEX_OPTIONS' | 'BROAD_INDEX_OPTIONS' | 'FUTURES';

/** Physically delivered options have the fees of share options, even if a fund's margin is that of its index. */
export function feeClassOf(instrument: Tradable): FeeClass {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return 'SHARES';
    case 'OPTION':
      if (instrument.settlement === 'PHYSICAL') return 'SHARE_OPTIONS';
      return instrument.underlyingClass === 'BROAD_INDEX' ? 'BROAD_INDEX_OPTIONS' : 'NARROW_INDEX_OPTIONS';
    case 'FUTURE':
      return 'FUTURES';
  }
}
