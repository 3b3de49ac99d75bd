import type { Decision } from '../decision.js';
import { progressWith, remainingOf } from '../orders/order.js';
import type { Order, OrderProgress } from '../orders/order.js';
import { isTerminal } from '../orders/status.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';

/** How an order ends without being filled. */
export type OrderEnd = Required<Pick<OrderProgress, 'status'>> &
  Pick<OrderProgress, 'rejectReason' | 'cancelReason' | 'canceledAt'>;

/**
 * Ends an order that is still open. Nothing is set aside for it any more; exits of a bracket that never went to work end with
 * their entry; an exit left alone takes over what the two had set aside together.
 */
export function endOrder(d: Decision, order: Order, end: OrderEnd): void {
  const { orderId, tenantId, portfolioId } = order.terms;
  d.emit({
    type: 'OrderMoved',
    orderId,
    tenantId,
    portfolioId,
    transition:
      end.status === 'REJECTED' ? 'REJECTED' : end.cancelReason === 'EXPIRED' ? 'EXPIRED' : 'CANCELED',
    progress: progressWith(order.progress, {
      ...end,
      reserved: Money.zero,
      reservedQuantity: Quantity.zero,
      updatedAt: d.at,
    }),
  });
  for (const exit of exitsOf(d, order)) {
    if (exit.progress.status === 'CREATED') {
      endOrder(d, exit, { status: 'CANCELED', cancelReason: end.cancelReason ?? 'BROKER', canceledAt: d.at });
    }
  }
  const sibling = siblingOf(d, order);
  if (
    sibling === undefined ||
    sibling.progress.status === 'CREATED' ||
    sibling.progress.reservedQuantity !== 0
  )
    return;
  d.emit({
    type: 'OrderMoved',
    orderId: sibling.terms.orderId,
    tenantId: sibling.terms.tenantId,
    portfolioId,
    transition: 'RESIZED',
    progress: { ...sibling.progress, reservedQuantity: remainingOf(sibling), updatedAt: d.at },
  });
}

/** The exits of a bracket's entry that are still open. */
export function exitsOf(d: Decision, entry: Order): Order[] {
  const exits: Order[] = [];
  for (const id of entry.terms.exitOrderIds ?? []) {
    const exit = d.state.orders.get(id);
    if (exit !== undefined) exits.push(exit);
  }
  return exits;
}

/** The other exit of the same bracket, if it is still open. */
export function siblingOf(d: Decision, exit: Order): Order | undefined {
  const id = exit.terms.siblingOrderId;
  const sibling = id === undefined ? undefined : d.state.orders.get(id);
  return sibling === undefined || isTerminal(sibling.progress.status) ? undefined : sibling;
}
