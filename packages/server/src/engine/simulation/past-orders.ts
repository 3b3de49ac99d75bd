import { Instant, isOrderPlaced, orderAfter, placedOrder } from '@sandpit/core';
import type { Event, OrderEvent, OrderProgress, OrderSnapshot, OrderTerms } from '@sandpit/core';
import type { History, ListItem, OrderRow } from '../../store/history.js';
import { StoreUnavailable } from '../../store/journal.js';
import type { ValueOrPromise } from '../../store/journal.js';
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
  readonly #versions = new Map<number, ValueOrPromise<readonly OrderVersion[]>>();
  readonly #accountId: string | undefined;
  readonly #events: KnownOrders['events'];

  constructor(simulation: PastOfSimulation, known: KnownOrders = { events: new Map() }) {
    this.#simulation = simulation;
    this.#accountId = known.accountId;
    this.#events = known.events;
  }

  /** The order of an event, after the event. Not a promise if its account and its events were given. */
  after(item: ListItem): ValueOrPromise<OrderSnapshot> {
    const happened = item.data as OrderEvent;
    if (isOrderPlaced(happened)) {
      const at = Instant.ofMs(item.at);
      return withValue(this.#accountOf(happened.number), (accountId) => placedOrder(happened, accountId, at));
    }
    const number = happened.order;
    let versions = this.#versions.get(number);
    if (versions === undefined) {
      versions = this.#versionsOf(number);
      this.#versions.set(number, versions);
    }
    return withValue(versions, (found) => versionAt(found, number, item));
  }

  #accountOf(number: number): ValueOrPromise<string> {
    return this.#accountId ?? termsOf(this.#simulation, number).then(({ accountId }) => accountId);
  }

  /** Everything that has happened to an order, oldest first. */
  #versionsOf(number: number): ValueOrPromise<readonly OrderVersion[]> {
    const accountId = this.#accountOf(number);
    const events = this.#events.get(number) ?? this.#eventsOf(number);
    if (typeof accountId === 'string' && !(events instanceof Promise))
      return versionsAfter(number, accountId, events);
    return Promise.all([accountId, events]).then((found) => versionsAfter(number, ...found));
  }

  async #eventsOf(number: number): Promise<readonly ListItem[]> {
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
}

const withValue = <T, R>(value: ValueOrPromise<T>, use: (value: T) => R): ValueOrPromise<R> =>
  value instanceof Promise ? value.then(use) : use(value);

/** An order after each of its events, oldest first. */
function versionsAfter(
  number: number,
  accountId: string,
  events: readonly ListItem[],
): readonly OrderVersion[] {
  const versions: OrderVersion[] = [];
  for (const { seq, event, item, at, data } of events) {
    // Listed once for each of its executions.
    if (item !== 0) continue;
    const happened = data as OrderEvent;
    const before = versions.at(-1)?.order;
    const instant = Instant.ofMs(at);
    if (isOrderPlaced(happened))
      versions.push({ seq, event, order: placedOrder(happened, accountId, instant) });
    else if (before === undefined) throw new Error(`Order ${number} moved before it was accepted`);
    else versions.push({ seq, event, order: orderAfter(before, happened, instant) });
  }
  return versions;
}

function versionAt(
  versions: readonly OrderVersion[],
  number: number,
  { seq, event }: Pick<ListItem, 'seq' | 'event'>,
): OrderSnapshot {
  const version = versions.find((one) => one.seq === seq && one.event === event);
  if (version === undefined) throw new Error(`The history does not list ${seq}-${event} for order ${number}`);
  return version.order;
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
 * The current state of an order, open or closed. Throws `StoreUnavailable` while that is uncertain (`RowRecorder.certain` waits for
 * certainty), and `RowAwaited` if the history must query its row.
 */
export function orderNow(
  { brokerage, rows, history, id }: Simulation,
  number: number,
): OrderSnapshot | undefined {
  const known = brokerage.state.orders.get(number) ?? rows.order(number);
  if (known !== undefined) return known;
  if (!rows.isCertain()) throw new StoreUnavailable('the history is not there yet');
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
