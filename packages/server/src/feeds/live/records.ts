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
  /** Type of the simulated action; an action of any other type is reported as unsupported. */
  readonly type: string;
  /** The source's own word for it, for actions that lack a field. Absent = the type. */
  readonly word?: string;
  readonly symbol: string;
  readonly exDate: unknown;
  readonly payDate?: unknown;
  readonly amount?: unknown;
  readonly more?: unknown;
  readonly old?: unknown;
  readonly newSymbol?: unknown;
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
  const payDate = TradingDate.parse(textOf(told.payDate) ?? '');
  const paid = payDate !== undefined && exDate !== undefined && payDate >= exDate ? { payDate } : {};
  if ((type === 'DIVIDEND' || type === 'SPECIAL_DIVIDEND') && exDate !== undefined) {
    const amountPerShare = priceFrom(told.amount);
    const kind = type === 'DIVIDEND' ? 'CASH_DIVIDEND' : type;
    if (amountPerShare !== undefined) actions.push({ type: kind, symbol, exDate, ...paid, amountPerShare });
    return;
  }
  const other = exDate && otherActionFrom(told, exDate, paid);
  if (other !== undefined) actions.push(other);
  else unsupported.push({ symbol, type: told.word ?? type, ...(exDate !== undefined && { exDate }) });
}

/** A stock dividend, change of a symbol, merger or delisting; `undefined` if a field is missing, or for another type (D208). */
function otherActionFrom(
  { type, symbol, ...told }: SourceAction,
  exDate: TradingDate,
  paid: { readonly payDate?: TradingDate },
): CorporateAction | undefined {
  const of = { symbol, exDate };
  const more = numberOf(told.more) ?? 0;
  const old = numberOf(told.old) ?? 1;
  const newSymbol = textOf(told.newSymbol)?.toUpperCase();
  const cashPerShare = priceFrom(told.amount);
  const hasNew = newSymbol !== undefined && newSymbol !== symbol;
  switch (type) {
    case 'STOCK_DIVIDEND':
      return more > 0 && more <= 100 ? { type, ...of, rate: Math.round(more * 1e6) / 1e6 } : undefined;
    case 'SYMBOL_CHANGE':
      return hasNew ? { type, ...of, newSymbol } : undefined;
    case 'MERGER': {
      if (newSymbol === undefined && cashPerShare !== undefined)
        return { type, ...of, ...paid, cashPerShare };
      const isWhole = Number.isInteger(more) && Number.isInteger(old);
      const ratio = isWhole && old !== 1 ? { new: more, old } : Math.round((more / old) * 1e6) / 1e6;
      if (!hasNew || !(more > 0) || !(old > 0) || ratio === 0) return undefined;
      const cash = cashPerShare === undefined ? {} : { cashPerShare, ...paid };
      return { type, ...of, newSymbol, ratio, ...cash };
    }
    case 'DELISTING':
      return { type, ...of, cashPerShare: 0 as Price };
    default:
      return undefined;
  }
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
