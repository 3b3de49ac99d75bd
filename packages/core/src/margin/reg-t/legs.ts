import type { UnderlyingClass } from '../../instruments/option.js';
import type { Money } from '../../values/money.js';
import type { Instant } from '../../values/instant.js';
import type { Price } from '../../values/price.js';
import type { Quantity } from '../../values/quantity.js';
import type { TradingDate } from '../../values/trading-date.js';

/** Shares of one stock or fund, as Reg T sees them. */
export interface StockLeg {
  readonly kind: 'STOCK';
  readonly symbol: string;
  /** Negative = short. Fractions are allowed. */
  readonly quantity: Quantity;
  /** The mark; absent = no price, which is refused. */
  readonly price: Price | undefined;
  /** 1 except for leveraged funds; the sign does not matter. */
  readonly leverageFactor: number;
}

/** Contracts of one option series, as Reg T sees them. */
export interface OptionLeg {
  readonly kind: 'OPTION';
  readonly symbol: string;
  /** The symbol of the stock or index: groups lie within one (D101). */
  readonly underlying: string;
  readonly underlyingClass: UnderlyingClass;
  readonly right: 'CALL' | 'PUT';
  readonly strike: Price;
  readonly expiration: TradingDate;
  /** Settlement time. A long must settle no earlier than the shorts it covers (D104). */
  readonly settlesAt: Instant;
  readonly style: 'AMERICAN' | 'EUROPEAN';
  readonly settlement: 'PHYSICAL' | 'CASH';
  /** Dollars per point of price. */
  readonly multiplier: number;
  /** Shares that one contract delivers. */
  readonly deliverable: number;
  /** The fraction of a share, beyond those, that is paid in cash; absent = none (D89). */
  readonly inLieu?: Quantity;
  /** Cash that one contract delivers, and shares of other symbols at their marks; absent = none (D208). */
  readonly cash?: Money;
  /** A short call whose shares of other symbols are not held: shares do not cover it (D208). */
  readonly lacksOthers?: true;
  /** Negative = short. Whole contracts. */
  readonly quantity: Quantity;
  /** The mark, per share. */
  readonly price: Price | undefined;
  /** The mark of the underlying; required if the leg is short or held with its stock. */
  readonly underlyingPrice: Price | undefined;
  /** Leverage factor of the underlying, as for stock. */
  readonly leverageFactor: number;
}

export type RegTLeg = StockLeg | OptionLeg;

/** Why a book has no requirement (D106). */
export type BookRefusal =
  | { readonly code: 'PRICE_MISSING'; readonly symbol: string }
  | { readonly code: 'OPTION_EXPIRED'; readonly symbol: string }
  | { readonly code: 'NOT_WHOLE_CONTRACTS'; readonly symbol: string }
  | { readonly code: 'IMPOSSIBLE_TERMS'; readonly symbol: string; readonly field: string }
  | { readonly code: 'CONTRADICTORY_TERMS'; readonly symbol: string; readonly field: string }
  | { readonly code: 'TOO_MANY_POSITIONS'; readonly most: number };
