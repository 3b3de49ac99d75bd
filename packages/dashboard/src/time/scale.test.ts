import { expect, it } from 'vitest';
import { differenceText } from '../pages/comparisons.tsx';
import { piecesOf } from '../pages/scripts.tsx';
import { placeOf } from './clock-control.ts';
import {
  clustersOf,
  daysBetween,
  distanceOf,
  inNewYork,
  shareOf,
  stamp,
  ticksOf,
  windowAround,
} from './scale.ts';

const at = (text: string): number => Date.parse(text);

it('inNewYork: finds the instant of a time of day before and after a change to or from daylight time', () => {
  expect(inNewYork('2026-03-06', '09:00')).toBe(at('2026-03-06T09:00:00-05:00'));
  expect(inNewYork('2026-03-08', '09:00')).toBe(at('2026-03-08T09:00:00-04:00'));
  expect(inNewYork('2026-11-01', '16:01')).toBe(at('2026-11-01T16:01:00-05:00'));
});

it('clustersOf: joins overlapping markers and leaves out markers beyond the window', () => {
  const window = { fromMs: 0, toMs: 1000 };
  const items = [5, 20, 400, -1, 1001].map((atMs) => ({ atMs }));
  expect(clustersOf(items, window, 0.03)).toEqual([[{ atMs: 5 }, { atMs: 20 }], [{ atMs: 400 }]]);
});

it('ticksOf: has a tick for each day of a week and each month of a year, none before the window', () => {
  const now = at('2026-01-05T10:00:00-05:00');
  const week = windowAround(now, 'week');
  expect(ticksOf(week, 'week').map(({ text }) => text)).toEqual([
    'Sat Jan 3',
    'Sun Jan 4',
    'Mon Jan 5',
    'Tue Jan 6',
    'Wed Jan 7',
    'Thu Jan 8',
    'Fri Jan 9',
  ]);
  expect(ticksOf(windowAround(now, 'year'), 'year').map(({ text }) => text)).toContain('Jan 2026');
  expect(shareOf(week, now)).toBeCloseTo(0.4);
});

it('daysBetween, stamp, distanceOf: use days in New York', () => {
  expect(daysBetween(at('2026-01-05T23:00:00-05:00'), at('2026-01-07T01:00:00-05:00'))).toEqual([
    '2026-01-05',
    '2026-01-06',
    '2026-01-07',
  ]);
  expect(stamp(at('2026-01-06T10:30:00-05:00'))).toBe('Tue, Jan 6, 2026, 10:30 AM ET');
  expect(distanceOf(86_400_000, 0)).toBe('tomorrow');
  expect(distanceOf(0, 2 * 3_600_000)).toBe('2 hours ago');
});

it('placeOf: finds the position of a scaled clock, with calendar months', () => {
  const now = at('2026-01-31T15:00:00Z');
  expect(placeOf({ by: 'P1D' }, now)).toBe('2026-02-01T15:00:00.000Z');
  expect(placeOf({ by: 'P1M' }, now)).toBe('2026-02-28T15:00:00.000Z');
  expect(placeOf({ to: '2026-03-01' }, now)).toBe('2026-03-01');
});

it('piecesOf: parses the parts of a scripted fill, and refuses other text', () => {
  expect(piecesOf('30%, 70%@5s')).toEqual([{ percent: 30 }, { percent: 70, after: 'PT5S' }]);
  expect(piecesOf('100@187.60,50%@2m')).toEqual([
    { quantity: 100, price: 187.6 },
    { percent: 50, after: 'PT120S' },
  ]);
  expect(piecesOf('all')).toBeUndefined();
  expect(piecesOf('')).toBeUndefined();
});

it('differenceText: describes a difference in a sentence', () => {
  expect(differenceText({ kind: 'PRICE', base: 187.5, variant: 187.6 })).toBe(
    'filled at 187.60 instead of 187.50.',
  );
  expect(differenceText({ kind: 'FEE', base: 0, variant: 4.95 })).toBe('charged $4.95 instead of $0.00.');
});
