import type { Calendar, TradingDay } from '../calendar/calendar.js';
import { Instant } from '../values/instant.js';
import type { TimeInForce } from './order.js';

/** Orders for one auction: that of the open or that of the close (D180). */
export type AuctionKind = 'OPG' | 'CLS';

export const isForAuction = (timeInForce: TimeInForce): timeInForce is AuctionKind =>
  timeInForce === 'OPG' || timeInForce === 'CLS';

const MINUTE_MS = 60_000;
/** Time before the auction at which entries, changes and cancels of its orders end. */
const LEAD_MS: Readonly<Record<AuctionKind, number>> = { OPG: 2 * MINUTE_MS, CLS: 10 * MINUTE_MS };

/** The bell at which an auction is held. */
export const auctionAt = (kind: AuctionKind, { regularOpen, regularClose }: TradingDay): Instant =>
  kind === 'OPG' ? regularOpen : regularClose;

/** The first instant at which an auction accepts no more orders, and those accepted cannot be changed. */
export const cutoffOf = (kind: AuctionKind, day: TradingDay): Instant =>
  Instant.plusMs(auctionAt(kind, day), -LEAD_MS[kind]);

/** Time from which orders are for the next trading day. */
const eveningOf = (calendar: Calendar, { date }: TradingDay): Instant => calendar.instantOf(date, 19, 0);

/** The trading day of an order that is accepted at an instant. */
export function auctionDayOf(calendar: Calendar, at: Instant): TradingDay {
  const date = calendar.dateOf(at);
  const today = calendar.tradingDay(date);
  if (today !== undefined && at < eveningOf(calendar, today)) return today;
  const next = calendar.tradingDay(calendar.plusBusinessDays(date, 1));
  if (next === undefined) throw new RangeError('a business day without hours');
  return next;
}

/** Cutoff of an auction and the time at which it accepts orders again; undefined while it accepts orders. */
export function auctionClosed(
  calendar: Calendar,
  kind: AuctionKind,
  at: Instant,
): { readonly cutoff: Instant; readonly opensAt: Instant } | undefined {
  const today = calendar.tradingDay(calendar.dateOf(at));
  if (today === undefined) return undefined;
  const cutoff = cutoffOf(kind, today);
  const opensAt = eveningOf(calendar, today);
  return at >= cutoff && at < opensAt ? { cutoff, opensAt } : undefined;
}
