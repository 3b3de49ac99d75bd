import { calendarById, Instant, Money, Price, Quantity } from '@sandpit/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterDuration, lengthMs } from './instants.js';
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

describe('durations (D246)', () => {
  const XNYS = calendarById('XNYS');
  const at = (text: string): Instant => Instant.ofMs(Date.parse(text));

  it.each([
    ['2026-03-06T15:30-05:00', 'P3D', '2026-03-09T15:30:00-04:00'],
    ['2026-03-06T15:30-05:00', 'PT72H', '2026-03-09T16:30:00-04:00'],
    ['2026-03-07T02:30-05:00', 'P1D', '2026-03-08T03:30:00-04:00'],
    ['2026-10-31T01:30-04:00', 'P1D', '2026-11-01T01:30:00-04:00'],
    ['2026-10-31T23:30-04:00', 'P1DT2H', '2026-11-02T01:30:00-05:00'],
    ['2026-01-31T12:00-05:00', 'P1M1D', '2026-03-01T12:00:00-05:00'],
    // Further ones, by the calendar.
    ['2026-03-06T15:30-05:00', 'PT24H', '2026-03-07T15:30:00-05:00'],
    ['2026-03-07T15:30-05:00', 'PT24H', '2026-03-08T16:30:00-04:00'],
    ['2026-10-31T15:30-04:00', 'P1W', '2026-11-07T15:30:00-05:00'],
    ['2026-11-01T01:30-05:00', 'PT0S', '2026-11-01T01:30:00-05:00'],
    ['2026-11-01T01:30-05:00', 'P0D', '2026-11-01T01:30:00-05:00'],
    ['2026-11-01T01:30-05:00', 'P1D', '2026-11-02T01:30:00-05:00'],
    ['2028-02-29T09:30:01.250-05:00', 'P1Y', '2029-02-28T09:30:01.250-05:00'],
    ['2026-01-31T12:00-05:00', 'P1M', '2026-02-28T12:00:00-05:00'],
    ['2026-08-31T12:00-04:00', 'P2M1W', '2026-11-07T12:00:00-05:00'],
  ])('%s + %s = %s', (from, text, expected) => {
    expect(XNYS.format(afterDuration(at(from), text, XNYS))).toBe(expected);
    expect(afterDuration(at(from), text, calendarById('always-open'))).toBe(at(expected));
  });

  it.each([
    ['PT1S', 1000],
    ['PT0.25S', 250],
    ['P1D', 86_400_000],
    ['P1W1DT1H1M1S', 604_800_000 + 86_400_000 + 3_661_000],
  ])('%s of real time: a day is 24 hours, over a change of daylight saving too', (text, ms) => {
    expect(lengthMs(text, at('2026-03-07T15:30-05:00'))).toBe(ms);
  });

  it('a month of real time has the days of the calendar', () => {
    expect(lengthMs('P1M', at('2026-02-01T00:00Z'))).toBe(28 * 86_400_000);
    expect(lengthMs('P1M', at('2026-01-31T23:00Z'))).toBe(28 * 86_400_000);
  });
});
