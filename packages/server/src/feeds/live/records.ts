import { Instant, TradingDate } from '@sandpit/core';
import type { Bar, Calendar, CorporateAction, Price } from '@sandpit/core';
import type { BarSize } from '../feed.js';
import type { UnsupportedAction } from '../live-feed.js';
import { numberOf, textOf } from './json.js';

/* Converts bars and corporate actions of the sources into the types of the core. */

const PRICE_UNITS = 1e8;

const priceFrom = (value: unknown): Price | undefined => {
  const dollars = numberOf(value);
  return dollars !== undefined && dollars > 0 && dollars < 1e7
    ? (Math.round(dollars * PRICE_UNITS) as Price)
    : undefined;
};

/** A bar of a source; undefined when it cannot be one. A day begins with its regular session. */
export function barFrom(told: {
  readonly symbol: string;
  readonly size: BarSize;
  readonly calendar: Calendar;
  readonly startMs: number;
  readonly o: unknown;
  readonly h: unknown;
  readonly l: unknown;
  readonly c: unknown;
  readonly v: unknown;
}): Bar | undefined {
  const { symbol, size, calendar, startMs } = told;
  const [open, high, low, close] = [told.o, told.h, told.l, told.c].map(priceFrom);
  if (open === undefined || high === undefined || low === undefined || close === undefined) return undefined;
  if (!Number.isFinite(startMs)) return undefined;
  const start = Instant.ofMs(startMs);
  const at = size === '1Day' ? calendar.tradingDay(calendar.dateOf(start))?.regularOpen : start;
  return at && { symbol, at, open, high, low, close, volume: Math.round(numberOf(told.v) ?? 0) };
}

/** A corporate action from a source. */
export interface SourceAction {
  /** SPLIT, DIVIDEND, or the source's own word for a type that is not simulated. */
  readonly type: string;
  readonly symbol: string;
  readonly exDate: unknown;
  readonly payDate?: unknown;
  readonly amount?: unknown;
  readonly more?: unknown;
  readonly old?: unknown;
}

/** Adds an action to those that are simulated, or to those that are not (D184). */
export function actionsFrom(
  told: SourceAction,
  actions: CorporateAction[],
  unsupported: UnsupportedAction[],
): void {
  const { type, symbol } = told;
  const exDate = TradingDate.parse(textOf(told.exDate) ?? '');
  if (type === 'SPLIT' && exDate !== undefined) {
    const more = numberOf(told.more);
    const old = numberOf(told.old);
    if (more !== undefined && old !== undefined && more > 0 && old > 0 && more !== old)
      actions.push({ type: 'SPLIT', symbol, exDate, ratio: { new: more, old } });
    return;
  }
  if (type === 'DIVIDEND' && exDate !== undefined) {
    const amountPerShare = priceFrom(told.amount);
    const payDate = TradingDate.parse(textOf(told.payDate) ?? '');
    if (amountPerShare !== undefined)
      actions.push({
        type: 'CASH_DIVIDEND',
        symbol,
        exDate,
        ...(payDate !== undefined && payDate >= exDate && { payDate }),
        amountPerShare,
      });
    return;
  }
  unsupported.push({ symbol, type, ...(exDate !== undefined && { exDate }) });
}

const DAY_MS = 86_400_000;
const SIZE_MS: Readonly<Record<BarSize, number>> = {
  '1Min': 60_000,
  '5Min': 300_000,
  '15Min': 900_000,
  '1Hour': 3_600_000,
  '1Day': DAY_MS,
};

/** Start of a period that surely contains this many bars before its end: nights, weekends and holidays have none. */
export const startOfBars = (size: BarSize, from: Instant, until: Instant, limit: number): Instant =>
  Instant.max(
    from,
    Instant.plusMs(until, -(limit * SIZE_MS[size] * (size === '1Day' ? 2 : 6) + 10 * DAY_MS)),
  );
