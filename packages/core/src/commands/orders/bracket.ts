import type { Decision } from '../../decision.js';
import { leaderOf } from '../../orders/order.js';
import type { BracketPart, Order } from '../../orders/order.js';
import { Quantity } from '../../values/quantity.js';
import { endOrder, exitsOf, siblingOf } from './end-order.js';
import { expiryOf } from './order-hours.js';

/**
 * Brackets (D27, D59): the exits are created with the entry, become active as the entry fills, for the filled quantity,
 * and share it: a sale by one reduces the other. Two closing orders without an entry (D167) share it in the same way from
 * the start: the limit reserves it, and the stop becomes active with it.
 */

type Entry = Extract<BracketPart, { part: 'ENTRY' }>;
type Exit = Exclude<BracketPart, Entry>;

/** Moves the stop of a pair with its limit order: to work, or to wait for the open. Called once, when the limit first gets there. */
export function followLimit(d: Decision, { terms, progress }: Order): void {
  if (terms.bracket?.part !== 'OCO_LIMIT') return;
  const stop = siblingOf(d, terms.bracket);
  if (stop?.progress.status === 'CREATED') activate(d, stop, progress.quantity, Quantity.zero);
}

/** After a fill of the entry: its exits grow by the filled quantity. */
export function followEntry(d: Decision, bracket: Entry, filled: Quantity): void {
  exitsOf(d, bracket).forEach((exit, index) => {
    // One reservation covers both exits: they can never both sell the same share. The first open one has it.
    const reserved = index === 0 ? filled : Quantity.zero;
    const { status, quantity, reservedQuantity } = exit.progress;
    if (status === 'CREATED') activate(d, exit, filled, reserved);
    else resize(d, exit, Quantity.add(quantity, filled), Quantity.add(reservedQuantity, reserved));
  });
}

/**
 * After a fill of an exit: the other shrinks by as much, and ends without a remainder. An exit that has
 * closed the whole position ends the bracket, including the unfilled part of the entry: that would open a position
 * without protection.
 */
export function followExit(d: Decision, exit: Order, bracket: Exit, filled: Quantity): void {
  const sibling = siblingOf(d, bracket);
  if (sibling !== undefined) shrink(d, sibling, filled);
  if (exit.progress.status !== 'FILLED' || !('entry' in bracket)) return;
  const entry = d.state.orders.get(bracket.entry);
  if (entry !== undefined) endOrder(d, entry, { transition: 'CANCELED', cancelReason: 'OCO' });
}

/** After a change of an exit's prices: its leader, while that is open, shows them (D134, D215). */
export function showExitPrices(d: Decision, { bracket }: Order['terms']): void {
  const number = leaderOf(bracket);
  const leader = number === undefined ? undefined : d.state.orders.get(number);
  if (leader !== undefined) d.move(leader, 'EXITS_CHANGED');
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
