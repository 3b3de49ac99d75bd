import { describe, expect, it } from 'vitest';
import { barsIn, rangeOf, RANGES } from './chart-ranges.ts';

const DAY = 86_400_000;

describe('Ranges of the chart', () => {
  it('show the bars of their days, nights and weekends left out', () => {
    // Closes of two weeks of sessions, without their weekends.
    const bars = [0, 1, 2, 3, 4, 7, 8, 9, 10, 11].map((day) => ({ timestamp: day * DAY }));
    const shown = (name: string) =>
      barsIn(
        RANGES.find((one) => one.name === name),
        bars,
      );
    expect(shown('week')).toBe(5);
    expect(shown('day')).toBe(1);
    expect(shown('year')).toBe(10);
    expect(barsIn(undefined, bars)).toBeUndefined();
    expect(barsIn(RANGES[0], [])).toBeUndefined();
  });

  it('end when other bars are chosen', () => {
    expect(rangeOf('week', '15Min')?.days).toBe(7);
    expect(rangeOf('week', '1Day')).toBeUndefined();
    expect(rangeOf('', '1Day')).toBeUndefined();
  });
});
