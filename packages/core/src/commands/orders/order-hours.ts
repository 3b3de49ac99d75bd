import { isForShares, isShares } from '../../instruments/instrument.js';
import type { MarketHours } from '../../calendar/market-hours.js';
import type { Decision } from '../../decision.js';
import { closesOutAt } from '../../instruments/close-out.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import { isStop } from '../../orders/order.js';
import type {
  GoodTill,
  OrderProgress,
  OrderSession,
  OrderTerms,
  PositionIntent,
} from '../../orders/order.js';
import { Instant } from '../../values/instant.js';
import { TradingDate } from '../../values/trading-date.js';

/** Longest life of a GTC order, in calendar days (contract 4.2). */
const GTC_DAYS = 90;

/**
 * Expiration of an order that becomes active at `from` (D58): DAY at the close of its session; GTC at the close of the
 * 90th calendar day after its creation, GTD at the close of its date (or at its time, if earlier), on a day without a
 * session at the close of the one before. IOC and FOK never wait except for a stop's trigger: a day at most.
 */
export function expiryOf(
  d: Decision,
  hours: MarketHours,
  terms: Expiring,
  progress: Pick<OrderProgress, 'timeInForce' | 'goodTillDate'>,
  from: Instant,
): Instant | undefined {
  const expiry = ownExpiryOf(d, hours, terms, progress, from);
  if (isForShares(terms.assetClass)) return expiry;
  const ends = contractsEndAt(d, terms);
  return expiry === undefined ? undefined : Instant.min(expiry, ends);
}

/** The first instant at which one of an order's instruments stops trading, or is closed out (D96). */
export function contractsEndAt(d: Decision, { symbol, legs, positionIntent }: Trading): Instant {
  if (legs === undefined) return contractEndsAt(d, symbol, positionIntent);
  let first: number = Infinity;
  for (const { optionSymbol } of legs)
    first = Math.min(first, contractEndsAt(d, optionSymbol, positionIntent));
  return Instant.ofMs(first);
}

function contractEndsAt(d: Decision, symbol: string, intent: PositionIntent): Instant {
  const { calendar } = d.rules;
  const instrument = d.tradable(symbol);
  if (isShares(instrument)) return Instant.ofMs(Infinity);
  return instrument.assetClass === 'FUTURE'
    ? closesOutAt(instrument, intent, calendar)
    : tradingEndsAt(instrument, calendar);
}

type Trading = Pick<OrderTerms, 'symbol' | 'legs' | 'positionIntent'>;
type Expiring = Trading & Pick<OrderTerms, 'orderType' | 'session' | 'createdAt' | 'assetClass'>;

function ownExpiryOf(
  d: Decision,
  hours: MarketHours,
  terms: Expiring,
  progress: Pick<OrderProgress, 'timeInForce' | 'goodTillDate'>,
  from: Instant,
): Instant | undefined {
  switch (progress.timeInForce) {
    case 'IOC':
    case 'FOK':
      return isStop(terms.orderType) ? hours.nextClose('REGULAR', from) : undefined;
    case 'DAY':
      return hours.nextClose(terms.session, from);
    case 'OPG':
    case 'CLS':
      return hours.nextClose('REGULAR', from);
    case 'GTC': {
      const created = d.rules.calendar.dateOf(terms.createdAt);
      return hours.closeOn(terms.session, TradingDate.plusDays(created, GTC_DAYS));
    }
    case 'GTD': {
      if (progress.goodTillDate === undefined) throw new RangeError('GTD order without a date');
      return endOf(d, hours, progress.goodTillDate.until, terms.session);
    }
  }
}

/** Problems with the date of a GTD order: missing, past, or before the order could work. */
export function goodTillProblems(
  d: Decision,
  hours: MarketHours,
  session: OrderSession,
  goodTillDate: GoodTill | undefined,
): string[] {
  if (goodTillDate === undefined) return ['goodTillDate is required for GTD orders'];
  const { until } = goodTillDate;
  const past = typeof until === 'string' ? until < d.rules.calendar.dateOf(d.at) : until <= d.at;
  if (past) return ['goodTillDate must be in the future'];
  const works = hours.isOpen(session, d.at) ? d.at : hours.nextOpen(session, d.at);
  return endOf(d, hours, until, session) <= works ? ['goodTillDate must not be before the next session'] : [];
}

/** End of a good-till date: the close of that date, or that time if it comes first. */
function endOf(d: Decision, hours: MarketHours, till: TradingDate | Instant, session: OrderSession): Instant {
  if (typeof till === 'string') return hours.closeOn(session, till);
  return Instant.ofMs(Math.min(till, hours.closeOn(session, d.rules.calendar.dateOf(till))));
}
