/** Orders: placing, finding, replacing, canceling. */
import { leaderOf, type OrderSnapshot, type OrderTerms, Quantity } from '@sandpit/core';
import { type Book, heldIn, newId, Refused } from '@sandpit/dialect-port';
import { decimal } from './decimals.js';
import {
  findOrders,
  isClientIdUsed,
  orderByClientId,
  orderNamed,
  showingOf,
  shownOrder,
} from './find-orders.js';
import { assetIdOf } from './alpaca-store.js';
import { chosenIdIn, orderBodyOf, replacementOf } from './order-body.js';
import { checkReplacement, checkStops, checkWashTrade, tradeOf } from './order-checks.js';
import { named, nameOf } from './order-names.js';
import {
  type AlpacaOrder,
  alpacaOrder,
  assetClassOf,
  isOver,
  newOrderShape,
  replacementsOf,
} from './order-shape.js';
import { AlpacaAnswer, type AlpacaCall, type AlpacaHandler } from './request.js';
import { AlpacaRefusal, forbidden, invalid, refusalByDoor, translated, unprocessable } from './refusals.js';

/** Places an order. It is durable when this resolves. */
export async function placeOrder(call: AlpacaCall): Promise<AlpacaOrder> {
  const order = await orderBodyOf(call);
  await checkStops(call, order);
  if (!order.isComplex) checkWashTrade(call, await tradeOf(call, order));
  const { symbol, body, clientOrderId } = order;
  if (call.kept.replacementOf(clientOrderId) !== undefined && (await isClientIdUsed(call, clientOrderId)))
    throw invalid(NOT_UNIQUE);
  return placed(call, symbol, body, clientOrderId);
}

/** Places an order of `/v1`, shown as a new one. */
export async function placed(
  call: AlpacaCall,
  symbol: string,
  body: Readonly<Record<string, unknown>>,
  clientOrderId: string = newId(),
): Promise<AlpacaOrder> {
  try {
    const input = { body, checked: { clientOrderId } };
    const { orderId } = await call.book.run('createOrder', input);
    const order = await found(call, orderId);
    return await call.book.orders.show((exitOf) => newOrderShape(showingOf(call, exitOf), order));
  } catch (error) {
    throw error instanceof Refused ? refusedOrder(call, error, symbol, body) : error;
  }
}

/** The refusal of an order, with the position in its symbol when that is too small. */
function refusedOrder(
  { book, body: asked }: AlpacaCall,
  error: Refused,
  symbol: string,
  body: Readonly<Record<string, unknown>>,
): AlpacaRefusal {
  if (error.messages.some((message) => /^(limit|stop)Price must be a multiple of/.test(message))) {
    const name = error.messages.some((message) => message.startsWith('limit')) ? 'limit_price' : 'stop_price';
    const price = asked.text(name) ?? '';
    return unprocessable(
      `invalid ${name} ${price}. sub-penny increment does not fulfill minimum pricing criteria`,
    );
  }
  const refusal = translated(error, symbol);
  if (error.details.code !== 'INSUFFICIENT_POSITION') return refusal;
  if (body['positionIntent'] === 'SELL_TO_OPEN' && body['assetClass'] === 'OPTION') {
    const required = decimal(Number(error.details['requiredQuantity'] ?? 0));
    const available = decimal(Number(error.details['availableQuantity'] ?? 0));
    const instrument = book.instrument(symbol);
    return forbidden(
      `insufficient underlying qty available for covered call (required: ${required}, available: ${available})`,
      {
        available_qty: available,
        required_qty: required,
        symbol,
        ...(instrument?.assetClass === 'OPTION' && { underlying_asset_id: assetIdOf(instrument.underlying) }),
      },
    );
  }
  const existing = Quantity.format(heldIn(book, symbol));
  const available = Number(error.details['availableQuantity'] ?? 0);
  return forbidden(refusal.message, {
    available: decimal(available),
    existing_qty: existing,
    held_for_orders: decimal(Math.max(0, Math.abs(Number(existing)) - available)),
    related_orders: closingOrders(book, symbol).map((order) => idOf(book, order)),
    symbol,
  });
}

