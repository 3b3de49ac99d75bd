import { Instant, isOrderEvent, type OrderEvent, type OrderSnapshot } from '@sandpit/core';
import { orderAtHand, orderNow, RowAwaited } from '../../engine/simulation/past-orders.js';
import type { DurableRecord } from '../../engine/records/records.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { DamagedJournal, StoreUnavailable } from '../../store/journal.js';
import { isoOfMs } from '../translate/instants.js';
import { orderUpdatesOf, trailedUpdateOf } from '../translate/orders.js';
import type { CatchUpScheduler } from './catch-up-scheduler.js';
import { type Connection, frameOf } from './connection.js';
import { MissedEvents } from './missed-events.js';
import {
  endOfEvent,
  endOfRecord,
  EventIds,
  isAfter,
  type StreamPosition,
  positionAt,
} from '../translate/position.js';
import { isAskedFor, type OrderFilter, type OrderMessages, untold } from './order-messages.js';
import { TrailRate } from './trail-rate.js';

/** A reader of orders. */
interface OrderReader {
  readonly connection: Connection;
  readonly filter: OrderFilter;
  /** Last position that the reader has received, or does not need. */
  position: StreamPosition;
  /** While it receives missed events: the events since then, after this record. */
  held: { readonly after: number; readonly told: OrderMessages[] } | undefined;
}

/** Maximum number of events held for a reader that receives missed events; beyond that it reads them from history as well. */
const MOST_HELD = 500;
/** Delay of a trailing stop held back by the rate limit. */
const LATE_MS = 1000;

/**
 * The order events of one simulation, as they become durable, for all readers. Each event is serialized once for all readers.
 *
 * There are no gaps and no duplicates. A reader that resumes receives history until history has reached the point at which the reader
 * joined and has no more, then the events published since, and from that turn on the tail of the journal. Events already sent are
 * recognized by their position. Records are published with their orders after each event; missed events are followed one by one
 * (`MissedEvents`).
 */
export class OrderFeed {
  readonly #simulation: Simulation;
  readonly #clockMs: () => number;
  readonly #scheduler: CatchUpScheduler;
  readonly #missed: MissedEvents;
  readonly #readers = new Set<OrderReader>();
  readonly #trails = new TrailRate();
  /** Trailing stops by order number whose latest price was held back by the rate limit. */
  readonly #late = new Map<number, OrderSnapshot>();
  #lateTimer: NodeJS.Timeout | undefined;
  readonly #ids: EventIds;
  #unsubscribe: (() => void) | undefined;

