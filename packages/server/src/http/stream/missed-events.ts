import {
  Instant,
  isOrderPlaced,
  isTerminal,
  type OrderEvent,
  orderAfter,
  type OrderSnapshot,
} from '@sandpit/core';
import { LRUCache } from 'lru-cache';
import { PastOrders, withRows } from '../../engine/simulation/past-orders.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { ListItem } from '../../store/history.js';
import { endOfEvent, isAfter, lastToldAt, type StreamPosition } from '../translate/position.js';
import { isAskedFor, type OrderFilter, type OrderMessages, untold } from './order-messages.js';

/** Events written out in one step: about a millisecond of work. */
const PAGE = 50;
/** Maximum distance of streams that read the same past together. */
const PAGES_KEPT = 64;
const KEPT_MS = 5000;

/** A page of the events that streams missed, written once for all readers. */
export class MissedPage {
  readonly end: StreamPosition;
  readonly #told: readonly OrderMessages[];
  readonly #first: StreamPosition | undefined;
  #text: Buffer | undefined;

  constructor(told: readonly OrderMessages[], end: StreamPosition) {
    this.#told = told;
    this.end = end;
    this.#first = told.find(({ messages }) => messages.length > 0)?.messages[0]?.position;
  }

  /** Messages after a position, as one text. */
  textFor(filter: OrderFilter, position: StreamPosition): Buffer | string {
    const isWhole = this.#first === undefined || isAfter(this.#first, position);
    if (isWhole && filter.accountId === undefined && filter.portfolioId === undefined)
      return (this.#text ??= Buffer.from(textOf(this.#told, position)));
    return textOf(
      this.#told.filter((told) => isAskedFor(filter, told)),
      position,
    );
  }
}

interface EventPosition {
  readonly seq: number;
  readonly event: number;
}

const keyOf = ({ seq, event }: EventPosition): string => `${seq}-${event}`;

const textOf = (all: readonly OrderMessages[], position: StreamPosition): string =>
  all.flatMap((told) => untold(told, position).map(({ text }) => text)).join('');

/**
 * Events that the order streams of one simulation missed, read from history a page at a time. Streams at the same position
 * share the page. A stream that continues from its end shares the orders at that position: they are followed from event to event, and read
 * from history only when no stream has followed them.
 */
export class MissedEvents {
  readonly #simulation: Simulation;
  readonly #write: (item: ListItem, order: OrderSnapshot) => OrderMessages;
  /** Full ones: a page that is not full yet will be another. */
  readonly #pages = new LRUCache<string, MissedPage>({ max: PAGES_KEPT, ttl: KEPT_MS, ttlAutopurge: true });
  /** Open orders, by the position up to which they were followed. */
  readonly #followed = new LRUCache<string, Map<number, OrderSnapshot>>({
    max: PAGES_KEPT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
  });

  constructor(simulation: Simulation, write: (item: ListItem, order: OrderSnapshot) => OrderMessages) {
    this.#simulation = simulation;
    this.#write = write;
  }

  /** Whole events: an event that the reader received in part is sent again. Undefined, synchronously, if there are no more. */
  after(position: StreamPosition): MissedPage | Promise<MissedPage | undefined> | undefined {
    const { history, id } = this.#simulation;
    const last = lastToldAt(position);
    const known = this.#pages.get(keyOf(last));
    if (known !== undefined) return known;
    const items = history.streamEvents(id, last, PAGE);
    return items instanceof Promise
      ? items.then((arrived) => this.#page(last, arrived))
      : this.#page(last, items);
  }

  #page(last: EventPosition, items: readonly ListItem[]): Promise<MissedPage> | undefined {
    const end = items.at(-1);
    return end === undefined ? undefined : this.#written(last, items, end);
  }

  async #written(last: EventPosition, items: readonly ListItem[], end: EventPosition): Promise<MissedPage> {
    const key = keyOf(last);
    const followed = this.#followed.get(key) ?? new Map<number, OrderSnapshot>();
    this.#followed.delete(key);
    const told: OrderMessages[] = [];
    for (const item of items) {
      const order = await this.#after(item, followed);
      told.push(await withRows(() => this.#write(item, order)));
    }
    const page = new MissedPage(told, endOfEvent(end.seq, end.event));
    if (items.length === PAGE) this.#pages.set(key, page);
    this.#followed.set(keyOf(end), followed);
    return page;
  }

  /** An order after a missed event. Open orders are kept for later events. */
  async #after(item: ListItem, followed: Map<number, OrderSnapshot>): Promise<OrderSnapshot> {
    const event = item.data as OrderEvent;
    const before = isOrderPlaced(event) ? undefined : followed.get(event.order);
    const order =
      before === undefined || isOrderPlaced(event)
        ? await new PastOrders(this.#simulation).after(item)
        : orderAfter(before, event, Instant.ofMs(item.at));
    const { number } = order.terms;
    if (isTerminal(order.progress.status)) followed.delete(number);
    else followed.set(number, order);
    return order;
  }
}
