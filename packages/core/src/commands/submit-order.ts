import type { Command, Requester } from '../command.js';
import type { Decision } from '../decision.js';
import type { CapExceeded, CappedAgent } from '../orders/agent-caps.js';
import type { OrderProgress, OrderTerms } from '../orders/order.js';
import type { Rejection } from '../rejection.js';
import { Money } from '../values/money.js';
import { moneyCaps, refuseByCap, spend, symbolCap } from './agent-caps.js';
import { planOrder } from './plan-order.js';
import type { OrderPlan } from './plan-order.js';
import { reachMarket } from './reach-market.js';

/** An order as it was acknowledged. */
export interface Acknowledged {
  readonly terms: OrderTerms;
  readonly progress: OrderProgress;
}

/** Takes a new order or refuses it: by the caps of an agent that asks, else as it is planned (`plan-order.ts`). */
export function submitOrder(
  d: Decision,
  { by, order, agent }: Extract<Command, { type: 'SubmitOrder' }>,
): Acknowledged | Rejection {
  const plan = planOrder(d, by, order);
  if (agent === undefined) return acceptPlanned(d, plan);
  const capped = symbolCap(d, agent, order) ?? heldToCaps(d, by, agent, plan);
  if ('code' in capped) return refuseByCap(d, by, agent, capped);
  return acceptPlanned(d, plan, () => spend(d, by, agent, capped.more));
}

/** The order that is planned, held against the caps in dollars. One that cannot even be looked at is refused for that. */
function heldToCaps(
  d: Decision,
  by: Requester,
  agent: CappedAgent,
  { accepted: [planned] }: OrderPlan,
): CapExceeded | { readonly more: Money } {
  const portfolio = d.state.portfolios.get(planned?.request.portfolioId ?? '');
  if (planned === undefined || portfolio === undefined) return { more: Money.zero };
  // A trailing stop already stands somewhere.
  const { request, stopPrice = request.stopPrice } = planned;
  return moneyCaps(d, by, agent, portfolio, { after: { ...request, stopPrice } });
}

/** Takes an order as planned. One without latency reaches the market in the same decision. */
function acceptPlanned(
  d: Decision,
  { rejections, accepted }: OrderPlan,
  onTaken?: () => void,
): Acknowledged | Rejection {
  const [rejection] = rejections;
  if (rejection !== undefined) return rejection;
  for (const event of accepted) d.emit(event);
  onTaken?.();
  const order = d.state.orders.get(accepted[0]?.number ?? 0);
  if (order === undefined) throw new RangeError('an accepted order is open');
  const { terms, progress } = order;
  if (progress.marketAt === d.at) reachMarket(d, order);
  return { terms, progress };
}
