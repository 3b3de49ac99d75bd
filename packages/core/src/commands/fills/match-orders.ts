import type { Decision } from '../../decision.js';
import { isBefore, readyQueue } from '../../matching/book.js';
import type { Book, Lane, QueueEntry } from '../../matching/book.js';
import { planFills } from '../../matching/plan-fills.js';
import { trail, triggerPrice } from '../../matching/trigger.js';
import { agesFrom, isUsable } from '../../market/quote.js';
import type { Quote } from '../../market/quote.js';
import type { OrdersRested } from '../../matching/orders-rested.js';
import { isStop, symbolsTraded } from '../../orders/order.js';
import type { Mutable, Order, OrderSession, Side } from '../../orders/order.js';
import { Instant } from '../../values/instant.js';
import { isTerminal } from '../../orders/status.js';
import type { Price } from '../../values/price.js';
import { bookTrade, tradeFor } from './book-trade.js';
import { endOrder, endRefused } from '../orders/end-order.js';
import { reserveAtFirstPrice } from './first-price.js';
import { haltIn, isTrading } from '../market/halted.js';
import { planFillsWorth } from '../orders/notional.js';
import { isOutsideBand } from '../market/price-limits.js';
import { followBid, isHeldAboveBid, offerAboveBid, offeredFills } from './short-sales.js';

/**
 * Matches the working orders of one instrument with its quote: trailing stops follow, stops trigger, orders fill by price,
 * then by tier, then by time, until nothing changes. Orders that the quote does not affect are not visited.
 */
export function matchBook(d: Decision, book: Book): void {
  reserveAtFirstPrice(d, book);
  const quote = book.quote;
  if (quote === undefined || book.workingOrders === 0 || !canTrade(d, quote)) return;
  if (!isTrading(d, book)) return;
  const lanes = lanesThatMeet(d, book, quote);
  if (book.offered.size > 0 && lanes.length > 0) followBid(d, book);
  if (!touchesAny(lanes, quote, book.isOption) && !leavesAny(lanes, quote)) return;
  // From now on the quote affects the decision: it belongs to the record.
  d.book(book.symbol);
  const triggeredOrders: Order[] = [];
  for (;;) {
    const triggered = runTriggers(d, lanes, quote, book.isOption, triggeredOrders);
    const bought = fillSide(d, book, lanes, 'BUY', quote);
    const sold = fillSide(d, book, lanes, 'SELL', quote);
    if (d.isFull || (!triggered && !bought && !sold)) break;
  }
  if (d.isFull) {
    d.unmatched.add(book.symbol);
    return;
  }
  for (const order of triggeredOrders) endImmediate(d, order);
  restTheUnmarketable(d, book, lanes, quote);
}

/** The lanes of open sessions that the quote belongs to: quotes from before a session match no orders (D128). */
function lanesThatMeet(d: Decision, book: Book, quote: Quote): readonly Lane[] {
  if (d.at >= book.sessionsUntil) tellSessions(d, book);
  const meets = (lane: Lane): boolean => lane.isOpen && quote.at >= lane.openedAt;
  for (const lane of book.lanes) if (!meets(lane)) return book.lanes.filter(meets);
  return book.lanes;
}

function tellSessions(d: Decision, book: Book): void {
  const hours = d.hours(d.tradable(book.symbol));
  for (const lane of book.lanes) book.setSession(lane, hours.openedAt(lane.session, d.at));
  const next = (session: OrderSession): number =>
    Math.min(hours.nextOpen(session, d.at), hours.nextClose(session, d.at));
  book.sessionsUntil = Instant.ofMs(Math.min(next('REGULAR'), next('EXTENDED')));
}

/** True when a quote may fill and trigger orders: usable, recent enough (D47), and not of a minute without trades (D251). */
export const canTrade = (d: Decision, quote: Quote): boolean =>
  quote.untraded !== true && isCurrent(d, quote);

function isCurrent(d: Decision, quote: Quote): boolean {
  const maxAge = d.rules.quoteMaxAgeMs;
  return isUsable(quote) && (maxAge === undefined || d.at - agesFrom(quote) <= maxAge);
}

