import fc from 'fast-check';
import { expect, it } from 'vitest';
import { alwaysOpen } from '../calendar/always-open.js';
import { NO_MARKET } from '../testing/margin-legs.js';
import { testBroker, testEquity } from '../testing/market.js';
import { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { Amounts, Holding, MarginBook } from './book.js';
import { amountsOf, requirementOf } from './requirement.js';

const bookOf = (holdings: Holding[], marginType: MarginBook['marginType']): MarginBook => ({
  marginType,
  engine: undefined,
  house: testBroker('b'),
  asOf: Instant.ofMs(0),
  calendar: alwaysOpen,
  market: NO_MARKET,
  holdings,
});

const marginType = fc.constantFrom('REG_T' as const, 'PORTFOLIO' as const);
const factor = fc.oneof(fc.constantFrom(1, 2, 3, -1, -3), fc.double({ min: -5, max: 5, noNaN: true }));
const anything = fc
  .record({ units: fc.integer({ min: -1e13, max: 1e13 }), price: fc.integer({ min: 1, max: 1e12 }), factor })
  .map(({ units, price, factor: leverageFactor }): Holding => ({
    instrument: testEquity('X', { leverageFactor }),
    quantity: Quantity.ofUnits(units),
    mark: Price.ofUnits(price),
  }));
/** Whole shares at whole cents: every percentage of them is exact. */
const plain = fc
  .record({ shares: fc.integer({ min: -5000, max: 5000 }), cents: fc.integer({ min: 1, max: 100_000 }) })
  .map(({ shares, cents }): Holding => ({
    instrument: testEquity('X'),
    quantity: Quantity.of(shares),
    mark: Price.ofUnits(cents * 1_000_000),
  }));
const named = fc
  .array(plain, { maxLength: 8 })
  .map((holdings) => holdings.map((holding, i) => ({ ...holding, instrument: testEquity(`S${i}`) })));

const figures = ({ fed, house, initial, counted }: Amounts): number[] => [fed, house, initial, counted];

it('the requirement is never negative, exact, and the sum of its groups', () => {
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 4 }), marginType, (holdings, type) => {
      const book = bookOf(
        holdings.map((holding, i) => ({
          ...holding,
          instrument: { ...holding.instrument, symbol: `S${i}` },
        })),
        type,
      );
      const { groups, scenarios: _, ...sums } = requirementOf(book);
      for (const amount of [sums.fed, sums.house, sums.initial]) {
        expect(amount).toBeGreaterThanOrEqual(0);
        expect(Number.isInteger(amount)).toBe(true);
      }
      expect(sums).toEqual(amountsOf(book));
      const total = groups.map(({ amounts }) => figures(amounts));
      expect(figures(sums)).toEqual([0, 1, 2, 3].map((i) => total.reduce((sum, row) => sum + row[i]!, 0)));
    }),
  );
});

it('of a long position is never more than it is worth, and of a larger one never less', () => {
  fc.assert(
    fc.property(anything, fc.nat({ max: 1e12 }), marginType, (holding, more, type) => {
      const quantity = Quantity.abs(holding.quantity);
      const of = (units: number): Amounts =>
        amountsOf(bookOf([{ ...holding, quantity: Quantity.ofUnits(units) }], type));
      const one = of(quantity);
      const larger = of(quantity + more);
      expect(Math.max(one.fed, one.house, one.initial)).toBeLessThanOrEqual(one.counted);
      expect(larger.fed).toBeGreaterThanOrEqual(one.fed);
      expect(larger.house).toBeGreaterThanOrEqual(one.house);
    }),
  );
});

it('is the same in any order and however positions are divided, and grows as they do', () => {
  fc.assert(
    fc.property(
      named,
      marginType,
      fc.integer({ min: 2, max: 9 }),
      fc.integer({ min: -5000, max: 5000 }),
      (holdings, type, times, part) => {
        const whole = requirementOf(bookOf(holdings, type));
        const reversed = requirementOf(bookOf([...holdings].reverse(), type));
        expect(figures(reversed)).toEqual(figures(whole));
        const divided = holdings.flatMap((holding) => [
          { ...holding, quantity: Quantity.of(part) },
          { ...holding, quantity: Quantity.subtract(holding.quantity, Quantity.of(part)) },
        ]);
        expect(requirementOf(bookOf(divided, type))).toEqual(whole);
        const larger = holdings.map((holding) => ({
          ...holding,
          quantity: Quantity.ofUnits(holding.quantity * times),
        }));
        expect(figures(requirementOf(bookOf(larger, type)))).toEqual(
          figures(whole).map((amount) => amount * times),
        );
      },
    ),
  );
});
