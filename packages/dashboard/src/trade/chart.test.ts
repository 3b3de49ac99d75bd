import type { Bar } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import {
  bollingerBands,
  exponentialAverage,
  movingAverageConvergence,
  relativeStrength,
  simpleAverage,
  volumeWeightedPrice,
} from './indicators.ts';
import { movablePrices, onTick, tickAt, ticketAtLevel } from './levels.ts';
import { changeSince, comparedIn } from './percent-change.ts';
import { ticketLines } from './ticket-lines.ts';

const bar = (timestamp: number, close: number, volume = 10): Bar => ({
  timestamp,
  open: close,
  high: close + 1,
  low: close - 1,
  close,
  volume,
});
const bars = (...closes: readonly number[]): readonly Bar[] =>
  closes.map((close, index) => bar(index, close));

describe('Indicators', () => {
  it('averages: start at the first bar with enough history', () => {
    expect(simpleAverage(bars(1, 2, 3, 4), 3)).toEqual([undefined, undefined, 2, 3]);
    // 5 weighs one half: 2, then 2 + (5 − 2) / 2.
    expect(exponentialAverage(bars(1, 2, 3, 5), 3)).toEqual([undefined, undefined, 2, 3.5]);
    expect(exponentialAverage(bars(1, 2), 3)).toEqual([undefined, undefined]);
  });

  it('Bollinger bands: are two deviations from the average', () => {
    const { upper, lower } = bollingerBands(bars(1, 3), 2);
    expect([upper[1], lower[1]]).toEqual([4, 0]);
  });

  it('VWAP: weights by volume and restarts each day', () => {
    const two = [bar(0, 10, 1), bar(1, 20, 3), bar(2, 30, 5)];
    expect(volumeWeightedPrice(two, (at) => (at < 2 ? 'one' : 'two'))).toEqual([10, 17.5, 30]);
  });

  it('RSI: is 100 for rising prices, 50 for constant ones, and smoothed as Wilder does', () => {
    expect(relativeStrength(bars(1, 2, 3, 4), 2).at(-1)).toBe(100);
    expect(relativeStrength(bars(5, 5, 5), 2).at(-1)).toBe(50);
    // Means of the first two moves: gain 1, loss 0.5; with the third, +3: gain (1 + 3) / 2 = 2, loss 0.25.
    const strength = relativeStrength(bars(10, 12, 11, 14), 2);
    expect(strength.slice(0, 2)).toEqual([undefined, undefined]);
    expect(strength[2]).toBeCloseTo(100 / 1.5, 10);
    expect(strength[3]).toBeCloseTo(200 / 2.25, 10);
  });

  it('MACD: is the fast average less the slow one, with a signal of its own', () => {
    // Fast (2): 1.5, 2.5, then 2.5 + 2/3 × 3.5. Slow (3): 2, then 4. Signal (2): the mean of the first two values.
    const { line, signal, histogram } = movingAverageConvergence(bars(1, 2, 3, 6), 2, 3, 2);
    expect(line).toEqual([undefined, undefined, 0.5, expect.closeTo(5 / 6, 10)]);
    expect(signal).toEqual([undefined, undefined, undefined, expect.closeTo(2 / 3, 10)]);
    expect(histogram).toEqual([undefined, undefined, undefined, expect.closeTo(1 / 6, 10)]);
  });

  it('MACD: is zero for constant prices, from bar 26 on, its signal from bar 34 on', () => {
    const { line, signal } = movingAverageConvergence(bars(...Array.from({ length: 40 }, () => 50)));
    expect(line.findIndex((value) => value !== undefined)).toBe(25);
    expect(signal.findIndex((value) => value !== undefined)).toBe(33);
    expect([line[39], signal[39]]).toEqual([0, 0]);
  });
});

