import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Price } from '../values/price.js';
import type { Equity } from './instrument.js';
import { isOnTick, tickSizeFor } from './tick-size.js';

const stock: Equity = {
  assetClass: 'EQUITY',
  symbol: 'ACME',
  name: 'Acme Corporation',
  leverageFactor: 1,
  shortable: true,
  borrowRateAnnual: 0.003,
  averageDailyVolume: 1_000_000,
  dailyVolatility: 0.02,
};
const halfPenny: Equity = { ...stock, tickSize: Price.of('0.005') };

describe('Rule 612', () => {
  test.each([
    ['187.50', '0.01'],
    ['1', '0.01'],
    ['0.9999', '0.0001'],
    ['0.0001', '0.0001'],
  ])('at %s the increment is %s', (price, tick) => {
    expect(tickSizeFor(stock, Price.of(price))).toBe(Price.of(tick));
  });

  test.each([
    ['187.50', true],
    ['187.505', false],
    ['1.0001', false],
    ['0.9999', true],
    ['0.99995', false],
  ])('%s on the tick: %s', (price, expected) => {
    expect(isOnTick(stock, Price.of(price))).toBe(expected);
  });

  test("an instrument's own tick goes before the rule, at any price", () => {
    expect(isOnTick(halfPenny, Price.of('10.005'))).toBe(true);
    expect(isOnTick(halfPenny, Price.of('0.5001'))).toBe(false);
    expect(isOnTick(halfPenny, Price.of('10.0025'))).toBe(false);
  });

  test('a price rounded to its tick is on its tick, also across one dollar', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e12 }),
        fc.constantFrom('up' as const, 'down' as const),
        (units, direction) => {
          const price = Price.ofUnits(units);
          const rounded = Price.roundToTick(price, tickSizeFor(stock, price), direction);
          expect(isOnTick(stock, rounded)).toBe(true);
        },
      ),
    );
  });
});
