import type { Decision } from '../../decision.js';
import { multiplierOf, pricePer } from '../../instruments/instrument.js';
import { isOpening, sideOf } from '../../orders/order.js';
import type { OrderTerms } from '../../orders/order.js';
import { trackDayTrade } from '../../positions/day-trade.js';
import type { DayTradeRecord, DayTradeTracker } from '../../positions/day-trade.js';
import type { BookedExecution, OrderExecuted } from '../../trading/trade.js';
import { Money } from '../../values/money.js';
import type { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { TradingDate } from '../../values/trading-date.js';
import type { OrderedLeg } from '../orders/ordered-legs.js';

/** Counts the day trades that an execution makes (D60, D113): each series like a share. Futures are not counted. */
export function trackDayTrades(d: Decision, terms: OrderTerms, executed: OrderExecuted): void {
  if (terms.assetClass === 'FUTURE') return;
  const { symbol, positionIntent, portfolioId, assetClass } = terms;
  const multiplier = assetClass === 'OPTION' ? multiplierOf(d.tradable(symbol)) : undefined;
  for (const { quantity, value } of executed.executions) {
    const before = d.state.portfolios.get(portfolioId)?.dayTrades.get(symbol);
    const { tracker, record } = trackDayTrade(before, {
      order: terms.number,
      symbol,
      date: executed.tradeDate ?? d.rules.calendar.dateOf(d.at),
      at: d.at,
      opening: isOpening(positionIntent),
      side: sideOf(positionIntent),
      quantity,
      value,
      ...(multiplier !== undefined && { multiplier }),
    });
    d.emit({
      type: 'DayTradeTracked',
      portfolioId,
      symbol,
      tracker,
      ...(record !== undefined && { recorded: true }),
    });
  }
}

/** A leg's day after a fill. */
interface TrackedLeg {
  readonly leg: OrderedLeg;
  readonly tracker: DayTradeTracker;
  readonly record: DayTradeRecord | undefined;
  /** True when this fill has turned the direction: a new day trade. */
  readonly isNew: boolean;
  /** The order that opened last. */
  readonly openedBy: number | undefined;
}

/**
 * The same for multi-leg orders. Legs that one order opened and one order closes are one day trade and one record, of the combo (D113): it
 * is counted with the first of them.
 */
export function trackMultiLegDayTrades(
  d: Decision,
  terms: OrderTerms,
  executions: readonly BookedExecution[],
  legs: readonly OrderedLeg[],
  tradeDate: TradingDate,
): void {
  const { portfolioId } = terms;
  const portfolio = d.state.portfolios.get(portfolioId);
  const tracked = executions.flatMap(({ leg: index = 0, quantity, value }): TrackedLeg[] => {
    const leg = legs[index];
    if (leg === undefined) return [];
    const { instrument, positionIntent } = leg;
    const before = portfolio?.dayTrades.get(instrument.symbol);
    const openedBy = before?.date === tradeDate ? before.lastOpeningOrder : undefined;
    const { tracker, record } = trackDayTrade(before, {
      order: terms.number,
      symbol: instrument.symbol,
      date: tradeDate,
      at: d.at,
      opening: isOpening(positionIntent),
      side: sideOf(positionIntent),
      quantity,
      value,
      multiplier: multiplierOf(instrument),
    });
    const count = before?.date === tradeDate ? before.count : 0;
    return [{ leg, tracker, record, isNew: tracker.count > count, openedBy }];
  });
  const first = new Map<number, TrackedLeg>();
  for (const one of tracked) {
    const { openedBy, record } = one;
    if (record !== undefined && openedBy !== undefined && !first.has(openedBy)) first.set(openedBy, one);
  }
  for (const one of tracked) {
    const { openedBy, record, tracker, isNew, leg } = one;
    const { symbol } = leg.instrument;
    if (record === undefined || openedBy === undefined) {
      d.emit({ type: 'DayTradeTracked', portfolioId, symbol, tracker });
      continue;
    }
    const group = tracked.filter((other) => other.openedBy === openedBy && other.record !== undefined);
    if (group.length === 1) {
      d.emit({ type: 'DayTradeTracked', portfolioId, symbol, tracker, recorded: true });
    } else if (first.get(openedBy) === one) {
      const whole = multiLegRecord(terms.symbol, group);
      d.emit({ type: 'DayTradeTracked', portfolioId, symbol, tracker, recorded: true, record: whole });
    } else {
      const counted: DayTradeTracker = { ...tracker, count: tracker.count - (isNew ? 1 : 0) };
      d.emit({ type: 'DayTradeTracked', portfolioId, symbol, tracker: counted });
    }
  }
}

/** The record of a combo: units, and the net of its two sides, each as an absolute amount per unit. */
function multiLegRecord(underlying: string, group: readonly TrackedLeg[]): DayTradeRecord {
  const [first] = group;
  const own = first?.record;
  if (first === undefined || own === undefined) throw new RangeError('a day trade without a record');
  const units = Quantity.ofUnits(own.quantity / first.leg.ratio);
  let pnl = Money.zero;
  let opensAt = own.buyTime;
  let closesAt = own.sellTime;
  let openNet = 0;
  let closeNet = 0;
  for (const { leg, record, tracker } of group) {
    const current = tracker.current;
    if (record === undefined || current === undefined) continue;
    // A leg that this fill sells is a long one.
    const isLong = sideOf(leg.positionIntent) === 'SELL';
    openNet += isLong ? current.openValue : 0 - current.openValue;
    closeNet += isLong ? current.closeValue : 0 - current.closeValue;
    pnl = Money.add(pnl, record.pnl);
    opensAt = isLong ? record.buyTime : record.sellTime;
    closesAt = isLong ? record.sellTime : record.buyTime;
  }
  const opened = Math.abs(openNet);
  const closed = Math.abs(closeNet);
  const isDebit = openNet >= 0;
  const perUnit = (amount: number): Price => pricePer(first.leg.instrument, Money.ofUnits(amount), units);
  return {
    number: own.number,
    symbol: underlying,
    tradingDate: own.tradingDate,
    buyTime: isDebit ? opensAt : closesAt,
    sellTime: isDebit ? closesAt : opensAt,
    quantity: units,
    buyPrice: perUnit(isDebit ? opened : closed),
    sellPrice: perUnit(isDebit ? closed : opened),
    pnl,
  };
}
