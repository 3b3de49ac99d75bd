import type { Calendar, TradingDay } from '../calendar/calendar.js';
import { Instant } from '../values/instant.js';
import type { TimeInForce } from './order.js';

/** Orders for one auction: that of the open or that of the close (D180). */
export type AuctionKind = 'OPG' | 'CLS';

export const isForAuction = (timeInForce: TimeInForce): timeInForce is AuctionKind =>
  timeInForce === 'OPG' || timeInForce === 'CLS';

const MINUTE_MS = 60_000;
/** How long before its auction an order can be entered, changed and canceled last. */
const LEAD_MS: Readonly<Record<AuctionKind, number>> = { OPG: 2 * MINUTE_MS, CLS: 10 * MINUTE_MS };

/** The bell at which an auction is held. */
export const auctionAt = (kind: AuctionKind, { regularOpen, regularClose }: TradingDay): Instant =>
  kind === 'OPG' ? regularOpen : regularClose;

/** The first instant at which orders for an auction are taken no longer, and those that were cannot be changed. */
export const cutoffOf = (kind: AuctionKind, day: TradingDay): Instant =>
  Instant.plusMs(auctionAt(kind, day), -LEAD_MS[kind]);

/** From then on orders are for the next trading day. */
const eveningOf = (calendar: Calendar, { date }: TradingDay): Instant => calendar.instantOf(date, 19, 0);

/** The trading day that an order taken at an instant is for. */
export function auctionDayOf(calendar: Calendar, at: Instant): TradingDay {
  const date = calendar.dateOf(at);
  const today = calendar.tradingDay(date);
  if (today !== undefined && at < eveningOf(calendar, today)) return today;
  const next = calendar.tradingDay(calendar.plusBusinessDays(date, 1));
  if (next === undefined) throw new RangeError('a business day without hours');
  return next;
}

/** When an auction stopped taking orders, and when it takes them again; undefined while it does. */
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
