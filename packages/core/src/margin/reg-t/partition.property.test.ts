import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leastByTrying } from '../../testing/exhaustive-partition.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import { contractOf } from './contracts.js';
import type { Contract, Micros, RegTTerms } from './contracts.js';
import type { OptionLeg } from './legs.js';
import { aimedAt, aloneOf } from './model.js';
import type { UnderlyingPositions, Partition } from './model.js';
import { longStock, shortStock, shortStraddle } from './groups.js';
import { regTParametersOn } from './parameters.js';
import { leastPartition } from './partition.js';

const asOf = TradingDate.of('2026-01-05');
const terms: RegTTerms = {
  parameters: regTParametersOn(asOf),
  house: { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 },
  asOf,
};

const leg = fc.record({
  isCall: fc.boolean(),
  strike: fc.constantFrom(80, 90, 95, 100, 105, 110, 120),
  expiry: fc.constantFrom(0, 1),
  count: fc.constantFrom(-3, -2, -1, -1, 1, 1, 2, 3),
  /** Cents: few values, so that different groups often have the same requirement. */
  price: fc.constantFrom(0, 50, 100, 100, 250, 500, 1000, 2000),
  european: fc.constantFrom(false, false, false, false, true),
});
interface Drawn {
  readonly isCall: boolean;
  readonly strike: number;
  readonly expiry: number;
  readonly count: number;
  readonly price: number;
  readonly european: boolean;
}

const EXPIRATIONS = ['2026-02-20', '2027-01-15', '2026-06-19'].map((date) => TradingDate.of(date));

function contract(drawn: Drawn, underlyingDollars: number): Contract {
  const expiration = EXPIRATIONS[drawn.expiry]!;
  const option: OptionLeg = {
    kind: 'OPTION',
    symbol: `${drawn.isCall ? 'C' : 'P'}${drawn.strike}${drawn.expiry}${drawn.european ? 'E' : 'A'}`,
    underlying: 'X',
    underlyingClass: 'EQUITY',
    right: drawn.isCall ? 'CALL' : 'PUT',
    strike: Price.of(String(drawn.strike)),
    expiration,
    settlesAt: Instant.ofMs(TradingDate.dayOf(expiration) * 86_400_000),
    style: drawn.european ? 'EUROPEAN' : 'AMERICAN',
    settlement: 'PHYSICAL',
    multiplier: 100,
    deliverable: 100,
    quantity: Quantity.of(drawn.count),
    price: Price.ofUnits(drawn.price * 1_000_000),
    underlyingPrice: Price.of(String(underlyingDollars)),
    leverageFactor: 1,
  };
  return contractOf(option, drawn.count, terms);
}

const bySymbol = (a: Contract, b: Contract): number => (a.symbol < b.symbol ? -1 : 1);

const chains = (
  most: number,
  mostCombinations: number,
  lots: readonly number[] = [0, 0, 100, 200, 250, 300, -100, -200, -300],
): fc.Arbitrary<UnderlyingPositions> =>
  fc
    .record({
      legs: fc.uniqueArray(leg, {
        minLength: 1,
        maxLength: most,
        selector: ({ isCall, strike, expiry, european }) => `${isCall} ${strike} ${expiry} ${european}`,
      }),
      shares: fc.constantFrom(...lots),
      underlying: fc.constantFrom(4, 85, 100, 100, 103, 115),
    })
    .map(({ legs, shares, underlying }) => ({
      contracts: legs.map((drawn) => contract(drawn, underlying)).sort(bySymbol),
      shares,
    }))
    .filter((positions) => ways(positions) <= mostCombinations);

/** Approximate number of groups to try, a measure of the work. */
const ways = ({ contracts, shares }: UnderlyingPositions): number =>
  [...contracts.map(({ count }) => count), Math.floor(Math.abs(shares) / 100)].reduce(
    (product, count) => (product * (count + 1) * (count + 2)) / 2,
    1,
  );

/** Objectives of a partition, whole lots of stock included. */
function amountsOf(
  { contracts, shares }: UnderlyingPositions,
  { combos, straddles, spreads }: Partition,
): [Micros, Micros] {
  const left = contracts.map(({ count }) => count);
  let lots = Math.floor(Math.abs(shares) / 100);
  let first = 0;
  let second = 0;
  for (const { combo, count } of combos) {
    for (const i of combo.legs) left[i]! -= count;
    lots -= (Math.abs(combo.shares) / 100) * count;
    first += combo.amounts.maintenance * count;
    second += combo.amounts.initial * count;
  }
  for (const { call, put, count } of straddles) {
    left[call]! -= count;
    left[put]! -= count;
    const { maintenance } = shortStraddle(contracts[call]!, contracts[put]!);
    first += maintenance * count;
    second += maintenance * count;
  }
  for (const { legs, loss } of spreads) {
    first += loss;
    second += loss;
    for (const [i, count] of legs) {
      left[i]! -= count;
      if (!contracts[i]!.isShort) second += contracts[i]!.premium * count;
    }
  }
  left.forEach((count, i) => {
    expect(count).toBeGreaterThanOrEqual(0);
    const alone = aloneOf(contracts[i]!, terms);
    first += aimedAt(alone, contracts[i]!) * count;
    second += alone.initial * count;
  });
  expect(lots).toBeGreaterThanOrEqual(0);
  const stock = shares > 0 ? longStock(contracts[0]!) : shortStock(contracts[0]!);
  return [first + stock.maintenance * lots, second + stock.initial * lots];
}

