import fc from 'fast-check';
import { expect, it } from 'vitest';
import { testBroker, testEquity } from '../testing/market.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { portfolioMarginRequirement, regTRequirement } from './requirement.js';

const quantity = fc.integer({ min: -1e13, max: 1e13 }).map(Quantity.ofUnits);
const price = fc.integer({ min: 1, max: 1e12 }).map(Price.ofUnits);
const factor = fc.oneof(fc.constantFrom(1, 2, 3, -1, -3), fc.double({ min: -5, max: 5, noNaN: true }));

it('a requirement is never negative, exact, and nothing for nothing', () => {
  fc.assert(
    fc.property(quantity, price, factor, (held, mark, leverageFactor) => {
      const equity = testEquity('X', { leverageFactor });
      for (const requirement of [
        regTRequirement(equity, held, mark, testBroker('b')),
        portfolioMarginRequirement(held, mark),
      ]) {
        expect(requirement.fed).toBeGreaterThanOrEqual(0);
        expect(requirement.house).toBeGreaterThanOrEqual(0);
        expect(Number.isInteger(requirement.fed) && Number.isInteger(requirement.house)).toBe(true);
      }
      expect(regTRequirement(equity, Quantity.zero, mark, testBroker('b'))).toEqual({ fed: 0, house: 0 });
    }),
  );
});

it('a long position never needs more than it is worth, and a larger one never less', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e12 }),
      fc.integer({ min: 0, max: 1e12 }),
      price,
      factor,
      (a, b, mark, leverageFactor) => {
        const equity = testEquity('X', { leverageFactor });
        const needed = (units: number) =>
          regTRequirement(equity, Quantity.ofUnits(units), mark, testBroker('b'));
        const value = Money.of(mark, Quantity.ofUnits(a));
        expect(needed(a).fed).toBeLessThanOrEqual(value);
        expect(needed(a).house).toBeLessThanOrEqual(value);
        expect(needed(a + b).fed).toBeGreaterThanOrEqual(needed(a).fed);
        expect(needed(a + b).house).toBeGreaterThanOrEqual(needed(a).house);
      },
    ),
  );
});
