import type { Decision } from '../../decision.js';
import type { Order, OrderProgress } from '../../orders/order.js';
import type { ProgressChanges, RenamedOrder } from '../../orders/order-event.js';
import type { OrderScript } from '../../orders/script.js';
import { setAsideAfter, setAsideChanges } from './reserve.js';

/** Changes an order for a corporate action. Its reservation never grows by that. */
export function adjustOrder(
  d: Decision,
  order: Order,
  changes: ProgressChanges,
  {
    renamed,
    script,
  }: { readonly renamed?: RenamedOrder | undefined; readonly script?: OrderScript | undefined } = {},
): void {
  const { progress } = order;
  const terms = renamed === undefined ? order.terms : { ...order.terms, ...renamed };
  const adjusted = { ...progress, ...changes } as OrderProgress;
  const setAside = setAsideAfter(d, d.portfolioOf(order), { terms, progress }, adjusted);
  d.move(order, 'ADJUSTED', { ...changes, ...setAsideChanges(progress, setAside) }, { renamed, script });
}
