import type { Decision } from '../decision.js';
import { isStop } from '../orders/order.js';
import type { GoodTill, OrderProgress, OrderSession, OrderTerms } from '../orders/order.js';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';

/** Calendar days a GTC order lives at most (contract 4.2). */
const GTC_DAYS = 90;

/** Whether orders of this session work at this moment. */
export function isOpenFor(d: Decision, session: OrderSession): boolean {
  const now = d.rules.calendar.sessionAt(d.at);
  return session === 'EXTENDED' ? now !== 'CLOSED' : now === 'REGULAR';
}

/** When orders of this session work next; strictly after now. */
export const nextOpenFor = (d: Decision, session: OrderSession): Instant =>
  session === 'EXTENDED' ? d.rules.calendar.nextExtendedOpen(d.at) : d.rules.calendar.nextRegularOpen(d.at);

/**
 * When an order that goes to work at `from` dies (D58): DAY at the close of its session; GTC at the close of the 90th
 * calendar day after it was created, GTD at the close of its date (or at its time, where that is earlier), on a day
 * without a session at the close of the one before. IOC and FOK never wait, but for a stop's trigger: a day at most.
 */
export function expiryOf(
  d: Decision,
  terms: Pick<OrderTerms, 'orderType' | 'session' | 'createdAt'>,
  progress: Pick<OrderProgress, 'timeInForce' | 'goodTillDate'>,
  from: Instant,
): Instant | undefined {
  const { calendar } = d.rules;
  switch (progress.timeInForce) {
    case 'IOC':
    case 'FOK':
      return isStop(terms.orderType) ? calendar.nextRegularClose(from) : undefined;
    case 'DAY':
      return terms.session === 'EXTENDED'
        ? calendar.nextExtendedClose(from)
        : calendar.nextRegularClose(from);
    case 'GTC':
      return closeOn(d, TradingDate.plusDays(calendar.dateOf(terms.createdAt), GTC_DAYS), terms.session);
    case 'GTD': {
      if (progress.goodTillDate === undefined) throw new RangeError('GTD order without a date');
      return endOf(d, progress.goodTillDate.until, terms.session);
    }
  }
}

/** What is wrong with the date of a GTD order: there is none, it is past, or over before the order could work. */
export function goodTillProblems(
  d: Decision,
  session: OrderSession,
  goodTillDate: GoodTill | undefined,
): string[] {
  if (goodTillDate === undefined) return ['goodTillDate is required for GTD orders'];
  const { until } = goodTillDate;
  const past = typeof until === 'string' ? until < d.rules.calendar.dateOf(d.at) : until <= d.at;
  if (past) return ['goodTillDate must be in the future'];
  const works = isOpenFor(d, session) ? d.at : nextOpenFor(d, session);
  return endOf(d, until, session) <= works ? ['goodTillDate must not be before the next session'] : [];
}

/** When an order that is good till then ends: at the close of that date, or at that time if it comes first. */
function endOf(d: Decision, till: TradingDate | Instant, session: OrderSession): Instant {
  if (typeof till === 'string') return closeOn(d, till, session);
  return Instant.ofMs(Math.min(till, closeOn(d, d.rules.calendar.dateOf(till), session)));
}

function closeOn(d: Decision, date: TradingDate, session: OrderSession): Instant {
  const { calendar } = d.rules;
  const day = calendar.tradingDay(date) ?? calendar.tradingDay(calendar.previousTradingDay(date));
  if (day === undefined) throw new RangeError(`no session on or before ${date}`);
  return session === 'EXTENDED' ? day.extendedClose : day.regularClose;
}
