import type { Decision } from '../../decision.js';
import type { Order } from '../../orders/order.js';
import { isForAuction } from '../../orders/auction.js';
import { addTimer } from '../../state.js';
import { Instant } from '../../values/instant.js';
import type { TradingDate } from '../../values/trading-date.js';
import { releaseOfAuction } from '../fills/auctions.js';
import { endExpired } from '../orders/end-order.js';
import { expiryOf } from '../orders/order-hours.js';
import { rescheduledCall } from '../margin/margin-calls.js';

/** Most moves that one record has. */
const MOVES_PER_RECORD = 500;

/** Schedules the next change of the calendar by an announcement. */
export function scheduleAnnouncement(d: Decision, after: Instant): void {
  const due = d.rules.calendar.changesAfter(after);
  if (due !== undefined) addTimer(d.state, due, 0, { kind: 'ANNOUNCEMENT' });
}

/**
 * Moves what is due in hours that an announcement has changed (D209): releases and expirations of orders, settlements, and due times of
 * margin calls. A bounded slice; the remainder is due at once.
 */
export function meetAnnouncement(d: Decision): void {
  const events = (): number => d.events.length;
  for (const portfolio of d.state.portfolios.values()) {
    const { portfolioId } = portfolio.terms;
    for (const date of [...portfolio.obligations.keys()].sort()) {
      const to = settlesOn(d, date);
      if (to !== date) d.emit({ type: 'ObligationMoved', portfolioId, date, to });
    }
    for (const call of portfolio.margin.calls) {
      const dueAt = rescheduledCall(d, call);
      if (dueAt !== call.dueAt) d.emit({ type: 'CallMoved', portfolioId, call: { ...call, dueAt } });
    }
    if (events() >= MOVES_PER_RECORD) return continueAtOnce(d);
  }
  for (const order of [...d.state.orders.values()]) {
    if (d.state.orders.has(order.terms.number)) reschedule(d, order);
    if (events() >= MOVES_PER_RECORD || d.isFull) return continueAtOnce(d);
  }
  scheduleAnnouncement(d, d.at);
}

const continueAtOnce = (d: Decision): void => void addTimer(d.state, d.at, 0, { kind: 'ANNOUNCEMENT' });

/** A settlement date, or the next one if the exchange is closed on it now. Cash of dividends is paid on any day until then. */
function settlesOn(d: Decision, date: TradingDate): TradingDate {
  const { calendar } = d.rules;
  const scheduled = calendar.asOf(Instant.plusMs(d.at, -1));
  const isClosed = scheduled.isTradingDay(date) && !calendar.isTradingDay(date);
  return isClosed ? calendar.plusSettlementDays(date, 1) : date;
}

function reschedule(d: Decision, order: Order): void {
  const { terms, progress } = order;
  const hours = d.hours(d.tradedBy(terms));
  if (progress.status === 'PENDING_MARKET_OPEN' && progress.releaseAt !== undefined) {
    const releaseAt = isForAuction(progress.timeInForce)
      ? releaseOfAuction(d, order)
      : hours.isOpen(terms.session, d.at)
        ? d.at
        : hours.nextOpen(terms.session, d.at);
    if (releaseAt !== progress.releaseAt) d.move(order, 'RESCHEDULED', { releaseAt });
    return;
  }
  if (progress.expiresAt === undefined || progress.expiresAt <= d.at || isForAuction(progress.timeInForce))
    return;
  const expiresAt = expiryOf(d, hours, terms, progress, d.at);
  if (expiresAt === undefined || expiresAt === progress.expiresAt) return;
  if (expiresAt <= d.at) endExpired(d, order);
  else d.move(order, 'RESCHEDULED', { expiresAt });
}
