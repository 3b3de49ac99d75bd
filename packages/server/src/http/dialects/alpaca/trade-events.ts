/** `/v2/events/trades`: the trade updates of an account as server-sent events, past ones first if they are asked for. */
import { type Event, Instant, isOrderEvent, type OrderEvent, type OrderSnapshot } from '@sandpit/core';
import { PastOrders, withRows } from '../../../engine/past-orders.js';
import type { DurableRecord } from '../../../engine/records.js';
import { Connection } from '../../stream/connection.js';
import { EventIds } from '../../stream/position.js';
import { isShown } from './order-shape.js';
import { invalid, tooMany } from './refusals.js';
import { type AlpacaCall, type AlpacaHandler, STREAMED } from './request.js';
import { toldUpdates, type ToldUpdate, type UpdatePlace, updatePlaceOf } from './trade-updates.js';

/** A stream whose data are updates only: it ends without an event of its own. */
class UpdateConnection extends Connection {
  override end(): void {
    this.finish();
  }
}

/** Part of the updates that a request asks for. */
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
const RETRY_AFTER_SECONDS = 10;
/** Missed events that are read at once. */
const AT_ONCE = 50;
/** Records kept for a reader that receives missed events; beyond that it reads them from history as well. */
const MOST_HELD = 500;

export const streamTradeEvents: AlpacaHandler = async (call) => {
  const wanted = await wantedOf(call);
  new TradeEvents(call, wanted).open();
  return STREAMED;
};

async function wantedOf({ query, request, simulation, portfolioId }: AlpacaCall): Promise<Wanted> {
  const ids = new EventIds(simulation.tags);
  const place = (name: string, text: string | undefined): UpdatePlace | undefined => {
    const found = text === undefined ? undefined : updatePlaceOf(ids, text);
    if (text !== undefined && (found === undefined || found.seq > simulation.published))
      throw invalid(`${name} is not the id of an event`);
    return found;
  };
  const lastId = request.headers['last-event-id'];
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
  const { items } = await (
    await simulation.past()
  ).list({
    simulationId: simulation.id,
    list: 'activities',
    owner: portfolioId,
    to: since,
    offset: 0,
    limit: 1,
  });
  const before = items[0];
  const after = before && { seq: before.seq, event: before.event, part: LAST_PART };
  return { after: after ?? BEGINNING, since, until, untilPlace };
}

class TradeEvents {
  readonly #call: AlpacaCall;
  readonly #wanted: Wanted;
  #connection: UpdateConnection | undefined;
  /** The last place that the reader has received or does not need. */
  #place: UpdatePlace;
  /** Records since the reader began to receive missed events; undefined when it has received them. */
  #held: DurableRecord[] | undefined;
  #heldAfter: number;

  constructor(call: AlpacaCall, wanted: Wanted) {
    this.#call = call;
    this.#wanted = wanted;
    this.#heldAfter = call.simulation.published;
    this.#place = wanted.after ?? { seq: this.#heldAfter, event: Infinity, part: LAST_PART };
    this.#held = wanted.after === undefined ? undefined : [];
  }

  open(): void {
    const { request, reply, simulation, principal, streams, keyPairs, pair } = this.#call;
    const end = (): void => this.#connection?.finish();
    const heartbeat = (): void => {
      this.#connection?.write(': heartbeat\n\n', () => '');
      this.#finishAtEnd();
    };
    const release = streams.hold({ simulation, principal, end, heartbeat });
    if (release === undefined) throw tooMany(RETRY_AFTER_SECONDS);
    const unsubscribe = simulation.subscribe((record) => this.#hear(record));
    const stopWatching = keyPairs.onRevocation(() => {
      if (!keyPairs.isGood(pair)) end();
    });
    const connection = new UpdateConnection(request, reply);
    this.#connection = connection;
    connection.onClose(() => {
      unsubscribe();
      stopWatching();
      release();
    });
    if (request.method === 'HEAD' || !keyPairs.isGood(pair)) return end();
    if (this.#held !== undefined) void this.#catchUp();
  }

  #hear(record: DurableRecord): void {
    if (this.#held === undefined) this.#tellRecord(record);
    else if (this.#held.length < MOST_HELD) this.#held.push(record);
    else {
      this.#held = [];
      this.#heldAfter = record.seq;
    }
  }

  async #catchUp(): Promise<void> {
    const { simulation, streams } = this.#call;
    let last: EventPlace | undefined = { seq: this.#place.seq, event: this.#place.event - 1 };
    try {
      while (this.#connection?.isOpen === true && last !== undefined) {
        const after: EventPlace = last;
        await simulation.history.reached(simulation.id, this.#heldAfter);
        last = await streams.inTurn(simulation, () => this.#tellMissed(after));
        await this.#connection.drained();
      }
    } catch {
      // The history cannot be read now. The client keeps its position and connects again.
      this.#connection?.finish();
    }
  }

  /** Sends the missed events after a place. Returns the last of them; undefined once the reader has them all. */
  async #tellMissed(after: EventPlace): Promise<EventPlace | undefined> {
    const { simulation } = this.#call;
    const { history, id } = simulation;
    const items = await history.streamEvents(id, after, AT_ONCE);
    const end = items.at(-1);
    if (end === undefined) {
      // Records may have been dropped since because there were too many: history must contain them first.
      if (history.position(id) < this.#heldAfter) return after;
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const record of held) this.#tellRecord(record);
      this.#finishAtEnd();
      return undefined;
    }
    const past = new PastOrders(simulation);
    for (const item of items) {
      const order = await past.after(item);
      await withRows(() => this.#tell(item, item.data as OrderEvent, order, Instant.ofMs(item.at), true));
    }
    return end;
  }

  #tellRecord({ seq, at, events, orders }: DurableRecord): void {
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
    const { portfolioId } = this.#call;
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
    this.#connection?.write(
      `id: ${update.event_id}\ndata: ${JSON.stringify(data)}\n\n`,
      () => update.event_id,
    );
  }

  /** Ends a stream whose last instant has passed, or whose last event has been passed over. */
  #finishAtEnd(): void {
    const { until, untilPlace } = this.#wanted;
    if (this.#held !== undefined) return;
    const isOver = until !== undefined && until < this.#call.simulation.now();
    if (isOver || untilPlace !== undefined) this.#connection?.finish();
  }
}
