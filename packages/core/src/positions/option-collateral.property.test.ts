import fc from 'fast-check';
import { expect, it } from 'vitest';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import { Instant } from '../values/instant.js';
import { Quantity } from '../values/quantity.js';
import { collateralOf } from './option-collateral.js';
import type { CollateralLeg } from './option-collateral.js';

const DATES = ['260116', '260220', '260320'];

/** Each series once: calls and puts at 80 … 130 that end on one of `days` days. */
const books = (days: number) =>
  fc
    .uniqueArray(fc.tuple(fc.nat(days - 1), fc.constantFrom('C', 'P'), fc.integer({ min: 8, max: 13 })), {
      selector: String,
      maxLength: 12,
    })
    .chain((series) =>
      fc
        .array(fc.integer({ min: -4, max: 4 }), { minLength: series.length, maxLength: series.length })
        .map((counts) =>
          series.map(([day, right, strike], index): CollateralLeg => {
            const symbol = `X${DATES[day]}${right}${String(strike * 10_000).padStart(8, '0')}`;
            return {
              contract: optionContract(parseOsi(symbol)!, {}, () => undefined)!,
              count: counts[index]!,
            };
          }),
        ),
    );

const settlesAt: Parameters<typeof collateralOf>[2] = ({ expiration }) =>
  Instant.ofMs(Date.parse(expiration));

/** Value in dollars when the underlying ends at a price. */
const worthAt = (legs: readonly CollateralLeg[], price: number): number =>
  legs.reduce((sum, { contract, count }) => {
    const strike = contract.strike / 1e8;
    const inTheMoney = contract.optionType === 'CALL' ? price - strike : strike - price;
    return sum + count * 100 * Math.max(0, inTheMoney);
  }, 0);

const sumOf = (legs: readonly CollateralLeg[], type: 'CALL' | 'PUT', sign: 1 | -1): number =>
  legs.reduce(
    (sum, { contract, count }) => sum + (contract.optionType === type ? Math.max(0, count * sign) : 0),
    0,
  );

/** The legs without as many of their lowest short puts, and what those deliver for. */
function withoutLowestPuts(
  legs: readonly CollateralLeg[],
  count: number,
): { readonly rest: readonly CollateralLeg[]; readonly strikes: number } {
  const singles = legs
    .filter((leg) => leg.count < 0 && leg.contract.optionType === 'PUT')
    .flatMap((leg) => Array.from({ length: -leg.count }, () => leg))
    .sort((a, b) => a.contract.strike - b.contract.strike)
    .slice(0, count);
  return {
    rest: legs.map((leg) => ({
      ...leg,
      count: leg.count + singles.filter((single) => single === leg).length,
    })),
    strikes: singles.reduce((sum, { contract }) => sum + (contract.strike / 1e8) * 100, 0),
  };
}

it('collateral of one expiration: strikes of uncovered puts and the maximum loss of the rest (D270)', () => {
  fc.assert(
    fc.property(books(1), (legs) => {
      const cover = collateralOf(legs, Quantity.zero, settlesAt);
      const shortCalls = sumOf(legs, 'CALL', -1);
      const shortPuts = sumOf(legs, 'PUT', -1);
      expect(cover.nakedCalls).toBe(Math.max(0, shortCalls - sumOf(legs, 'CALL', 1)));
      const lacking = Math.max(0, shortPuts - sumOf(legs, 'PUT', 1));
      expect(cover.nakedPuts).toBe(lacking);
      expect(cover.spreads).toBe(shortCalls - cover.nakedCalls + shortPuts - lacking);
      if (cover.nakedCalls > 0) return;
      // Longs of a type without shorts cover none.
      const used = legs.filter(
        ({ contract }) => (contract.optionType === 'CALL' ? shortCalls : shortPuts) > 0,
      );
      const { rest, strikes } = withoutLowestPuts(used, lacking);
      const prices = Array.from({ length: 200 }, (_, price) => price);
      const least = Math.min(0, ...prices.map((price) => worthAt(rest, price)));
      expect(cover.cash / 10_000).toBe(strikes + (least === 0 ? 0 : -least));
      expect(cover.secured / 10_000).toBe(strikes);
    }),
  );
});

it('option collateral: does not depend on the order of series', () => {
  fc.assert(
    fc.property(
      books(3).chain((legs) =>
        fc.tuple(fc.constant(legs), fc.shuffledSubarray(legs, { minLength: legs.length })),
      ),
      fc.nat(500),
      ([legs, shuffled], shares) => {
        const free = Quantity.of(shares);
        expect(collateralOf(shuffled, free, settlesAt)).toEqual(collateralOf(legs, free, settlesAt));
      },
    ),
  );
});
