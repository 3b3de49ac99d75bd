import type { Decision } from '../decision.js';
import type { Order, OrderProgress } from '../orders/order.js';
import { Quantity } from '../values/quantity.js';
import { endOrder, exitsOf, siblingOf } from './end-order.js';
import { expiryOf, isOpenFor, nextOpenFor } from './order-hours.js';

/**
 * Brackets (D27, D59): the exits are created with the entry, go to work as the entry fills, for what it has filled,
 * and share that quantity: what one sells the other no longer can.
 */

/** After the entry filled something: its exits work for all it has filled so far, less what they closed already. */
export function followEntry(d: Decision, entry: Order): void {
  const exits = exitsOf(d, entry);
  let closed = 0;
  for (const exit of exits) closed += exit.progress.filledQuantity;
  const target = Quantity.ofUnits(entry.progress.filledQuantity - closed);
  exits.forEach((exit, index) => {
    const quantity = Quantity.add(exit.progress.filledQuantity, target);
    // One reservation covers both exits: they can never both sell the same share.
    const reservedQuantity = index === 0 ? target : Quantity.zero;
    if (exit.progress.status === 'CREATED') goToWork(d, exit, quantity, reservedQuantity);
    else resize(d, exit, quantity, reservedQuantity);
  });
}

/** After an exit filled something: the other shrinks by as much, and is gone when nothing is left of it. */
export function followExit(d: Decision, exit: Order, filled: Quantity): void {
  const sibling = siblingOf(d, exit);
  if (sibling === undefined) return;
  const quantity = Quantity.subtract(sibling.progress.quantity, filled);
  if (quantity <= sibling.progress.filledQuantity) {
    endOrder(d, sibling, { status: 'CANCELED', cancelReason: 'OCO', canceledAt: d.at });
    return;
  }
  const reserved = sibling.progress.reservedQuantity;
  resize(d, sibling, quantity, reserved === 0 ? reserved : Quantity.subtract(reserved, filled));
}

function resize(d: Decision, exit: Order, quantity: Quantity, reservedQuantity: Quantity): void {
  if (exit.progress.quantity === quantity && exit.progress.reservedQuantity === reservedQuantity) return;
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
    d.emit({ type: 'OrderMoved', orderId: terms.orderId, tenantId: terms.tenantId, portfolioId: terms.portfolioId, transition, progress });
  const progress: OrderProgress = { ...exit.progress, quantity, reservedQuantity, updatedAt: d.at };
  if (!isOpenFor(d, terms.session)) {
    move('QUEUED', { ...progress, status: 'PENDING_MARKET_OPEN', releaseAt: nextOpenFor(d, terms.session) });
    return;
  }
  const expiresAt = expiryOf(d, terms, progress.timeInForce, d.at);
  move('ACTIVATED', {
    ...progress,
    status: 'ACTIVE',
    marketAt: d.at,
    arrival: d.state.counters.arrival + 1,
    ...(expiresAt !== undefined && { expiresAt }),
  });
}
