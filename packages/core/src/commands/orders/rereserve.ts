import type { Decision } from '../../decision.js';
import { isOpening } from '../../orders/order.js';
import type { Order, SetAside } from '../../orders/order.js';
import { endRefused } from './end-order.js';
import { fundsProblem, orderRequirementOf, setAsideFor } from './reserve.js';

/** RESERVING: updates an order's reservation to the current quote. `undefined` if the order ended because its funds were insufficient. */
export function rereserve(d: Decision, order: Order): SetAside | undefined {
  const { terms, progress } = order;
  // An order that comes straight from its acceptance has just been checked.
  if (terms.createdAt === d.at || !isOpening(terms.positionIntent)) return progress;
  const portfolio = d.portfolioOf(order);
  const needs = orderRequirementOf(d, portfolio, terms, progress);
  const refusal = fundsProblem(d, portfolio, needs, progress);
  if (refusal === undefined) return setAsideFor(needs);
  d.move(order, 'RESERVING');
  endRefused(d, order, refusal);
  return undefined;
}
