import type { Decision } from '../decision.js';
import type { OrderTransition } from '../event.js';
import { trail, triggerPrice } from '../matching/trigger.js';
import { isOpening, isStop, isTrailing, progressWith, sideOf } from '../orders/order.js';
import type { Order, OrderProgress } from '../orders/order.js';
import { endOrder } from './end-order.js';
import { canTrade, endImmediate, matchBook } from './match-orders.js';
import type { Instant } from '../values/instant.js';
import { expiryOf, isOpenFor, nextOpenFor } from './order-hours.js';
import { freeToSpend, reservationFor, shortOfFunds } from './reserve.js';

/**
 * An order reaches the market: at once, after its latency, or when the session it waited for opens. Its reservation is brought
 * up to date (RESERVING), it goes to work (ACTIVE) and meets the quote it finds. While its session is closed it waits
 * (PENDING_MARKET_OPEN), if it may. One whose cancel is on its way keeps saying CANCELING.
 */
export function reachMarket(d: Decision, order: Order): void {
  const { terms } = order;
  const canceling = order.progress.status === 'CANCELING';
  const open = isOpenFor(d, terms.session);
  const worksFrom = open ? d.at : nextOpenFor(d, terms.session);
  const expiresAt = expiryOf(d, terms, order.progress, worksFrom);
  if (expiresAt !== undefined && expiresAt <= worksFrom) {
    endOrder(d, order, { status: 'CANCELED', cancelReason: 'EXPIRED', canceledAt: d.at });
    return;
  }
  if (!open) {
    queue(d, order, worksFrom);
    return;
  }
  if (!canceling && !reserve(d, order)) return;

  const active = progressWith(order.progress, {
    status: canceling ? 'CANCELING' : 'ACTIVE',
    marketAt: d.at,
    arrival: d.state.counters.arrival + 1,
    updatedAt: d.at,
  });
  if (expiresAt !== undefined) active.expiresAt = expiresAt;
  if (isTrailing(terms.orderType) && active.mark === undefined) Object.assign(active, startingMark(d, order));
  if (findsMarketAway(d, order)) active.resting = true;
  move(d, order, 'ACTIVATED', active);
  matchBook(d, d.book(terms.symbol));
  endImmediate(d, order);
}

/** The session ended while the order was on its way. It waits for the next one, unless it or its broker does not wait. */
function queue(d: Decision, order: Order, releaseAt: Instant): void {
  const { timeInForce, status } = order.progress;
  if (timeInForce === 'IOC' || timeInForce === 'FOK') {
    const cancelReason = timeInForce === 'IOC' ? 'IOC_REMAINDER' : 'FOK_NOT_FILLABLE';
    endOrder(d, order, { status: 'CANCELED', cancelReason, canceledAt: d.at });
    return;
  }
  const portfolio = d.state.portfolios.get(order.terms.portfolioId);
  if (portfolio !== undefined && !d.broker(portfolio).queuesWhenClosed) {
    endOrder(d, order, {
      status: 'REJECTED',
      rejectReason: { code: 'MARKET_CLOSED', message: 'Market is closed' },
    });
    return;
  }
  const waiting = status === 'CANCELING' ? status : 'PENDING_MARKET_OPEN';
  move(d, order, 'QUEUED', progressWith(order.progress, { status: waiting, releaseAt, updatedAt: d.at }));
}

/** RESERVING: what was set aside at acceptance is set right by today's quote. False where the funds are gone. */
function reserve(d: Decision, order: Order): boolean {
  const portfolio = d.state.portfolios.get(order.terms.portfolioId);
  if (portfolio === undefined) throw new RangeError('order without a portfolio');
  const before = order.progress.reserved;
  // An order that comes straight from its acceptance has just been checked.
  const waited = order.terms.createdAt !== d.at;
  const reserved =
    waited && isOpening(order.terms.positionIntent)
      ? reservationFor(d, portfolio, order.terms, order.progress)
      : before;
  if (reserved > before && reserved - before > freeToSpend(d, portfolio)) {
    move(d, order, 'RESERVING', { ...order.progress, status: 'RESERVING', updatedAt: d.at });
    endOrder(d, order, { status: 'REJECTED', rejectReason: shortOfFunds(portfolio) });
    return false;
  }
  move(d, order, 'RESERVING', { ...order.progress, status: 'RESERVING', reserved, updatedAt: d.at });
  return true;
}

/** A trailing stop starts with the last price at acceptance; where there was none, with the first it meets. */
function startingMark(d: Decision, order: Order): Pick<OrderProgress, 'mark' | 'stopPrice'> {
  if (!isTrailing(order.terms.orderType) || order.progress.mark !== undefined) return {};
  const quote = d.quote(order.terms.symbol);
  const side = sideOf(order.terms.positionIntent);
  const price = quote === undefined ? undefined : triggerPrice(quote, side);
  return price === undefined ? {} : (trail(order, side, price) ?? {});
}

/** Whether a limit order arrives while the market is away from its limit: then it rests there. */
function findsMarketAway(d: Decision, order: Order): boolean {
  const { limitPrice } = order.progress;
  if (limitPrice === undefined || isStop(order.terms.orderType)) return false;
  const quote = d.quote(order.terms.symbol);
  if (quote === undefined || !canTrade(d, quote)) return false;
  return sideOf(order.terms.positionIntent) === 'BUY'
    ? quote.ask === undefined || quote.ask > limitPrice
    : quote.bid === undefined || quote.bid < limitPrice;
}

function move(d: Decision, order: Order, transition: OrderTransition, progress: OrderProgress): void {
  const { orderId, tenantId, portfolioId } = order.terms;
  d.emit({ type: 'OrderMoved', orderId, tenantId, portfolioId, transition, progress });
}
