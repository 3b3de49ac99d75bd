/** Orders: placing, previewing, listing, replacing, canceling. */
import { leaderOf, type OrderSnapshot } from '@sandpit/core';
import {
  type Book,
  booksOf,
  cents,
  followersIn,
  followersOf,
  Refused,
  type Reply,
} from '@sandpit/dialect-port';
import { orderOf, type TranslatedOrder } from './order-body.js';
import { reasonText } from './order-rejections.js';
import {
  idOf,
  isOver,
  isShown,
  orderIdIn,
  pairShape,
  plainShape,
  type SchwabOrder,
  STATUSES,
  statusOf,
} from './order-shape.js';
import { invalid, refused } from './refusals.js';
import { accountOf, answering, bookOf, hashOf, reading, type SchwabCall, timeIn, wordIn } from './request.js';
import { empty } from './wire.js';

/** Clients read the id by a pattern over this host, whatever host they asked. */
const located = (book: Book, id: number): Readonly<Record<string, string>> => ({
  location: `https://api.schwabapi.com/trader/v1/accounts/${hashOf(book.portfolioId)}/orders/${id}`,
});

async function createdOrder(book: Book, body: TranslatedOrder['body']): Promise<number> {
  const { orderId } = await book.run('createOrder', { body: { ...body, recordRefusal: true } });
  return book.ids.numberOf('ORDER', orderId) ?? 0;
}

/** Places an order. A refusal by the brokerage leaves a rejected order (D276). */
export const placeOrder = reading([], async (call): Promise<Reply> => {
  const book = bookOf(call);
  const { body } = orderOf(book, call.head, call.body);
  return empty(201, located(book, await createdOrder(book, body)));
});

/** What the brokerage would do with an order. */
export const previewOrder = answering([], async (call) => {
  const book = bookOf(call);
  const { kind, body } = orderOf(book, call.head, call.body);
  const shown = await book.run('previewOrder', { body });
  const rejects = shown.rejections.map((one) => ({
    validationRuleName: (one as { readonly code?: string }).code ?? 'VALIDATION',
    message: (one as { readonly message?: string }).message ?? '',
    activityMessage: reasonText((one as { readonly code?: string }).code ?? 'VALIDATION'),
    originalSeverity: 'REJECT',
    overrideName: '',
    overrideSeverity: 'REJECT',
  }));
  const fees = cents(shown.fees.reduce((sum, { amount }) => sum + amount, 0));
  const cost = shown.estimatedCost ?? 0;
  const amount = (value: number) => ({
    commissionLegs: [{ commissionValues: [{ value, type: 'COMMISSION' }] }],
  });
  return {
    orderId: 0,
    orderStrategy: {
      accountNumber: accountOf(book),
      orderStrategyType: kind,
      orderBalance: {
        orderValue: cost,
        projectedAvailableFund: shown.cash.after,
        projectedBuyingPower: shown.buyingPower.after,
        projectedCommission: shown.commission,
      },
      status: shown.accepted ? 'ACCEPTED' : 'REJECTED',
      price: shown.estimatedPrice ?? 0,
      quantity: Number(body['quantity'] ?? 0),
      enteredTime: new Date(book.now()).toISOString(),
    },
    orderValidationResult: { alerts: [], accepts: [], rejects, reviews: [], warns: [] },
    commissionAndFee: {
      commission: amount(shown.commission),
      fee: { feeLegs: [{ feeValues: [{ value: fees, type: 'SEC_FEE' }] }] },
      trueCommission: amount(shown.commission),
    },
  };
});

const versionsOf = (book: Book, { terms, progress }: OrderSnapshot) =>
  progress.filledQuantity === 0 ? Promise.resolve([]) : book.orders.versions(terms.number);

const plainOf = async (book: Book, order: OrderSnapshot, orderId = idOf(order)): Promise<SchwabOrder> =>
  plainShape(order, { book, versions: await versionsOf(book, order), orderId });

/** An order with the orders that belong to it. */
async function wholeOf(book: Book, order: OrderSnapshot): Promise<SchwabOrder> {
  const followers = await followersIn(book, order);
  const shown = [];
  for (const one of followers) shown.push(await plainOf(book, one));
  if (order.terms.bracket?.part === 'OCO_LIMIT')
    return pairShape(idOf(order), [await plainOf(book, order, idOf(order, true)), ...shown]);
  const plain = await plainOf(book, order);
  if (order.terms.bracket?.part !== 'ENTRY') return plain;
  return {
    ...plain,
    orderStrategyType: 'TRIGGER',
    childOrderStrategies: shown.length === 2 ? [pairShape(idOf(order, true), shown)] : shown,
  };
}

