import type { Decision } from '../../decision.js';
import type { Book } from '../../matching/book.js';
import { startingTrail } from '../../matching/trigger.js';
import { isOpening, isSetAside, isTrailing } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import { endRefused } from '../orders/end-order.js';
import { fundsProblem, orderRequirementOf, setAsideChanges, setAsideFor } from '../orders/reserve.js';

/**
 * Reserves for orders that had no price when they were accepted (D133). At the first price, whether it fills them or not, at any hour and
 * quote age, they reserve their requirement as at acceptance; or they are rejected. The oldest come first.
 */
export function reserveAtFirstPrice(d: Decision, book: Book): void {
  if (book.awaitingPrice.size === 0 || book.quote === undefined) return;
  const oldestFirst = [...book.awaitingPrice].sort((a, b) => a.terms.number - b.terms.number);
  for (const order of oldestFirst) {
    if (d.isFull) {
      d.unmatched.add(book.symbol);
      return;
    }
    reserveAtPrice(d, order);
  }
}

/** Reserves an order's requirement at the current price, or ends the order. */
export function reserveAtPrice(d: Decision, order: Order): void {
  const { terms, progress } = order;
  const starts = isTrailing(terms.orderType) && progress.mark === undefined;
  const start = starts ? startingTrail(order, d.tradable(terms.symbol), d.quote(terms.symbol)) : {};
  // A one-sided quote may give a price for the reservation but none for the start of a trailing stop.
  const isReserved = isSetAside(progress) || !isOpening(terms.positionIntent);
  if (start.mark === undefined && isReserved) return;
  const portfolio = d.portfolioOf(order);
  const needs = orderRequirementOf(d, portfolio, terms, { ...progress, ...start });
  const refusal = fundsProblem(d, portfolio, needs, progress);
  if (refusal !== undefined) {
    endRefused(d, order, refusal);
    return;
  }
  const changes = { ...start, ...setAsideChanges(progress, setAsideFor(needs)) };
  // No event if the requirement is 0 at this price.
  if (Object.keys(changes).length > 0) d.move(order, 'RESERVED', changes);
}
