/** Orders: placing and previewing, listing, changing, canceling. */
import { leaderOf, type OrderSnapshot, sideOf } from '@sandpit/core';
import {
  type Book,
  booksOf,
  cents,
  type Fill,
  fillsOf,
  followersIn,
  followersOf,
  numberIn,
  ordersOfDay,
  Refused,
  type Reply,
} from '@sandpit/dialect-port';
import { extendedOf, ORDER_FIELDS, orderOf } from './order-body.js';
import {
  isOver,
  isShown,
  plainShape,
  statusOf,
  statusOfAll,
  type TradierOrder,
  wholeShape,
} from './order-shape.js';
import { invalid, refusedOrder, TradierRefusal, unauthorizedAccount } from './refusals.js';
import { accountOf, answering, bookOf, reading, type TradierCall } from './request.js';
import { answer, iso, items, plainText } from './wire.js';

const PARTNER = 'sandpit';
const done = (id: number) => ({ id, status: 'ok', partner_id: PARTNER });

/** Places an order, or previews it. A refusal by the brokerage leaves a rejected order (D276). */
export const placeOrder = reading(ORDER_FIELDS, async (call): Promise<Reply> => {
  const book = bookOf(call);
  const { fields, head } = call;
  const { body, orderClass } = orderOf(book, fields);
  if (fields.flag('preview')) return preview(call, book, body, orderClass);
  const { orderId, status, rejection } = await book.run('createOrder', {
    body: { ...body, recordRefusal: true },
  });
  const code = (rejection as { readonly code?: string } | undefined)?.code;
  const isBuy = String(body['positionIntent']).startsWith('BUY');
  if (status === 'REJECTED') return refusedOrder(head, code ?? status, isBuy);
  return answer(head, 'order', done(book.ids.numberOf('ORDER', orderId) ?? 0));
});

async function preview(
  { fields, head }: TradierCall,
  book: Book,
  body: Readonly<Record<string, unknown>>,
  orderClass: string,
): Promise<Reply> {
  const shown = await book.run('previewOrder', { body });
  const [refusal] = shown.rejections;
  const isBuy = String(body['positionIntent']).startsWith('BUY');
  if (refusal !== undefined) {
    const { code } = refusal as { readonly code?: string };
    return refusedOrder(head, code ?? 'UnknownReason', isBuy);
  }
  const fees = shown.fees.reduce((sum, { amount }) => sum + amount, 0);
  const orderCost = shown.estimatedCost ?? 0;
  return answer(head, 'order', {
    status: 'ok',
    commission: shown.commission,
    cost: cents(orderCost + shown.commission + fees),
    fees: cents(fees),
    symbol: fields.text('symbol') ?? fields.text('symbol[0]'),
    quantity: fields.number('quantity') ?? fields.number('quantity[0]'),
    side: fields.text('side') ?? fields.text('side[0]'),
    type: fields.text('type') ?? fields.text('type[0]'),
    duration: fields.text('duration') ?? fields.text('duration[0]'),
    result: true,
    price: fields.number('price') ?? fields.number('price[0]'),
    order_cost: orderCost,
    margin_change: cents(shown.initialMargin.after - shown.initialMargin.before),
    request_date: iso(book.now()).slice(0, 23),
    extended_hours: body['session'] === 'EXTENDED',
    option_requirement: body['assetClass'] === 'OPTION' ? shown.reserves : 0,
    class: orderClass,
    strategy: orderClass === 'multileg' ? 'freeform' : String(body['assetClass']).toLowerCase(),
    day_trades: shown.dayTrade.countInWindow,
  });
}

const shownOfDay = async (book: Book): Promise<readonly OrderSnapshot[]> =>
  (await ordersOfDay(book)).filter(isShown);

/** Orders in Tradier's form: those that belong to another order are its legs. */
async function shownOrders(
  book: Book,
  all: readonly OrderSnapshot[],
  withTags: boolean,
): Promise<readonly TradierOrder[]> {
  const known = new Map(all.map((order) => [order.terms.number, order]));
  const fills = new Map<number, readonly Fill[]>();
  for (const order of all) {
    for (const number of followersOf(order)) {
      const follower = known.get(number) ?? (await book.orders.byNumber(number));
      if (follower === undefined) continue;
      known.set(number, follower);
      fills.set(number, await fillsOf(book, follower));
    }
    fills.set(order.terms.number, await fillsOf(book, order));
  }
  const leading = all.filter(({ terms }) => !known.has(leaderOf(terms.bracket) ?? 0));
  return leading.map((order) => wholeShape(book, order, (number) => known.get(number), fills, withTags));
}

const FILTERS = ['all', 'open', 'active', 'closed'] as const;
const ACTIVE: ReadonlySet<string> = new Set(['pending', 'open', 'partially_filled']);

export const listOrders = answering(['includeTags', 'filter', 'page', 'limit'], 'orders', async (call) => {
  const { fields } = call;
  const filter = fields.choice('filter', FILTERS) ?? 'all';
  const limit = fields.integer('limit', 1, 1000) ?? 1000;
  const page = fields.integer('page', 1, 1_000_000) ?? 1;
  const book = bookOf(call);
  const shown = (await shownOrders(book, await shownOfDay(book), fields.flag('includeTags'))).filter(
    ({ status }) => filter === 'all' || ACTIVE.has(status) === (filter !== 'closed'),
  );
  return items('order', shown.slice((page - 1) * limit, page * limit));
});

