/** Finding orders of a portfolio by what Alpaca's clients call them. */
import type { Instant, OrderSnapshot } from '@sandpit/core';
import type { Attached } from '@sandpit/dialect-port';
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

type Finding = Pick<AlpacaCall, 'book' | 'kept'>;

export const showingOf = ({ book, kept }: Finding, exitOf: Attached): Showing => ({
  ids: book.ids,
  exitOf,
  chosenIdOf: (name) => kept.chosenId(name),
});

const ORDER_NOT_FOUND = 'order not found';

/** The order that a request names, in its current state. Throws when this portfolio has no such order. */
export async function orderNamed(
  call: Finding,
  id: string,
): Promise<{ readonly order: OrderSnapshot; readonly name: OrderName }> {
  const name = named(call.book.ids, id);
  if (name === undefined) throw notFound(ORDER_NOT_FOUND);
  const order = await call.book.orders.byNumber(name.number);
  if (order === undefined || !isShown(order)) throw notFound(ORDER_NOT_FOUND);
  if (name.replacement > replacementsOf(order)) throw notFound(ORDER_NOT_FOUND);
  return { order, name };
}

/** An order by any of the ids that it has had. */
export async function shownOrder(call: Finding, id: string): Promise<AlpacaOrder> {
  const { order, name } = await orderNamed(call, id);
  const isNow = name.replacement === replacementsOf(order);
  const whole = isNow
    ? await call.book.orders.show((exitOf) => alpacaOrder(showingOf(call, exitOf), order))
    : (await formerOrders(call, order))[name.replacement];
  const legs = whole?.['legs'] as readonly AlpacaOrder[] | null | undefined;
  const found = name.leg === undefined || name.leg === 0 ? whole : legs?.[name.leg - 1];
  if (found === undefined) throw notFound(ORDER_NOT_FOUND);
  return found;
}

/** An order by its client order id; one without uses its own id. */
export async function orderByClientId(call: Finding, clientOrderId: string): Promise<AlpacaOrder> {
  const { book } = call;
  if (named(book.ids, clientOrderId) !== undefined) return shownOrder(call, clientOrderId);
  const replacement = call.kept.replacementOf(clientOrderId);
  if (replacement !== undefined) return shownOrder(call, nameOf(book.ids, replacement));
  const number = await book.orders.numberOf(clientOrderId);
  if (number === undefined) throw notFound(ORDER_NOT_FOUND);
  return shownOrder(call, book.ids.idOf('ORDER', number));
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

/** An order before each of its replacements, oldest first. */
async function formerOrders(call: Finding, order: OrderSnapshot): Promise<readonly AlpacaOrder[]> {
  if (replacementsOf(order) === 0) return [];
  const { orders } = call.book;
  const former: AlpacaOrder[] = [];
  for (const { event, at, before } of await orders.versions(order.terms.number))
    if (event.type === 'OrderMoved' && event.transition === 'REPLACED' && before !== undefined)
      former.push(replacedOrder(showingOf(call, orders.atHand), before, former.length, at));
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
  const { isAscending } = filter;
  const before = filter.beforeId === undefined ? undefined : await orderNamed(call, filter.beforeId);
  const after = filter.afterId === undefined ? undefined : await orderNamed(call, filter.afterId);
  const from = after?.order.terms.createdAt ?? (filter.after && filter.after + 1);
  const to = before === undefined ? filter.until : before.order.terms.createdAt + 1;
  const query = {
    ...(filter.status === 'open' && { statuses: OPEN_STATUSES }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    isAscending,
  };
  const found: AlpacaOrder[] = [];
  for await (const order of call.book.orders.list(query)) {
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
    shown: await call.book.orders.show((exitOf) => alpacaOrder(showingOf(call, exitOf), order)),
    replacement: replacementsOf(order),
  };
  const isOpen = OPEN.has(now.shown.status);
  if (status === 'open') return isOpen ? [now] : [];
  const former = (await formerOrders(call, order)).map((shown, replacement) => ({ shown, replacement }));
  return status === 'closed' && isOpen ? former.toReversed() : [now, ...former.toReversed()];
}