it('equals the minimum over every partition, of maintenance first, then of initial margin (D104)', () => {
  fc.assert(
    fc.property(chains(8, 300_000), (positions) => {
      const partition = leastPartition(positions, terms);
      expect(partition.isApproximate).toBe(false);
      expect(amountsOf(positions, partition)).toEqual(leastByTrying(positions, terms));
    }),
    { numRuns: Number(process.env['RUNS'] ?? 200) },
  );
}, 600_000);

it('is so of two series, which are not searched', () => {
  fc.assert(
    fc.property(chains(2, 30_000), (positions) => {
      const partition = leastPartition(positions, terms);
      expect(amountsOf(positions, partition)).toEqual(leastByTrying(positions, terms));
    }),
    { numRuns: Number(process.env['RUNS'] ?? 300) },
  );
});

it('is so of series of three expirations', () => {
  const drawn = fc.uniqueArray(
    fc.tuple(leg, fc.nat(2)).map(([one, expiry]) => ({ ...one, expiry, european: false })),
    { minLength: 3, maxLength: 7, selector: ({ isCall, strike, expiry }) => `${isCall} ${strike} ${expiry}` },
  );
  const books = drawn.map((legs) => ({
    contracts: legs.map((one) => contract(one, 100)).sort(bySymbol),
    shares: 0,
  }));
  fc.assert(
    fc.property(
      books.filter((positions) => ways(positions) <= 30_000),
      (positions) => {
        const partition = leastPartition(positions, terms);
        expect(partition.isApproximate).toBe(false);
        expect(amountsOf(positions, partition)).toEqual(leastByTrying(positions, terms));
      },
    ),
    { numRuns: Number(process.env['RUNS'] ?? 100) },
  );
}, 600_000);

it('combines shorts of two expirations if that requires less', () => {
  const of = (strike: number, expiry: number, count: number): Contract =>
    contract({ isCall: true, strike, expiry, count, price: 500, european: false }, 100);
  // The gain of the earlier short with 95 offsets half of the loss of the later one with 120; apart it could not.
  const contracts = [of(100, 0, -1), of(110, 2, -1), of(95, 2, 1), of(120, 2, 1)].sort(bySymbol);
  const { spreads } = leastPartition({ contracts, shares: 0 }, terms);
  expect(spreads.map(({ legs, loss }) => [legs.size, loss])).toEqual([[4, 500e6]]);
});

it('equals the minimum with 300 shares and series of two expirations', () => {
  fc.assert(
    fc.property(
      chains(5, 30_000, [300, -300]).filter(
        ({ contracts }) => new Set(contracts.map(({ settlesAt }) => settlesAt)).size === 2,
      ),
      (positions) => {
        const partition = leastPartition(positions, terms);
        expect(partition.isApproximate).toBe(false);
        expect(amountsOf(positions, partition)).toEqual(leastByTrying(positions, terms));
      },
    ),
    { numRuns: Number(process.env['RUNS'] ?? 100) },
  );
}, 600_000);

const series = (isCall: boolean, strike: number, expiry: number, count: number): Contract =>
  contract({ isCall, strike, expiry, count, price: 100 + 7 * Math.abs(strike - 100), european: false }, 100);

it.each<[string, (i: number) => Contract]>([
  ['spreads of calls', (i) => series(true, 70 + i, 0, i % 2 === 0 ? -1 : 1)],
  ['spreads of both rights', (i) => series(i % 2 === 0, 70 + i, 0, i % 4 < 2 ? 2 : -3)],
  ['calendars', (i) => series(true, 70 + 2 * (i >> 1), i % 2, i % 2 === 0 ? -1 : 1)],
  ['shorts alone', (i) => series(i % 2 === 0, 60 + i, i % 2, -1 - (i % 3))],
])('is certain of 59 series: %s', (_, of) => {
  const contracts = Array.from({ length: 59 }, (__, i) => of(i)).sort(bySymbol);
  const partition = leastPartition({ contracts, shares: 0 }, terms);
  expect(partition.isApproximate).toBe(false);
  // Checks that no contract is used twice.
  amountsOf({ contracts, shares: 0 }, partition);
});
