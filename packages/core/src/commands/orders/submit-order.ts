import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { CapExceeded, CappedAgent } from '../../orders/agent-caps.js';
import type { OrderProgress, OrderTerms } from '../../orders/order.js';
import type { Rejection } from '../../rejection.js';
import { Money } from '../../values/money.js';
import { moneyCaps, refuseByCap, spend, symbolCap } from './agent-caps.js';
import { meetOutcomes, refusalByScript, scriptedAcceptance } from './outcomes.js';
import { planOrder } from './plan-order.js';
import type { OrderPlan } from './plan-order.js';
import { reachMarket } from './reach-market.js';

/** An acknowledged order. */
export interface Acknowledged {
  readonly terms: OrderTerms;
  readonly progress: OrderProgress;
}

/** Accepts or refuses a new order: by the caps of its agent, if any, then by its plan (`plan-order.ts`). */
export function submitOrder(
  d: Decision,
  { by, order, agent, number }: Extract<Command, { type: 'SubmitOrder' }>,
): Acknowledged | Rejection {
  const plan = planOrder(d, by, order, { number });
  if (agent === undefined) return acceptPlanned(d, plan);
  const capped = symbolCap(d, agent, order) ?? heldToCaps(d, agent, plan);
  if ('code' in capped) return refuseByCap(d, agent, capped);
  return acceptPlanned(d, plan, () => spend(d, agent, capped.more));
}

/** Checks a planned order against the dollar caps. An order that cannot be evaluated is refused for that reason. */
function heldToCaps(
  d: Decision,
  agent: CappedAgent,
  { accepted: [planned] }: OrderPlan,
): CapExceeded | { readonly more: Money } {
  const portfolio = d.state.portfolios.get(planned?.request.portfolioId ?? '');
  if (planned === undefined || portfolio === undefined) return { more: Money.zero };
  // A trailing stop already has a stop price.
  const { request, stopPrice = request.stopPrice } = planned;
  return moneyCaps(d, agent, portfolio, { after: { ...request, stopPrice } });
}

/** Accepts an order as planned, with its script. One without latency reaches the market in the same decision. */
function acceptPlanned(
  d: Decision,
  { rejections, accepted: [planned, ...attached] }: OrderPlan,
  onTaken?: () => void,
): Acknowledged | Rejection {
  const [rejection] = rejections;
  if (rejection !== undefined) return rejection;
  if (planned === undefined) throw new RangeError('an order that is neither refused nor accepted');
  const { script, met } = meetOutcomes(d, planned);
  if (script?.script.type === 'REJECT') {
    for (const event of met) d.emit(event);
    const refusal = refusalByScript(d, script.script, planned);
    const { portfolioId } = planned.request;
    d.emit({ type: 'OrderRefused', portfolioId, refusedAs: refusal.shownAs });
    return refusal;
  }
  d.emit(script === undefined ? planned : scriptedAcceptance(d, planned, script));
  for (const event of [...attached, ...met]) d.emit(event);
  onTaken?.();
  const order = d.state.orders.get(planned.number);
  if (order === undefined) throw new RangeError('an accepted order is open');
  const { terms, progress } = order;
  if (progress.marketAt === d.at) reachMarket(d, order);
  return { terms, progress };
}
