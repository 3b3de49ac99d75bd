import { calendarById, Instant, Money, Price, Quantity } from '@sandpit/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterDuration } from './instants.js';
import { moneyNumber, moneyOf, priceNumber, priceOf, quantityNumber, quantityOf } from './numbers.js';

describe('numbers', () => {
  it('are read and written as exact decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e13, max: 1e15 }), (units) => {
        expect(priceNumber(Price.ofUnits(units))).toBe(Number(Price.format(Price.ofUnits(units))));
        expect(priceOf(Number(Price.format(Price.ofUnits(units))))).toBe(units);
        expect(quantityOf(Number(Quantity.format(Quantity.ofUnits(units))))).toBe(units);
        expect(quantityNumber(Quantity.ofUnits(units))).toBe(
          Number(Quantity.format(Quantity.ofUnits(units))),
        );
        expect(moneyOf(Number(Money.format(Money.ofUnits(units))))).toBe(units);
        expect(moneyNumber(Money.ofUnits(units))).toBe(Number(Money.format(Money.ofUnits(units))));
      }),
    );
  });

  it('with too many decimals are refused, not rounded', () => {
    expect(() => priceOf(0.000000001)).toThrow(RangeError);
    expect(() => quantityOf(1.0000001)).toThrow(RangeError);
    expect(priceOf(1e-8)).toBe(1);
    expect(Object.is(moneyOf(-0), 0)).toBe(true);
  });
});

describe('durations', () => {
  it.each([
    ['PT1S', 1000],
    ['PT0.25S', 250],
    ['P1D', 86_400_000],
    ['P1W1DT1H1M1S', 604_800_000 + 86_400_000 + 3_661_000],
  ])('%s', (text, ms) => {
    expect(afterDuration(Instant.ofMs(5), text, calendarById('always-open'))).toBe(5 + ms);
  });
});