/** An order before each of its replacements, oldest first. */
async function formerOf(book: Book, order: OrderSnapshot): Promise<readonly SchwabOrder[]> {
  if ((order.progress.replacements ?? 0) === 0) return [];
  const versions = await book.orders.versions(order.terms.number);
  return versions.flatMap(({ event, at, before }, i) =>
    event.type === 'OrderMoved' && event.transition === 'REPLACED' && before !== undefined
      ? plainShape(before, { book, versions: versions.slice(0, i), replacedAt: at })
      : [],
  );
}

interface NamedOrder {
  readonly book: Book;
  readonly order: OrderSnapshot;
  readonly isPart: boolean;
  /** The id before a replacement. */
  readonly isFormer: boolean;
  readonly version: number;
}

const notFound = (call: SchwabCall) => refused(call.head, 404, 'Order not found');

async function orderNamed(call: SchwabCall): Promise<NamedOrder> {
  const book = bookOf(call);
  const id = orderIdIn(call.params['id'] ?? '');
  if (id === undefined) throw refused(call.head, 400, 'The order id must be a number');
  const order = await book.orders.byNumber(id.number);
  const now = order?.progress.replacements ?? 0;
  if (order === undefined || !isShown(order) || id.version > now) throw notFound(call);
  const hasPart = order.terms.bracket?.part === 'OCO_LIMIT' || followersOf(order).length === 2;
  if (id.isPart && !hasPart) throw notFound(call);
  return { book, order, isPart: id.isPart, isFormer: id.version < now, version: id.version };
}

export const getOrder = answering([], async (call) => {
  const { book, order, isPart, isFormer, version } = await orderNamed(call);
  if (isFormer) {
    const former = (await formerOf(book, order))[version];
    if (former === undefined) throw notFound(call);
    return former;
  }
  const whole = await wholeOf(book, order);
  if (!isPart) return whole;
  const [part] = whole['childOrderStrategies'] as readonly SchwabOrder[];
  return part;
});

const MOST_RESULTS = 3000;
const MOST_DAYS = 60;
const DAY_MS = 86_400_000;
/** Clients compute the time before they send it. */
const TOLERANCE_MS = DAY_MS;
const LIST_FIELDS = ['fromEnteredTime', 'toEnteredTime', 'maxResults', 'status'];

/** Orders of accounts that were entered in a range of time, latest first. */
async function ordersIn(call: SchwabCall, books: readonly Book[]): Promise<readonly SchwabOrder[]> {
  const { fields, head, desk } = call;
  const from = timeIn(head, 'fromEnteredTime', fields.required('fromEnteredTime'));
  const to = timeIn(head, 'toEnteredTime', fields.required('toEnteredTime'), true);
  if (to < from) throw invalid(head, 'toEnteredTime', 'must not be before fromEnteredTime');
  if (from < desk.now() - MOST_DAYS * DAY_MS - TOLERANCE_MS)
    throw invalid(head, 'fromEnteredTime', `must be within ${MOST_DAYS} days of now`);
  const most = fields.integer('maxResults', 1, MOST_RESULTS) ?? MOST_RESULTS;
  const status = wordIn(call, 'status', STATUSES);
  const found: { readonly at: number; readonly shown: SchwabOrder }[] = [];
  for (const book of books) {
    let count = 0;
    for await (const order of book.orders.list({ from, to: to + 1 })) {
      if (!isShown(order) || leaderOf(order.terms.bracket) !== undefined) continue;
      const all = [await wholeOf(book, order), ...(await formerOf(book, order)).toReversed()];
      for (const shown of all)
        if (status === undefined || shown.status === status) {
          found.push({ at: order.terms.createdAt, shown });
          count += 1;
        }
      if (count >= most) break;
    }
  }
  // Orders of one account are in order already; the sort is stable.
  return found
    .sort((a, b) => b.at - a.at)
    .slice(0, most)
    .map(({ shown }) => shown);
}

export const listOrders = answering(LIST_FIELDS, (call) => ordersIn(call, [bookOf(call)]));
export const listAllOrders = answering(LIST_FIELDS, (call) => ordersIn(call, booksOf(call)));

