import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { Equity } from './equity.js';
import type { FutureContract } from './future.js';
import type { IndexUnderlying } from './index-underlying.js';
import type { OptionContract } from './option.js';

/*
 * What can be quoted, and the questions every decision asks of it. Instruments are data: they travel in the journal.
 * A decision looks an instrument up once and passes it down; what depends on its kind is answered here and beside.
 */

/** What can be ordered and held. */
export type Tradable = Equity | OptionContract | FutureContract;

/** What can be listed and quoted. */
export type Instrument = Tradable | IndexUnderlying;

/** The class of an order. */
export type AssetClass = Tradable['assetClass'];

/** True when an instrument can be ordered at all; whether it still trades is another question. */
export const isTradable = (instrument: Instrument): instrument is Tradable =>
  instrument.assetClass !== 'INDEX';

/** The instrument of what is held or at work: it was listed, and can be ordered, or something is broken. */
export function tradableOf(symbol: string, instrument: Instrument | undefined): Tradable {
  if (instrument === undefined || !isTradable(instrument)) throw new RangeError(`${symbol} cannot be traded`);
  return instrument;
}

/** Whether it is a stock or a fund: what has shares. */
export const isShares = (instrument: Instrument): instrument is Equity => instrument.assetClass === 'EQUITY';

/** The class of what options deliver. */
export const SHARES: AssetClass = 'EQUITY';

/** True when an order of this class is for shares, which is all that the lowest tier may trade (contract section 8). */
export const isForShares = (assetClass: AssetClass): boolean => assetClass === 'EQUITY';

/** Dollars that one unit moves when its price moves by 1.00. */
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
 * What a quantity is worth at a price, its sign the quantity's: of shares and options what they cost, of a future its
 * notional, which nobody pays. Exact before it is rounded half up to 1/10,000 dollar.
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

/** The price per unit at which a quantity is worth so much: `valueOf` turned round, rounded half up. */
export const pricePer = (instrument: Tradable, value: Money, quantity: Quantity): Price =>
  Money.perUnit(value, quantity, multiplierOf(instrument));

/** True when an instrument can have this price: an option can be worth nothing. Negative prices are not simulated (D98). */
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

/** When what was traded is delivered and paid: by the cycle of the date, on the next day, or never (a future is marked). */
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

/** What an order costs beside its price depends on this: which commission it pays, and which fees (D82). */
export type FeeClass =
  'SHARES' | 'SHARE_OPTIONS' | 'NARROW_INDEX_OPTIONS' | 'BROAD_INDEX_OPTIONS' | 'FUTURES';

/** An option that delivers shares is one on shares for the fees, also where a fund's margin is that of its index. */
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
