import type { SharesOf } from '../instruments/shares-of.js';
import { MarginExcess } from '../orders/margin-excess.js';
import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';

/** Reservations of a portfolio's open orders, or of its positions. They change no balances. */
export interface Reservation {
  cash: Money;
  /** By symbol; symbols without a reservation are left out. */
  readonly shares: Map<string, Quantity>;
  /** Margin impact in a MARGIN portfolio. */
  headroom: MarginExcess;
}

/** Collateral of the short options on one underlying (D81). */
export interface Secured {
  readonly cash: Money;
  /** Shares of the underlying. */
  readonly shares: Quantity;
  /** Shares of other symbols that the covered calls deliver (D208); absent = none. */
  readonly others?: readonly SharesOf[];
  /** Further collateral that a CASH portfolio lacked after a corporate action; absent = none (D220). */
  readonly lacking?: Money;
}

export const Reservation = {
  none: (): Reservation => ({ cash: Money.zero, shares: new Map(), headroom: MarginExcess.none }),
} as const;
