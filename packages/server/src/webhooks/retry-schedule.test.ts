import { expect, it } from 'vitest';
import { MOST_TRIES, retryDelay } from './retry-schedule.js';

it('retryDelay: follows the schedule of the contract, later by a fifth at most', () => {
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
  expect(minutes.map((_, index) => (retryDelay(index + 1, 0) ?? 0) / 60_000)).toEqual(minutes);
  expect(retryDelay(1, 1)).toBe(6000);
  expect(retryDelay(2, 0.5)).toBe(330_000);
  expect(retryDelay(MOST_TRIES, 0)).toBeUndefined();
  expect(MOST_TRIES).toBe(10);
});
