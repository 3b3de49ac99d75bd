/** Fills, refusals and cancels by the broker as notices for screen readers. */
import type { Execution } from '@sandpit/protocol';
import { useEffect } from 'preact/hooks';
import type { Broker } from '../broker.ts';
import { capitalized, price, quantity } from '../format.ts';
import { whyOf } from '../labels.ts';
import { contractText } from '../option-legs.ts';
import { headingOf } from '../strategy.ts';
import { announce } from '../ui/toaster.tsx';
import { isTold } from './alert-memory.ts';
import { followOrders, type OrderEvent } from '../live/order-feed.ts';

/** Follows the orders of a broker while a page is open. */
export function useAnnouncements(broker: Broker): void {
  useEffect(() => followOrders(broker, { onEvent: announceOrder }), [broker]);
}

function announceOrder(event: OrderEvent): void {
  const { orderId, symbol, legs, averagePrice, filledQuantity = 0 } = event;
  const executions: readonly Execution[] =
    event.executions ?? (event.execution === undefined ? [] : [event.execution]);
  const title = legs === undefined ? contractText(symbol) : `${symbol} ${headingOf(legs)}`;
  const [first] = executions;
  if (first !== undefined) {
    if (!isTold('fills')) return;
    const at = legs === undefined ? first.price : averagePrice;
    const verb = event.positionIntent.startsWith('BUY') ? 'Bought' : 'Sold';
    announce(
      legs === undefined
        ? `${verb} ${quantity(first.quantity)} ${title}`
        : `Filled ${quantity(filledQuantity)} × ${title}`,
      `At ${price(at)}. ${quantity(filledQuantity)} of ${quantity(event.quantity)} filled.`,
      'success',
      `fill ${orderId}`,
    );
  } else if (event.status === 'REJECTED' || event.status === 'ERROR')
    announce(`Order in ${title} rejected`, whyOf(event), 'error', `end ${orderId}`);
  else if (
    event.status === 'CANCELED' &&
    event.cancelReason !== undefined &&
    !EXPECTED.has(event.cancelReason)
  )
    announce(
      event.cancelReason === 'EXPIRED' ? `Order in ${title} expired` : `Order in ${title} canceled`,
      `${capitalized(whyOf(event))}.`,
      'warning',
      `end ${orderId}`,
    );
}

/** Cancels caused by the user's own actions or settings. */
const EXPECTED: ReadonlySet<string> = new Set(['USER', 'OCO', 'ENTRY_CANCELED', 'RESET', 'IOC_REMAINDER']);
