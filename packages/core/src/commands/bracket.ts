import type { Decision } from '../decision.js';
import type { BracketPart, Order } from '../orders/order.js';
import { Quantity } from '../values/quantity.js';
import { endOrder, exitsOf, siblingOf } from './end-order.js';
import { expiryOf } from './order-hours.js';

/**
 * Brackets (D27, D59): the exits are created with the entry, go to work as the entry fills, for what it has filled,
 * and share that quantity: what one sells the other no longer can. Two closing orders without an entry (D167) share it in the same way from
 * the start: the limit sets it aside, and the stop goes to work with it.
 */

type Entry = Extract<BracketPart, { part: 'ENTRY' }>;
type Exit = Exclude<BracketPart, Entry>;

/** The stop of a pair goes where its limit order is: to work, or to wait for the open. Called once, when that first gets there. */
export function followLimit(d: Decision, { terms, progress }: Order): void {
  if (terms.bracket?.part !== 'OCO_LIMIT') return;
  const stop = siblingOf(d, terms.bracket);
  if (stop?.progress.status === 'CREATED') activate(d, stop, progress.quantity, Quantity.zero);
}

/** After the entry filled something: its exits work for so much more. */
export function followEntry(d: Decision, bracket: Entry, filled: Quantity): void {
  exitsOf(d, bracket).forEach((exit, index) => {
    // One reservation covers both exits: they can never both sell the same share. The first that is open has it.
    const reserved = index === 0 ? filled : Quantity.zero;
    const { status, quantity, reservedQuantity } = exit.progress;
    if (status === 'CREATED') activate(d, exit, filled, reserved);
    else resize(d, exit, Quantity.add(quantity, filled), Quantity.add(reservedQuantity, reserved));
  });
}

/**
 * After an exit filled something: the other shrinks by as much, and is gone when nothing is left of it. An exit that has
 * closed all there was ends the bracket, and with it what the entry has not filled yet: it would open a position
 * that nothing protects.
 */
export function followExit(d: Decision, exit: Order, bracket: Exit, filled: Quantity): void {
  const sibling = siblingOf(d, bracket);
  if (sibling !== undefined) shrink(d, sibling, filled);
  if (exit.progress.status !== 'FILLED' || !('entry' in bracket)) return;
  const entry = d.state.orders.get(bracket.entry);
  if (entry !== undefined) endOrder(d, entry, { transition: 'CANCELED', cancelReason: 'OCO' });
}

function shrink(d: Decision, sibling: Order, filled: Quantity): void {
  const quantity = Quantity.subtract(sibling.progress.quantity, filled);
  if (quantity <= sibling.progress.filledQuantity) {
    endOrder(d, sibling, { transition: 'CANCELED', cancelReason: 'OCO' });
    return;
  }
  const reserved = sibling.progress.reservedQuantity;
  resize(d, sibling, quantity, reserved === 0 ? reserved : Quantity.subtract(reserved, filled));
}

function resize(d: Decision, exit: Order, quantity: Quantity, reservedQuantity: Quantity): void {
  d.move(exit, 'RESIZED', { quantity, reservedQuantity });
}

function activate(d: Decision, exit: Order, quantity: Quantity, reservedQuantity: Quantity): void {
  const { terms, progress } = exit;
  const hours = d.hours(d.tradedBy(terms));
  if (!hours.isOpen(terms.session, d.at)) {
    const releaseAt = hours.nextOpen(terms.session, d.at);
    d.move(exit, 'QUEUED', { quantity, reservedQuantity, releaseAt });
    return;
  }
  const expiresAt = expiryOf(d, hours, terms, progress, d.at);
  d.move(exit, 'STARTED', {
    quantity,
    reservedQuantity,
    arrival: d.state.counters.arrival + 1,
    ...(expiresAt !== undefined && { expiresAt }),
  });
}
