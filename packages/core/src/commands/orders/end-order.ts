import { isForShares } from '../../instruments/instrument.js';
import type { Decision } from '../../decision.js';
import { remainingOf } from '../../orders/order.js';
import type { BracketPart, CancelReason, Order } from '../../orders/order.js';
import type { Refusal } from '../../orders/refusal.js';
import { isTerminal } from '../../orders/status.js';
import { Quantity } from '../../values/quantity.js';
import { contractsEndAt } from './order-hours.js';

/** The end of an unfilled order, with its reason. */
export type OrderEnd =
  | { readonly transition: 'EXPIRED' }
  | { readonly transition: 'REJECTED' | 'FAILED'; readonly rejectReason: Refusal }
  | { readonly transition: 'CANCELED'; readonly cancelReason: CancelReason };

/**
 * Ends an open order and releases its reservations. Inactive exits of a bracket end with their entry; a remaining exit keeps the
 * reservation that the two shared. Of a pair of closing orders without an entry, both end.
 */
export function endOrder(d: Decision, order: Order, end: OrderEnd): void {
  const { transition, ...reasons } = end;
  d.move(order, transition, transition === 'EXPIRED' ? undefined : reasons);
  const { bracket } = order.terms;
  if (bracket === undefined) return;
  if (bracket.part === 'ENTRY') {
    for (const exit of exitsOf(d, bracket))
      if (exit.progress.status === 'CREATED') endOrder(d, exit, withLeader(end));
    return;
  }
  const sibling = siblingOf(d, bracket);
  if (sibling === undefined) return;
  if (bracket.part === 'OCO_LIMIT' || bracket.part === 'OCO_STOP') {
    endOrder(d, sibling, withLeader(end));
    return;
  }
  if (sibling.progress.status === 'CREATED' || sibling.progress.reservedQuantity !== Quantity.zero) return;
  d.move(sibling, 'RESIZED', { reservedQuantity: remainingOf(sibling.progress) });
}

/** Ends an expired order: at its own time, or at the end of its contract (D85). */
export function endExpired(d: Decision, order: Order): void {
  const isOver = !isForShares(order.terms.assetClass) && contractsEndAt(d, order.terms) <= d.at;
  if (isOver) endOrder(d, order, { transition: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
  else endOrder(d, order, { transition: 'EXPIRED' });
}

/** Ends an order that cannot continue. One with executions is not rejected: the rest of it is canceled (D135). */
export function endRefused(d: Decision, order: Order, refusal: Refusal): void {
  if (order.progress.filledQuantity === 0) {
    endOrder(d, order, { transition: 'REJECTED', rejectReason: refusal });
    return;
  }
  const { code } = refusal;
  const cancelReason = code === 'INSUFFICIENT_FUNDS' || code === 'STALE_MARKET_DATA' ? code : 'BROKER';
  endOrder(d, order, { transition: 'CANCELED', cancelReason });
}

/** End of an attached order: canceled for its leader's reason, by the broker if that was rejected. */
const withLeader = (end: OrderEnd): OrderEnd => ({
  transition: 'CANCELED',
  cancelReason:
    end.transition === 'CANCELED' ? end.cancelReason : end.transition === 'EXPIRED' ? 'EXPIRED' : 'BROKER',
});

/** The exits of a bracket's entry that are still open. */
export function exitsOf(d: Decision, entry: Extract<BracketPart, { part: 'ENTRY' }>): Order[] {
  return entry.exits.flatMap((number) => d.state.orders.get(number) ?? []);
}

/** The sibling of an OCO order, if it is still open. */
export function siblingOf(d: Decision, exit: Exclude<BracketPart, { part: 'ENTRY' }>): Order | undefined {
  const sibling = exit.sibling === undefined ? undefined : d.state.orders.get(exit.sibling);
  return sibling === undefined || isTerminal(sibling.progress.status) ? undefined : sibling;
}
