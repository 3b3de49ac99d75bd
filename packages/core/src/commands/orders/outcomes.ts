import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { Event } from '../../event.js';
import { isForAuction } from '../../orders/auction.js';
import { isMagicId, scriptOfId } from '../../orders/magic-id.js';
import type { Mutable, Order } from '../../orders/order.js';
import type { OrderAccepted } from '../../orders/order-event.js';
import type { OrderRequest } from '../../orders/order-request.js';
import type { ScriptedRefusal } from '../../orders/refusal.js';
import { isLive, matchesOrder, MOST_OUTCOMES } from '../../orders/outcome-rule.js';
import type { OutcomeRule } from '../../orders/outcome-rule.js';
import type { OrderScript, Script } from '../../orders/script.js';
import { freeCash, reservedShares } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import { Instant } from '../../values/instant.js';
import type { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';

/** Sets a rule by which orders are scripted (D175). At the limit it replaces a used-up rule. */
export function setOutcome(
  d: Decision,
  { match, skip, times, script }: Extract<Command, { type: 'SetOutcome' }>,
): OutcomeRule | Rejection {
  const { outcomes, counters } = d.state;
  if (outcomes.size >= MOST_OUTCOMES) {
    const inUse = new Set(scriptedOrders(d).map(({ terms }) => terms.script?.outcome));
    const spent = [...outcomes.values()].find((rule) => !isLive(rule) && !inUse.has(rule.number));
    if (spent === undefined)
      return { code: 'CONFLICT', message: `a simulation has at most ${MOST_OUTCOMES} outcomes` };
    d.emit({ type: 'OutcomesDeleted', outcomes: [spent.number] });
  }
  const rule = { number: counters.outcome + 1, match, skip, times, script, passed: 0, used: 0 };
  d.emit({ type: 'OutcomeSet', rule });
  return rule;
}

/** Deletes a rule, or all. Orders that it holds go to the market; other scripts of orders continue. */
export function deleteOutcomes(
  d: Decision,
  { outcomeId }: Extract<Command, { type: 'DeleteOutcomes' }>,
): { readonly deleted: number } | Rejection {
  const { outcomes, ids } = d.state;
  const named = outcomeId === undefined ? undefined : ids.numberOf('OUTCOME', outcomeId);
  const deleted =
    outcomeId === undefined ? [...outcomes.keys()] : outcomes.has(named ?? 0) ? [named ?? 0] : [];
  if (deleted.length === 0)
    return outcomeId === undefined ? { deleted: 0 } : { code: 'NOT_FOUND', what: 'Outcome' };
  d.emit({ type: 'OutcomesDeleted', outcomes: deleted });
  const gone = new Set(deleted);
  for (const order of scriptedOrders(d)) {
    const { scriptRun, timeInForce } = order.progress;
    if (isForAuction(timeInForce)) continue;
    if (scriptRun?.since === undefined || !gone.has(order.terms.script?.outcome ?? 0)) continue;
    // The script continues in the next record.
    if (scriptRun.due === undefined || order.terms.script?.script.type === 'HOLD')
      d.move(order, 'SCRIPTED', { scriptRun: { ...scriptRun, due: d.at } });
  }
  return { deleted: deleted.length };
}

/** The orders that scripts keep from the market, oldest first. */
export function scriptedOrders({ state: { scripted } }: Decision): Order[] {
  const all = new Set<Order>();
  for (const orders of scripted.values()) for (const order of orders) all.add(order);
  return [...all].sort((a, b) => a.terms.number - b.terms.number);
}

/** Refusal of a client order id that is meant as a script but is none (D176). */
export function unknownScript(d: Decision, { clientOrderId }: OrderRequest): Rejection | undefined {
  if (d.rules.scripts !== true || !isMagicId(clientOrderId)) return undefined;
  if (scriptOfId(clientOrderId) !== undefined) return undefined;
  return { code: 'INVALID', messages: [`clientOrderId: unknown script ${clientOrderId}`] };
}

/** Script of a new order by the rules of a simulation, and the events of the rules that match it. */
export function meetOutcomes(
  d: Decision,
  { request }: OrderAccepted,
): { readonly script?: OrderScript; readonly met: readonly Event[] } {
  const { clientOrderId } = request;
  const own = d.rules.scripts === true && isMagicId(clientOrderId) ? scriptOfId(clientOrderId) : undefined;
  if (own !== undefined) return { script: { script: own }, met: [] };
  const met: Event[] = [];
  for (const rule of d.state.outcomes.values()) {
    if (!isLive(rule) || !matchesOrder(rule.match, request)) continue;
    const isPassedOver = rule.passed < rule.skip;
    met.push({ type: 'OutcomeMet', outcome: rule.number, ...(isPassedOver && { isPassedOver }) });
    if (!isPassedOver) return { script: { script: rule.script, outcome: rule.number }, met };
  }
  return { met };
}

/** The acceptance of an order with its script: an order that is to fail does not reach the market first. */
export function scriptedAcceptance(d: Decision, accepted: OrderAccepted, script: OrderScript): OrderAccepted {
  const { type } = script.script;
  if (type !== 'REJECT_LATER' && type !== 'ERROR') return { ...accepted, script };
  const failing: Mutable<OrderAccepted> = { ...accepted, script };
  delete failing.marketAt;
  const delay = script.script.type === 'REJECT_LATER' ? (script.script.after?.ms ?? 0) : 0;
  if (delay > 0) failing.marketAt = Instant.plusMs(d.at, delay);
  return failing;
}

/** The refusal of a new order by a script, with the figures of its code; those that the script names take precedence. */
export function refusalByScript(
  d: Decision,
  { refusal }: Extract<Script, { type: 'REJECT' }>,
  { request, number, reserved }: OrderAccepted,
): ScriptedRefusal {
  const portfolio = d.state.portfolios.get(request.portfolioId);
  const figures = (): NonNullable<ScriptedRefusal['figures']> => {
    switch (refusal.shownAs) {
      case 'INSUFFICIENT_FUNDS':
        return {
          availableCash: portfolio === undefined ? 0 : dollars(freeCash(portfolio)),
          requiredAmount: reserved === undefined ? 0 : dollars(reserved),
        };
      case 'INSUFFICIENT_POSITION': {
        const position = portfolio?.positions.get(request.symbol);
        const held = position === undefined ? 0 : Math.abs(Position.held(position));
        const free =
          portfolio === undefined ? 0 : Math.max(0, held - reservedShares(portfolio, request.symbol));
        return { availableQuantity: shares(free), requiredQuantity: shares(request.quantity) };
      }
      case 'MARKET_CLOSED':
      case 'AUCTION_CLOSED': {
        const { calendar } = d.rules;
        const opens = calendar.format(
          d.hours(d.tradedBy(request)).nextOpen(request.session ?? 'REGULAR', d.at),
        );
        if (refusal.shownAs === 'MARKET_CLOSED') return { nextOpen: opens };
        return { cutoff: calendar.format(d.at), opensAt: opens };
      }
      case 'TRADING_HALTED':
        return { reason: 'T1' };
      case 'DUPLICATE_CLIENT_ORDER_ID':
        return { orderId: d.state.ids.idOf('ORDER', number) };
      default:
        return {};
    }
  };
  return { ...refusal, figures: { ...figures(), ...refusal.figures } };
}

const dollars = (amount: Money): number => Math.max(0, amount) / 10_000;
const shares = (quantity: number): number => quantity / Quantity.of(1);
