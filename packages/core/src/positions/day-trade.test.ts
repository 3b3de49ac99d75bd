import { expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import { trackDayTrade } from './day-trade.js';
import type { DayTradeFill, DayTradeRecord, DayTradeTracker } from './day-trade.js';

/** Records of a day's fills, one order each, at 1.00, 2.00, … dollars a share. */
function recordsOf(fills: readonly (readonly [opening: boolean, shares: number])[]): DayTradeRecord[] {
  let tracker: DayTradeTracker | undefined;
  const records: DayTradeRecord[] = [];
  fills.forEach(([opening, shares], index) => {
    const fill: DayTradeFill = {
      order: index,
      symbol: 'X',
      date: TradingDate.of('2026-01-05'),
      at: Instant.ofMs(index),
      opening,
      side: opening ? 'BUY' : 'SELL',
      quantity: Quantity.of(shares),
      value: Money.ofDollars(shares * (index + 1)),
    };
    const next = trackDayTrade(tracker, fill);
    tracker = next.tracker;
    if (next.record !== undefined) records.push(next.record);
  });
  return records;
}

it('trackDayTrade: a position opened again after it was closed has the time of its own purchase', () => {
  const records = recordsOf([
    [true, 10],
    [false, 10],
    [true, 5],
    [false, 5],
  ]);
  expect(records.map(({ buyTime, sellTime }) => [buyTime, sellTime])).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

it('trackDayTrade: a position added to keeps the time of its first purchase', () => {
  const records = recordsOf([
    [true, 10],
    [true, 5],
    [false, 15],
  ]);
  expect(records.map(({ buyTime, sellTime }) => [buyTime, sellTime])).toEqual([[0, 2]]);
});
