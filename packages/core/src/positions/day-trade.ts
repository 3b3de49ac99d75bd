import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/**
 * Day trades, counted by changes of direction (FINRA Regulatory Notice 21-13): opening and then closing the same
 * security on the same day counts once for every turn from opening to closing, regardless of the number of
 * executions. Closing only overnight positions, before anything was opened that day, does not count.
 */
export interface DayTradeRecord {
  /** Running number of the symbol's records of the day, so that a growing record replaces itself. */
  readonly number: number;
  readonly symbol: string;
  readonly tradingDate: TradingDate;
  readonly buyTime: Instant;
  readonly sellTime: Instant;
  readonly quantity: Quantity;
  readonly buyPrice: Price;
  readonly sellPrice: Price;
  /** Without fees (D60). */
  readonly pnl: Money;
}

/** One symbol's day so far. */
export interface DayTradeTracker {
  readonly date: TradingDate;
  /** Shares opened today that no close has been matched with, and their cost. */
  readonly openQuantity: Quantity;
  readonly openValue: Money;
  readonly openedAt?: Instant;
  /** True when the next closing order turns the direction. */
  readonly turnsOnClose: boolean;
  /** The order that opened last and the one that closed last: fills of one order are one transaction. */
  readonly lastOpeningOrder?: number;
  readonly lastClosingOrder?: number;
  readonly count: number;
  /** Records made today; unlike `count` it survives a reset, so that no record replaces an earlier one (D142). */
  readonly recorded: number;
  /** The record of the current turn, and the exact values it averages. */
  readonly current?: {
    readonly record: DayTradeRecord;
    readonly openValue: Money;
    readonly closeValue: Money;
  };
}

export interface DayTradeFill {
  /** Number of the order. */
  readonly order: number;
  readonly symbol: string;
  readonly date: TradingDate;
  readonly at: Instant;
  readonly opening: boolean;
  readonly side: 'BUY' | 'SELL';
  readonly quantity: Quantity;
  readonly value: Money;
  /** Dollars per point; absent = 1, a share's. */
  readonly multiplier?: number;
}

const average = (value: Money, quantity: Quantity, multiplier = 1): Price =>
  Money.perUnit(value, quantity, multiplier);

/** A copy with changed fields. Not by spreading: a spread copy that gains a field gets its own hidden class. */
const trackerWith = (tracker: DayTradeTracker, changes: Partial<DayTradeTracker>): DayTradeTracker =>
  Object.assign({}, tracker, changes);

/** The tracker of a day without fills. */
const freshTracker = (date: TradingDate, recorded: number): DayTradeTracker => ({
  date,
  openQuantity: Quantity.zero,
  openValue: Money.zero,
  turnsOnClose: false,
  count: 0,
  recorded,
});

/** The tracker after a reset: the day starts again, its records stay. */
export const forgetDayTrades = ({ date, recorded }: DayTradeTracker): DayTradeTracker =>
  freshTracker(date, recorded);

/** The tracker after a fill, and the day trade it counts or extends. */
export function trackDayTrade(
  before: DayTradeTracker | undefined,
  fill: DayTradeFill,
): { readonly tracker: DayTradeTracker; readonly record?: DayTradeRecord } {
  const tracker: DayTradeTracker = before?.date === fill.date ? before : freshTracker(fill.date, 0);
  if (fill.opening) {
    return {
      tracker: trackerWith(tracker, {
        openQuantity: Quantity.add(tracker.openQuantity, fill.quantity),
        openValue: Money.add(tracker.openValue, fill.value),
        openedAt: tracker.openQuantity === 0 || tracker.openedAt === undefined ? fill.at : tracker.openedAt,
        turnsOnClose: tracker.turnsOnClose || tracker.lastOpeningOrder !== fill.order,
        lastOpeningOrder: fill.order,
      }),
    };
  }
  // Only shares of earlier days are being closed: exempt.
  if (tracker.lastOpeningOrder === undefined)
    return { tracker: trackerWith(tracker, { lastClosingOrder: fill.order }) };

  const turns = tracker.turnsOnClose && tracker.lastClosingOrder !== fill.order;
  const matched = Quantity.min(fill.quantity, tracker.openQuantity);
  const openValue =
    matched === tracker.openQuantity
      ? tracker.openValue
      : Money.scale(tracker.openValue, matched, tracker.openQuantity);
  const closeValue = matched === fill.quantity ? fill.value : Money.scale(fill.value, matched, fill.quantity);
  const previous = turns ? undefined : tracker.current;
  const rest = trackerWith(tracker, {
    openQuantity: Quantity.subtract(tracker.openQuantity, matched),
    openValue: Money.subtract(tracker.openValue, openValue),
    turnsOnClose: turns ? false : tracker.turnsOnClose,
    lastClosingOrder: fill.order,
    count: tracker.count + (turns ? 1 : 0),
  });
  if (matched === 0 || (!turns && previous === undefined)) return { tracker: rest };

  const quantity = Quantity.add(previous?.record.quantity ?? Quantity.zero, matched);
  const opened = Money.add(previous?.openValue ?? Money.zero, openValue);
  const closed = Money.add(previous?.closeValue ?? Money.zero, closeValue);
  const openedAt = previous ? undefined : (tracker.openedAt ?? fill.at);
  const long = fill.side === 'SELL';
  const record: DayTradeRecord = {
    number: previous?.record.number ?? tracker.recorded + 1,
    symbol: fill.symbol,
    tradingDate: fill.date,
    buyTime: long ? (previous?.record.buyTime ?? openedAt ?? fill.at) : fill.at,
    sellTime: long ? fill.at : (previous?.record.sellTime ?? openedAt ?? fill.at),
    quantity,
    buyPrice: average(long ? opened : closed, quantity, fill.multiplier),
    sellPrice: average(long ? closed : opened, quantity, fill.multiplier),
    pnl: long ? Money.subtract(closed, opened) : Money.subtract(opened, closed),
  };
  return {
    tracker: trackerWith(rest, {
      recorded: previous === undefined ? record.number : tracker.recorded,
      current: { record, openValue: opened, closeValue: closed },
    }),
    record,
  };
}