  constructor(simulation: Simulation, clockMs: () => number, scheduler: CatchUpScheduler) {
    this.#simulation = simulation;
    this.#clockMs = clockMs;
    this.#scheduler = scheduler;
    this.#ids = new EventIds(simulation.tags);
    this.#missed = new MissedEvents(simulation, ({ seq, event, at, data }, order) =>
      this.#told({ seq, event }, data as OrderEvent, order, Instant.ofMs(at)),
    );
  }

  /** Follows the orders; from `lastEventId` if given. Returns the id of the present. */
  follow(connection: Connection, filter: OrderFilter, lastEventId: string | undefined): () => string {
    this.#unsubscribe ??= this.#simulation.subscribe((record) => this.#publish(record));
    const after = this.#simulation.published;
    const now = endOfRecord(after);
    const resumed = lastEventId === undefined ? undefined : this.#ids.positionOf(lastEventId);
    const isKnown = resumed !== undefined && resumed.seq <= now.seq;
    const reader: OrderReader = {
      connection,
      filter,
      position: isKnown ? resumed : now,
      held: isKnown ? { after, told: [] } : undefined,
    };
    const positionId = (): string => this.#ids.of(reader.position);
    // An id without an event: a client that loses the connection before the first event can resume from here.
    if (lastEventId === undefined) connection.write(`id: ${positionId()}\n\n`, positionId);
    else if (!isKnown) {
      const timestamp = isoOfMs(this.#clockMs());
      const message =
        'Events after this id are no longer retained: read the current state, then resume from here';
      connection.write(frameOf('reset', positionId(), { timestamp, message }), positionId);
    }
    this.#add(reader);
    if (isKnown) void this.#catchUp(reader);
    return positionId;
  }

  #add(reader: OrderReader): void {
    this.#readers.add(reader);
    reader.connection.onClose(() => {
      this.#readers.delete(reader);
      if (this.#readers.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    });
  }

  async #catchUp(reader: OrderReader): Promise<void> {
    const { connection } = reader;
    try {
      const { history, id, tenantId } = this.#simulation;
      while (connection.isOpen && reader.held !== undefined) {
        // Before it is this reader's turn: others need not wait for that.
        await history.flush(id);
        await this.#scheduler.take(tenantId ?? id, () => this.#tellMissed(reader));
        await connection.drained();
      }
    } catch (error) {
      if (error instanceof DamagedJournal) this.#simulation.takeOutOfService(error.message);
      // The history cannot be read now. The client keeps its position and reconnects.
      connection.end(this.#ids.of(reader.position), 503, 'Service unavailable');
    }
  }

  /** Sends a page of missed events. If there is none, the reader has caught up, in the same turn. */
  async #tellMissed(reader: OrderReader): Promise<void> {
    const { connection, filter, held } = reader;
    if (!connection.isOpen || held === undefined) return;
    const { history, id } = this.#simulation;
    const missed = this.#missed.after(reader.position);
    // Awaits only a promise: nothing may be published between this check and the end of catching up.
    const page = missed instanceof Promise ? await missed : missed;
    if (page === undefined) {
      // The held messages may have been dropped since because there were too many. History must then contain them first.
      if (reader.held !== held || history.position(id) < held.after) return;
      for (const told of held.told) this.#tell(reader, told);
      reader.held = undefined;
      return;
    }
    const text = page.textFor(filter, reader.position);
    reader.position = page.end;
    if (text.length > 0) connection.write(text, () => this.#ids.of(reader.position));
  }

  #publish({ seq, at, events, orders }: DurableRecord): void {
    events.forEach((happened, event) => {
      const order = orders[event];
      if (order === undefined || !isOrderEvent(happened)) return;
      if (happened.type === 'OrderMoved' && happened.transition === 'TRAILED')
        return this.#tellTrailed(order);
      this.#late.delete(order.terms.number);
      try {
        const told = this.#told({ seq, event }, happened, order, at);
        for (const reader of this.#readers) this.#tellOrHold(reader, told);
      } catch (error) {
        if (error instanceof RowAwaited) return this.#leaveToHistory(seq);
        if (!(error instanceof StoreUnavailable)) throw error;
        for (const { connection, position } of this.#readers)
          connection.end(this.#ids.of(position), 503, 'Service unavailable');
      }
    });
  }

  /** Published events that cannot be written at once reach readers as missed events. */
  #leaveToHistory(seq: number): void {
    for (const reader of this.#readers) {
      const isCatchingUp = reader.held !== undefined;
      reader.held = { after: seq, told: [] };
      if (!isCatchingUp) void this.#catchUp(reader);
    }
  }

  /**
   * Sends the current level of a trailing stop, with the id of the last event: it moves no cursor and is never repeated (D215). Readers
   * that receive missed events are skipped.
   */
  #tellTrailed(order: OrderSnapshot): void {
    if (!this.#trails.admit(order.terms, this.#clockMs())) {
      this.#late.set(order.terms.number, order);
      this.#lateTimer ??= setTimeout(() => this.#tellLate(), LATE_MS).unref();
      return;
    }
    this.#late.delete(order.terms.number);
    const { ids } = this.#simulation.brokerage.state;
    const update = trailedUpdateOf(ids, order, (exit) => orderAtHand(this.#simulation, exit));
    for (const { connection, filter, held, position } of this.#readers) {
      if (held !== undefined || !isAskedFor(filter, { order })) continue;
      connection.write(frameOf('order-update', this.#ids.of(position), update), () => this.#ids.of(position));
    }
  }

  /** Sends the price that the rate limit held back, so that a stop that stops moving is not shown at an old price. */
  #tellLate(): void {
    this.#lateTimer = undefined;
    const late = [...this.#late.values()];
    this.#late.clear();
    for (const order of late) this.#tellTrailed(order);
  }

  #tellOrHold(reader: OrderReader, told: OrderMessages): void {
    const { held } = reader;
    if (held === undefined) this.#tell(reader, told);
    else if (held.told.length < MOST_HELD) held.told.push(told);
    else reader.held = { after: this.#simulation.published, told: [] };
  }

  #told(
    { seq, event }: { readonly seq: number; readonly event: number },
    happened: OrderEvent,
    order: OrderSnapshot,
    at: Instant,
  ): OrderMessages {
    const { ids } = this.#simulation.brokerage.state;
    const updates = orderUpdatesOf(ids, happened, order, at, (exit) => orderNow(this.#simulation, exit));
    const messages = updates.map((update, index) => {
      const position = positionAt(seq, event, updates.length - 1 - index);
      return { position, text: frameOf('order-update', this.#ids.of(position), update) };
    });
    return { order, end: endOfEvent(seq, event), messages };
  }

  /** Advances a reader, and sends it the messages that it has not received, if its filter includes the order. */
  #tell(reader: OrderReader, told: OrderMessages): void {
    if (isAskedFor(reader.filter, told)) {
      for (const { position, text } of untold(told, reader.position)) {
        reader.position = position;
        reader.connection.write(text, () => this.#ids.of(position));
      }
    }
    if (isAfter(told.end, reader.position)) reader.position = told.end;
  }
}
