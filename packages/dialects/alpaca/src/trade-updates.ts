/** `/stream`: what happens to the orders of an account, as it becomes durable. */
import {
  type Event,
  type Ids,
  isOrderEvent,
  type Instant,
  type OrderEvent,
  type OrderLeg,
  type OrderSnapshot,
  Price,
  Quantity,
} from '@sandpit/core';
import {
  type Book,
  type Credential,
  heldIn,
  type Events,
  type HappenedRecord,
  type SocketEnd,
  type SocketLogin,
  uuidOf,
  type Visit,
} from '@sandpit/dialect-port';
import { AlpacaStore } from './alpaca-store.js';
import { iso } from './decimals.js';
import { showingOf } from './find-orders.js';
import { netOf } from './multi-leg.js';
import type { AlpacaCall } from './request.js';
import { alpacaOrder, isShown, replacedOrder, replacementsOf } from './order-shape.js';

const STREAM = 'trade_updates';

/** An event of a stream, without its context. */
interface Update {
  readonly event: string;
  readonly order: object;
  readonly [figure: string]: unknown;
}

/** One connection: it signs in, subscribes, and receives messages. */
export class TradeUpdates {
  readonly #visit: Visit;
  readonly #login: SocketLogin;
  #unsubscribe: (() => void) | undefined;

  constructor(visit: Visit) {
    this.#visit = visit;
    this.#login = visit.login((why) => this.#end(why));
    visit.onClose(() => this.#unsubscribe?.());
    visit.onMessage((bytes) => void this.#hear(Buffer.from(bytes).toString('utf8')));
  }

  async #hear(text: string): Promise<void> {
    const message = parsed(text);
    const { action, data } = message;
    if (action === 'authenticate' || action === 'auth') return this.#authenticate(message);
    if (this.#login.book === undefined) {
      this.#end('unauthorized');
      return;
    }
    if (action !== 'listen') {
      this.#fail(`invalid action`);
      return;
    }
    const streams = recordOf(data)['streams'];
    if (!Array.isArray(streams)) {
      this.#fail('streams must be a list');
      return;
    }
    this.#listen(streams.includes(STREAM));
  }

  async #authenticate(message: Readonly<Record<string, unknown>>): Promise<void> {
    const { key_id, secret_key } = recordOf(message['data']);
    const isIn = await this.#login.attempt(pairOf(key_id ?? message['key'], secret_key ?? message['secret']));
    if (isIn === undefined) this.#fail('already authenticated');
    else if (isIn) {
      this.#send('authorization', { action: 'authenticate', status: 'authorized' });
      this.#login.strike();
    }
  }

  #end(why: SocketEnd): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    // Clients treat `unauthorized` as final: temporary problems are shown by the closing code alone.
    if (why === 'too-many') this.#fail('connection limit exceeded');
    const mayPass = why === 'too-many' || why === 'unavailable';
    if (!mayPass) this.#send('authorization', { action: 'authenticate', status: 'unauthorized' });
    this.#visit.close(mayPass ? 1013 : 1008, why);
  }

  #listen(isWanted: boolean): void {
    this.#unsubscribe?.();
    this.#unsubscribe = isWanted
      ? this.#login.book?.events.subscribe((record) => this.#publish(record))
      : undefined;
    this.#send('listening', { streams: isWanted ? [STREAM] : [] });
  }

  #publish({ seq, at, events, orders }: HappenedRecord): void {
    const { book } = this.#login;
    if (book === undefined) return;
    events.forEach((event, index) => {
      const order = orders[index];
      if (order?.terms.portfolioId !== book.portfolioId || !isOrderEvent(event) || !isShown(order)) return;
      const of = { book, kept: new AlpacaStore(book) };
      for (const data of toldUpdates(of, { seq, event: index }, event, order, at))
        this.#visit.tellEvents([data], (passed) => passed.map((one) => textOf(STREAM, one)));
    });
  }

  #fail(error_message: string): void {
    this.#visit.tell(JSON.stringify({ action: 'error', stream: STREAM, data: { error_message } }));
  }

  #send(stream: string, data: object): void {
    this.#visit.tell(textOf(stream, data));
  }
}

/** The key pair of a login. */
export const pairOf = (keyId: unknown, secret: unknown): Credential | undefined =>
  typeof keyId === 'string' && typeof secret === 'string' ? { kind: 'KEY_PAIR', keyId, secret } : undefined;

const textOf = (stream: string, data: object): string => JSON.stringify({ stream, data });

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Data from which orders are shown. */
type ShownIn = Pick<AlpacaCall, 'book' | 'kept'>;