const final = (call: SchwabCall, order: OrderSnapshot) =>
  refused(call.head, 400, `The order cannot be changed: its status is ${statusOf(order)}`);

/** Cancels an order, and what belongs to it. */
export const cancelOrder = reading([], async (call): Promise<Reply> => {
  const { book, order, isPart, isFormer } = await orderNamed(call);
  if (isFormer) throw refused(call.head, 400, 'The order cannot be changed: its status is REPLACED');
  const followers = await followersIn(book, order);
  const isPair = order.terms.bracket?.part === 'OCO_LIMIT';
  const meant = !isPart ? [order, ...followers] : isPair ? [order] : followers;
  const open = meant.filter((one) => !isOver(one));
  if (open.length === 0) throw final(call, order);
  // Exits end with an entry that is open.
  for (const one of isOver(order) || isPair || isPart ? open : [order])
    if (book.orders.isOpen(one.terms.number)) await cancelOne(call, book, one);
  return empty(200);
});

async function cancelOne(call: SchwabCall, book: Book, order: OrderSnapshot): Promise<void> {
  const { number } = order.terms;
  try {
    await book.run('cancelOrder', { params: { orderId: book.ids.idOf('ORDER', number) } });
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409) throw error;
    // It ended in between, or a cancel is under way.
    const now = (await book.orders.byNumber(number)) ?? order;
    if (isOver(now)) throw final(call, now);
  }
}

const CHANGEABLE = ['limitPrice', 'stopPrice', 'quantity', 'timeInForce', 'goodTillDate'];

/** The changes that make an order the wanted one; undefined if no change of `/v1` does. */
function changesTo(
  order: OrderSnapshot,
  { kind, body }: TranslatedOrder,
): TranslatedOrder['body'] | undefined {
  const { terms } = order;
  if (kind !== 'SINGLE' || followersOf(order).length > 0 || terms.trailingAmount !== undefined)
    return undefined;
  if (terms.trailingPercent !== undefined || body['notional'] !== undefined) return undefined;
  const isSame =
    body['symbol'] ===
      (terms.underlying !== undefined && terms.legs !== undefined ? terms.underlying : terms.symbol) &&
    body['assetClass'] === terms.assetClass &&
    body['orderType'] === terms.orderType &&
    body['positionIntent'] === terms.positionIntent &&
    (body['session'] ?? 'REGULAR') === terms.session;
  if (!isSame) return undefined;
  const legs = body['legs'] as readonly { optionSymbol: string; positionIntent: string; quantity: number }[];
  if (terms.legs !== undefined) {
    const now = terms.legs.map((leg) => [leg.optionSymbol, leg.positionIntent, leg.quantity / 1e6].join());
    const wanted = legs.map((leg) => [leg.optionSymbol, leg.positionIntent, leg.quantity].join());
    if (now.join(';') !== wanted.join(';')) return undefined;
  }
  return Object.fromEntries(Object.entries(body).filter(([name]) => CHANGEABLE.includes(name)));
}

/** Replaces an order: as a change where `/v1` has one, else by a new order after the cancel of the old one. */
export const replaceOrder = reading([], async (call): Promise<Reply> => {
  const { book, order, isPart, isFormer } = await orderNamed(call);
  if (isFormer || isOver(order)) throw final(call, order);
  if (isPart) throw refused(call.head, 400, 'This part of an order cannot be replaced by itself');
  const wanted = orderOf(book, call.head, call.body);
  const { number, bracket } = order.terms;
  const changes = changesTo(order, wanted);
  if (changes !== undefined) {
    await book.run('updateOrder', { params: { orderId: book.ids.idOf('ORDER', number) }, body: changes });
    return empty(201, located(book, idOf((await book.orders.byNumber(number)) ?? order)));
  }
  if (leaderOf(bracket) !== undefined)
    throw refused(call.head, 400, 'Only prices, quantity and duration of a child order can be replaced');
  if (order.progress.filledQuantity > 0)
    throw refused(call.head, 400, 'Only prices and duration of a partially filled order can be replaced');
  // A new order that is invalid in itself must not cost the old one.
  await book.run('previewOrder', { body: wanted.body });
  await cancelOne(call, book, order);
  const now = (await book.orders.byNumber(number)) ?? order;
  if (statusOf(now) !== 'CANCELED') throw final(call, now);
  return empty(201, located(book, await createdOrder(book, wanted.body)));
});
