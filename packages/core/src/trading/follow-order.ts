import { calendarById } from '../calendar/calendars.js';
import type { OrderProgress, OrderTerms } from '../orders/order.js';
import type { OrderMoved, OrderPlaced } from '../orders/order-event.js';
import { executedOf, movedOf, placedProgress, termsOf } from '../orders/progress.js';
import type { Instant } from '../values/instant.js';
import type { OrderExecuted } from './trade.js';

/** An order after one of its events. Immutable. */
export interface OrderSnapshot {
  readonly terms: OrderTerms;
  readonly progress: OrderProgress;
}

/** A new order, accepted or refused. `accountId` is its portfolio's. */
export const placedOrder = (event: OrderPlaced, accountId: string, at: Instant): OrderSnapshot => ({
  terms: termsOf(event, accountId, at),
  progress: placedProgress(event, at),
});

/** An order after one more of its events; `at` is the instant of its record. */
export function orderAfter(
  { terms, progress }: OrderSnapshot,
  event: OrderMoved | OrderExecuted,
  at: Instant,
): OrderSnapshot {
  if (event.type === 'OrderMoved') {
    const { renamed, script } = event;
    const next = movedOf(progress, event, at);
    const isChanged = renamed !== undefined || script !== undefined;
    return {
      terms: isChanged ? { ...terms, ...renamed, ...(script !== undefined && { script }) } : terms,
      progress: next,
    };
  }
  const { executions } = event;
  return { terms, progress: executedOf(terms, progress, executions, event, tradeDateOf(event, at), at) };
}

/** The exchange date of an execution. Dates are those of New York under every calendar. */
export const tradeDateOf = (event: OrderExecuted, at: Instant) =>
  event.tradeDate ?? calendarById('XNYS').dateOf(at);
