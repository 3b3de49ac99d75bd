/** The orders of one connection: placing, holding, changing, canceling, and what happens to them. */
import { isOrderEvent, isTerminal, type OrderSnapshot } from '@sandpit/core';
import {
  type Attached,
  type Book,
  type HappenedRecord,
  type OrderBody,
  ordersOfDay,
  Refused,
} from '@sandpit/dialect-port';
import { valuesOf } from './account.js';
import type { Field, Fields } from './codec.js';
import { bagFields, conIdOf, contractFields, instrumentIn } from './contracts.js';
import {
  bodyOf,
  groupOf,
  isSet,
  netOf,
  pricesOf,
  readOrder,
  type SentOrder,
  sideOf,
  timeOf,
  typeOf,
  withExits,
} from './order-body.js';
import { nameOf, numberElsewhere, type WireId, wireIdOf } from './order-ids.js';
import {
  actionOf,
  completedFields,
  fillsOf,
  openOrderFields,
  type OrderView,
  parentIdOf,
  statusFields,
  statusOf,
  viewOf,
  wireTypeOf,
} from './order-out.js';
import { invalid, reasonText, refusalBehind, refusalOf, rejected, TwsRefusal } from './refusals.js';
import type { Room } from './rooms.js';
import { CODE, WARNINGS } from './tables.js';
import type { Wire } from './wire.js';

/** Real time for which the first order of an OCA group waits for the second. */
const PAIR_WITHIN_MS = 2000;
const MOST_HELD = 100;

interface WaitingExit {
  readonly sent: SentOrder;
  readonly body: OrderBody;
  readonly late: NodeJS.Timeout;
}

/** An order with its numbers on the wire. */
interface Shown {
  readonly order: OrderSnapshot;
  readonly id: WireId;
  readonly parentId: number;
}

export class OrderDesk {
  readonly #book: Book;
  readonly #wire: Wire;
  readonly #room: Room;
  readonly #clientId: number;
  readonly #account: string;
  /** Orders that are not transmitted yet. */
  readonly #held = new Map<number, SentOrder>();
  /** First orders of OCA groups. */
  readonly #waiting = new Map<string, WaitingExit>();
  /** Numbers of the client's own orders, by the ids that the client chose. */
  readonly #numbers = new Map<number, number>();
  /** Last message about an order, by its number. */
  readonly #told = new Map<number, string>();
  #events: Promise<void> = Promise.resolve();

  constructor(book: Book, wire: Wire, room: Room, clientId: number, account: string) {
    this.#book = book;
    this.#wire = wire;
    this.#room = room;
    this.#clientId = clientId;
    this.#account = account;
  }

  /** Learns the open orders of the client, and follows events from then on. */
  async start(): Promise<void> {
    const unsubscribe = this.#book.subscribe((record) => {
      this.#events = this.#events
        .then(() => this.#publish(record))
        .catch((error: unknown) => this.#wire.report(error));
    });
    this.#wire.onClose(() => {
      unsubscribe();
      for (const { late } of this.#waiting.values()) clearTimeout(late);
    });
    for (const { id, order } of await this.#shown(await this.#book.orders.open()))
      if (this.#isOwn(id)) this.#numbers.set(id.orderId, order.terms.number);
  }

  #isOwn({ clientId, orderId }: WireId): boolean {
    return clientId === this.#clientId && (orderId > 0 || clientId === 0);
  }

