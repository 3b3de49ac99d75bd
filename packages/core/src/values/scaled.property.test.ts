import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Money } from './money.js';
import { Price } from './price.js';
import { Quantity } from './quantity.js';
import { divideRounded, formatScaled, multiplyDivide, parseScaled } from './scaled.js';
import type { Rounding } from './scaled.js';

const Exact = Decimal.clone({ precision: 60 });

const MODES: Readonly<Record<Rounding, Decimal.Rounding>> = {
  'half-up': Decimal.ROUND_HALF_UP,
  up: Decimal.ROUND_UP,
  down: Decimal.ROUND_DOWN,
};

const rounding = fc.constantFrom<Rounding>('half-up', 'up', 'down');
const safe = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -1000, max: 1000 }));
const divisor = fc
  .oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1e14 }))
  .chain((by) => fc.constantFrom(by, -by));

/** Expected result by decimal arithmetic of sixty digits, if it is an integer that a double represents exactly. */
function expected(value: Decimal, mode: Rounding): number | undefined {
  const whole = value.toDecimalPlaces(0, MODES[mode]);
  return whole.abs().lte(Number.MAX_SAFE_INTEGER) ? whole.toNumber() + 0 : undefined;
}

describe('against decimal.js', () => {
  it('divideRounded', () => {
    fc.assert(
      fc.property(safe, divisor, rounding, (value, by, mode) => {
        expect(divideRounded(value, by, mode) + 0).toBe(expected(new Exact(value).div(by), mode));
      }),
      { numRuns: 2000 },
    );
  });

  it('multiplyDivide, far beyond the safe range in between', () => {
    fc.assert(
      fc.property(safe, safe, divisor, rounding, (a, b, by, mode) => {
        const exact = expected(new Exact(a).mul(b).div(by), mode);
        const answer = multiplyDivide(a, b, by, mode) + 0;
        if (exact === undefined) expect(Math.abs(answer)).toBeGreaterThan(Number.MAX_SAFE_INTEGER - 1);
        else expect(answer).toBe(exact);
      }),
      { numRuns: 2000 },
    );
  });

  it('halves go away from zero', () => {
    expect([divideRounded(5, 10, 'half-up'), divideRounded(-5, 10, 'half-up')]).toEqual([1, -1]);
    expect([divideRounded(4, 10, 'half-up') + 0, divideRounded(-4, 10, 'half-up') + 0]).toEqual([0, 0]);
  });

  it('price × quantity', () => {
    const price = fc.integer({ min: 1, max: 1e13 });
    const quantity = fc.oneof(
      fc.integer({ min: 1, max: 1e12 }),
      fc.integer({ min: 1, max: 1e6 }).map((n) => n * 1e6),
    );
    fc.assert(
      fc.property(price, quantity, (p, q) => {
        const dollars = new Exact(p).div(1e8).mul(new Exact(q).div(1e6));
        const units = expected(dollars.mul(1e4), 'half-up');
        if (units !== undefined) expect(Money.of(Price.ofUnits(p), Quantity.ofUnits(q))).toBe(units);
      }),
      { numRuns: 2000 },
    );
  });

  it('cents, half up and up', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e15, max: 1e15 }), (units) => {
        const cents = new Exact(units).div(100);
        const money = Money.ofUnits(units);
        expect(Money.toCents(money) + 0).toBe(
          cents.toDecimalPlaces(0, Decimal.ROUND_HALF_UP).mul(100).toNumber() + 0,
        );
        expect(Money.upToCents(money) + 0).toBe(
          cents.toDecimalPlaces(0, Decimal.ROUND_UP).mul(100).toNumber() + 0,
        );
      }),
    );
  });
});

describe('as text', () => {
  const scale = fc.integer({ min: 0, max: 8 });

  it('formatted and parsed is the same', () => {
    fc.assert(
      fc.property(safe, scale, (value, decimals) => {
        const text = formatScaled(value, decimals);
        expect(parseScaled(text, decimals)).toBe(value + 0);
        expect(new Exact(text).mul(new Exact(10).pow(decimals)).toNumber() + 0).toBe(value + 0);
      }),
      { numRuns: 1000 },
    );
  });

  it('the shortest: no zeros behind, no point at the end', () => {
    fc.assert(
      fc.property(safe, scale, (value, decimals) => {
        const text = formatScaled(value, decimals);
        expect(text).toBe(new Exact(value).div(new Exact(10).pow(decimals)).toFixed());
      }),
    );
  });

  it('parses printed JSON numbers, exponents included, and refuses other text', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }),
        scale,
        (value, decimals) => {
          const units = new Exact(String(value)).mul(new Exact(10).pow(decimals));
          const fits = units.isInteger() && units.abs().lte(Number.MAX_SAFE_INTEGER);
          expect(parseScaled(String(value), decimals)).toBe(fits ? units.toNumber() + 0 : undefined);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it.each(['', ' 1', '1 ', '1.', '.5', '0x10', '1,5', 'NaN', 'Infinity', '1e', '--1', '1e9999'])(
    'refuses %j',
    (text) => {
      expect(parseScaled(text, 4)).toBeUndefined();
    },
  );
});
