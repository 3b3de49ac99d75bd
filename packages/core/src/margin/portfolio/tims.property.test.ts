import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import { WHOLE_MOVE } from './risk-legs.js';
import type { Revaluation, RiskLeg } from './risk-legs.js';
import { riskParametersOn } from './risk-parameters.js';
import { timsRequirementOf } from './tims.js';

const parameters = riskParametersOn(TradingDate.of('2026-01-05'));
const AT = 100;

interface Terms {
  readonly isCall: boolean;
  readonly strike: number;
}
const terms = new WeakMap<RiskLeg, Terms>();

/** Valued at its exercise value. */
const intrinsic: Revaluation = (leg, move) => {
  const { isCall, strike } = terms.get(leg)!;
  const moved = AT * (1 + move / WHOLE_MOVE);
  return Price.ofUnits(Math.round(Math.max(0, isCall ? moved - strike : strike - moved) * 1e8));
};

const plain = { underlyingClass: 'EQUITY', leverageFactor: 1 } as const;

const stock = fc
  .integer({ min: -500, max: 500 })
  .filter((count) => count !== 0)
  .map((count): RiskLeg => ({
    ...plain,
    kind: 'STOCK',
    symbol: 'X',
    underlying: 'X',
    quantity: Quantity.of(count),
    multiplier: 1,
    price: Price.of(String(AT)),
  }));
const option = fc
  .record({
    isCall: fc.boolean(),
    strike: fc.integer({ min: 70, max: 130 }),
    count: fc.integer({ min: -9, max: 9 }).filter((count) => count !== 0),
    beyond: fc.integer({ min: 0, max: 300 }),
  })
  .map(({ isCall, strike, count, beyond }): RiskLeg => {
    const worth = Math.max(0, isCall ? AT - strike : strike - AT) + beyond / 100;
    const leg: RiskLeg = {
      ...plain,
      kind: 'OPTION',
      symbol: `X ${strike} ${isCall ? 'C' : 'P'}`,
      underlying: 'X',
      quantity: Quantity.of(count),
      multiplier: 100,
      price: Price.of(worth.toFixed(2)),
    };
    terms.set(leg, { isCall, strike });
    return leg;
  });
const book = fc
  .tuple(fc.option(stock, { nil: undefined }), fc.array(option, { maxLength: 8 }))
  .map(([one, more]) => (one === undefined ? more : [one, ...more]));

const requirement = (legs: readonly RiskLeg[]): number =>
  timsRequirementOf(legs, parameters, intrinsic).requirement;

/** $37.50 per contract, for a long one at most its value. */
const least = (legs: readonly RiskLeg[]): number =>
  legs.reduce((sum, { kind, quantity, price }) => {
    if (kind === 'STOCK') return sum;
    const contracts = Math.abs(quantity) / 1e6;
    const floor = contracts * 37.5 * 1e4;
    return sum + (quantity < 0 ? floor : Math.min(floor, (contracts * 100 * price) / 1e4));
  }, 0);

it('the requirement of a class is between its minimums and the sum of its parts (D115)', () => {
  fc.assert(
    fc.property(book, (legs) => {
      const all = requirement(legs);
      expect(all).toBeGreaterThanOrEqual(least(legs) - legs.length);
      expect(all).toBeLessThanOrEqual(legs.reduce((sum, leg) => sum + requirement([leg]), 0) + legs.length);
    }),
    { numRuns: 300 },
  );
});
