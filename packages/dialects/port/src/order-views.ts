/** Orders as brokers with running numbers show them: ids of legs, executions, and the orders of a day. */
import type { Event, LedgerEntry, OrderSnapshot } from '@sandpit/core';
import type { Book } from './port.js';

/** Ids of legs lie beyond all numbers of orders: the order's number, and which of its legs. */
const LEGS = 1_000_000_000_000;
const LEGS_OF_ORDER = 10;

export const legId = (order: number, leg: number): number => LEGS + order * LEGS_OF_ORDER + leg;

/** The order that an id names, and which of its legs, 0 = itself; undefined for a text that is no id. */
export function numberIn(id: string): { readonly number: number; readonly leg: number } | undefined {
  if (!/^\d{1,15}$/.test(id)) return undefined;
  const all = Number(id);
  if (all < LEGS) return { number: all, leg: 0 };
  return { number: Math.floor((all - LEGS) / LEGS_OF_ORDER), leg: (all - LEGS) % LEGS_OF_ORDER };
}

/** An execution, in units of prices and quantities. */
export interface Fill {
  /** Counted from 0. */
  readonly leg: number;
  readonly price: number;
  readonly quantity: number;
}

export const fillsIn = (event: Event): readonly Fill[] =>
  event.type === 'OrderExecuted'
    ? event.executions.map((one) => ({ leg: one.leg ?? 0, price: one.price, quantity: one.quantity }))
    : [];

/** All executions of an order, oldest first. */
export async function fillsOf(book: Book, { terms, progress }: OrderSnapshot): Promise<readonly Fill[]> {
  if (progress.filledQuantity === 0) return [];
  return (await book.orders.versions(terms.number)).flatMap(({ event }) => fillsIn(event));
}

/** Open orders, and those that were placed or changed since midnight in New York; oldest first. */
export async function ordersOfDay(book: Book): Promise<readonly OrderSnapshot[]> {
  const { calendar, orders } = book;
  const midnight = calendar.instantOf(calendar.dateOf(book.now()), 0, 0);
  const found = new Map<number, OrderSnapshot>();
  for await (const order of orders.list({ from: midnight })) found.set(order.terms.number, order);
  for (const order of await orders.open()) found.set(order.terms.number, order);
  const changed = new Set<number>();
  for await (const events of book.events.byRecord({ from: midnight }, true))
    for (const { data } of events)
      if ((data.type === 'OrderMoved' || data.type === 'OrderExecuted') && !found.has(data.order))
        changed.add(data.order);
  for (const number of changed) {
    const order = await orders.byNumber(number);
    if (order !== undefined) found.set(number, order);
  }
  return [...found.values()].sort((a, b) => a.terms.number - b.terms.number);
}

/** Cash that entries move, settled and pending, in units of money. */
export function cashIn(entries: readonly Pick<LedgerEntry, 'postings'>[]): number {
  let cash = 0;
  for (const { postings } of entries)
    for (const { account, amount } of postings)
      if (account === 'SETTLED_CASH' || account === 'PENDING_CASH') cash += amount;
  return cash;
}
