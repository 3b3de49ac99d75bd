import { expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import { trackDayTrade } from './day-trade.js';
import type { DayTradeFill, DayTradeRecord, DayTradeTracker } from './day-trade.js';

type Fill = readonly [opening: boolean, shares: number, order?: number];

/** Records of a day's fills at 1.00, 2.00, … dollars a share. Each fill belongs to a separate order unless `order` is given. */
function recordsOf(fills: readonly Fill[]): DayTradeRecord[] {
  let tracker: DayTradeTracker | undefined;
  const records: DayTradeRecord[] = [];
  fills.forEach(([opening, shares, order], index) => {
    const fill: DayTradeFill = {
      order: order ?? index,
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

const figures = ({ number, quantity, buyPrice, sellPrice, pnl }: DayTradeRecord) => ({
  ...{ number, quantity, buyPrice, sellPrice, pnl },
});

it('trackDayTrade: a sale in parts is one record with average prices', () => {
  const records = recordsOf([
    [true, 10],
    [true, 10],
    [false, 5, 7],
    [false, 15, 7],
  ]);
  // Bought at 1 and 2, sold at 3 and 4.
  expect(records.map(figures)).toEqual([
    {
      number: 1,
      quantity: Quantity.of(5),
      buyPrice: Price.of('1.5'),
      sellPrice: Price.of('3'),
      pnl: Money.ofDollars(7.5),
    },
    {
      number: 1,
      quantity: Quantity.of(20),
      buyPrice: Price.of('1.5'),
      sellPrice: Price.of('3.75'),
      pnl: Money.ofDollars(45),
    },
  ]);
});

it("trackDayTrade: a sale of more than today's shares counts for those alone", () => {
  const [record] = recordsOf([
    [true, 5],
    [false, 8],
  ]);
  expect(record).toMatchObject({
    quantity: Quantity.of(5),
    buyPrice: Price.of('1'),
    sellPrice: Price.of('2'),
    pnl: Money.ofDollars(5),
  });
});

it('trackDayTrade: fills of one order are one transaction, also around an order of the other side', () => {
  // A sale of overnight shares that continues after a purchase.
  expect(
    recordsOf([
      [false, 5, 0],
      [true, 5],
      [false, 5, 0],
    ]),
  ).toEqual([]);
  // A purchase that continues after a sale: the second sale is not another turn.
  const records = recordsOf([
    [true, 5, 0],
    [false, 5],
    [true, 5, 0],
    [false, 5],
  ]);
  expect(records.map(({ number }) => number)).toEqual([1, 1]);
});
