import type { Decision } from '../../decision.js';
import { isShares } from '../../instruments/instrument.js';
import { tickFor } from '../../instruments/tick-size.js';
import { closingMarkOf, isUsable, markOf } from '../../market/quote.js';
import type { Quote } from '../../market/quote.js';
import type { Book } from '../../matching/book.js';
import { auctionAt, auctionClosed, auctionDayOf, cutoffOf, isForAuction } from '../../orders/auction.js';
import { remainingOf, sideOf } from '../../orders/order.js';
import type { Mutable, Order } from '../../orders/order.js';
import type { ProgressChanges } from '../../orders/order-event.js';
import type { OrderRequest } from '../../orders/order-request.js';
import { isKeptFromMarket } from '../../orders/script-pieces.js';
import type { Rejection } from '../../rejection.js';
import type { Price } from '../../values/price.js';
import { Instant } from '../../values/instant.js';
import { Price as Prices } from '../../values/price.js';
import { bookTrade, tradeFor } from './book-trade.js';
import { endOrder } from '../orders/end-order.js';
import { haltIn, isTrading } from '../market/halted.js';
import { canTrade } from './match-orders.js';
import { rereserve } from '../orders/rereserve.js';
import { setAsideChanges } from '../orders/reserve.js';
import { beginRun, meetAuction } from '../orders/run-script.js';
import { isBelowAuction } from './short-sales.js';

/** Volatility pauses, which do not stop the auction of the close. */
const PAUSES: ReadonlySet<string> = new Set(['LUDP', 'LUDS', 'M']);

/** Longest time that an order waits for the official close after the bell: a source reports it, or that there is none, within a minute. */
const CLOSE_WAIT_MS = 70_000;

/** The refusal of an order for an auction that accepts no orders now. */
export function auctionProblem(d: Decision, { timeInForce }: OrderRequest): Rejection | undefined {
  if (!isForAuction(timeInForce)) return undefined;
  const { calendar } = d.rules;
  if (calendar.id === 'always-open')
    return { code: 'INVALID', messages: [`timeInForce ${timeInForce} is only allowed with calendar XNYS`] };
  const closed = auctionClosed(calendar, timeInForce, d.at);
  if (closed === undefined) return undefined;
  const cutoff = calendar.format(closed.cutoff);
  return {
    code: 'AUCTION_CLOSED',
    message: `${timeInForce} orders are taken until ${cutoff}`,
    cutoff,
    opensAt: calendar.format(closed.opensAt),
  };
}

/** The refusal of a change or cancel of an order after its auction's cutoff; `verb` is the refused action. */
export function takenUpByAuction(
  d: Decision,
  { terms, progress }: Order,
  verb: 'canceled' | 'updated',
): Rejection | undefined {
  const { timeInForce, status } = progress;
  if (!isForAuction(timeInForce)) return undefined;
  const cutoff = cutoffOf(timeInForce, auctionDayOf(d.rules.calendar, terms.createdAt));
  if (d.at < cutoff) return undefined;
  const message = `An ${timeInForce} order cannot be ${verb} from ${d.rules.calendar.format(cutoff)} on`;
  return { code: 'ORDER_NOT_UPDATABLE', message: message.replace('An CLS', 'A CLS'), status };
}

/**
 * Sends an order to its auction: at the open it executes or waits for the first price of the session, before the close it becomes active
 * and waits for the bell. If the session ends without a price, the order ends.
 */
export function reachAuction(d: Decision, order: Order): void {
  const { terms, progress } = order;
  const day = auctionDayOf(d.rules.calendar, terms.createdAt);
  if (d.at >= day.regularClose) {
    endOrder(d, order, { transition: 'EXPIRED' });
    return;
  }
  if (d.at < day.regularOpen) {
    d.move(order, 'QUEUED', { releaseAt: day.regularOpen });
    return;
  }
  if (progress.timeInForce === 'CLS') {
    const scriptRun = isKeptFromMarket(terms) ? { scriptRun: beginRun(d, terms) } : {};
    startWorking(d, order, { expiresAt: day.regularClose, ...scriptRun });
    return;
  }
  const book = d.book(terms.symbol);
  if (open(d, order, book)) return;
  // Until its first price, or the end of the session.
  if (progress.releaseAt !== day.regularClose) d.move(order, 'QUEUED', { releaseAt: day.regularClose });
}

/** Release of an order that waits for its auction: the open, or the close for an order that waits for the first price of the session. */
export function releaseOfAuction(d: Decision, { terms }: Order): Instant {
  const { regularOpen, regularClose } = auctionDayOf(d.rules.calendar, terms.createdAt);
  return d.at < regularOpen ? regularOpen : regularClose;
}

/** The first price of a session is that of its opening auction. */
export function meetOpening(d: Decision, book: Book): void {
  if (book.onOpen.size === 0) return;
  const inTurn = [...book.onOpen].sort((a, b) => a.terms.number - b.terms.number);
  for (const order of inTurn) {
    if (d.isFull) return void d.unmatched.add(book.symbol);
    const day = auctionDayOf(d.rules.calendar, order.terms.createdAt);
    const isAtAuction = order.progress.marketAt !== undefined && order.progress.marketAt <= d.at;
    if (isAtAuction && d.at >= day.regularOpen && d.at < day.regularClose) open(d, order, book);
  }
}

/** Executes an order in the opening auction if there is a price. False if there is none yet. */
function open(d: Decision, order: Order, book: Book): boolean {
  const { quote } = book;
  const { regularOpen } = auctionDayOf(d.rules.calendar, order.terms.createdAt);
  if (quote === undefined || quote.at < regularOpen || !canTrade(d, quote) || !isTrading(d, book))
    return false;
  const price = openingPriceOf(quote);
  if (price === undefined) return false;
  // From now on the quote affects the decision: it belongs to the record.
  d.book(book.symbol);
  execute(d, order, book, price, 'OPENING_AUCTION');
  return true;
}