/** Open orders that close a position, oldest first. */
const closingOrders = (book: Book, symbol: string): readonly OrderSnapshot[] =>
  [...(book.portfolio()?.openOrders.oldestFirst() ?? [])].filter(
    ({ terms }) => symbolsOf(terms).includes(symbol) && terms.positionIntent.endsWith('_TO_CLOSE'),
  );

/** The present id of an order. */
const idOf = ({ ids }: Book, order: OrderSnapshot): string =>
  nameOf(ids, { number: order.terms.number, replacement: replacementsOf(order) });

async function found({ book }: AlpacaCall, orderId: string): Promise<OrderSnapshot> {
  const number = book.ids.numberOf('ORDER', orderId);
  const order = number === undefined ? undefined : await book.orders.byNumber(number);
  if (order === undefined) throw new Error(`The order ${orderId} is not there`);
  return order;
}

const symbolsOf = ({ symbol, legs }: OrderTerms): readonly string[] =>
  legs === undefined ? [symbol] : legs.map(({ optionSymbol }) => optionSymbol);

export const listOrders: AlpacaHandler = async (call) => {
  const { query } = call;
  const symbols = query.list('symbols')?.map((symbol) => symbol.toUpperCase());
  const side = query.choice('side', ['buy', 'sell']);
  const assetClass = query.list('asset_class');
  const isNested = query.flag('nested');
  const [beforeId, afterId] = [query.text('before_order_id'), query.text('after_order_id')];
  if (beforeId !== undefined && afterId !== undefined)
    throw invalid('only one of before_order_id or after_order_id is accepted');
  if ((beforeId ?? afterId) !== undefined && (query.has('after') || query.has('until')))
    throw invalid('before_order_id and after_order_id cannot be combined with after or until');
  return findOrders(call, {
    beforeId,
    afterId,
    status: query.choice('status', ['open', 'closed', 'all']) ?? 'open',
    after: query.instant('after'),
    until: query.instant('until'),
    limit: query.integer('limit', 1, 500) ?? 50,
    isAscending: query.choice('direction', ['asc', 'desc']) === 'asc',
    isAskedFor: (order, { terms }) =>
      (symbols === undefined ||
        symbols.length === 0 ||
        symbolsOf(terms).some((one) => symbols.includes(one))) &&
      (side === undefined || order.side === side) &&
      (assetClass === undefined || assetClass.includes(assetClassOf(terms))) &&
      // Nested under their entry order if requested.
      !(isNested && leaderOf(terms.bracket) !== undefined),
  });
};

export const getOrder: AlpacaHandler = (call) => shownOrder(call, call.params['id'] ?? '');

export const getOrderByClientId: AlpacaHandler = (call) => {
  const clientOrderId = call.query.text('client_order_id');
  if (clientOrderId === undefined) throw invalid('client_order_id is required');
  return orderByClientId(call, clientOrderId);
};

/** Throws if an order has ended or was replaced. */
async function openOrderId(call: AlpacaCall, doing: string): Promise<string> {
  const { order, name } = await orderNamed(call, call.params['id'] ?? '');
  if (name.leg !== undefined && name.leg > 0)
    throw unprocessable('a leg of an mleg order cannot be changed by itself');
  if (name.replacement < replacementsOf(order)) throw unprocessable('order is already in "replaced" state');
  if (isOver(order)) throw unprocessable(doing);
  return nameOf(call.book.ids, { number: name.number, replacement: 0 });
}

const CANNOT_REPLACE = 'unable to replace order in current state';
const NOT_UNIQUE = 'client_order_id must be unique';
const NOT_CHANGED = 'order parameters are not changed';

/** Replaces an order: the response is the new one, with a new id. A request without a difference is refused (D247). */
export const replaceOrder: AlpacaHandler = (call) => {
  const { number } = named(call.book.ids, call.params['id'] ?? '') ?? {};
  return oneAtATime(`${call.book.simulationId}/${String(number)}`, async () =>
    replace(call, await openOrderId(call, CANNOT_REPLACE)),
  );
};