  #shown(orders: readonly OrderSnapshot[]): Promise<readonly Shown[]> {
    return this.#book.orders.show((attached: Attached) =>
      orders.map((order) => ({
        order,
        id: wireIdOf(order, attached),
        parentId: parentIdOf(order, attached),
      })),
    );
  }

  /** Handles PLACE_ORDER: a new order, a change of one, a preview, or an order that is held. */
  async place(fields: Fields): Promise<void> {
    const sent = readOrder(fields, this.#wire.version);
    await this.#answering([sent.orderId], () => this.#place(sent));
  }

  /** Refuses all orders of a request if it fails. */
  async #answering(orderIds: readonly number[], action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      const refusal = error instanceof Refused ? refusalOf(error) : refusalBehind(error);
      if (refusal === undefined) this.#wire.report(error);
      for (const orderId of orderIds) this.#refuse(orderId, refusal ?? rejected('Error processing request'));
    }
  }

  /** An error ends an order in the client's book; a warning does not, so a status follows. */
  #refuse(orderId: number, refusal: TwsRefusal): void {
    this.#wire.error(orderId, refusal);
    if (WARNINGS.has(refusal.code) && !this.#numbers.has(orderId)) this.#end(orderId);
  }

  /** Sends the end of an order that never existed. */
  #end(orderId: number): void {
    this.#wire.send('ORDER_STATUS', orderId, 'Cancelled', 0, 0, 0, 0, 0, 0, this.#clientId, '', 0);
  }

  async #place(sent: SentOrder): Promise<void> {
    const { orderId, fields } = sent;
    if (fields.account !== '' && fields.account !== this.#account)
      throw invalid(`unknown account ${fields.account.slice(0, 20)}`);
    if (isSet(fields.whatIf)) return this.#preview(sent);
    const known = await this.#numberOf(orderId);
    if (known !== undefined) return this.#change(known, sent);
    const body = await bodyOf(this.#book, sent);
    await this.#room.use(orderId);
    if (!isSet(fields.transmit)) {
      if (this.#held.size >= MOST_HELD)
        throw invalid(`at most ${MOST_HELD} orders can wait to be transmitted`);
      this.#held.set(orderId, sent);
      return;
    }
    this.#held.delete(orderId);
    const parentId = Number(fields.parentId);
    if (parentId > 0) return this.#placeFamily(parentId, [sent]);
    if ([...this.#held.values()].some((one) => Number(one.fields.parentId) === orderId))
      return this.#placeFamily(orderId, [], sent);
    if (fields.ocaGroup !== '') return this.#placeInGroup(sent, body);
    await this.#create(body, nameOf({ clientId: this.#clientId, orderId }), []);
  }

  /** The number of an order of this client, open or closed. */
  async #numberOf(orderId: number): Promise<number | undefined> {
    if (this.#clientId === 0 && orderId < 0) return numberElsewhere(orderId);
    return (
      this.#numbers.get(orderId) ?? this.#book.orders.numberOf(nameOf({ clientId: this.#clientId, orderId }))
    );
  }

  /** Places a parent that was held, with the orders attached to it. */
  async #placeFamily(parentId: number, last: readonly SentOrder[], given?: SentOrder): Promise<void> {
    const parent = given ?? this.#held.get(parentId);
    if (parent === undefined)
      throw new TwsRefusal(
        CODE.UNKNOWN_ORDER,
        `Can't find order with id =${parentId}: an order can be attached only before its parent is transmitted`,
      );
    const children = [
      ...[...this.#held.values()].filter(({ fields }) => Number(fields.parentId) === parentId),
      ...last,
    ];
    for (const { orderId } of [parent, ...children]) this.#held.delete(orderId);
    const ids = children.map(({ orderId }) => orderId);
    await this.#answering([parentId, ...ids], async () => {
      const exits = [];
      for (const sent of children) exits.push({ sent, body: await bodyOf(this.#book, sent) });
      const { body, target, stop } = withExits(await bodyOf(this.#book, parent), exits);
      await this.#create(body, nameOf({ clientId: this.#clientId, orderId: parentId }, target, stop), ids);
    });
  }

  /** Places two closing orders together; the first waits for the second. */
  async #placeInGroup(sent: SentOrder, body: OrderBody): Promise<void> {
    const name = sent.fields.ocaGroup;
    const first = this.#waiting.get(name);
    if (first === undefined) {
      if (!String(body['positionIntent']).endsWith('_TO_CLOSE'))
        throw invalid('orders of an OCA group must close a position');
      if (this.#waiting.size >= MOST_HELD) throw invalid(`at most ${MOST_HELD} OCA groups can wait`);
      const late = setTimeout(() => {
        this.#waiting.delete(name);
        this.#refuse(
          sent.orderId,
          invalid('an OCA group is one LMT and one STP or STP LMT order, sent together'),
        );
      }, PAIR_WITHIN_MS).unref();
      this.#waiting.set(name, { sent, body, late });
      return;
    }
    clearTimeout(first.late);
    this.#waiting.delete(name);
    await this.#answering([first.sent.orderId, sent.orderId], async () => {
      const { body: pair, limit, stop } = groupOf(first, { sent, body });
      await this.#create(
        pair,
        nameOf({ clientId: this.#clientId, orderId: limit.orderId }, 0, stop.orderId),
        [stop.orderId],
      );
    });
  }

  /** Places an order. One that is refused stays on record (D276), and its event tells the client. */
  async #create(body: OrderBody, clientOrderId: string, attached: readonly number[]): Promise<void> {
    const { status } = await this.#book.run('createOrder', {
      body: { ...body, clientOrderId, recordRefusal: true },
    });
    if (status !== 'REJECTED') return;
    for (const orderId of attached)
      this.#wire.error(orderId, rejected('The order that this one is attached to was rejected'));
  }

  async #change(number: number, sent: SentOrder): Promise<void> {
    const { fields, orderId, contract, unsupported } = sent;
    const order = await this.#book.orders.byNumber(number);
    if (order === undefined || isTerminal(order.progress.status))
      throw order?.progress.status === 'FILLED'
        ? new TwsRefusal(CODE.FILLED_ORDER, 'Cannot modify a filled order.')
        : new TwsRefusal(CODE.DUPLICATE_ORDER, 'Duplicate order id');
    try {
      const isOther =
        contract.secType !== 'BAG' &&
        (await instrumentIn(this.#book, contract)).symbol !== order.terms.symbol;
      if (
        isOther ||
        typeOf(fields) !== wireTypeOf(order) ||
        (contract.secType !== 'BAG' && sideOf(fields) !== actionOf(order))
      )
        throw invalid('Order being modified does not match original order');
      if (unsupported !== undefined) throw invalid(`${unsupported} is not supported`);
      const body = changesOf(order, fields);
      await this.#book.run('updateOrder', {
        params: { orderId: this.#book.ids.idOf('ORDER', number) },
        body,
      });
    } catch (error) {
      const refusal = error instanceof Refused ? refusalOf(error) : refusalBehind(error);
      if (refusal === undefined) throw error;
      // Any other code would end the order in the client's book.
      const code = WARNINGS.has(refusal.code) ? refusal.code : CODE.UNCHANGEABLE;
      this.#wire.error(orderId, new TwsRefusal(code, refusal.message));
    }
    this.#told.delete(number);
    const now = await this.#book.orders.byNumber(number);
    for (const shown of await this.#shown(now === undefined ? [] : [now])) this.#tell(shown);
  }

  async cancel(orderId: number): Promise<void> {
    const waiting = [...this.#waiting].find(([, { sent }]) => sent.orderId === orderId);
    if (this.#held.delete(orderId) || waiting !== undefined) {
      clearTimeout(waiting?.[1].late);
      if (waiting !== undefined) this.#waiting.delete(waiting[0]);
      this.#wire.error(orderId, canceled());
      this.#end(orderId);
      return;
    }
    const number = await this.#numberOf(orderId);
    const order = number === undefined ? undefined : await this.#book.orders.byNumber(number);
    if (order !== undefined) return this.#cancel(order, orderId);
    const text = `OrderId ${orderId} that needs to be canceled is not found.`;
    this.#wire.error(orderId, new TwsRefusal(CODE.CANCEL_UNKNOWN, text));
  }

  async #cancel(order: OrderSnapshot, orderId: number): Promise<void> {
    const { number } = order.terms;
    try {
      if (!isTerminal(order.progress.status)) {
        await this.#book.run('cancelOrder', { params: { orderId: this.#book.ids.idOf('ORDER', number) } });
        return;
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.details.code !== 'ORDER_NOT_UPDATABLE') {
        this.#wire.error(orderId, refusalOf(error));
        return;
      }
    }
    const now = (await this.#book.orders.byNumber(number)) ?? order;
    const state = statusOf(now)?.name ?? 'PendingSubmit';
    const text = `OrderId ${orderId} that needs to be canceled cannot be canceled, state: ${state}.`;
    this.#wire.error(orderId, new TwsRefusal(CODE.CANCEL_STATE, text));
  }

  /** Cancels all orders of the portfolio, whichever client placed them. */
  async cancelAll(): Promise<void> {
    for (const orderId of [
      ...this.#held.keys(),
      ...[...this.#waiting.values()].map(({ sent }) => sent.orderId),
    ])
      await this.cancel(orderId);
    for (const { order, id } of await this.#shown(await this.#book.orders.open()))
      // An exit ends with its entry.
      if (this.#book.orders.isOpen(order.terms.number)) await this.#cancel(order, id.orderId);
  }

  /** Answers with open orders: the client's own, or those of all clients and from elsewhere. */
  async showOpen(isAll: boolean): Promise<void> {
    for (const shown of await this.#shown(await this.#book.orders.open())) {
      if (!isAll && !this.#isOwn(shown.id)) continue;
      this.#told.delete(shown.order.terms.number);
      this.#tell(shown);
    }
    this.#wire.send('OPEN_ORDER_END');
  }

  async showCompleted(isApiOnly: boolean): Promise<void> {
    const closed = (await ordersOfDay(this.#book)).filter(({ progress }) => isTerminal(progress.status));
    for (const { order, id, parentId } of await this.#shown(closed)) {
      const view = viewOf(this.#book, order, { id, parentId, account: this.#account });
      if (view !== undefined && (!isApiOnly || id.orderId > 0))
        this.#wire.send('COMPLETED_ORDER', ...completedFields(this.#book, order, view, this.#wire.version));
    }
    this.#wire.send('COMPLETED_ORDERS_END');
  }

  /** Answers with the executions of the day. */
  async showExecutions(fields: Fields): Promise<void> {
    const reqId = fields.integer();
    const [clientId, account, time] = [fields.integer(), fields.text(), fields.text()];
    const [symbol, , , side] = [
      fields.text().toUpperCase(),
      fields.text(),
      fields.text(),
      fields.text().toUpperCase(),
    ];
    const book = this.#book;
    const since = time.replace(/^(\d{8})[ -]+/, '$1 ').slice(0, 17);
    const midnight = book.calendar.instantOf(book.calendar.dateOf(book.now()), 0, 0);
    for (const { order, id } of await this.#shown(
      (await ordersOfDay(book)).filter(({ progress }) => progress.filledQuantity > 0),
    )) {
      if (clientId !== 0 && id.clientId !== clientId) continue;
      for (const version of await book.orders.versions(order.terms.number))
        for (const fill of fillsOf(book, {
          ...version,
          id,
          account: this.#account,
          version: this.#wire.version,
        })) {
          const isSide = side === '' || (side.startsWith('B') ? 'BOT' : 'SLD') === fill.side;
          const isLate = since === '' || String(fill.execution[13]).slice(0, 17) >= since;
          if (fill.at < midnight || !isSide || !isLate || (symbol !== '' && symbol !== fill.execution[2]))
            continue;
          this.#wire.send('EXECUTION', reqId, ...fill.execution);
          this.#wire.send('COMMISSION', ...fill.commission);
        }
    }
    if (account !== '' && account !== this.#account) this.#wire.error(reqId, invalid('unknown account'));
    this.#wire.send('EXECUTION_END', reqId);
  }

  async #publish({ events, orders, at }: HappenedRecord): Promise<void> {
    const own = events.flatMap((event, i) => {
      const order = orders[i];
      return order !== undefined && isOrderEvent(event) && order.terms.portfolioId === this.#book.portfolioId
        ? [{ event, order }]
        : [];
    });
    const shown = await this.#shown(own.map(({ order }) => order));
    shown.forEach((one, i) => {
      const event = own[i]?.event;
      if (event === undefined || !this.#isOwn(one.id)) return;
      const { order, id } = one;
      if (id.orderId > 0) this.#numbers.set(id.orderId, order.terms.number);
      const fills = fillsOf(this.#book, {
        event,
        at,
        order,
        id,
        account: this.#account,
        version: this.#wire.version,
      });
      for (const { execution } of fills) this.#wire.send('EXECUTION', -1, ...execution);
      this.#tell(one, fills.at(-1)?.price);
      for (const { commission } of fills) this.#wire.send('COMMISSION', ...commission);
      if (isTerminal(order.progress.status)) this.#told.delete(order.terms.number);
    });
  }

  /** Sends an order and its status, if either has changed. */
  #tell(shown: Shown, lastPrice = 0): void {
    const { order, id, parentId } = shown;
    const { progress, terms } = order;
    const status = statusOf(order);
    if (status === undefined) return;
    const view = viewOf(this.#book, order, { id, parentId, account: this.#account });
    const open = view && openOrderFields(view, this.#wire.version);
    const fields = statusFields(order, id, parentId, lastPrice);
    const text = JSON.stringify([open, fields]);
    const before = this.#told.get(terms.number);
    if (before === text) return;
    this.#told.set(terms.number, text);
    const { rejection, rejectReason, cancelReason } = progress;
    if (progress.status === 'REJECTED' || progress.status === 'ERROR') {
      const { code = 'ERROR' } = rejection ?? rejectReason ?? {};
      const message = rejection !== undefined && 'message' in rejection ? rejection.message : undefined;
      this.#wire.error(id.orderId, rejected(reasonText(code, message)));
    } else if (progress.status === 'CANCELED') {
      this.#wire.error(id.orderId, canceled(cancelReason === 'USER' ? '' : cancelReason));
    } else if (open !== undefined) this.#wire.send('OPEN_ORDER', ...open);
    this.#wire.send('ORDER_STATUS', ...fields);
    if (progress.status === 'PENDING_MARKET_OPEN' && before === undefined)
      this.#wire.error(
        id.orderId,
        new TwsRefusal(
          CODE.ORDER_MESSAGE,
          'Order Message:\nWarning: your order will not be placed at the exchange until the market opens.',
        ),
      );
  }

  /** Answers a preview with the requirements before and after an order. */
  async #preview(sent: SentOrder): Promise<void> {
    const { orderId, fields } = sent;
    const body = await bodyOf(this.#book, sent);
    const shown = await this.#book.run('previewOrder', { body });
    const [refusal] = shown.rejections as readonly {
      readonly code?: string;
      readonly message?: string | string[];
    }[];
    if (refusal !== undefined)
      throw rejected(
        reasonText(
          refusal.code ?? 'ERROR',
          [refusal.message ?? 'The order is not accepted'].flat().join(' '),
        ),
      );
    const fees = shown.fees.reduce((sum, { amount }) => sum + amount, 0);
    const commission = shown.commission + fees;
    const values = await valuesOf(this.#book);
    const equity = Number(values.find(({ key }) => key === 'EquityWithLoanValue')?.value ?? 0);
    const { initialMargin: initial, maintenanceMargin: maintenance } = shown;
    const figures = [
      ...[initial.before, maintenance.before, equity],
      ...[initial.after - initial.before, maintenance.after - maintenance.before, 0 - commission],
      ...[initial.after, maintenance.after, equity - commission],
    ];
    const view: OrderView = {
      head: [...(await this.#contractOf(sent, body)), ...headOfPreview(sent, this.#account)],
      id: { clientId: this.#clientId, orderId },
      permanentId: 0,
      parentId: 0,
      isExtended: isSet(fields.outsideRth),
      goodTill: fields.goodTillDate,
      trail: ['', ''],
      legs: previewLegs(body),
      status: 'PreSubmitted',
      commission: '',
      notional: '',
      margins: { figures, commission },
    };
    this.#wire.send('OPEN_ORDER', ...openOrderFields(view, this.#wire.version));
  }

  async #contractOf({ contract }: SentOrder, body: OrderBody): Promise<readonly Field[]> {
    if (contract.secType === 'BAG') return bagFields(String(body['symbol']));
    return contractFields(await instrumentIn(this.#book, contract));
  }
}

const canceled = (reason = ''): TwsRefusal =>
  new TwsRefusal(CODE.CANCELED, `Order Canceled - reason:${reason}`);

const headOfPreview = ({ fields }: SentOrder, account: string): readonly Field[] => [
  ...[sideOf(fields), fields.totalQuantity, typeOf(fields), fields.lmtPrice, fields.auxPrice],
  ...[fields.tif === '' ? 'DAY' : fields.tif, '', account, '', 0, fields.orderRef],
];

function previewLegs(body: OrderBody): readonly Field[] {
  const legs = (body['legs'] ?? []) as readonly {
    readonly optionSymbol: string;
    readonly positionIntent: string;
    readonly quantity: number;
  }[];
  return [
    legs.length,
    ...legs.flatMap(({ optionSymbol, positionIntent, quantity }) => [
      ...[conIdOf(optionSymbol), quantity, positionIntent.split('_')[0], 'SMART', 0, 0, '', -1],
    ]),
  ];
}

const UNITS = 1e8;

/** Fields of an update. A price that stays the same is no change. */
function changesOf(order: OrderSnapshot, fields: SentOrder['fields']): OrderBody {
  const { terms } = order;
  const { trailingAmount, trailingPercent, ...prices } = pricesOf(fields);
  const own = {
    trailingAmount: (order.progress.trailingAmount ?? terms.trailingAmount ?? 0) / UNITS,
    trailingPercent: (terms.trailingPercent ?? 0) / 10_000,
  };
  if ((trailingAmount ?? 0) !== own.trailingAmount || (trailingPercent ?? 0) !== own.trailingPercent)
    throw invalid('the distance of a trailing stop cannot be changed');
  const net = terms.legs === undefined ? undefined : netOf(fields);
  const time = timeOf(fields);
  return {
    ...prices,
    ...(net !== undefined && { limitPrice: net }),
    ...(terms.notional === undefined && { quantity: Number(fields.totalQuantity) }),
    ...(time['timeInForce'] !== order.progress.timeInForce && time),
    ...(time['goodTillDate'] !== undefined && time),
  };
}
