import { expect, it } from 'vitest';
import { optionLeg } from '../../testing/margin-legs.js';
import { TradingDate } from '../../values/trading-date.js';
import { contractOf } from './contracts.js';
import type { Contract, RegTTerms } from './contracts.js';
import { longStock, shortStock, shortStraddle } from './groups.js';
import { aimedAt, aloneOf } from './model.js';
import type { UnderlyingPositions } from './model.js';
import { regTParametersOn } from './parameters.js';
import { leastPartition } from './partition.js';

const asOf = TradingDate.of('2026-01-05');
const terms: RegTTerms = {
  parameters: regTParametersOn(asOf),
  house: { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 },
  asOf,
};
const EXPIRATIONS = ['2026-01-16', '2026-02-20', '2026-06-19'];
const U = 100;

/** Book number `seed`: the same in every run, and in the script that wrote it for the other solver. */
function drawn(seed: number, series: number, shares: number): UnderlyingPositions {
  let state = seed;
  const draw = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const held = new Map<string, Contract>();
  while (held.size < series) {
    const isCall = draw(2) === 0;
    const strike = 85 + draw(31);
    const expiry = draw(3);
    const count = (1 + draw(5)) * (draw(2) === 0 ? 1 : -1);
    const symbol = `${isCall ? 'C' : 'P'}${strike} ${expiry}`;
    const cents =
      100 * Math.max(0, isCall ? U - strike : strike - U) +
      Math.round((500 * (1 + expiry)) / (1 + Math.abs(strike - U) / 5));
    const leg = optionLeg({
      symbol,
      underlying: 'X',
      right: isCall ? 'CALL' : 'PUT',
      strike: String(strike),
      expiration: EXPIRATIONS[expiry]!,
      quantity: count,
      price: String(cents / 100),
      underlyingPrice: String(U),
    });
    held.set(symbol, contractOf(leg, count, terms));
  }
  const contracts = [...held.values()].sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  return { contracts, shares };
}

/** Requirement of a partitioned book, in dollars, stock included. */
function takes({ contracts, shares }: UnderlyingPositions): number {
  const { combos, straddles, spreads, isApproximate } = leastPartition({ contracts, shares }, terms);
  expect(isApproximate).toBe(false);
  const left = contracts.map(({ count }) => count);
  let lots = Math.abs(shares) / 100;
  let sum = 0;
  const take = (leg: number, count: number): void => {
    left[leg]! -= count;
    expect(left[leg]).toBeGreaterThanOrEqual(0);
  };
  for (const { combo, count } of combos) {
    for (const leg of combo.legs) take(leg, count);
    lots -= count;
    sum += combo.amounts.maintenance * count;
  }
  for (const { call, put, count } of straddles) {
    take(call, count);
    take(put, count);
    sum += shortStraddle(contracts[call]!, contracts[put]!).maintenance * count;
  }
  for (const { legs, loss } of spreads) {
    for (const [leg, count] of legs) take(leg, count);
    sum += loss;
  }
  left.forEach((count, leg) => (sum += count * aimedAt(aloneOf(contracts[leg]!, terms), contracts[leg]!)));
  expect(lots).toBeGreaterThanOrEqual(0);
  const any = contracts[0]!;
  return (sum + lots * (shares > 0 ? longStock(any) : shortStock(any)).maintenance) / 1e6;
}

/**
 * Optima of books too large for exhaustive search, by HiGHS (SciPy 1.17, scipy.optimize.milp): every pool of D104, every pair of straddles.
 */
const BY_ANOTHER_SOLVER = [
  7226, 13_225, 10_500, 33_014, 7960, 37_378, 6900, 24_561, 53_747, 29_589, 22_142, 22_200, 56_558, 32_980,
  14_326, 11_347, 62_136, 54_793, 1600, 14_606, 9942, 7994, 31_532, 53_082,
];

it.each(BY_ANOTHER_SOLVER.map((dollars, n) => [12 + (n % 9), [0, 300, -300][n % 3]!, dollars, n] as const))(
  '%i series in three expirations with %i shares require %i, as another solver finds',
  (series, shares, dollars, n) => {
    expect(takes(drawn(100 + n, series, shares))).toBe(dollars);
  },
);

it('leastPartition: is cut short in a book of 120 series and marked approximate, equally at each request', () => {
  const book = drawn(7, 120, 0);
  const partition = leastPartition(book, terms);
  expect(partition.isApproximate).toBe(true);
  expect(leastPartition(book, terms)).toEqual(partition);
});
