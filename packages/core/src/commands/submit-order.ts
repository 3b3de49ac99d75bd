import type { Command } from '../command.js';
import type { Decision } from '../decision.js';
import type { OrderProgress, OrderTerms } from '../orders/order.js';
import type { Rejection } from '../rejection.js';
import { planOrder } from './plan-order.js';
import { reachMarket } from './reach-market.js';

/** An order as it was acknowledged. */
export interface Acknowledged {
  readonly terms: OrderTerms;
  readonly progress: OrderProgress;
}

/** Takes a new order or refuses it (`plan-order.ts`). One without latency reaches the market in the same decision. */
export function submitOrder(
  d: Decision,
  { by, order: request }: Extract<Command, { type: 'SubmitOrder' }>,
): Acknowledged | Rejection {
  const { rejections, accepted } = planOrder(d, by, request);
  const [rejection] = rejections;
  if (rejection !== undefined) return rejection;
  for (const event of accepted) d.emit(event);
  const order = d.state.orders.get(accepted[0]?.number ?? 0);
  if (order === undefined) throw new RangeError('an accepted order is open');
  const { terms, progress } = order;
  if (progress.marketAt === d.at) reachMarket(d, order);
  return { terms, progress };
}
