import { MarginExcess } from '../orders/margin-excess.js';
import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';

/** What is set aside in a portfolio, by all of its open orders or by all of its positions. It moves nothing in the books. */
export interface Reservation {
  cash: Money;
  /** By symbol; symbols of which nothing is set aside are left out. */
  readonly shares: Map<string, Quantity>;
  /** What it takes of the headroom of a MARGIN portfolio. */
  headroom: MarginExcess;
}

/** What is set aside under the short options on one underlying (D81). */
export interface Secured {
  readonly cash: Money;
  /** Of the underlying. */
  readonly shares: Quantity;
  /** What else they can lose, where a CASH portfolio did not have it after a corporate action; absent = nothing (D220). */
  readonly lacking?: Money;
}

export const Reservation = {
  none: (): Reservation => ({ cash: Money.zero, shares: new Map(), headroom: MarginExcess.none }),
} as const;