/** Fast check that every quote passes through: true when it affects the first entry of any queue. */
function touchesAny(lanes: readonly Lane[], quote: Quote, isOption: boolean): boolean {
  const { bid, ask } = quote;
  const last = isOption ? undefined : quote.last;
  const buyTrigger = last ?? ask;
  const sellTrigger = last ?? bid;
  for (const lane of lanes) {
    if (ask !== undefined) {
      const buy = lane.buys.first();
      if (buy !== undefined && buy.price >= ask) return true;
    }
    if (bid !== undefined) {
      const sell = lane.sells.first();
      if (sell !== undefined && sell.price <= bid) return true;
    }
    if (buyTrigger !== undefined) {
      const stop = lane.buyStops.first();
      if (stop !== undefined && stop.price <= buyTrigger) return true;
      const trailing = lane.buyTrails.first();
      if (trailing !== undefined && trailing.price > buyTrigger) return true;
    }
    if (sellTrigger !== undefined) {
      const stop = lane.sellStops.first();
      if (stop !== undefined && stop.price >= sellTrigger) return true;
      const trailing = lane.sellTrails.first();
      if (trailing !== undefined && trailing.price < sellTrigger) return true;
    }
  }
  return false;
}

function runTriggers(
  d: Decision,
  lanes: readonly Lane[],
  quote: Quote,
  isOption: boolean,
  triggered: Order[],
): boolean {
  const before = triggered.length;
  for (const lane of lanes) {
    const up = triggerPrice(quote, 'SELL', isOption);
    if (up !== undefined) {
      while (follows(d, lane.sellTrails.first(), 'SELL', up));
      for (
        let place = lane.sellStops.first();
        place !== undefined && place.price >= up && !d.isFull;
        place = lane.sellStops.first()
      ) {
        d.move(place.order, 'TRIGGERED');
        triggered.push(place.order);
      }
    }
    const down = triggerPrice(quote, 'BUY', isOption);
    if (down !== undefined) {
      while (follows(d, lane.buyTrails.first(), 'BUY', down));
      for (
        let place = lane.buyStops.first();
        place !== undefined && place.price <= down && !d.isFull;
        place = lane.buyStops.first()
      ) {
        d.move(place.order, 'TRIGGERED');
        triggered.push(place.order);
      }
    }
  }
  return triggered.length > before;
}

/** Moves a trailing stop with the market; false if the first in the queue need not move, since then no other needs to. */
function follows(d: Decision, place: QueueEntry | undefined, side: Side, price: Price): boolean {
  if (place === undefined) return false;
  const moved = trail(place.order, d.tradable(place.order.terms.symbol), side, price);
  if (moved === undefined) return false;
  d.move(place.order, 'TRAILED', moved);
  return true;
}

/** The best order of this side that the touch reaches, over the lanes with remaining size. */
function bestOf(
  lanes: readonly Lane[],
  passedOver: ReadonlySet<Lane>,
  side: Side,
  touch: Price,
): { place: QueueEntry; lane: Lane } | undefined {
  let best: { place: QueueEntry; lane: Lane } | undefined;
  for (const lane of lanes) {
    if (passedOver.has(lane)) continue;
    const place = readyQueue(lane, side).first();
    if (place === undefined || (side === 'BUY' ? place.price < touch : place.price > touch)) continue;
    if (best === undefined || isBefore(place, best.place, side)) best = { place, lane };
  }
  return best;
}

const NONE: ReadonlySet<Lane> = new Set();

const takesDisplayedOnly = ({ model }: Lane): boolean => model === 'quote' || model === 'strict';

function fillSide(d: Decision, book: Book, lanes: readonly Lane[], side: Side, quote: Quote): boolean {
  const touch = side === 'BUY' ? quote.ask : quote.bid;
  if (touch === undefined) return false;
  let any = false;
  // Most quotes reach no orders on this side.
  if (bestOf(lanes, NONE, side, touch) === undefined) return false;
  const passedOver = new Set<Lane>();
  const setAside: { place: QueueEntry; lane: Lane }[] = [];
  for (;;) {
    const left = side === 'BUY' ? book.askLeft : book.bidLeft;
    if (d.isFull) break;
    if (left <= 0) for (const lane of lanes) if (takesDisplayedOnly(lane)) passedOver.add(lane);
    const best = bestOf(lanes, passedOver, side, touch);
    if (best === undefined) break;
    const { order } = best.place;
    const isHeld = isHeldAboveBid(d, book, order);
    if (isHeld && offerAboveBid(d, book, order)) continue;
    if (isHeld || isOutsideBand(d, book, priceAtBest(d, book, order, touch))) {
      // The order waits; later orders may still execute.
      readyQueue(best.lane, side).remove(best.place);
      setAside.push(best);
    } else if (fillOrder(d, book, order)) {
      any = true;
    } else if (!isTerminal(order.progress.status)) {
      if (order.progress.timeInForce === 'FOK') {
        // All or nothing, with too little size: later orders may still execute.
        readyQueue(best.lane, side).remove(best.place);
        setAside.push(best);
      } else {
        passedOver.add(best.lane);
      }
    }
  }
  for (const { place, lane } of setAside) readyQueue(lane, side).add(place);
  return any;
}

