import type { Quote } from '../market/quote.js';
import type { Order, Side } from '../orders/order.js';
import { PriorityQueue } from '../values/priority-queue.js';

/*
 * The open orders of several legs that have one in a contract. Like the `Book` of single orders this finds those that a quote concerns
 * without looking at the others. What matters is a sum over the legs, so each leg gets its part of the distance to the limit: as long as
 * the touch of none has come by that much, the sum cannot have come all the way.
 */

/** An order looked at again only when the ask of a bought leg, or the bid of a sold one, has come to a price. */
interface WatchedOrder {
  place: number;
  readonly price: number;
  readonly order: Order;
  readonly queue: PriorityQueue<WatchedOrder>;
}

/** What an order waits for: this price of a leg, `Infinity` or `-Infinity` for any price on its side. */
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

/** The open orders of several legs with one in a contract. */
class MultiLegOrderIndex implements Iterable<Order> {
  readonly #all = new Set<Order>();
  /** Orders that any quote concerns. */
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

  /** A new one: it has not been looked at. */
  add(order: Order): void {
    this.#all.add(order);
    this.#alert.add(order);
  }

  remove(order: Order): void {
    this.#all.delete(order);
    this.#alert.delete(order);
  }

  /** Adds those that a quote may concern to `found`, made where there are any. */
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

  /** From now on any quote concerns it, or none. */
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

/** An order of several legs is open. */
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

/** Something about it has changed: the next quote of any leg concerns it. */
export function wakeMultiLegOrder(packages: MultiLegOrderIndexes, order: Order): void {
  unwatch(order);
  for (const { optionSymbol } of order.terms.legs ?? []) packages.get(optionSymbol)?.setAlert(order, true);
}

/** A market was set that nobody looked at: whom it concerns will look at the next one. */
export function wakeConcerned(packages: MultiLegOrderIndexes, quote: Quote): void {
  for (const order of packages.get(quote.symbol)?.concernedBy(quote, undefined) ?? [])
    wakeMultiLegOrder(packages, order);
}

/** Until one of these comes, nothing can become of it: it need not be looked at. */
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

/** Until this leg is quoted anew, nothing can become of it. */
export function awaitQuote(packages: MultiLegOrderIndexes, order: Order, symbol: string): void {
  unwatch(order);
  for (const { optionSymbol } of order.terms.legs ?? [])
    packages.get(optionSymbol)?.setAlert(order, optionSymbol === symbol);
}

function unwatch(order: Order): void {
  for (const watch of (order.places ?? []) as readonly WatchedOrder[]) watch.queue.remove(watch);
  order.places = undefined;
}
