import { expect, it } from 'vitest';
import { instantInNewYork } from './format.ts';

it('instantInNewYork: reads a local time in winter, in summer, and near a change to or from daylight time', () => {
  expect(instantInNewYork('2026-01-05T09:30')).toBe('2026-01-05T14:30:00.000Z');
  expect(instantInNewYork('2026-07-06T09:30')).toBe('2026-07-06T13:30:00.000Z');
  expect(instantInNewYork('2026-03-08T00:30')).toBe('2026-03-08T05:30:00.000Z');
  expect(instantInNewYork('2026-03-08T09:30')).toBe('2026-03-08T13:30:00.000Z');
  expect(instantInNewYork('soon')).toBeUndefined();
});
