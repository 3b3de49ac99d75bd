import { commissionOf, feesOf, isTerminal, Money } from '@sandpit/core';
import type { Event, Ids, OrderSnapshot } from '@sandpit/core';
import type { Difference } from './comparison.js';

/** An execution as orders are compared by it. */
interface Fill {
  readonly at: number;
  readonly price: number;
  readonly quantity: number;
  readonly charges: number;
}

/** Outcome of an order. */
interface OrderFacts {
  readonly fills: Fill[];
  status: string;
  /** Instant at which it ended, or was seen last. */
  at: number;
  isOver: boolean;
}

/** Outcomes of a row's orders, and the first order of the base with a different outcome. */
export class OrderLedger {
  readonly #base: OrderLedger | undefined;
  readonly #ids: Ids;
  readonly #orders = new Map<number, OrderFacts>();
  #first: { readonly number: number; readonly difference: Omit<Difference, 'orderId'> } | undefined;

  /** Without a base it is the base. */
  constructor(ids: Ids, base?: OrderLedger) {
    this.#ids = ids;
    this.#base = base;
  }

  note(at: number, event: Event, order: OrderSnapshot): void {
    const { number } = order.terms;
    let facts = this.#orders.get(number);
    if (facts === undefined) this.#orders.set(number, (facts = { fills: [], status: '', at, isOver: false }));
    if (event.type === 'OrderExecuted')
      for (const execution of event.executions) {
        const charges = feesOf(execution).reduce(
          (sum, { amount }) => Money.add(sum, amount),
          commissionOf(execution),
        );
        facts.fills.push({ at, price: execution.price, quantity: execution.quantity, charges });
      }
    facts.status = order.progress.status;
    facts.at = at;
    facts.isOver = isTerminal(order.progress.status);
    if (facts.isOver) this.#settle(number, facts);
  }

  /** An order of the base that was refused. */
  refused(number: number, at: number, reason: string): void {
    this.#differs(number, { at, kind: 'REJECTED', base: 'ACCEPTED', variant: reason });
  }

  /** Compares an order that has ended in both, and removes it here. */
  #settle(number: number, facts: OrderFacts): void {
    const base = this.#base;
    const before = base === undefined ? undefined : base.#orders.get(number);
    if (before?.isOver !== true) return;
    this.#compare(number, before, facts);
    this.#orders.delete(number);
  }

  /** The first difference, once everything has been noted. */
  firstDifference(): Difference | undefined {
    const base = this.#base;
    if (base === undefined) return undefined;
    for (const [number, facts] of this.#orders) {
      const before = base.#orders.get(number);
      if (before !== undefined) this.#compare(number, before, facts);
    }
    const first = this.#first;
    return first && { ...first.difference, orderId: this.#ids.idOf('ORDER', first.number) };
  }

  #compare(number: number, before: OrderFacts, after: OrderFacts): void {
    const count = Math.min(before.fills.length, after.fills.length);
    for (let i = 0; i < count; i += 1) {
      const [was, is] = [before.fills[i], after.fills[i]];
      if (was === undefined || is === undefined) continue;
      const { at } = was;
      if (was.price !== is.price)
        return this.#differs(number, { at, kind: 'PRICE', base: was.price, variant: is.price });
      if (was.quantity !== is.quantity)
        return this.#differs(number, { at, kind: 'QUANTITY', base: was.quantity, variant: is.quantity });
      if (was.charges !== is.charges)
        return this.#differs(number, { at, kind: 'FEE', base: was.charges, variant: is.charges });
    }
    if (before.status !== after.status || before.fills.length !== after.fills.length)
      this.#differs(number, {
        at: Math.min(before.at, after.at),
        kind: 'STATUS',
        base: before.status,
        variant: after.status,
      });
  }

  #differs(number: number, difference: Omit<Difference, 'orderId'>): void {
    const first = this.#first;
    const isSooner =
      first === undefined ||
      difference.at < first.difference.at ||
      (difference.at === first.difference.at && number < first.number);
    if (isSooner) this.#first = { number, difference };
  }
}
