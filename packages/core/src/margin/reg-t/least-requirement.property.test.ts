import fc from 'fast-check';
import { expect, it } from 'vitest';
import { optionLeg } from '../../testing/margin-legs.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import { leastAmountsOf, regTRequirementOf } from './least-requirement.js';
import type { RegTRequirement } from './least-requirement.js';
import type { RegTLeg } from './legs.js';

const EXPIRATIONS = ['2026-02-20', '2026-06-19', '2027-01-15'];
const U = Price.of('100');

const option = fc
  .record({
    isCall: fc.boolean(),
    strike: fc.integer({ min: 16, max: 24 }).map((fives) => fives * 5),
    expiry: fc.constantFrom(0, 0, 1, 2),
    count: fc.integer({ min: -4, max: 4 }).filter((count) => count !== 0),
    cents: fc.integer({ min: 0, max: 1500 }),
  })
  .map(({ isCall, strike, expiry, count, cents }) =>
    optionLeg({
      underlying: 'X',
      right: isCall ? 'CALL' : 'PUT',
      strike: String(strike),
      expiration: EXPIRATIONS[expiry]!,
      quantity: count,
      price: String(cents / 100),
      underlyingPrice: '100',
    }),
  );

const stock = fc.constantFrom(-300, -150, -100, 100, 200, 250).map((shares): RegTLeg => ({
  kind: 'STOCK',
  symbol: 'X',
  quantity: Quantity.of(shares),
  price: U,
  leverageFactor: 1,
}));

const options = fc.uniqueArray(option, { minLength: 1, maxLength: 8, selector: ({ symbol }) => symbol });
const books = fc
  .tuple(options, fc.option(stock))
  .map(([legs, shares]) => (shares ? [...legs, shares] : legs));

const RULES = {
  house: { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 },
  asOf: Instant.ofMs(TradingDate.dayOf(TradingDate.of('2026-01-05')) * 86_400_000),
  date: TradingDate.of('2026-01-05'),
};

function requirementOf(legs: readonly RegTLeg[]): RegTRequirement {
  const requirement = regTRequirementOf({ ...RULES, legs });
  if ('refusals' in requirement) throw new Error(JSON.stringify(requirement.refusals));
  return requirement;
}

/** The objective: maintenance less the equity contribution of long-dated longs. */
const aim = (requirement: RegTRequirement): number =>
  requirement.groups.reduce(
    (sum, { strategy, amounts }) =>
      sum + amounts.house - (strategy === 'LONG_CALL' || strategy === 'LONG_PUT' ? amounts.counted : 0),
    0,
  );

it('uses every contract and share once, and adds up', () => {
  fc.assert(
    fc.property(books, (legs) => {
      const requirement = requirementOf(legs);
      const held = new Map(legs.map(({ symbol, quantity }) => [symbol, quantity as number]));
      for (const { legs: mine } of requirement.groups)
        for (const { symbol, quantity } of mine) held.set(symbol, held.get(symbol)! - quantity);
      expect([...held.values()].every((quantity) => quantity === 0)).toBe(true);
      for (const figure of ['fed', 'house', 'initial', 'counted'] as const)
        expect(requirement.groups.reduce((sum, { amounts }) => sum + amounts[figure], 0)).toBe(
          requirement[figure],
        );
    }),
  );
});

it('leastRequirement: equals its named groups, with and without rounding', () => {
  const priced = fc.tuple(books, fc.constantFrom(0, 0, 12_345), fc.option(fc.constant(10_200)));
  fc.assert(
    fc.property(priced, ([drawn, more, shortBoxCostBps]) => {
      const legs = drawn.map((leg): RegTLeg => {
        if (leg.kind === 'STOCK') return leg;
        const price = Price.ofUnits(leg.price! + more);
        return shortBoxCostBps === null
          ? { ...leg, price }
          : { ...leg, price, style: 'EUROPEAN', settlement: 'CASH' };
      });
      const book = { ...RULES, legs, ...(shortBoxCostBps !== null && { shortBoxCostBps }) };
      const { groups: _, ...sums } = regTRequirementOf(book) as RegTRequirement;
      expect(leastAmountsOf(book)).toEqual(sums);
    }),
  );
});

it('is the same in any order and however positions are divided', () => {
  fc.assert(
    fc.property(books, fc.integer({ min: -3, max: 3 }), fc.nat(), (legs, part, turn) => {
      const whole = requirementOf(legs);
      const at = turn % legs.length;
      const turned = [...legs.slice(at), ...legs.slice(0, at)].reverse();
      expect(requirementOf(turned)).toEqual(whole);
      const divided = legs.flatMap((leg) => [
        { ...leg, quantity: Quantity.of(part) },
        { ...leg, quantity: Quantity.subtract(leg.quantity, Quantity.of(part)) },
      ]);
      expect(requirementOf(divided)).toEqual(whole);
    }),
  );
});

it('is at most the sum of the requirements of all parts', () => {
  fc.assert(
    fc.property(books, (legs) => {
      const alone = legs.reduce((sum, leg) => sum + aim(requirementOf([leg])), 0);
      expect(aim(requirementOf(legs))).toBeLessThanOrEqual(alone);
    }),
  );
});

it('is never raised by another long option', () => {
  fc.assert(
    fc.property(books, option, (legs, another) => {
      const long = { ...another, quantity: Quantity.abs(another.quantity) };
      const held = legs.find(({ symbol }) => symbol === long.symbol);
      // A series has one price.
      const added = held?.kind === 'OPTION' ? { ...long, price: held.price } : long;
      expect(aim(requirementOf([...legs, added]))).toBeLessThanOrEqual(aim(requirementOf(legs)));
    }),
  );
});

it('of n times as much is no more than n times as much', () => {
  fc.assert(
    fc.property(books, fc.integer({ min: 2, max: 7 }), (legs, n) => {
      const larger = legs.map((leg) => ({ ...leg, quantity: Quantity.ofUnits(leg.quantity * n) }));
      expect(aim(requirementOf(larger))).toBeLessThanOrEqual(n * aim(requirementOf(legs)));
    }),
  );
});

it('is at most the maximum loss when longs cover all shorts', () => {
  fc.assert(
    fc.property(options, (drawn) => {
      const legs = drawn.filter(({ expiration }) => expiration === EXPIRATIONS[0]);
      for (const right of ['CALL', 'PUT']) {
        const sum = legs.reduce((total, leg) => total + (leg.right === right ? leg.quantity : 0), 0);
        fc.pre(sum >= 0);
      }
      const prices = [0, ...legs.map(({ strike }) => strike / 1e8)];
      const lost = prices.map((price) =>
        legs.reduce((sum, { right, strike, quantity }) => {
          const inTheMoney = Math.max(0, right === 'CALL' ? price - strike / 1e8 : strike / 1e8 - price);
          return sum - (inTheMoney * 100 * quantity) / 1e6;
        }, 0),
      );
      expect(requirementOf(legs).house / 10_000).toBeLessThanOrEqual(Math.max(0, ...lost) + 1e-9);
    }),
  );
});
