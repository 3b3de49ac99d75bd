import type { OrderSession } from '../orders/order.js';
import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';

/**
 * The market is away from limit orders in a symbol that were not resting yet: buys below the ask, sells above the bid (an absent side is
 * away from all). From now until their session ends they fill at their limit. One event for all of them: at the opening of a session
 * that is everyone who was at work overnight.
 */
export interface OrdersRested {
  readonly type: 'OrdersRested';
  readonly symbol: string;
  /** The sessions that are on, by when they began. Orders of others do not meet the market now. */
  readonly sessions: Readonly<Partial<Record<OrderSession, Instant>>>;
  readonly bid?: Price;
  readonly ask?: Price;
}
