import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Instant,
  isOrderEvent,
  isTerminal,
  type OrderEvent,
  orderAfter,
  type OrderSnapshot,
} from '@sandpit/core';
import { orderNow, PastOrders } from '../../engine/past-orders.js';
import type { DurableRecord } from '../../engine/records.js';
import type { Simulation } from '../../engine/simulation.js';
import type { ListItem } from '../../store/history.js';
import { DamagedJournal, StoreUnavailable } from '../../store/journal.js';
import { isoOfMs } from '../translate/instants.js';
import { orderUpdatesOf } from '../translate/orders.js';
import { type Connection, frameOf } from './connection.js';
import {
  endOfEvent,
  endOfRecord,
  idOf,
  isAfter,
  lastToldAt,
  type Position,
  positionAt,
  positionOf,
} from './position.js';

export interface OrderFilter {
  readonly accountId: string | undefined;
  readonly portfolioId: string | undefined;
}

/** A reader of the orders of a tenant. */
interface Reader {
  readonly connection: Connection;
  readonly filter: OrderFilter;
  /** What it has been told, or need not be. */
  position: Position;
  /** While it is being told what it missed: what has happened since, after this record. */
  held: { readonly after: number; readonly told: Told[] } | undefined;
}

/** What there is to tell about an event. */
interface Told {
  readonly order: OrderSnapshot;
  readonly end: Position;
  readonly messages: readonly { readonly position: Position; readonly text: string }[];
}

const PAGE = 200;
/** Events that are held for a reader who is being told what it missed; with more it reads them from history as well. */
const MOST_HELD = 500;

/**
 * The order events of one simulation, as they become durable, to everybody who follows them. Each event is written out once per
 * tenant, however many read it.
 *
 * Without gap or duplicate: whoever resumes is told from history until that has come to where the reader came and has nothing more, then what
 * was published since, and from that turn on from the tail of the journal; what was told already is recognised by its position. Records are published with the orders as their events left them; what was missed is
 * followed from event to event, from history where it began before.
 */
export class OrderFeed {
  readonly #simulation: Simulation;
  readonly #clockMs: () => number;
  readonly #readers = new Map<string, Set<Reader>>();
  #unsubscribe: (() => void) | undefined;

  constructor(simulation: Simulation, clockMs: () => number) {
    this.#simulation = simulation;
    this.#clockMs = clockMs;
  }

