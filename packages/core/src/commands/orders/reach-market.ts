import type { MarketHours } from '../../calendar/market-hours.js';
import type { Decision } from '../../decision.js';
import { isStop, sideOf } from '../../orders/order.js';
import type { Mutable, Order } from '../../orders/order.js';
import type { ProgressChanges } from '../../orders/order-event.js';
import type { Refusal } from '../../orders/refusal.js';
import type { Instant } from '../../values/instant.js';
import { isForAuction } from '../../orders/auction.js';
import { reachAuction } from '../fills/auctions.js';
import { followLimit } from './bracket.js';
import { endExpired, endOrder } from './end-order.js';
import { isTrading } from '../market/halted.js';
import { canTrade, endImmediate, matchBook } from '../fills/match-orders.js';
import { matchMultiLegOrder } from '../fills/match-multi-leg-orders.js';
import { expiryOf } from './order-hours.js';
import { rereserve } from './rereserve.js';
import { setAsideChanges } from './reserve.js';
import { endByScript, meetScript, scriptAtMarket } from './run-script.js';

/**
 * Lets an order reach the market: at once, after its latency, or when its session opens. Its reservation is
 * updated (RESERVING), it becomes active (ACTIVE) and is matched with the current quote. While its session is closed it waits
 * (PENDING_MARKET_OPEN), if it may. An order with a pending cancel stays CANCELING.
 */
export function reachMarket(d: Decision, order: Order): void {
  const { terms } = order;
  if (endByScript(d, order)) return;
  if (isForAuction(order.progress.timeInForce)) {
    reachAuction(d, order);
    return;
  }
  const scriptRun = scriptAtMarket(d, order);
  const canceling = order.progress.status === 'CANCELING';
  const hours = d.hours(d.tradedBy(terms));
  const open = hours.isOpen(terms.session, d.at);
  const worksFrom = open ? d.at : hours.nextOpen(terms.session, d.at);
  const expiresAt = expiryOf(d, hours, terms, order.progress, worksFrom);
  if (expiresAt !== undefined && expiresAt <= worksFrom) {
    endExpired(d, order);
    return;
  }
  if (!open) {
    queue(d, order, worksFrom);
    return;
  }
  const setAside = canceling ? order.progress : rereserve(d, order);
  if (setAside === undefined) return;

  const changes: Mutable<ProgressChanges> = { arrival: d.state.counters.arrival + 1 };
  Object.assign(changes, setAsideChanges(order.progress, setAside));
  if (expiresAt !== undefined) changes.expiresAt = expiresAt;
  const isPackage = terms.legs !== undefined;
  if (scriptRun !== undefined) changes.scriptRun = scriptRun;
  else if (!isPackage && findsMarketAway(d, order, hours)) changes.restingSince = d.at;
  d.move(order, canceling ? 'STARTED' : 'ACTIVATED', changes);
  followLimit(d, order);
  if (scriptRun !== undefined) return meetScript(d, order);
  if (isPackage) matchMultiLegOrder(d, order);
  else matchBook(d, d.book(terms.symbol));
  endImmediate(d, order);
}

/** Handles a session that ended while the order was on its way. The order waits for the next one, unless it or its broker does not wait. */
function queue(d: Decision, order: Order, releaseAt: Instant): void {
  const { timeInForce } = order.progress;
  if (timeInForce === 'IOC' || timeInForce === 'FOK') {
    const cancelReason = timeInForce === 'IOC' ? 'IOC_REMAINDER' : 'FOK_NOT_FILLABLE';
    endOrder(d, order, { transition: 'CANCELED', cancelReason });
    return;
  }
  if (!d.broker(d.portfolioOf(order)).queuesWhenClosed) {
    const rejectReason: Refusal = { code: 'MARKET_CLOSED', nextOpen: d.rules.calendar.format(releaseAt) };
    endOrder(d, order, { transition: 'REJECTED', rejectReason });
    return;
  }
  d.move(order, 'QUEUED', { releaseAt });
  followLimit(d, order);
}

/** True when a limit order arrives while the market is away from its limit: then it rests. */
function findsMarketAway(d: Decision, order: Order, hours: MarketHours): boolean {
  const { limitPrice } = order.progress;
  if (limitPrice === undefined || isStop(order.terms.orderType)) return false;
  const book = d.book(order.terms.symbol);
  const { quote } = book;
  const openedAt = hours.openedAt(order.terms.session, d.at);
  if (quote === undefined || !canTrade(d, quote) || openedAt === undefined || quote.at < openedAt)
    return false;
  if (!isTrading(d, book)) return false;
  return sideOf(order.terms.positionIntent) === 'BUY'
    ? quote.ask === undefined || quote.ask > limitPrice
    : quote.bid === undefined || quote.bid < limitPrice;
}