/** Absent until the official one is reported. */
const openingPriceOf = (quote: Quote): Price | undefined =>
  quote.open ?? (quote.openToCome === true ? undefined : markOf(quote));

/**
 * The bell: an order executes in the closing auction, or ends. If the source will still report the official close, it waits for that; at
 * the end of its wait it executes at the last known price.
 */
export function meetClosing(d: Decision, order: Order): void {
  const book = d.book(order.terms.symbol);
  const { quote } = book;
  const { regularOpen, regularClose } = auctionDayOf(d.rules.calendar, order.terms.createdAt);
  const waitsUntil = Instant.plusMs(regularClose, CLOSE_WAIT_MS);
  const isOver = order.progress.expiresAt === waitsUntil;
  const halt = haltIn(d, order.terms.symbol);
  // A halt after the bell does not stop the auction of the bell.
  const isHalted = !isOver && halt !== undefined && !PAUSES.has(halt.reason);
  const isOfSession = quote !== undefined && isUsable(quote) && quote.at >= regularOpen;
  const price = isOfSession && !isHalted ? closingMarkOf(quote) : undefined;
  if (price === undefined) endOrder(d, order, { transition: 'EXPIRED' });
  else if (quote?.closeToCome === true && !isOver && d.at < waitsUntil)
    d.move(order, 'AWAITING_CLOSE', { expiresAt: waitsUntil });
  else execute(d, order, book, price, 'CLOSING_AUCTION');
}

/** Executes the orders that wait for an official close, when it is reported after the bell. */
export function meetOfficialClose(d: Decision, book: Book): void {
  const price = book.quote?.close;
  if (book.onClose.size === 0 || price === undefined) return;
  const inTurn = [...book.onClose].sort((a, b) => a.terms.number - b.terms.number);
  for (const order of inTurn) {
    if (d.isFull) return void d.unmatched.add(book.symbol);
    if (!awaitsClose(d, order)) continue;
    // From now on the quote affects the decision: it belongs to the record.
    d.book(book.symbol);
    execute(d, order, book, price, 'CLOSING_AUCTION');
  }
}

/** True when the closing bell has rung and the order waits for the official close. */
function awaitsClose(d: Decision, { terms, progress }: Order): boolean {
  const { regularClose } = auctionDayOf(d.rules.calendar, terms.createdAt);
  return d.at >= regularClose && progress.expiresAt === Instant.plusMs(regularClose, CLOSE_WAIT_MS);
}

/** Time until which the marks of a close wait for its auction; undefined if no order waits for an official close. */
export function closingAuctionEndsAt(d: Decision): Instant | undefined {
  for (const { onClose } of d.state.books.values())
    for (const order of onClose) if (awaitsClose(d, order)) return order.progress.expiresAt;
  return undefined;
}

function execute(
  d: Decision,
  order: Order,
  book: Book,
  mark: Price,
  rule: 'OPENING_AUCTION' | 'CLOSING_AUCTION',
): void {
  const { terms } = order;
  const instrument = d.tradable(terms.symbol);
  if (!isShares(instrument)) throw new RangeError(`an auction in ${terms.symbol}`);
  const tick = tickFor(instrument, mark);
  // A mark below half a tick would round to zero.
  const price = Prices.ofUnits(Math.max(Math.floor((mark + tick / 2) / tick), 1) * tick);
  if (isKeptFromMarket(terms)) {
    if (order.progress.arrival === undefined && !startWorking(d, order, {})) return;
    if (!meetAuction(d, order, price)) return;
  }
  const { limitPrice } = order.progress;
  const isBeyond =
    limitPrice !== undefined &&
    (sideOf(terms.positionIntent) === 'BUY' ? price > limitPrice : price < limitPrice);
  if (isBeyond || isBelowAuction(d, book, order, price)) {
    endOrder(d, order, { transition: 'EXPIRED' });
    return;
  }
  if (order.progress.arrival === undefined && !startWorking(d, order, {})) return;
  const portfolio = d.portfolioOf(order);
  const fills = [{ price, quantity: remainingOf(order.progress), rule }];
  bookTrade(d, order, portfolio, tradeFor(d, order, portfolio, instrument, fills, book));
}

/** Updates an order's reservation and puts it to work. False if the order ended because its funds were insufficient. */
function startWorking(d: Decision, order: Order, changes: Mutable<ProgressChanges>): boolean {
  const canceling = order.progress.status === 'CANCELING';
  const setAside = canceling ? order.progress : rereserve(d, order);
  if (setAside === undefined) return false;
  d.move(order, canceling ? 'STARTED' : 'ACTIVATED', {
    ...changes,
    ...setAsideChanges(order.progress, setAside),
    arrival: d.state.counters.arrival + 1,
  });
  return true;
}

/** The bell of an order's auction, and its kind. */
export function auctionOf(
  d: Pick<Decision, 'rules'>,
  { terms, progress }: Pick<Order, 'terms' | 'progress'>,
): { readonly name: string; readonly at: ReturnType<typeof auctionAt> } | undefined {
  const { timeInForce } = progress;
  if (!isForAuction(timeInForce)) return undefined;
  const day = auctionDayOf(d.rules.calendar, terms.createdAt);
  return {
    name: timeInForce === 'OPG' ? 'opening auction' : 'closing auction',
    at: auctionAt(timeInForce, day),
  };
}
