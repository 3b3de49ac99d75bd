import { acceptedOrder, Instant, orderAfter } from '@sandpit/core';
import type { Event, OrderEvent, OrderProgress, OrderSnapshot, OrderTerms } from '@sandpit/core';
import type { History, ListItem, OrderRow } from '../store/history.js';
import { StoreUnavailable } from '../store/journal.js';
import type { ValueOrPromise } from '../store/journal.js';
import type { Simulation } from './simulation.js';

/** More events than any order has. */
const ALL = 1_000_000;

/** An event of an order, and the order after it. */
interface OrderVersion {
  readonly seq: number;
  readonly event: number;
  readonly order: OrderSnapshot;
}

/** The past of one simulation, as far as orders need it. */
export interface PastOfSimulation {
  readonly id: string;
  readonly history: Pick<History, 'list' | 'order'>;
}

/** Orders that were looked up together. */
export interface KnownOrders {
  /** Account of all of them. */
  readonly accountId?: string;
  /** All events of some of them, by number, oldest first. */
  readonly events: ReadonlyMap<number, readonly ListItem[]>;
}

/**
 * Orders after past events; use it after waiting for the past. Events contain only their changes, so an order is followed from its
 * acceptance on. Each order is followed once: use an instance for one request only.
 */
export class PastOrders {
  readonly #simulation: PastOfSimulation;
  readonly #steps = new Map<number, Promise<readonly OrderVersion[]>>();
  readonly #accountId: string | undefined;
  readonly #events: KnownOrders['events'];

  constructor(simulation: PastOfSimulation, known: KnownOrders = { events: new Map() }) {
    this.#simulation = simulation;
    this.#accountId = known.accountId;
    this.#events = known.events;
  }

  /** The order of an event, after the event. */
  async after({ seq, event, at, data }: ListItem): Promise<OrderSnapshot> {
    const happened = data as OrderEvent;
    if (happened.type === 'OrderAccepted') {
      return acceptedOrder(happened, await this.#accountOf(happened.number), Instant.ofMs(at));
    }
    const number = happened.order;
    const steps = this.#steps.get(number) ?? this.#stepsOf(number);
    this.#steps.set(number, steps);
    const step = (await steps).find((one) => one.seq === seq && one.event === event);
    if (step === undefined) throw new Error(`The history does not list ${seq}-${event} for order ${number}`);
    return step.order;
  }

  async #accountOf(number: number): Promise<string> {
    return this.#accountId ?? (await termsOf(this.#simulation, number)).accountId;
  }

  /** Everything that has happened to an order, oldest first. */
  async #stepsOf(number: number): Promise<readonly OrderVersion[]> {
    const steps: OrderVersion[] = [];
    for (const { seq, event, item, at, data } of await this.#eventsOf(number)) {
      // Listed once for each of its executions.
      if (item !== 0) continue;
      const order = await this.#next(number, steps.at(-1), data as OrderEvent, Instant.ofMs(at));
      steps.push({ seq, event, order });
    }
    return steps;
  }

  async #eventsOf(number: number): Promise<readonly ListItem[]> {
    const known = this.#events.get(number);
    if (known !== undefined) return known;
    const { id, history } = this.#simulation;
    const { items } = await history.list({
      simulationId: id,
      list: 'order-events',
      owner: String(number),
      offset: 0,
      limit: ALL,
    });
    return items.toReversed();
  }

  async #next(
    number: number,
    before: OrderVersion | undefined,
    event: OrderEvent,
    at: Instant,
  ): Promise<OrderSnapshot> {
    if (event.type === 'OrderAccepted') return acceptedOrder(event, await this.#accountOf(number), at);
    if (before === undefined) throw new Error(`Order ${number} moved before it was accepted`);
    return orderAfter(before.order, event, at);
  }
}

/** A row that a read needs is being loaded. `withRows` waits for it and reads again. */
export class RowAwaited extends StoreUnavailable {
  readonly arrived: Promise<unknown>;

  constructor(arrived: Promise<unknown>) {
    super('the history is not there yet');
    this.arrived = arrived;
    // Callers that do not wait get the answer of an unavailable store.
    arrived.catch(() => undefined);
  }
}

/** Result of a read once all rows that it needs are loaded. A read changes nothing: it may run several times. */
export async function withRows<T>(look: () => ValueOrPromise<T>): Promise<T> {
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof RowAwaited)) throw error;
      await error.arrived;
    }
  }
}

/**
 * The current state of an order, open or closed. Throws `StoreUnavailable` while that is uncertain (`PendingProjection.certain` waits for
 * certainty), and `RowAwaited` if the history must query its row.
 */
export function orderNow(
  { brokerage, underWay, history, id }: Simulation,
  number: number,
): OrderSnapshot | undefined {
  const known = brokerage.state.orders.get(number) ?? underWay.order(number);
  if (known !== undefined) return known;
  if (!underWay.isCertain()) throw new StoreUnavailable('the history is not there yet');
  const row = history.order(id, number);
  if (row instanceof Promise) throw new RowAwaited(row);
  return row === undefined ? undefined : storedOrder(row);
}

/** The synchronous variant; undefined if history must be queried asynchronously. */
export function orderAtHand(simulation: Simulation, number: number): OrderSnapshot | undefined {
  try {
    return orderNow(simulation, number);
  } catch (error) {
    if (error instanceof RowAwaited) return undefined;
    throw error;
  }
}

/** The parts of an order in history. */
export const storedOrder = (row: OrderRow): OrderSnapshot => ({
  terms: JSON.parse(row.terms) as OrderTerms,
  progress: JSON.parse(row.progress) as OrderProgress,
});

/** Immutable terms of an order, open or closed. */
async function termsOf({ history, id }: PastOfSimulation, number: number): Promise<OrderTerms> {
  const row = await history.order(id, number);
  if (row === undefined) throw new Error(`The history has no order ${number}`);
  return JSON.parse(row.terms) as OrderTerms;
}

/** Terms of the orders that items refer to, for the time of one page. `known`: some of them. */
export class TermsOfItems {
  readonly #simulation: PastOfSimulation;
  readonly #found = new Map<number, OrderTerms>();

  constructor(simulation: PastOfSimulation, known: Iterable<OrderRow> = []) {
    this.#simulation = simulation;
    for (const { number, terms } of known) this.#found.set(number, JSON.parse(terms) as OrderTerms);
  }

  /** Returns the terms of the order that executed in an item. */
  async of({ data }: ListItem): Promise<(order: number) => OrderTerms> {
    const event = data as Event;
    if (event.type === 'OrderExecuted' && !this.#found.has(event.order))
      this.#found.set(event.order, await termsOf(this.#simulation, event.order));
    return (order) => {
      const terms = this.#found.get(order);
      if (terms === undefined) throw new Error(`The terms of order ${order} were not looked up`);
      return terms;
    };
  }
}
