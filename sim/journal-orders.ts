import { Instant, isOrderEvent, isOrderPlaced, orderAfter, orderNumberOf, placedOrder } from '@sandpit/core';
import type { Event, Ids, OrderEvent, OrderSnapshot } from '@sandpit/core';
import type { RawRecord } from './data-directory.js';
import type { OrderFollower } from './order-follower.js';

const SILENT: ReadonlySet<string> = new Set(['TRAILED', 'RESTED']);

/**
 * Holds what a stream told over any number of restarts against the journal: nothing missing, nothing twice, nothing that is not there.
 * The journal may know more: what came after the stream ended.
 */
export function compareStream(
  records: Iterable<RawRecord>,
  ids: Ids,
  { seen }: OrderFollower,
): string | undefined {
  const journal = new JournalOrders(ids);
  let place = 0;
  for (const { events, at } of records) {
    for (const what of events.flatMap((event) => journal.told(event, at))) {
      if (place >= seen.length) return undefined;
      const told = seen[place++]?.what;
      if (told !== what)
        return `event ${place} of the order stream was "${told ?? ''}", the journal has "${what}"`;
    }
  }
  return place < seen.length ? 'the order stream told more than the journal has' : undefined;
}

/** The orders of a journal, followed from event to event. */
class JournalOrders {
  private readonly ids: Ids;
  private readonly orders = new Map<number, OrderSnapshot>();

  constructor(ids: Ids) {
    this.ids = ids;
  }

  /** Messages that the order stream sends for an event: none, one or two. */
  told(event: Event, at: number): readonly string[] {
    if (!isOrderEvent(event)) return [];
    const number = orderNumberOf(event);
    const { status } = this.after(number, event, Instant.ofMs(at)).progress;
    const id = this.ids.idOf('ORDER', number);
    if (event.type !== 'OrderMoved') return [`${id} ${status}`];
    if (event.transition === 'ACTIVATED') return [`${id} RESERVING`, `${id} ${status}`];
    return SILENT.has(event.transition) ? [] : [`${id} ${status}`];
  }

  private after(number: number, event: OrderEvent, at: Instant): OrderSnapshot {
    const before = this.orders.get(number);
    let after: OrderSnapshot;
    if (isOrderPlaced(event)) after = placedOrder(event, '', at);
    else if (before !== undefined) after = orderAfter(before, event, at);
    else throw new Error(`order ${number} moved before it was accepted`);
    this.orders.set(number, after);
    return after;
  }
}