async function replace(call: AlpacaCall, orderId: string): Promise<AlpacaOrder> {
  const asked = await found(call, orderId);
  const [body, before] = [replacementOf(call, asked), replacementsOf(asked)];
  await checkReplacement(call, asked, body);
  const shown = await call.book.orders.show((exitOf) => alpacaOrder(showingOf(call, exitOf), asked));
  const chosen = chosenIdIn(call.body);
  const isChosen = chosen !== undefined && chosen !== shown['client_order_id'];
  if (isChosen && (await isClientIdUsed(call, chosen))) throw invalid(NOT_UNIQUE);
  // Before the replacement, so that no answer and no stream shows another id; it means nothing until there is the replacement.
  const next = { number: asked.terms.number, replacement: before + 1 };
  await call.kept.deleteChosenId(next);
  if (isChosen) await call.kept.saveChosenId(next, chosen);
  try {
    await update(call, orderId, body);
    const order = await found(call, orderId);
    if (replacementsOf(order) === before) throw unprocessable(NOT_CHANGED);
    return await call.book.orders.show((exitOf) => alpacaOrder(showingOf(call, exitOf), order));
  } catch (error) {
    if (isChosen && replacementsOf(await found(call, orderId)) === before)
      await call.kept.deleteChosenId(next);
    throw error;
  }
}

async function update(
  call: AlpacaCall,
  orderId: string,
  body: Readonly<Record<string, unknown>>,
): Promise<void> {
  try {
    await call.book.run('updateOrder', { params: { orderId }, body });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.details.code === 'ORDER_NOT_UPDATABLE') throw unprocessable(CANNOT_REPLACE);
    throw error.status === 400 && Object.keys(body).length === 0
      ? unprocessable(NOT_CHANGED)
      : translated(error);
  }
}

/** The last replacement under way of each order. */
const replacing = new Map<string, Promise<unknown>>();

/** Work on the same thing, one after the other: the id that a client chose belongs to one replacement. */
async function oneAtATime<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = replacing.get(key);
  const done = before === undefined ? work() : before.then(work, work);
  replacing.set(key, done);
  try {
    return await done;
  } finally {
    if (replacing.get(key) === done) replacing.delete(key);
  }
}

export const cancelOrder: AlpacaHandler = async (call) => {
  await cancel(call, await openOrderId(call, 'order is not cancelable'));
  return new AlpacaAnswer(204);
};

async function cancel(call: AlpacaCall, orderId: string): Promise<void> {
  try {
    await call.book.run('cancelOrder', { params: { orderId } });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw error.details.code === 'ORDER_NOT_UPDATABLE'
      ? unprocessable('order is not cancelable')
      : translated(error);
  }
}

/** Cancels all that is open: what became of each. */
export async function cancelAll(
  call: AlpacaCall,
  isAskedFor: (order: OrderSnapshot) => boolean = () => true,
): Promise<readonly { readonly id: string; readonly status: number; readonly body?: object }[]> {
  const { book } = call;
  const open = (await book.orders.open()).filter(isAskedFor);
  const answers = [];
  for (const order of open) {
    const orderId = book.ids.idOf('ORDER', order.terms.number);
    const id = idOf(book, order);
    // An exit goes with its entry, one of a pair with the other.
    if (!book.orders.isOpen(order.terms.number)) answers.push({ id, status: 200 });
    else answers.push({ id, ...(await outcomeOf(call, () => cancel(call, orderId))) });
  }
  return answers;
}

/** Outcome of one request of several: its status, and the error's body when it was refused. */
export async function outcomeOf(
  { dialectCall }: Pick<AlpacaCall, 'dialectCall'>,
  attempt: () => Promise<unknown>,
): Promise<{ readonly status: number; readonly body?: object }> {
  try {
    const body = await attempt();
    return typeof body === 'object' && body !== null ? { status: 200, body } : { status: 200 };
  } catch (error) {
    const byDoor = error instanceof AlpacaRefusal ? undefined : dialectCall.refusalOf(error);
    if (byDoor === undefined && !(error instanceof AlpacaRefusal)) throw error;
    const { status, body } = byDoor === undefined ? (error as AlpacaRefusal) : refusalByDoor(byDoor);
    return { status, body };
  }
}

export const cancelAllOrders: AlpacaHandler = async (call) => new AlpacaAnswer(207, await cancelAll(call));
