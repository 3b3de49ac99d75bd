import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { Event } from '../../event.js';
import type { CapExceeded, CappedAgent } from '../../orders/agent-caps.js';
import type { OrderProgress, OrderTerms } from '../../orders/order.js';
import { isOrderRejection } from '../../orders/order-rejection.js';
import type { OrderRejection } from '../../orders/order-rejection.js';
import type { Rejection } from '../../rejection.js';
import { Money } from '../../values/money.js';
import { moneyCaps, refuseByCap, spend, symbolCap } from './agent-caps.js';
import { meetOutcomes, refusalByScript, scriptedAcceptance } from './outcomes.js';
import { planOrder } from './plan-order.js';
import type { OrderPlan } from './plan-order.js';
import { reachMarket } from './reach-market.js';

/** An acknowledged order. It is REJECTED if it was refused and is recorded (D276). */
export interface Acknowledged {
  readonly terms: OrderTerms;
  readonly progress: OrderProgress;
}

type SubmitOrder = Extract<Command, { type: 'SubmitOrder' }>;

/** Accepts or refuses a new order: by the caps of its agent, if any, then by its plan (`plan-order.ts`). */
export function submitOrder(d: Decision, command: SubmitOrder): Acknowledged | Rejection {
  const { by, order, agent, number, recordRefusal } = command;
  const plan = planOrder(d, by, order, { number });
  const record = (rejection: OrderRejection, met: readonly Event[] = []): Acknowledged =>
    recordRefused(d, command, plan, rejection, met);
  const [rejection] = plan.rejections;
  if (agent !== undefined) {
    const capped = symbolCap(d, agent, order) ?? heldToCaps(d, agent, plan);
    if ('code' in capped) {
      // Refusals outside the brokerage's rules leave no record, for agents as for users.
      const isRecorded = recordRefusal === true && (rejection === undefined || isOrderRejection(rejection));
      return isRecorded ? record(capped) : refuseByCap(d, agent, capped);
    }
    if (rejection === undefined)
      return acceptPlanned(d, plan, recordRefusal === true ? record : undefined, () =>
        spend(d, agent, capped.more),
      );
  }
  if (rejection === undefined) return acceptPlanned(d, plan, recordRefusal === true ? record : undefined);
  return recordRefusal === true && isOrderRejection(rejection) ? record(rejection) : rejection;
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

/** Records a refused order: in the quantity that its plan determined, if it got so far. */
function recordRefused(
  d: Decision,
  { by: { tier }, order, number = d.state.counters.order + 1 }: SubmitOrder,
  { accepted: [planned] }: OrderPlan,
  rejection: OrderRejection,
  met: readonly Event[],
): Acknowledged {
  d.emit({
    type: 'OrderRejected',
    number,
    tier,
    request: planned?.request ?? order,
    ...(planned?.underlying !== undefined && { underlying: planned.underlying }),
    rejection,
  });
  const refused = d.orders.at(-1);
  if (refused === undefined) throw new RangeError('a recorded order is known');
  for (const event of met) d.emit(event);
  return refused;
}

/** Accepts an order as planned, with its script. One without latency reaches the market in the same decision. */
function acceptPlanned(
  d: Decision,
  { accepted: [planned, ...attached] }: OrderPlan,
  record?: (rejection: OrderRejection, met: readonly Event[]) => Acknowledged,
  onTaken?: () => void,
): Acknowledged | Rejection {
  if (planned === undefined) throw new RangeError('an order that is neither refused nor accepted');
  const { script, met } = meetOutcomes(d, planned);
  if (script?.script.type === 'REJECT') {
    const refusal = refusalByScript(d, script.script, planned);
    if (record !== undefined && isOrderRejection(refusal)) return record(refusal, met);
    for (const event of met) d.emit(event);
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
