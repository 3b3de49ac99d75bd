import type { SharesOf } from '../../instruments/shares-of.js';
import type { MarginExcess } from '../../orders/margin-excess.js';
import type { OrderProgress, OrderTerms } from '../../orders/order.js';
import type { Money } from '../../values/money.js';
import type { Quantity } from '../../values/quantity.js';

/** Requirement of an opening order at its worst price. */
export interface OrderRequirement {
  readonly isShortSale: boolean;
  /** True for shares; absent = false. */
  readonly isStock?: boolean;
  /** With commission and fees; for a short sale its value plus them. Whole cents. */
  readonly cost: Money;
  /** The part that is reserved in cash. */
  readonly reserve: Money;
  /** Collateral of the positions it closes, which becomes free (D81). */
  readonly released: Money;
  /** Cash that must be available even if it could be borrowed (D80). */
  readonly secured: Money;
  /** Shares of the underlying to reserve as collateral of the calls it sells. */
  readonly cover: Quantity;
  /** Shares of other symbols that those calls deliver too (D208). */
  readonly coverOthers: readonly SharesOf[] | undefined;
  /** Margin impact, in a MARGIN portfolio. */
  readonly effect: MarginExcess | undefined;
}

/** The progress of an order that its requirement depends on. */
export type OpenProgress = Pick<
  OrderProgress,
  'quantity' | 'filledQuantity' | 'filledValue' | 'limitPrice' | 'stopPrice'
>;

/** The terms of an order, before or after acceptance, that its requirement depends on. */
export type RequirementTerms = Pick<OrderTerms, 'symbol' | 'positionIntent' | 'assetClass'> &
  Partial<Pick<OrderTerms, 'number' | 'legs' | 'notional'>>;
