/** Finding orders of a portfolio by what Alpaca's clients call them. */
import { type Event, Instant, isOrderEvent, type OrderSnapshot } from '@sandpit/core';
import { orderNow, PastOrders, storedOrder, withRows } from '../../../engine/past-orders.js';
import { itemsOf } from './history-pages.js';
import type { AlpacaCall } from './request.js';
import {
  type AlpacaOrder,
  alpacaOrder,
  isShown,
  replacedOrder,
  replacementsOf,
  type Showing,
} from './order-shape.js';
import { named, nameOf, type OrderName } from './order-names.js';
import { AlpacaRefusal, notFound } from './refusals.js';

type Finding = Pick<AlpacaCall, 'simulation' | 'principal' | 'portfolioId' | 'kept'>;

export const showingOf = ({ simulation, kept }: Pick<AlpacaCall, 'simulation' | 'kept'>): Showing => ({
  ids: simulation.brokerage.state.ids,
  exitOf: (number) => orderNow(simulation, number),
  chosenIdOf: (portfolioId, name) => kept.chosenId({ simulation, portfolioId }, name),
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
  const replacement = call.kept.replacementOf(call, clientOrderId);
  if (replacement !== undefined) return shownOrder(call, nameOf(state.ids, replacement));
  const open = state.portfolios.get(portfolioId)?.clientOrderIds.get(clientOrderId);
  const number =
    open ?? (await (await simulation.past()).orderByClientOrderId(simulation.id, portfolioId, clientOrderId));
  if (number === undefined) throw notFound(ORDER_NOT_FOUND);
  return shownOrder(call, state.ids.idOf('ORDER', number));
}

/** True if an order of the portfolio has, or had, this client order id. */
export async function isClientIdUsed(call: Finding, clientOrderId: string): Promise<boolean> {
  try {
    await orderByClientId(call, clientOrderId);
    return true;
  } catch (error) {
    if (error instanceof AlpacaRefusal && error.status === 404) return false;
    throw error;
  }
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
  /** Ids of orders; only orders that were placed before or after these. */
  readonly beforeId: string | undefined;
  readonly afterId: string | undefined;
  readonly limit: number;
  readonly isAscending: boolean;
}

/** Statuses of `/v1` that are open. */
const OPEN_STATUSES = ['CREATED', 'PENDING', 'RESERVING', 'PENDING_MARKET_OPEN', 'ACTIVE', 'CANCELING'];

/** The orders of a portfolio that match a filter, in its order. */
export async function findOrders(call: Finding, filter: OrderFilter): Promise<readonly AlpacaOrder[]> {
  const { simulation, portfolioId } = call;
  const { isAscending } = filter;
  const before = filter.beforeId === undefined ? undefined : await orderNamed(call, filter.beforeId);
  const after = filter.afterId === undefined ? undefined : await orderNamed(call, filter.afterId);
  const from = after?.order.terms.createdAt ?? (filter.after && filter.after + 1);
  const to = before === undefined ? filter.until : before.order.terms.createdAt + 1;
  const history = await simulation.past();
  const query = {
    simulationId: simulation.id,
    scope: { portfolioId },
    ...(filter.status === 'open' && { status: OPEN_STATUSES }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(!isAscending && { isUncounted: true as const }),
  };
  const found: AlpacaOrder[] = [];
  let last = 0;
  for await (const row of itemsOf((stretch) => history.orders({ ...query, ...stretch }), isAscending)) {
    // An order that is no longer open moves the pages of the open ones.
    if (isAscending && row.number <= last) continue;
    last = row.number;
    const order = simulation.brokerage.state.orders.get(row.number) ?? storedOrder(row);
    if (!isShown(order)) continue;
    const generations = await generationsOf(call, order, filter.status);
    for (const { shown, replacement } of isAscending ? generations.toReversed() : generations) {
      const name = { number: order.terms.number, replacement };
      if (before !== undefined && compareNames(name, before.name) >= 0) continue;
      if (after !== undefined && compareNames(name, after.name) <= 0) continue;
      if (!filter.isAskedFor(shown, order)) continue;
      found.push(shown);
      if (found.length === filter.limit) return found;
    }
  }
  return found;
}

const compareNames = (a: OrderName, b: OrderName): number =>
  a.number - b.number || a.replacement - b.replacement;

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
): Promise<readonly { readonly shown: AlpacaOrder; readonly replacement: number }[]> {
  const now = {
    shown: await withRows(() => alpacaOrder(showingOf(call), order)),
    replacement: replacementsOf(order),
  };
  const isOpen = OPEN.has(now.shown.status);
  if (status === 'open') return isOpen ? [now] : [];
  const former = (await formerOrders(call, order)).map((shown, replacement) => ({ shown, replacement }));
  return status === 'closed' && isOpen ? former.toReversed() : [now, ...former.toReversed()];
}
