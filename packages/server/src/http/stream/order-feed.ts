import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Event, OrderEvent, OrderTerms } from '@sandpit/core';
import { LRUCache } from 'lru-cache';
import type { DurableRecord, Simulation } from '../../engine/simulation.js';
import { isoOfMs } from '../translate/instants.js';
import { orderUpdateOf, transitionOf } from '../translate/orders.js';
import { type Connection, frameOf } from './connection.js';
import { endOfRecord, idOf, isAfter, type Position, positionOf } from './position.js';

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
  /** False while it is being told what it missed. */
  isLive: boolean;
}

const PAGE = 200;
const TERMS_KEPT = 10_000;

/**
 * The order events of one simulation, as they become durable, to everybody who follows them. Each event is written out once per
 * tenant, however many read it.
 *
 * Without gap or duplicate: whoever resumes is told from history until history has nothing more, and from that turn on from the tail of
 * the journal. A record is in history before it is published, so nothing can fall between the two; what is published though it was
 * told already is recognised by its position.
 */
export class OrderFeed {
  readonly #simulation: Simulation;
  readonly #clockMs: () => number;
  readonly #readers = new Map<string, Set<Reader>>();
  /** The terms of an order never change; those of closed ones would have to be read from history each time. */
  readonly #terms = new LRUCache<string, OrderTerms>({ max: TERMS_KEPT });
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
    const now = endOfRecord(this.#simulation.journal.lastSeq(this.#simulation.id));
    const resumed = lastEventId === undefined ? undefined : positionOf(lastEventId);
    const isKnown = resumed !== undefined && resumed.seq <= now.seq;
    const reader: Reader = { connection, filter, position: isKnown ? resumed : now, isLive: !isKnown };
    const positionId = (): string => idOf(reader.position);
    // An id without an event: who loses the connection before the first event can go on from here all the same.
    if (lastEventId === undefined) connection.write(`id: ${positionId()}\n\n`, positionId);
    else if (!isKnown) {
      const timestamp = isoOfMs(this.#clockMs());
      const message = 'The events since this id are not kept: read the present state, then go on from here';
      connection.write(frameOf('reset', positionId(), { timestamp, message }), positionId);
    }
    this.#add(tenantId, reader);
    if (!reader.isLive) void this.#catchUp(tenantId, reader);
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
    try {
      while (connection.isOpen) {
        const { history, id } = this.#simulation;
        const missed = history.orderEvents(id, tenantId, reader.position, PAGE);
        if (missed.length === 0) {
          reader.isLive = true;
          return;
        }
        for (const { seq, event, data } of missed) {
          this.#tell(reader, { seq, event }, this.#frame({ seq, event }, data as OrderEvent));
        }
        await connection.drained();
        await nextTurn();
      }
    } catch {
      // The history cannot be read now. The client keeps its place and comes back.
      connection.end(positionId(), 503, 'Service unavailable');
    }
  }

  #publish({ seq, events }: DurableRecord): void {
    events.forEach((happened, event) => {
      if (!isOrderEvent(happened)) return;
      if (happened.type === 'OrderAccepted') this.#terms.set(happened.terms.orderId, happened.terms);
      const readers = this.#readers.get(tenantOf(happened));
      if (readers === undefined) return;
      const position = { seq, event };
      const frame = this.#frame(position, happened);
      for (const reader of readers) {
        if (reader.isLive && isAfter(position, reader.position)) this.#tell(reader, position, frame);
      }
    });
  }

  /** Moves a reader on, and tells it where the event is one that it asked for. */
  #tell(
    reader: Reader,
    position: Position,
    frame: { readonly text: string; readonly terms: OrderTerms } | undefined,
  ): void {
    reader.position = position;
    if (frame === undefined) return;
    const { accountId, portfolioId } = reader.filter;
    if (accountId !== undefined && frame.terms.accountId !== accountId) return;
    if (portfolioId !== undefined && frame.terms.portfolioId !== portfolioId) return;
    reader.connection.write(frame.text, () => idOf(position));
  }

  #frame(position: Position, event: OrderEvent) {
    const transition = transitionOf(event);
    if (transition === undefined) return undefined;
    const terms = event.type === 'OrderAccepted' ? event.terms : this.#termsOf(event.orderId);
    if (terms === undefined) return undefined;
    return { text: frameOf('order-update', idOf(position), orderUpdateOf(terms, event, transition)), terms };
  }

  #termsOf(orderId: string): OrderTerms | undefined {
    const known = this.#terms.get(orderId);
    if (known !== undefined) return known;
    const { brokerage, history, id } = this.#simulation;
    const open = brokerage.state.orders.get(orderId)?.terms;
    const row = open === undefined ? history.order(id, orderId) : undefined;
    const terms = open ?? (row === undefined ? undefined : (JSON.parse(row.terms) as OrderTerms));
    if (terms !== undefined) this.#terms.set(orderId, terms);
    return terms;
  }
}

const isOrderEvent = (event: Event): event is OrderEvent =>
  event.type === 'OrderAccepted' || event.type === 'OrderMoved' || event.type === 'OrderExecuted';

const tenantOf = (event: OrderEvent): string =>
  event.type === 'OrderAccepted' ? event.terms.tenantId : event.tenantId;
