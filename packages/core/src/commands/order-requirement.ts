import type { MarginExcess } from '../orders/margin-excess.js';
import type { OrderProgress, OrderTerms } from '../orders/order.js';
import type { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';

/** What an opening order needs at its worst price. */
export interface OrderRequirement {
  readonly isShortSale: boolean;
  /** Of shares; absent = not. */
  readonly isStock?: boolean;
  /** With commission and fees; of a short sale its value with them. Whole cents. */
  readonly cost: Money;
  /** What of it is set aside in cash. */
  readonly reserve: Money;
  /** What is set aside already under what it closes, and will be free (D81). */
  readonly released: Money;
  /** Cash that has to be there even where it could be borrowed (D80). */
  readonly secured: Money;
  /** Shares of the underlying to be set aside under the calls it sells. */
  readonly cover: Quantity;
  /** In a MARGIN portfolio: what it changes of the headroom. */
  readonly effect: MarginExcess | undefined;
}

/** How far an order is, as far as what it needs depends on it. */
export type OpenProgress = Pick<
  OrderProgress,
  'quantity' | 'filledQuantity' | 'filledValue' | 'limitPrice' | 'stopPrice'
>;

/** An order, before or after it was accepted, as far as what it needs depends on it. */
export type RequirementTerms = Pick<OrderTerms, 'symbol' | 'positionIntent' | 'assetClass'> &
  Partial<Pick<OrderTerms, 'number' | 'legs' | 'notional'>>;
