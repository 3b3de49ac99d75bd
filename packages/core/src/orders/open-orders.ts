import type { Order } from './order.js';

/**
 * Open orders of a portfolio, or of a book: adding and removing cost the same for any number of orders, without hashing. The caller
 * remembers the place of an order that it adds.
 */
export class OpenOrders {
  private readonly orders: Order[] = [];

  get size(): number {
    return this.orders.length;
  }

  /** Returns the order's place. */
  add(order: Order): number {
    return this.orders.push(order) - 1;
  }

  /** Removes the order at an index. Returns the one that has moved there, if any. */
  removeAt(place: number): Order | undefined {
    const last = this.orders.pop();
    if (last === undefined || place === this.orders.length) return undefined;
    this.orders[place] = last;
    return last;
  }

  at(place: number): Order | undefined {
    return this.orders[place];
  }

  /** In no particular order. */
  [Symbol.iterator](): Iterator<Order> {
    return this.orders.values();
  }

  /** `isWanted`: only orders that satisfy it. */
  oldestFirst(isWanted?: (order: Order) => boolean): Order[] {
    const wanted = isWanted === undefined ? [...this.orders] : this.orders.filter(isWanted);
    return wanted.sort((a, b) => a.terms.number - b.terms.number);
  }
}