/** An update with its ids and its time. */
export interface ToldUpdate extends Update {
  readonly event_id: string;
}

/** Place of an update: its record, its event in it, and which of the updates of that event it is. */
export interface UpdatePlace {
  readonly seq: number;
  readonly event: number;
  readonly part: number;
}

/** Ids of updates. Those of a fork's own records have its tag, so that the ids of another fork are unknown to it. */
const updateId = (events: Events, { seq, event, part }: UpdatePlace): string =>
  `${events.idOf({ seq, place: event })}.${part}`;

export function updatePlaceOf(events: Events, id: string): UpdatePlace | undefined {
  const [, event = '', part = ''] = /^(.{1,80})\.(\d{1,6})$/.exec(id) ?? [];
  const position = events.placeOf(event);
  return position && { seq: position.seq, event: position.place, part: Number(part) };
}

/** The updates of an event of an order. `order` is the order after the event. */
export function toldUpdates(
  of: ShownIn,
  { seq, event: index }: Pick<UpdatePlace, 'seq' | 'event'>,
  event: OrderEvent,
  order: OrderSnapshot,
  at: Instant,
): readonly ToldUpdate[] {
  const { events, simulationId } = of.book;
  return updatesOf(of, event, order, at).map((update, part) => {
    const event_id = updateId(events, { seq, event: index, part });
    // Executions have their own ids; the id of any other update follows from its position.
    const execution_id = uuidOf(`update ${simulationId} ${event_id}`);
    return { execution_id, ...update, timestamp: iso(at), event_id };
  });
}

/** Updates that streams send for an event of an order, in turn: none, one or more. `order` is the order after the event. */
function updatesOf(of: ShownIn, event: OrderEvent, order: OrderSnapshot, at: Instant): readonly Update[] {
  const { book } = of;
  const showing = showingOf(of, book.orders.atHand);
  const { ids } = book;
  const shown = alpacaOrder(showing, order);
  const told = (name: string, of: object = shown): Update => ({ event: name, order: of });
  switch (event.type) {
    case 'OrderAccepted':
      return [told(shown.status === 'held' ? 'held' : 'pending_new')];
    case 'OrderRejected':
      return [told('rejected')];
    case 'OrderMoved': {
      if (event.transition !== 'REPLACED') {
        const name = EVENTS[event.transition];
        return name === undefined ? [] : [told(name)];
      }
      const former = replacedOrder(showing, order, replacementsOf(order) - 1, at);
      return [told('replaced', former), told('new')];
    }
    case 'OrderExecuted':
      if (order.terms.legs !== undefined) return [filledLegs(book, event, order, order.terms.legs, told)];
      return event.executions.map(({ number, price, quantity }) => ({
        ...told(order.progress.status === 'FILLED' ? 'fill' : 'partial_fill'),
        execution_id: executionId(ids, number),
        price: Price.format(price),
        qty: Quantity.format(quantity),
        position_qty: Quantity.format(heldIn(book, order.terms.symbol)),
      }));
  }
}

const executionId = (ids: Ids, number: number): string => ids.idOf('EXECUTION', number);

type Transition = Extract<Event, { type: 'OrderMoved' }>['transition'];

const EVENTS: Readonly<Partial<Record<Transition, string>>> = {
  QUEUED: 'accepted',
  ACTIVATED: 'new',
  STARTED: 'new',
  RESIZED: 'restated',
  ADJUSTED: 'restated',
  CANCELING: 'pending_cancel',
  CANCELED: 'canceled',
  EXPIRED: 'expired',
  REJECTED: 'rejected',
};

/** All legs of a fill are sent at once, with the net price. */
function filledLegs(
  book: Book,
  { executions }: Extract<OrderEvent, { type: 'OrderExecuted' }>,
  { progress }: OrderSnapshot,
  legs: readonly OrderLeg[],
  told: (name: string) => Update,
): Update {
  const { price, units } = netOf(legs, executions);
  const { ids } = book;
  return {
    ...told(progress.status === 'FILLED' ? 'fill' : 'partial_fill'),
    ...(executions[0] !== undefined && { execution_id: executionId(ids, executions[0].number) }),
    price: Price.format(price),
    qty: Quantity.format(units),
    legs: executions.map((execution) => {
      const symbol = legs[execution.leg ?? 0]?.optionSymbol ?? '';
      return {
        execution_id: executionId(ids, execution.number),
        symbol,
        price: Price.format(execution.price),
        qty: Quantity.format(execution.quantity),
        position_qty: Quantity.format(heldIn(book, symbol)),
      };
    }),
  };
}