describe('Compared symbols', () => {
  it('changeSince: is measured from the first bar at the left edge to the last or the chosen one', () => {
    const three = [bar(100, 50), bar(200, 40), bar(300, 44)];
    expect(changeSince(three, 0)).toBeCloseTo(-0.12, 12);
    expect(changeSince(three, 101)).toBeCloseTo(0.1, 12);
    expect(changeSince(three, 0, 250)).toBeCloseTo(-0.2, 12);
    expect(changeSince(three, 300)).toBe(0);
  });

  it('changeSince: is unknown without a bar in the range', () => {
    expect(changeSince([], 0)).toBeUndefined();
    expect(changeSince([bar(100, 50)], 101)).toBeUndefined();
    expect(changeSince([bar(100, 50)], 0, 99)).toBeUndefined();
  });

  it('comparedIn: lists each symbol of an address once, without the charted one, and four at most', () => {
    expect(comparedIn('msft, AAPL,,MSFT,spy', 'AAPL')).toEqual(['MSFT', 'SPY']);
    expect(comparedIn('A,B,C,D,E', 'AAPL')).toEqual(['A', 'B', 'C', 'D']);
    expect(comparedIn('', 'AAPL')).toEqual([]);
  });
});

describe('Levels on the chart', () => {
  it('onTick: rounds to the nearest multiple of the tick, and never to zero', () => {
    expect(onTick(187.594, 0.01)).toBe(187.59);
    expect(onTick(0.1 + 0.2, 0.01)).toBe(0.3);
    expect(onTick(6900.37, 0.25)).toBe(6900.25);
    expect(onTick(6900.38, 0.25)).toBe(6900.5);
    expect(onTick(0.001, 0.01)).toBe(0.01);
    expect(onTick(0.00000074, 0.0000005)).toBe(0.0000005);
  });

  it('tickAt: is that of the instrument, else a cent, below one dollar a hundredth of it', () => {
    expect([tickAt(187, undefined), tickAt(1, undefined), tickAt(0.9999, undefined)]).toEqual([
      0.01, 0.01, 0.0001,
    ]);
    expect(tickAt(6900, 0.25)).toBe(0.25);
  });

  it('ticketAtLevel: is a limit on the better side of the market, a stop on the other', () => {
    const market = { bid: 100, middle: 100.05, ask: 100.1 };
    const at = (level: number, isBuy: boolean) => ticketAtLevel(level, isBuy, market);
    expect(at(99, true)).toEqual({ type: 'LIMIT', limit: 99, stop: undefined });
    expect(at(100.1, true).type).toBe('LIMIT');
    expect(at(100.11, true)).toEqual({ type: 'STOP', limit: undefined, stop: 100.11 });
    expect(at(101, false).type).toBe('LIMIT');
    expect(at(99.99, false).type).toBe('STOP');
    const none = { bid: undefined, middle: undefined, ask: undefined };
    expect(ticketAtLevel(99, false, none).type).toBe('LIMIT');
  });

  it('movablePrices: has both prices of a stop limit order, and none of a trailing one', () => {
    expect(movablePrices({ orderType: 'STOP_LIMIT', limitPrice: 9, stopPrice: 10 })).toEqual([
      ['stopPrice', 10],
      ['limitPrice', 9],
    ]);
    expect(movablePrices({ orderType: 'TRAILING_STOP', stopPrice: 10 })).toEqual([]);
    expect(movablePrices({ orderType: 'MARKET' })).toEqual([]);
  });

  it('ticketLines: has lines of the ticket of the charted symbol only', () => {
    const market = { bid: 100, middle: 100, ask: 100 };
    const marks = (text: string, symbol = 'AAPL') =>
      ticketLines(new URLSearchParams(text), symbol, 'AAPL', true, market, undefined).marks.map(
        ({ id, price }) => [id, price],
      );
    expect(marks('type=LIMIT&limit=99.5')).toEqual([['limit', 99.5]]);
    expect(marks('type=STOP_LIMIT&limit=1,001&stop=1,000')).toEqual([
      ['stop', 1000],
      ['limit', 1001],
    ]);
    expect(marks('type=MARKET&limit=99.5')).toEqual([]);
    expect(marks('type=LIMIT&limit=abc')).toEqual([]);
    expect(marks('type=TRAILING_STOP&trail=2')).toEqual([]);
    expect(marks('type=LIMIT&limit=2', 'AAPL260109C00200000')).toEqual([]);
    expect(marks('type=LIMIT&limit=2&legs=B1xAAPL260109C00200000,S1xAAPL260109C00205000')).toEqual([]);
  });
});
