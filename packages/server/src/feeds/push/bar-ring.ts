import type { Bar, Price } from '@sandpit/core';
import type { BarWindow } from '../bar-window.js';

/** The latest bars of one symbol and size; a new one replaces the oldest. */
export class BarRing {
  private readonly capacity: number;
  private bars: Bar[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Adds a trade to the bar of its window; one older than every kept bar is ignored. */
  add(symbol: string, window: BarWindow, price: Price, volume: number): void {
    const { bars } = this;
    const index = bars.findLastIndex((bar) => bar.at <= window.start);
    const bar = bars[index];
    if (bar?.at === window.start) {
      bars[index] = {
        ...bar,
        high: price > bar.high ? price : bar.high,
        low: price < bar.low ? price : bar.low,
        close: price,
        volume: bar.volume + volume,
      };
      return;
    }
    if (index < 0 && bars.length >= this.capacity) return;
    bars.splice(index + 1, 0, {
      symbol,
      at: window.start,
      open: price,
      high: price,
      low: price,
      close: price,
      volume,
    });
    // Dropping many at a time keeps the cost per bar constant.
    if (bars.length >= 2 * this.capacity) this.bars = bars.slice(-this.capacity);
  }

  /** Oldest first. */
  list(): readonly Bar[] {
    return this.bars;
  }
}
