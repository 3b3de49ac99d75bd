import type { Quote } from '../market/quote.js';
import type { Instant } from '../values/instant.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';

/** Why an execution happened as it did (D50). */
export interface Explanation {
  /** The rule that set the price: what a user can look up in docs/rules/fill-models.md. */
  readonly rule: 'TOUCH' | 'RESTING_LIMIT' | 'MODELLED_BOOK';
  /** Size that was available to this order at this price; absent = unlimited. */
  readonly sizeAvailable?: Quantity;
  readonly latencyMs: number;
  /** How much better than the limit, per share; absent for orders without a limit. */
  readonly priceImprovement?: Price;
}

/** One fill of one order. */
export interface Execution {
  readonly executionId: string;
  readonly orderId: string;
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  readonly quantity: Quantity;
  readonly price: Price;
  readonly commission: Money;
  readonly fees: readonly { readonly name: string; readonly amount: Money }[];
  readonly executedAt: Instant;
  /** Whether the order took what was displayed or was waiting when the market came. */
  readonly liquidity: 'TAKER' | 'MAKER';
  /** The quote that justified it. */
  readonly quote: Quote;
  readonly explanation: Explanation;
}
