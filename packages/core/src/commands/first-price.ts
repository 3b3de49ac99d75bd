import type { Decision } from '../decision.js';
import type { Book } from '../matching/book.js';
import { startingTrail } from '../matching/trigger.js';
import { isOpening, isSetAside, isTrailing } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import { endRefused } from './end-order.js';
import { fundsProblem, orderRequirementOf, setAsideChanges, setAsideFor } from './reserve.js';

/**
 * Orders that no price was there for when they were accepted (D133). At the first one they set aside what they need, whether it
 * fills them or not, whatever the hour and however old it is, as they would have at acceptance; or they are rejected. The oldest
 * come first.
 */
export function reserveAtFirstPrice(d: Decision, book: Book): void {
  if (book.awaitingPrice.size === 0 || book.quote === undefined) return;
  const oldestFirst = [...book.awaitingPrice].sort((a, b) => a.terms.number - b.terms.number);
  for (const order of oldestFirst) reserveAtPrice(d, order);
}

/** Sets aside what an order needs at the price there is, or ends it. */
export function reserveAtPrice(d: Decision, order: Order): void {
  const { terms, progress } = order;
  const starts = isTrailing(terms.orderType) && progress.mark === undefined;
  const start = starts ? startingTrail(order, d.quote(terms.symbol)) : {};
  // A quote of one side may be a price to reserve by and none for a trailing stop to start with.
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
  // What needs nothing at this price has nothing to say.
  if (Object.keys(changes).length > 0) d.move(order, 'RESERVED', changes);
}