/** The orders of all accounts. */
export const listUserOrders = answering(['includeTags'], 'accounts', async (call) => {
  const accounts = [];
  for (const book of booksOf(call)) {
    const shown = await shownOrders(book, await shownOfDay(book), call.fields.flag('includeTags'));
    accounts.push({ account_number: accountOf(book), orders: items('order', shown) });
  }
  return items('account', accounts);
});

/** The order that a path names, and which of its legs. */
async function orderNamed(call: TradierCall, book: Book) {
  const { account = '', id = '' } = call.params;
  const name = numberIn(id);
  const order = name && (await book.orders.byNumber(name.number));
  if (order === undefined || !isShown(order)) throw unauthorizedAccount(account);
  return { order, leg: name?.leg ?? 0 };
}

export const getOrder = answering(['includeTags'], 'order', async (call) => {
  const book = bookOf(call);
  const { order, leg } = await orderNamed(call, book);
  const [whole] = await shownOrders(book, [order], call.fields.flag('includeTags'));
  const shown = leg === 0 ? whole : (whole?.['leg'] as readonly unknown[] | undefined)?.[leg - 1];
  if (shown !== undefined) return shown;
  // An exit, which is a leg of its entry otherwise.
  if (leg === 0) return plainShape(book, order, await fillsOf(book, order));
  throw unauthorizedAccount(call.params['account'] ?? '');
});

const finalized = (status: string): TradierRefusal =>
  new TradierRefusal(plainText(400, `order already in finalized state: ${status}`));

/** The orders that a request about one means: itself while it is open, then those that belong to it. */
async function openOrders(book: Book, order: OrderSnapshot, leg: number): Promise<readonly OrderSnapshot[]> {
  const followers = leg === 0 ? await followersIn(book, order) : [];
  if (!isOver(order)) return [order];
  const open = followers.filter((one) => !isOver(one));
  if (open.length > 0) return open;
  const isPair = order.terms.bracket?.part === 'OCO_LIMIT';
  throw finalized(
    leg === 0 && followers.length > 0 ? statusOfAll([order, ...followers], isPair) : statusOf(order),
  );
}

/** True for an order whose legs cannot be named by themselves. */
const isMultiLeg = ({ terms }: OrderSnapshot): boolean => terms.legs !== undefined;

export const cancelOrder = answering([], 'order', async (call) => {
  const book = bookOf(call);
  const { order, leg } = await orderNamed(call, book);
  if (leg > 0 && isMultiLeg(order)) throw invalid('id', 'names a leg, which cannot be canceled by itself');
  for (const one of await openOrders(book, order, leg)) {
    // The other half of a pair ends with the first.
    if (!book.orders.isOpen(one.terms.number)) continue;
    await changing(book, one, () =>
      book.run('cancelOrder', { params: { orderId: book.ids.idOf('ORDER', one.terms.number) } }),
    );
  }
  return done(Number(call.params['id']));
});

export const changeOrder = answering(
  ['type', 'duration', 'price', 'stop', 'order_id', 'id'],
  'order',
  async (call) => {
    const { fields } = call;
    const book = bookOf(call);
    const { order, leg } = await orderNamed(call, book);
    for (const name of ['order_id', 'id'])
      if ((fields.text(name) ?? call.params['id']) !== call.params['id'])
        throw invalid(name, 'must be the order of the path');
    if (leg > 0 && isMultiLeg(order)) throw invalid('id', 'names a leg, which cannot be changed by itself');
    const [open] = await openOrders(book, order, leg);
    if (open === undefined || open !== order) throw finalized(statusOf(order));
    const body = changesOf(book, order, call);
    if (Object.keys(body).length === 0) throw invalid('price', 'is required');
    const orderId = book.ids.idOf('ORDER', order.terms.number);
    await changing(book, order, () => book.run('updateOrder', { params: { orderId }, body }));
    return done(Number(call.params['id']));
  },
);

function changesOf(
  book: Book,
  order: OrderSnapshot,
  { fields }: TradierCall,
): Readonly<Record<string, unknown>> {
  const { type: present } = plainShape(book, order, []);
  const type = fields.text('type')?.toLowerCase();
  if (type !== undefined && type !== present) throw invalid('type', 'cannot be changed');
  const duration = fields.choice('duration', ['day', 'gtc', 'pre', 'post']);
  const isExtended = duration === 'pre' || duration === 'post';
  if (isExtended && order.terms.session !== 'EXTENDED')
    throw invalid('duration', 'cannot be changed to extended hours');
  if (isExtended) extendedOf(book, duration, String(present));
  const limit = fields.number('price');
  const stop = fields.number('stop');
  const isCredit = order.terms.legs !== undefined && sideOf(order.terms.positionIntent) === 'SELL';
  return {
    ...(limit !== undefined && { limitPrice: isCredit ? -limit : limit }),
    ...(stop !== undefined && { stopPrice: stop }),
    ...(duration !== undefined && { timeInForce: duration === 'gtc' ? 'GTC' : 'DAY' }),
  };
}

/** Carries a change out. An order that ended in between is finalized. */
async function changing(book: Book, { terms }: OrderSnapshot, change: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!(error instanceof Refused) || error.details.code !== 'ORDER_NOT_UPDATABLE') throw error;
    const now = await book.orders.byNumber(terms.number);
    // A cancel is under way.
    if (now === undefined || !isOver(now)) return;
    throw finalized(statusOf(now));
  }
}
