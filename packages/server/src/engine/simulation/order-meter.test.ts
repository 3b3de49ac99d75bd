import { describe, expect, it } from 'vitest';
import { OrderMeter } from './order-meter.js';

describe('OrderMeter', () => {
  it('counts orders of the last minute, and all of them', () => {
    const meter = new OrderMeter();
    for (let second = 0; second < 120; second++) meter.count(second * 1000, 5);
    expect([meter.rate(120_000), meter.total]).toEqual([5, 600]);
    expect(meter.rate(300_000)).toBe(0);
  });
});
