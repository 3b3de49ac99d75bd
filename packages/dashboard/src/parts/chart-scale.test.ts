import { describe, expect, it } from 'vitest';
import { fillersOf } from './chart-scale.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('A time axis to scale', () => {
  /** Places of times on an axis of these and their fillers, from 0 to 1. */
  const placesOf = (times: readonly number[]): readonly number[] => {
    const all = [...times, ...fillersOf(times)].sort((a, b) => a - b);
    return times.map((time) => all.indexOf(time) / (all.length - 1));
  };

  it('gives a weekend the width of two days between closes', () => {
    // Thursday, Friday, Monday, Tuesday.
    const times = [0, 1, 4, 5].map((day) => day * DAY);
    placesOf(times).forEach((place, index) => expect(place).toBeCloseTo((times[index] ?? 0) / (5 * DAY), 2));
  });

  it('gives the night its width between the minutes of two sessions', () => {
    const session = Array.from({ length: 390 }, (_, minute) => 9.5 * HOUR + minute * 60_000);
    const times = [...session, ...session.map((time) => time + DAY)];
    const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
    const places = placesOf(times);
    // Half of the axis is the night and the next morning.
    expect(places[390]).toBeCloseTo(DAY / span, 1);
    expect(fillersOf(times).length).toBeLessThan(5000);
  });

  it('adds nothing to one instant, or none', () => {
    expect(fillersOf([])).toEqual([]);
    expect(fillersOf([5])).toEqual([]);
    expect(fillersOf([5, 5])).toEqual([]);
  });

  it('never adds more than 5,000 instants', () => {
    const times = [...Array.from({ length: 100 }, (_, second) => second * 1000), 3650 * DAY];
    expect(fillersOf(times).length).toBeLessThanOrEqual(5000);
  });
});
