import type { Quote } from '../market/quote.js';
import type { Order, Side } from '../orders/order.js';
import { PriorityQueue } from '../values/priority-queue.js';

/*
 * The open multi-leg orders with a leg in a contract. Like the `Book` of single orders it finds those that a quote affects
 * without visiting the others. The net is a sum over the legs, so each leg gets its part of the distance to the limit: while
 * no touch has moved by that much, the net cannot have reached the limit.
 */

/** An order to check again when the ask of a bought leg, or the bid of a sold one, reaches a price. */
interface WatchedOrder {
  place: number;
  readonly price: number;
  readonly order: Order;
  readonly queue: PriorityQueue<WatchedOrder>;
}

/** Price of a leg that an order waits for, `Infinity` or `-Infinity` for any price on its side. */
export interface LegWait {
  readonly symbol: string;
  readonly side: Side;
  readonly price: number;
}

const byNumber = (a: WatchedOrder, b: WatchedOrder): boolean => a.order.terms.number < b.order.terms.number;
const highestFirst = (a: WatchedOrder, b: WatchedOrder): boolean =>
  a.price === b.price ? byNumber(a, b) : a.price > b.price;
const lowestFirst = (a: WatchedOrder, b: WatchedOrder): boolean =>
  a.price === b.price ? byNumber(a, b) : a.price < b.price;

/** The open multi-leg orders with a leg in one contract. */
class MultiLegOrderIndex implements Iterable<Order> {
  readonly #all = new Set<Order>();
  /** Orders that any quote affects. */
  readonly #alert = new Set<Order>();
  readonly #buys = new PriorityQueue<WatchedOrder>(highestFirst);
  readonly #sells = new PriorityQueue<WatchedOrder>(lowestFirst);

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): IterableIterator<Order> {
    return this.#all.values();
  }

  has(order: Order): boolean {
    return this.#all.has(order);
  }

  /** Adds a new order, which has not been checked. */
  add(order: Order): void {
    this.#all.add(order);
    this.#alert.add(order);
  }

  remove(order: Order): void {
    this.#all.delete(order);
    this.#alert.delete(order);
  }

  /** Adds the orders that a quote may affect to `found`, created if necessary. */
  concernedBy({ bid, ask }: Quote, found: Set<Order> | undefined): Set<Order> | undefined {
    let all = found;
    if (this.#alert.size > 0) {
      all ??= new Set();
      for (const order of this.#alert) all.add(order);
    }
    const buy = this.#buys.first();
    if (ask !== undefined && buy !== undefined && buy.price >= ask) {
      all ??= new Set();
      for (const { order } of this.#buys.leading(({ price }) => price >= ask)) all.add(order);
    }
    const sell = this.#sells.first();
    if (bid !== undefined && sell !== undefined && sell.price <= bid) {
      all ??= new Set();
      for (const { order } of this.#sells.leading(({ price }) => price <= bid)) all.add(order);
    }
    return all;
  }

  /** Makes every quote affect the order, or none. */
  setAlert(order: Order, isAlert: boolean): void {
    if (isAlert) this.#alert.add(order);
    else this.#alert.delete(order);
  }

  watch(order: Order, side: Side, price: number): WatchedOrder {
    const queue = side === 'BUY' ? this.#buys : this.#sells;
    const watch: WatchedOrder = { place: -1, price, order, queue };
    queue.add(watch);
    return watch;
  }
}

/** By contract. */
export type MultiLegOrderIndexes = Map<string, MultiLegOrderIndex>;

/** Adds an open multi-leg order. */
export function addMultiLegOrder(packages: MultiLegOrderIndexes, order: Order): void {
  for (const { optionSymbol } of order.terms.legs ?? []) {
    let on = packages.get(optionSymbol);
    if (on === undefined) packages.set(optionSymbol, (on = new MultiLegOrderIndex()));
    on.add(order);
  }
}

export function removeMultiLegOrder(packages: MultiLegOrderIndexes, order: Order): void {
  unwatch(order);
  for (const { optionSymbol } of order.terms.legs ?? []) {
    const on = packages.get(optionSymbol);
    on?.remove(order);
    if (on?.size === 0) packages.delete(optionSymbol);
  }
}

/** Marks an order as changed: the next quote of any leg affects it. */
export function wakeMultiLegOrder(packages: MultiLegOrderIndexes, order: Order): void {
  unwatch(order);
  for (const { optionSymbol } of order.terms.legs ?? []) packages.get(optionSymbol)?.setAlert(order, true);
}

/** After a quote that was not matched: orders that it affects are checked at the next one. */
export function wakeConcerned(packages: MultiLegOrderIndexes, quote: Quote): void {
  for (const order of packages.get(quote.symbol)?.concernedBy(quote, undefined) ?? [])
    wakeMultiLegOrder(packages, order);
}

/** Sets the prices that an order waits for: it is not checked before one of them comes. */
export function restMultiLegOrder(
  packages: MultiLegOrderIndexes,
  order: Order,
  waits: readonly LegWait[],
): void {
  unwatch(order);
  for (const { optionSymbol } of order.terms.legs ?? []) packages.get(optionSymbol)?.setAlert(order, false);
  order.places = waits.flatMap(
    ({ symbol, side, price }) => packages.get(symbol)?.watch(order, side, price) ?? [],
  );
}

/** Skips an order until this leg has a new quote. */
export function awaitQuote(packages: MultiLegOrderIndexes, order: Order, symbol: string): void {
  unwatch(order);
  for (const { optionSymbol } of order.terms.legs ?? [])
    packages.get(optionSymbol)?.setAlert(order, optionSymbol === symbol);
}

function unwatch(order: Order): void {
  for (const watch of (order.places ?? []) as readonly WatchedOrder[]) watch.queue.remove(watch);
  order.places = undefined;
}
