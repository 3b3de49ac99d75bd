import { acceptedOrder, Instant, orderAfter } from '@sandpit/core';
import type { OrderEvent, OrderProgress, OrderSnapshot, OrderTerms } from '@sandpit/core';
import type { ListItem, OrderRow } from '../store/history.js';
import { StoreUnavailable } from '../store/journal.js';
import type { ValueOrPromise } from '../store/journal.js';
import type { Simulation } from './simulation.js';

/** No order has so many events. */
const ALL = 1_000_000;

/** An event of an order, and the order as it left it. */
interface OrderVersion {
  readonly seq: number;
  readonly event: number;
  readonly order: OrderSnapshot;
}

/**
 * Orders as past events left them, for whoever has waited for the past. Events say only what they changed: an order is followed from its acceptance on. Each is followed
 * once, so that one of these is for a request and not for longer.
 */
export class PastOrders {
  readonly #simulation: Simulation;
  readonly #steps = new Map<number, Promise<readonly OrderVersion[]>>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** The order that an event is about, as the event left it. */
  async after({ seq, event, at, data }: ListItem): Promise<OrderSnapshot> {
    const happened = data as OrderEvent;
    if (happened.type === 'OrderAccepted') {
      return acceptedOrder(happened, await termsOf(this.#simulation, happened.number), Instant.ofMs(at));
    }
    const number = happened.order;
    const steps = this.#steps.get(number) ?? stepsOf(this.#simulation, number);
    this.#steps.set(number, steps);
    const step = (await steps).find((one) => one.seq === seq && one.event === event);
    if (step === undefined) throw new Error(`The history does not list ${seq}-${event} for order ${number}`);
    return step.order;
  }
}

/** A row that a look needs is on its way from the store. `withRows` waits for it and looks again. */
export class RowAwaited extends StoreUnavailable {
  readonly arrived: Promise<unknown>;

  constructor(arrived: Promise<unknown>) {
    super('the history is not there yet');
    this.arrived = arrived;
    // Whoever does not wait for it has the answer of an unavailable store.
    arrived.catch(() => undefined);
  }
}

/** What a look gives once all rows that it asks for are at hand. A look changes nothing: it may happen several times. */
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
 * An order as it stands, open or closed. Throws `StoreUnavailable` where nobody can tell (`PendingProjection.certain` waits for that), and
 * `RowAwaited` where the history has to ask for its row.
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

/** The same where there is no time to wait; undefined for an order that the history would have to ask for. */
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

/** What never changes of an order, open or closed. */
export async function termsOf({ history, id }: Simulation, number: number): Promise<OrderTerms> {
  const row = await history.order(id, number);
  if (row === undefined) throw new Error(`The history has no order ${number}`);
  return JSON.parse(row.terms) as OrderTerms;
}

/** Everything that has happened to an order, oldest first. */
async function stepsOf(simulation: Simulation, number: number): Promise<readonly OrderVersion[]> {
  const { items } = await simulation.history.list({
    simulationId: simulation.id,
    list: 'order-events',
    owner: String(number),
    offset: 0,
    limit: ALL,
  });
  const steps: OrderVersion[] = [];
  for (const { seq, event, item, at, data } of items.toReversed()) {
    // Listed once for each of its executions.
    if (item === 0)
      steps.push({ seq, event, order: await next(steps.at(-1), data as OrderEvent, Instant.ofMs(at)) });
  }
  return steps;

  async function next(
    before: OrderVersion | undefined,
    event: OrderEvent,
    at: Instant,
  ): Promise<OrderSnapshot> {
    if (event.type === 'OrderAccepted') return acceptedOrder(event, await termsOf(simulation, number), at);
    if (before === undefined) throw new Error(`Order ${number} moved before it was accepted`);
    return orderAfter(before.order, event, at);
  }
}
