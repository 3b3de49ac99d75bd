import type { OrderSession } from '../orders/order.js';
import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';

/**
 * Limit orders in a symbol start resting because the market is away from them: buys below the ask, sells above the bid (an absent side is
 * away from all). From now until their session ends they fill at their limit. One event for all of them: at the opening of a session
 * those are all orders that were at work overnight.
 */
export interface OrdersRested {
  readonly type: 'OrdersRested';
  readonly symbol: string;
  /** The open sessions, with their beginnings. Orders of other sessions are not matched now. */
  readonly sessions: Readonly<Partial<Record<OrderSession, Instant>>>;
  readonly bid?: Price;
  readonly ask?: Price;
}
