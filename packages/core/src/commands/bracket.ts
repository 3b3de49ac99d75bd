import type { Decision } from '../decision.js';
import { progressWith } from '../orders/order.js';
import type { Order, OrderProgress } from '../orders/order.js';
import { Quantity } from '../values/quantity.js';
import { endOrder, exitsOf, siblingOf } from './end-order.js';
import { expiryOf, isOpenFor, nextOpenFor } from './order-hours.js';

/**
 * Brackets (D27, D59): the exits are created with the entry, go to work as the entry fills, for what it has filled,
 * and share that quantity: what one sells the other no longer can.
 */

/** After the entry filled something: its exits work for so much more. */
export function followEntry(d: Decision, entry: Order, filled: Quantity): void {
  exitsOf(d, entry).forEach((exit, index) => {
    // One reservation covers both exits: they can never both sell the same share. The first that is open has it.
    const reserved = index === 0 ? filled : Quantity.zero;
    const { status, quantity, reservedQuantity } = exit.progress;
    if (status === 'CREATED') goToWork(d, exit, filled, reserved);
    else resize(d, exit, Quantity.add(quantity, filled), Quantity.add(reservedQuantity, reserved));
  });
}

/**
 * After an exit filled something: the other shrinks by as much, and is gone when nothing is left of it. An exit that has
 * closed all there was ends the bracket, and with it what the entry has not filled yet: it would open a position
 * that nothing protects.
 */
export function followExit(d: Decision, exit: Order, filled: Quantity): void {
  const sibling = siblingOf(d, exit);
  if (sibling !== undefined) shrink(d, sibling, filled);
  if (exit.progress.status !== 'FILLED') return;
  const { parentOrderId } = exit.terms;
  const entry = parentOrderId === undefined ? undefined : d.state.orders.get(parentOrderId);
  if (entry !== undefined) endOrder(d, entry, { status: 'CANCELED', cancelReason: 'OCO', canceledAt: d.at });
}

function shrink(d: Decision, sibling: Order, filled: Quantity): void {
  const quantity = Quantity.subtract(sibling.progress.quantity, filled);
  if (quantity <= sibling.progress.filledQuantity) {
    endOrder(d, sibling, { status: 'CANCELED', cancelReason: 'OCO', canceledAt: d.at });
    return;
  }
  const reserved = sibling.progress.reservedQuantity;
  resize(d, sibling, quantity, reserved === 0 ? reserved : Quantity.subtract(reserved, filled));
}

function resize(d: Decision, exit: Order, quantity: Quantity, reservedQuantity: Quantity): void {
  d.emit({
    type: 'OrderMoved',
    orderId: exit.terms.orderId,
    tenantId: exit.terms.tenantId,
    portfolioId: exit.terms.portfolioId,
    transition: 'RESIZED',
    progress: { ...exit.progress, quantity, reservedQuantity, updatedAt: d.at },
  });
}

function goToWork(d: Decision, exit: Order, quantity: Quantity, reservedQuantity: Quantity): void {
  const { terms } = exit;
  const move = (transition: 'QUEUED' | 'ACTIVATED', progress: OrderProgress): void =>
    d.emit({
      type: 'OrderMoved',
      orderId: terms.orderId,
      tenantId: terms.tenantId,
      portfolioId: terms.portfolioId,
      transition,
      progress,
    });
  const progress: OrderProgress = { ...exit.progress, quantity, reservedQuantity, updatedAt: d.at };
  if (!isOpenFor(d, terms.session)) {
    move(
      'QUEUED',
      progressWith(progress, { status: 'PENDING_MARKET_OPEN', releaseAt: nextOpenFor(d, terms.session) }),
    );
    return;
  }
  const expiresAt = expiryOf(d, terms, progress, d.at);
  const active = progressWith(progress, {
    status: 'ACTIVE',
    marketAt: d.at,
    arrival: d.state.counters.arrival + 1,
  });
  if (expiresAt !== undefined) active.expiresAt = expiresAt;
  move('ACTIVATED', active);
}
