/** `/v2/events/trades`: the trade updates of an account as server-sent events, past ones first on request. */
import { type Event, type Instant, isOrderEvent, type OrderEvent, type OrderSnapshot } from '@sandpit/core';
import type { HappenedRecord, OpenStream } from '@sandpit/dialect-port';
import { isShown } from './order-shape.js';
import { invalid } from './refusals.js';
import { type AlpacaCall, type AlpacaHandler, OPENED } from './request.js';
import { toldUpdates, type ToldUpdate, type UpdatePlace, updatePlaceOf } from './trade-updates.js';

/** Requested part of the updates. */
interface Wanted {
  /** Updates after this place; undefined = only new ones. */
  readonly after: UpdatePlace | undefined;
  readonly since: Instant | undefined;
  readonly until: Instant | undefined;
  readonly untilPlace: UpdatePlace | undefined;
}

type EventPlace = Pick<UpdatePlace, 'seq' | 'event'>;

const comparePlaces = (a: UpdatePlace, b: UpdatePlace): number =>
  a.seq - b.seq || a.event - b.event || a.part - b.part;

const BEGINNING: UpdatePlace = { seq: 0, event: 0, part: 0 };
const LAST_PART = 1e6;
/** Missed events that are read at once. */
const AT_ONCE = 50;
/** Records kept for a reader that receives missed events; beyond that it reads them from history as well. */
const MOST_HELD = 500;

export const streamTradeEvents: AlpacaHandler = async (call) => {
  const wanted = await wantedOf(call);
  new TradeEvents(call, wanted).open();
  return OPENED;
};

async function wantedOf({ query, dialectCall, book }: AlpacaCall): Promise<Wanted> {
  const { events } = book;
  const place = (name: string, text: string | undefined): UpdatePlace | undefined => {
    const found = text === undefined ? undefined : updatePlaceOf(events, text);
    if (text !== undefined && (found === undefined || found.seq > events.published))
      throw invalid(`${name} is not the id of an event`);
    return found;
  };
  const lastId = dialectCall.head.headers['last-event-id'];
  const sinceId = place(
    'since_id',
    query.text('since_id') ?? (typeof lastId === 'string' ? lastId : undefined),
  );
  const untilPlace = place('until_id', query.text('until_id'));
  const [since, until] = [query.instant('since'), query.instant('until')];
  if (query.has('since') && query.has('since_id')) throw invalid('only one of since or since_id is accepted');
  if (until !== undefined && since === undefined) throw invalid('until requires since');
  if (untilPlace !== undefined && sinceId === undefined) throw invalid('until_id requires since_id');
  if (since === undefined) return { after: sinceId, since, until, untilPlace };
  const before = await events.lastBefore(since);
  const after = before && { seq: before.seq, event: before.event, part: LAST_PART };
  return { after: after ?? BEGINNING, since, until, untilPlace };
}

class TradeEvents {
  readonly #call: AlpacaCall;
  readonly #wanted: Wanted;
  #connection: OpenStream | undefined;
  /** The last place that the reader has received or does not need. */
  #place: UpdatePlace;
  /** Records since the reader began to receive missed events; undefined when it has received them. */
  #held: HappenedRecord[] | undefined;
  #heldAfter: number;

  constructor(call: AlpacaCall, wanted: Wanted) {
    this.#call = call;
    this.#wanted = wanted;
    this.#heldAfter = call.book.events.published;
    this.#place = wanted.after ?? { seq: this.#heldAfter, event: Infinity, part: LAST_PART };
    this.#held = wanted.after === undefined ? undefined : [];
  }

  open(): void {
    const { book, dialectCall } = this.#call;
    const connection = dialectCall.stream({
      heartbeat: () => ': heartbeat\n\n',
      onHeartbeat: () => this.#finishAtEnd(),
    });
    this.#connection = connection;
    connection.onClose(book.events.subscribe((record) => this.#hear(record)));
    if (!connection.isOpen) return;
    if (this.#held !== undefined) void this.#catchUp();
  }

  #hear(record: HappenedRecord): void {
    if (this.#held === undefined) this.#tellRecord(record);
    else if (this.#held.length < MOST_HELD) this.#held.push(record);
    else {
      this.#held = [];
      this.#heldAfter = record.seq;
    }
  }

  async #catchUp(): Promise<void> {
    const connection = this.#connection;
    let last: EventPlace | undefined = { seq: this.#place.seq, event: this.#place.event - 1 };
    try {
      while (connection?.isOpen === true && last !== undefined) {
        const after: EventPlace = last;
        last = await connection.inTurn(() => this.#tellMissed(after));
        await connection.drained();
      }
    } catch {
      // The history cannot be read now. The client keeps its position and connects again.
      connection?.finish();
    }
  }

  /** Sends the missed events after a place. Returns the last of them; undefined once the reader has them all. */
  async #tellMissed(after: EventPlace): Promise<EventPlace | undefined> {
    const { book } = this.#call;
    const { events, isWhole } = await book.events.missed(after, this.#heldAfter, AT_ONCE);
    const end = events.at(-1);
    if (end === undefined) {
      // Records may have been dropped since because there were too many: history must contain them first.
      if (!isWhole) return after;
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const record of held) this.#tellRecord(record);
      this.#finishAtEnd();
      return undefined;
    }
    for (const item of events) {
      const order = await item.order();
      await book.orders.show(() => this.#tell(item, item.data as OrderEvent, order, item.at, true));
    }
    return { seq: end.seq, event: end.event };
  }

  #tellRecord({ seq, at, events, orders }: HappenedRecord): void {
    events.forEach((event: Event, index) => {
      const order = orders[index];
      if (order !== undefined && isOrderEvent(event))
        this.#tell({ seq, event: index }, event, order, at, false);
    });
  }

  #tell(
    { seq, event: index }: EventPlace,
    event: OrderEvent,
    order: OrderSnapshot,
    at: Instant,
    isPast: boolean,
  ): void {
    const { portfolioId } = this.#call.book;
    if (order.terms.portfolioId !== portfolioId || !isShown(order)) return;
    const { since, until, untilPlace } = this.#wanted;
    for (const [part, update] of toldUpdates(this.#call, { seq, event: index }, event, order, at).entries()) {
      const here = { seq, event: index, part };
      if (comparePlaces(here, this.#place) <= 0 || (since !== undefined && at < since)) continue;
      const isBeyond = untilPlace !== undefined && comparePlaces(here, untilPlace) > 0;
      if (isBeyond || (until !== undefined && at > until)) return this.#connection?.finish();
      this.#place = here;
      this.#write(update, isPast);
    }
  }

  /** The position after a past fill is not known any more. */
  #write({ position_qty, ...update }: ToldUpdate, isPast: boolean): void {
    const data = {
      at: update['timestamp'],
      ...update,
      ...(!isPast && position_qty !== undefined && { position_qty }),
    };
    this.#connection?.write(`id: ${update.event_id}\ndata: ${JSON.stringify(data)}\n\n`, update.event_id);
  }

  /** Ends a stream whose last instant has passed, or whose last event has been passed over. */
  #finishAtEnd(): void {
    const { until, untilPlace } = this.#wanted;
    if (this.#held !== undefined) return;
    const isOver = until !== undefined && until < this.#call.book.now();
    if (isOver || untilPlace !== undefined) this.#connection?.finish();
  }
}