/** The price at which an order would execute first. */
function priceAtBest(d: Decision, book: Book, order: Order, touch: Price): Price {
  const { limitPrice, offer } = order.progress;
  if (offer !== undefined) return offer;
  if (limitPrice === undefined) return touch;
  return book.isResting(order, d.portfolioOf(order).terms.fillModel) ? limitPrice : touch;
}

/** Executes the part of an order that the quote can fill and the portfolio can afford. False if nothing executed. */
function fillOrder(d: Decision, book: Book, order: Order): boolean {
  const { terms, progress } = order;
  const portfolio = d.portfolioOf(order);
  const instrument = d.tradable(terms.symbol);
  const { fillModel } = portfolio.terms;
  const planned =
    progress.offer !== undefined
      ? offeredFills(order, fillModel, book)
      : terms.notional === undefined
        ? planFills(order, fillModel, book, instrument)
        : planFillsWorth(d, order, terms.notional, book);
  const fills = planned.filter(({ price }) => !isOutsideBand(d, book, price));
  if (fills.length === 0 || (progress.timeInForce === 'FOK' && fills.length < planned.length)) return false;
  const trade = tradeFor(d, order, portfolio, instrument, fills, book);
  if (progress.timeInForce === 'FOK' && trade.refusal !== undefined) {
    // All or nothing: the executions possible before the refusal are dropped.
    endRefused(d, order, trade.refusal);
    return false;
  }
  bookTrade(d, order, portfolio, trade);
  return trade.fills.length > 0;
}

/** True when the market has moved away from a limit order that is not yet marked as resting. */
function leavesAny(lanes: readonly Lane[], { bid, ask }: Quote): boolean {
  for (const lane of lanes) if (lane.isLeftBy(bid, ask)) return true;
  return false;
}

/** Marks orders as resting: when the market returns they fill at their limit, not at the touch (D47). */
function restTheUnmarketable(d: Decision, book: Book, lanes: readonly Lane[], quote: Quote): void {
  if (!leavesAny(lanes, quote)) return;
  const sessions: Mutable<OrdersRested['sessions']> = {};
  const { bid, ask } = quote;
  for (const lane of lanes) if (lane.isLeftBy(bid, ask)) sessions[lane.session] = lane.openedAt;
  d.emit({
    type: 'OrdersRested',
    symbol: book.symbol,
    sessions,
    ...(bid !== undefined && { bid }),
    ...(ask !== undefined && { ask }),
  });
}

/**
 * Cancels the remainder of an IOC or FOK order after its attempt. If it had none, the reason is a stale quote or
 * a trading halt.
 */
export function endImmediate(d: Decision, order: Order): void {
  const { status, timeInForce } = order.progress;
  if (isTerminal(status) || (isStop(order.terms.orderType) && order.progress.triggered !== true)) return;
  if (timeInForce !== 'IOC' && timeInForce !== 'FOK') return;
  // Matching is incomplete: the next decision continues it.
  if (symbolsTraded(order.terms).some((symbol) => d.unmatched.has(symbol))) return;
  const isStale = symbolsTraded(order.terms).some((symbol) => {
    const quote = d.quote(symbol);
    return quote !== undefined && !isCurrent(d, quote);
  });
  const unfilled = timeInForce === 'IOC' ? 'IOC_REMAINDER' : 'FOK_NOT_FILLABLE';
  const isHalted = symbolsTraded(order.terms).some((symbol) => haltIn(d, symbol) !== undefined);
  const cancelReason = isHalted ? 'TRADING_HALTED' : isStale ? 'STALE_MARKET_DATA' : unfilled;
  endOrder(d, order, { transition: 'CANCELED', cancelReason });
}
