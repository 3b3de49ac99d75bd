/** Finding orders of a portfolio by what Alpaca's clients call them. */
import { type Event, Instant, isOrderEvent, type OrderSnapshot } from '@sandpit/core';
import { orderNow, PastOrders, storedOrder, withRows } from '../../../engine/past-orders.js';
import type { AlpacaCall } from './request.js';
import {
  type AlpacaOrder,
  alpacaOrder,
  isShown,
  replacedOrder,
  replacementsOf,
  type Showing,
} from './order-shape.js';
import { named, type OrderName } from './order-names.js';
import { notFound } from './refusals.js';

type Finding = Pick<AlpacaCall, 'simulation' | 'principal' | 'portfolioId'>;

export const showingOf = ({ simulation }: Pick<AlpacaCall, 'simulation'>): Showing => ({
  ids: simulation.brokerage.state.ids,
  exitOf: (number) => orderNow(simulation, number),
});

const ORDER_NOT_FOUND = 'order not found';

/** The order that a request names, in its current state. Throws when this portfolio has no such order. */
export async function orderNamed(
  call: Finding,
  id: string,
): Promise<{ readonly order: OrderSnapshot; readonly name: OrderName }> {
  const { simulation, principal } = call;
  const name = named(simulation.brokerage.state.ids, id);
  if (name === undefined) throw notFound(ORDER_NOT_FOUND);
  // The order shown must be durable.
  await simulation.read([principal], () => undefined);
  await simulation.underWay.certain();
  const order = await withRows(() => orderNow(simulation, name.number));
  if (order?.terms.portfolioId !== call.portfolioId || !isShown(order)) throw notFound(ORDER_NOT_FOUND);
  if (name.replacement > replacementsOf(order)) throw notFound(ORDER_NOT_FOUND);
  return { order, name };
}

/** An order by any of the ids that it has had. */
export async function shownOrder(call: Finding, id: string): Promise<AlpacaOrder> {
  const { order, name } = await orderNamed(call, id);
  const isNow = name.replacement === replacementsOf(order);
  const whole = isNow
    ? await withRows(() => alpacaOrder(showingOf(call), order))
    : (await formerOrders(call, order))[name.replacement];
  const legs = whole?.['legs'] as readonly AlpacaOrder[] | null | undefined;
  const found = name.leg === undefined || name.leg === 0 ? whole : legs?.[name.leg - 1];
  if (found === undefined) throw notFound(ORDER_NOT_FOUND);
  return found;
}

/** An order by its client order id; one without uses its own id. */
export async function orderByClientId(call: Finding, clientOrderId: string): Promise<AlpacaOrder> {
  const { simulation, portfolioId } = call;
  const { state } = simulation.brokerage;
  if (named(state.ids, clientOrderId) !== undefined) return shownOrder(call, clientOrderId);
  const open = state.portfolios.get(portfolioId)?.clientOrderIds.get(clientOrderId);
  const number =
    open ?? (await (await simulation.past()).orderByClientOrderId(simulation.id, portfolioId, clientOrderId));
  if (number === undefined) throw notFound(ORDER_NOT_FOUND);
  return shownOrder(call, state.ids.idOf('ORDER', number));
}

const MOST_EVENTS = 100_000;

/** An order before each of its replacements, oldest first. */
async function formerOrders(call: Finding, order: OrderSnapshot): Promise<readonly AlpacaOrder[]> {
  if (replacementsOf(order) === 0) return [];
  const { simulation } = call;
  const history = await simulation.past();
  const { items } = await history.list({
    simulationId: simulation.id,
    list: 'order-events',
    owner: String(order.terms.number),
    offset: 0,
    limit: MOST_EVENTS,
  });
  const past = new PastOrders(simulation);
  const former: AlpacaOrder[] = [];
  let before: OrderSnapshot | undefined;
  for (const item of items.toReversed()) {
    const event = item.data as Event;
    if (!isOrderEvent(event)) continue;
    if (event.type === 'OrderMoved' && event.transition === 'REPLACED' && before !== undefined)
      former.push(replacedOrder(showingOf(call), before, former.length, Instant.ofMs(item.at)));
    before = await past.after(item);
  }
  return former;
}

/** Filter of a list of orders. */
export interface OrderFilter {
  readonly status: 'open' | 'closed' | 'all';
  readonly isAskedFor: (order: AlpacaOrder, snapshot: OrderSnapshot) => boolean;
  readonly after: Instant | undefined;
  readonly until: Instant | undefined;
  readonly limit: number;
  readonly isAscending: boolean;
}

const ROWS_AT_ONCE = 200;

/** The orders of a portfolio that match a filter, in its order. */
export async function findOrders(call: Finding, filter: OrderFilter): Promise<readonly AlpacaOrder[]> {
  const { simulation, portfolioId } = call;
  const history = await simulation.past();
  const found: AlpacaOrder[] = [];
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const { items, total } = await history.orders({
      simulationId: simulation.id,
      scope: { portfolioId },
      ...(filter.after !== undefined && { from: filter.after + 1 }),
      ...(filter.until !== undefined && { to: filter.until }),
      offset,
      limit: ROWS_AT_ONCE,
    });
    for (const row of items) {
      const order = simulation.brokerage.state.orders.get(row.number) ?? storedOrder(row);
      if (!isShown(order)) continue;
      for (const shown of await generationsOf(call, order, filter.status))
        if (filter.isAskedFor(shown, order)) found.push(shown);
    }
    if (offset + items.length >= total || items.length === 0) break;
    // They arrive newest first: enough of them suffice.
    if (!filter.isAscending && found.length >= filter.limit) break;
  }
  if (filter.isAscending) found.reverse();
  return found.slice(0, filter.limit);
}

const OPEN: ReadonlySet<string> = new Set([
  'held',
  'pending_new',
  'accepted',
  'new',
  'partially_filled',
  'pending_cancel',
]);

/** An order in its current state and, if closed orders are requested, in its states before replacements; the newest first. */
async function generationsOf(
  call: Finding,
  order: OrderSnapshot,
  status: OrderFilter['status'],
): Promise<readonly AlpacaOrder[]> {
  const now = await withRows(() => alpacaOrder(showingOf(call), order));
  const isOpen = OPEN.has(now.status);
  if (status === 'open') return isOpen ? [now] : [];
  const former = await formerOrders(call, order);
  return status === 'closed' && isOpen ? former.toReversed() : [now, ...former.toReversed()];
}
