import type { Calendar } from '../calendar/calendar.js';
import { cme } from '../calendar/cme.js';
import { marketHours } from '../calendar/hours.js';
import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import { hoursOf, tradingEndsAt } from './trading-hours.js';

/** Business days before notice or the last trade on which a physically delivered position is closed (D96). */
const DAYS_BEFORE = 2;

/**
 * Time at which the broker closes a position in a future, and from which none is opened (D96): a cash-settled one at its last trade; a
 * physically delivered one at the end of the session two business days before, a long by the earlier of first notice and last trade.
 */
export function closesOutAt(
  contract: FutureContract,
  side: 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'BUY_TO_CLOSE' | 'SELL_TO_CLOSE',
  calendar: Calendar,
): Instant {
  if (contract.settlement === 'CASH') return tradingEndsAt(contract, calendar);
  const { lastTradeDate, firstNoticeDate } = contract;
  const isLong = side === 'BUY_TO_OPEN' || side === 'SELL_TO_CLOSE';
  let date: TradingDate = lastTradeDate;
  if (isLong && firstNoticeDate !== undefined && firstNoticeDate < date) date = firstNoticeDate;
  for (let day = 0; day < DAYS_BEFORE; day++) date = cme.previousTradingDay(date);
  return marketHours(calendar, hoursOf(contract)).closeOn('REGULAR', date);
}