  /** Follows the orders of a tenant; from `lastEventId` on where one is given. Returns the id that stands for the present. */
  follow(
    connection: Connection,
    tenantId: string,
    filter: OrderFilter,
    lastEventId: string | undefined,
  ): () => string {
    this.#unsubscribe ??= this.#simulation.subscribe((record) => this.#publish(record));
    const after = this.#simulation.published;
    const now = endOfRecord(after);
    const resumed = lastEventId === undefined ? undefined : positionOf(lastEventId);
    const isKnown = resumed !== undefined && resumed.seq <= now.seq;
    const reader: Reader = {
      connection,
      filter,
      position: isKnown ? resumed : now,
      held: isKnown ? { after, told: [] } : undefined,
    };
    const positionId = (): string => idOf(reader.position);
    // An id without an event: who loses the connection before the first event can go on from here all the same.
    if (lastEventId === undefined) connection.write(`id: ${positionId()}\n\n`, positionId);
    else if (!isKnown) {
      const timestamp = isoOfMs(this.#clockMs());
      const message = 'The events since this id are not kept: read the present state, then go on from here';
      connection.write(frameOf('reset', positionId(), { timestamp, message }), positionId);
    }
    this.#add(tenantId, reader);
    if (isKnown) void this.#catchUp(tenantId, reader);
    return positionId;
  }

  #add(tenantId: string, reader: Reader): void {
    const readers = this.#readers.get(tenantId) ?? new Set();
    this.#readers.set(tenantId, readers.add(reader));
    reader.connection.onClose(() => {
      readers.delete(reader);
      if (readers.size === 0 && this.#readers.get(tenantId) === readers) this.#readers.delete(tenantId);
      if (this.#readers.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    });
  }

  async #catchUp(tenantId: string, reader: Reader): Promise<void> {
    const { connection } = reader;
    const positionId = (): string => idOf(reader.position);
    const followed = new Map<number, OrderSnapshot>();
    try {
      const { history, id } = this.#simulation;
      while (connection.isOpen && reader.held !== undefined) {
        await history.reached(id, reader.held.after);
        const missed = history.tenantEvents(id, tenantId, lastToldAt(reader.position), PAGE);
        if (missed.length === 0 && history.position(id) >= reader.held.after) {
          for (const told of reader.held.told) tell(reader, told);
          reader.held = undefined;
          return;
        }
        for (const item of missed) {
          const { seq, event, at, data } = item;
          const order = await this.#missed(item, followed);
          tell(reader, this.#told({ seq, event }, data as OrderEvent, order, Instant.ofMs(at)));
        }
        await connection.drained();
        await nextTurn();
      }
    } catch (error) {
      if (error instanceof DamagedJournal) this.#simulation.takeOutOfService(error.message);
      // The history cannot be read now. The client keeps its place and comes back.
      connection.end(positionId(), 503, 'Service unavailable');
    }
  }

  /** An order as a missed event left it. Those that go on are kept for the events to come. */
  async #missed(item: ListItem, followed: Map<number, OrderSnapshot>): Promise<OrderSnapshot> {
    const event = item.data as OrderEvent;
    const before = event.type === 'OrderAccepted' ? undefined : followed.get(event.order);
    const order =
      before === undefined || event.type === 'OrderAccepted'
        ? await new PastOrders(this.#simulation).after(item)
        : orderAfter(before, event, Instant.ofMs(item.at));
    const { number } = order.terms;
    if (isTerminal(order.progress.status)) followed.delete(number);
    else followed.set(number, order);
    return order;
  }

  #publish({ seq, at, events, orders }: DurableRecord): void {
    events.forEach((happened, event) => {
      const order = orders[event];
      const readers = order === undefined ? undefined : this.#readers.get(order.terms.tenantId);
      if (order === undefined || readers === undefined || !isOrderEvent(happened)) return;
      try {
        const told = this.#told({ seq, event }, happened, order, at);
        for (const reader of readers) this.#tellOrHold(reader, told);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        for (const { connection, position } of readers)
          connection.end(idOf(position), 503, 'Service unavailable');
      }
    });
  }

  #tellOrHold(reader: Reader, told: Told): void {
    const { held } = reader;
    if (held === undefined) tell(reader, told);
    else if (held.told.length < MOST_HELD) held.told.push(told);
    else reader.held = { after: this.#simulation.published, told: [] };
  }

  #told(
    { seq, event }: { readonly seq: number; readonly event: number },
    happened: OrderEvent,
    order: OrderSnapshot,
    at: Instant,
  ): Told {
    const { ids } = this.#simulation.brokerage.state;
    const updates = orderUpdatesOf(ids, happened, order, at, (exit) => orderNow(this.#simulation, exit));
    const messages = updates.map((update, index) => {
      const position = positionAt(seq, event, updates.length - 1 - index);
      return { position, text: frameOf('order-update', idOf(position), update) };
    });
    return { order, end: endOfEvent(seq, event), messages };
  }
}

/** Moves a reader on, and tells it what it has not been told, where the order is one that it asked for. */
function tell(reader: Reader, { order: { terms }, end, messages }: Told): void {
  const { accountId, portfolioId } = reader.filter;
  const isAskedFor =
    (accountId === undefined || terms.accountId === accountId) &&
    (portfolioId === undefined || terms.portfolioId === portfolioId);
  for (const { position, text } of messages) {
    if (!isAfter(position, reader.position)) continue;
    reader.position = position;
    if (isAskedFor) reader.connection.write(text, () => idOf(position));
  }
  if (isAfter(end, reader.position)) reader.position = end;
}
