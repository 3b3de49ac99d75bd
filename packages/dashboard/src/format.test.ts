import { expect, it } from 'vitest';
import { instantInNewYork, readable } from './format.ts';

it('instantInNewYork: reads a local time in winter, in summer, and near a change to or from daylight time', () => {
  expect(instantInNewYork('2026-01-05T09:30')).toBe('2026-01-05T14:30:00.000Z');
  expect(instantInNewYork('2026-07-06T09:30')).toBe('2026-07-06T13:30:00.000Z');
  expect(instantInNewYork('2026-03-08T00:30')).toBe('2026-03-08T05:30:00.000Z');
  expect(instantInNewYork('2026-03-08T09:30')).toBe('2026-03-08T13:30:00.000Z');
  expect(instantInNewYork('soon')).toBeUndefined();
});

it('readable: shows instants in Eastern Time and dollars with commas', () => {
  expect(readable('market opens 2026-01-16T09:30:00-05:00')).toBe('market opens Jan 16, 2026, 9:30:00 AM ET');
  expect(readable('at least $110000.00 is required; the portfolio has $17.73')).toBe(
    'at least $110,000.00 is required; the portfolio has $17.73',
  );
});
