import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import { latencyMs } from '../../matching/latency.js';
import { isForAuction } from '../../orders/auction.js';
import type { CancelReason, Order, OrderTerms } from '../../orders/order.js';
import type { ProgressChanges } from '../../orders/order-event.js';
import { isTerminal, isUpdatable } from '../../orders/status.js';
import type { Rejection } from '../../rejection.js';
import { Instant } from '../../values/instant.js';
import { cancelCap, refuseByCap } from './agent-caps.js';
import { takenUpByAuction } from '../fills/auctions.js';
import { endOrder } from './end-order.js';
import { beginRun } from './run-script.js';
import type { Acknowledged } from './submit-order.js';

/** Cancels an open order: at once, or after the latency of its profile (D29), during which it may still fill. */
export function cancelOrder(
  d: Decision,
  command: Extract<Command, { type: 'CancelOrder' }>,
): Acknowledged | Rejection {
  const order = d.order(command.orderId);
  if (order === undefined) return { code: 'NOT_FOUND', what: 'Order' };
  const { agent } = command;
  const capped = agent && cancelCap(d, agent, order);
  if (agent !== undefined && capped !== undefined) return refuseByCap(d, agent, capped);
  const { status } = order.progress;
  if (!isUpdatable(status)) {
    const message = `An order with status ${status} cannot be canceled`;
    return { code: 'ORDER_NOT_UPDATABLE', message, status };
  }
  const locked = takenUpByAuction(d, order, 'canceled') ?? refusedByScript(order);
  if (locked !== undefined) return locked;
  requestCancel(d, order);
  return { terms: order.terms, progress: order.progress };
}

/**
 * Cancels every open order of an account; for an agent with caps, those it may cancel. Returns the orders that it canceled or began to
 * cancel.
 */
export function cancelAccountOrders(
  d: Decision,
  command: Extract<Command, { type: 'CancelAccountOrders' }>,
): readonly Order[] | Rejection {
  const account = d.state.accounts.get(command.accountId);
  if (account === undefined) return { code: 'NOT_FOUND', what: 'Account' };
  const canceled: Order[] = [];
  for (const portfolioId of account.portfolioIds) {
    const open = d.state.portfolios.get(portfolioId)?.openOrders.oldestFirst() ?? [];
    // Excludes inactive exits (they end with their entry), pending cancels, orders past their auction's cutoff, and scripted refusals.
    const isCancelable = (order: Order): boolean =>
      isUpdatable(order.progress.status) &&
      takenUpByAuction(d, order, 'canceled') === undefined &&
      refusedByScript(order) === undefined;
    for (const order of open.filter(isCancelable)) {
      if (command.agent !== undefined && cancelCap(d, command.agent, order) !== undefined) continue;
      // An order of a pair may have ended with the other.
      if (!isTerminal(order.progress.status)) requestCancel(d, order);
      canceled.push(order);
    }
  }
  return canceled;
}

/** The refusal of a cancel that the script of an order does not allow (D175). */
function refusedByScript({ terms, progress: { status } }: Order): Rejection | undefined {
  if (cancelEffect(terms) !== 'REJECT') return undefined;
  return { code: 'ORDER_NOT_UPDATABLE', message: 'A script does not let this order be canceled', status };
}

const cancelEffect = ({ script }: OrderTerms): 'FILL' | 'IGNORE' | 'REJECT' | undefined =>
  script?.script.type === 'ON_CANCEL' ? script.script.effect : undefined;

function requestCancel(d: Decision, order: Order): void {
  const { latencyProfile, latencyMs: custom, number } = order.terms;
  const delay = latencyMs(latencyProfile, custom, d.state.seed, number * 2 + 1);
  const effect = cancelEffect(order.terms);
  if (effect === 'IGNORE') d.move(order, 'CANCELING');
  else if (delay > 0) d.move(order, 'CANCELING', { cancelAt: Instant.plusMs(d.at, delay) });
  else if (effect === 'FILL') d.move(order, 'CANCELING', fillInstead(d, order));
  else cancelNow(d, order, 'USER');
}

/** Applies a client's cancel at the market. */
export function cancelArrives(d: Decision, order: Order): void {
  if (cancelEffect(order.terms) === 'FILL')
    d.move(order, 'SCRIPTED', { cancelAt: null, ...fillInstead(d, order) });
  else cancelNow(d, order, 'USER');
}

/** For an order that fills when it is canceled: in the next record, when it reaches the market, or in its auction. */
function fillInstead(d: Decision, { terms, progress }: Order): ProgressChanges | undefined {
  if (progress.arrival === undefined || isForAuction(progress.timeInForce)) return undefined;
  const run = beginRun(d, terms);
  return { scriptRun: run.since === undefined ? run : { ...run, due: d.at } };
}

export function cancelNow(d: Decision, order: Order, cancelReason: CancelReason): void {
  endOrder(d, order, { transition: 'CANCELED', cancelReason });
}
