import { expect, it } from 'vitest';
import { TrailRate } from './trail-rate.js';

it('TrailRate: admits an order once a second, and 100 updates a second of a portfolio', () => {
  const rate = new TrailRate();
  const admit = (number: number, nowMs: number, portfolioId = 'one') =>
    rate.admit({ number, portfolioId }, nowMs);
  expect(admit(1, 0)).toBe(true);
  expect(admit(1, 999)).toBe(false);
  expect(admit(1, 1000)).toBe(true);
  const admitted = Array.from({ length: 150 }, (_, i) => admit(i + 2, 1500)).filter(Boolean);
  expect(admitted).toHaveLength(99);
  expect(admit(500, 1500, 'two')).toBe(true);
  // The portfolio is below its limit again; an order updated in the second before is not.
  expect(admit(200, 2000)).toBe(true);
  expect(admit(2, 2000)).toBe(false);
  expect(admit(2, 2500)).toBe(true);
  // A clock that was set back does not silence anybody.
  expect(admit(2, 100)).toBe(true);
});
