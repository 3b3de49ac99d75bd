import highsLoader from 'highs';
import { beforeAll, expect, it } from 'vitest';
import {
  optionAlone,
  stockAlone,
  stockWithOne,
  stockWithTwo,
  straddle,
} from '../../testing/margin-formulas.js';
import { optionLeg } from '../../testing/margin-legs.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import { contractOf } from './contracts.js';
import type { Contract, RegTTerms } from './contracts.js';
import { regTParametersOn } from './parameters.js';
import { leastAmountsOf } from './least-requirement.js';
import type { RegTLeg } from './legs.js';

const asOf = TradingDate.of('2026-01-05');
const house = { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 };
const terms: RegTTerms = { parameters: regTParametersOn(asOf), house, asOf };
const EXPIRATIONS = ['2026-02-20', '2026-06-19', '2026-09-18'].map((date) => TradingDate.of(date));

// Its types describe an ES module; at run time the import is the loader itself.
const load = highsLoader as unknown as typeof highsLoader.default;
let highs: Awaited<ReturnType<typeof load>>;
beforeAll(async () => {
  highs = await load();
});

/** A book drawn from a seed: every series once. */
function drawn(seed: number, series: number, expirations: number, shares: number): RegTLeg[] {
  let state = seed;
  const below = (n: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * n);
  };
  const legs = new Map<string, RegTLeg>();
  while (legs.size < series) {
    const isCall = below(2) === 0;
    const strike = 70 + below(61);
    const expiration = EXPIRATIONS[below(expirations)]!;
    const symbol = `X${expiration}${isCall ? 'C' : 'P'}${strike}`;
    const leg = optionLeg({
      symbol,
      underlying: 'X',
      right: isCall ? 'CALL' : 'PUT',
      strike: String(strike),
      expiration,
      quantity: (1 + below(5)) * (below(2) === 0 ? 1 : -1),
      price: String(1 + below(8)),
      underlyingPrice: '100',
    });
    legs.set(symbol, leg);
  }
  if (shares === 0) return [...legs.values()];
  const price = Price.of('100');
  return [
    ...legs.values(),
    { kind: 'STOCK', symbol: 'X', quantity: Quantity.of(shares), price, leverageFactor: 1 },
  ];
}

/**
 * The least maintenance in dollars as an integer program in CPLEX's format: every possible group of D100–D104 is a column. Its linear
 * relaxation, solved in milliseconds, is a bound below it.
 */
function leastByHighs(legs: readonly RegTLeg[], isRelaxed = false): number {
  const options = legs.filter((leg) => leg.kind === 'OPTION');
  const contracts = options.map((leg) => contractOf(leg, leg.quantity / 1e6, terms));
  const shares = legs.reduce((sum, leg) => (leg.kind === 'STOCK' ? sum + leg.quantity / 1e6 : sum), 0);
  const costs: string[] = [];
  const columns: string[] = [];
  const uses = contracts.map((): string[] => []);
  const stock: string[] = [];
  const rows: string[] = [];
  const column = (cost: number, ...of: number[]): string => {
    const name = `x${columns.length}`;
    columns.push(name);
    if (cost !== 0) costs.push(`${cost < 0 ? '-' : '+'} ${Math.abs(cost) / 1e6} ${name}`);
    for (const i of of) uses[i]!.push(name);
    return name;
  };
  contracts.forEach((one, i) => {
    column(optionAlone(one, asOf)[0], i);
    const withStock = shares === 0 ? undefined : stockWithOne(one, shares > 0);
    if (withStock !== undefined) stock.push(column(withStock[0], i));
    contracts.forEach((call, k) => {
      if (one.isCall || !call.isCall) return;
      if (one.isShort && call.isShort) column(straddle(call, one)[0], i, k);
      const three = shares === 0 ? undefined : stockWithTwo(one, call, shares > 0);
      if (three !== undefined) stock.push(column(three[0], i, k));
    });
  });
  if (shares !== 0) {
    stock.push(column(stockAlone(contracts[0]!, shares > 0)[0]));
    rows.push(`${stock.join(' + ')} = ${Math.floor(Math.abs(shares) / 100)}`);
  }
  const spread = (shorts: readonly number[], longs: readonly number[]): void => {
    const loss = column(1e6);
    const counts = [...shorts, ...longs].map((i) => ({ one: contracts[i]!, name: column(0, i) }));
    const sum = (weightOf: (one: Contract) => number): string =>
      counts
        .map(({ one, name }) => ({ name, weight: (one.isShort ? -1 : 1) * weightOf(one) }))
        .filter(({ weight }) => weight !== 0)
        .map(({ name, weight }) => `${weight < 0 ? '-' : '+'} ${Math.abs(weight)} ${name}`)
        .join(' ');
    for (const isCall of [true, false]) {
      const more = sum((one) => Number(one.isCall === isCall));
      if (more !== '') rows.push(`${more} >= 0`);
    }
    for (const price of new Set([0, ...counts.map(({ one }) => one.strike)])) {
      const value = sum((one) => Math.max(0, one.isCall ? price - one.strike : one.strike - price) / 1e6);
      if (value !== '') rows.push(`${value} + ${loss} >= 0`);
    }
  };
  const all = contracts.map((_, i) => i);
  for (const date of EXPIRATIONS) {
    const longs = all.filter((i) => !contracts[i]!.isShort && contracts[i]!.expiration >= date);
    spread(
      all.filter((i) => contracts[i]!.isShort && contracts[i]!.expiration === date),
      longs,
    );
    for (const isCall of [true, false]) {
      const alike = (i: number): boolean => contracts[i]!.isCall === isCall;
      const shorts = all.filter((i) => contracts[i]!.isShort && alike(i) && contracts[i]!.expiration <= date);
      if (date !== EXPIRATIONS[0]) spread(shorts, longs.filter(alike));
    }
  }
  contracts.forEach(({ count }, i) => rows.push(`${uses[i]!.join(' + ')} = ${count}`));
  const model = `Minimize\n obj: ${costs.join('\n ')}\nSubject To\n${rows.map((row, i) => ` r${i}: ${row}`).join('\n')}\n${isRelaxed ? '' : `General\n ${columns.join('\n ')}\n`}End`;
  const solution = highs.solve(model, { mip_rel_gap: 0, mip_abs_gap: 1e-6 });
  expect(solution.Status).toBe('Optimal');
  return solution.ObjectiveValue;
}

it.each([
  [20, 1, 0, 1],
  [30, 1, 300, 2],
  [40, 1, 0, 3],
  [60, 1, 0, 4],
  [20, 2, 0, 5],
  [20, 2, -300, 6],
] as const)(
  'leastAmountsOf: %i series in %i expirations with %i shares require the minimum that HiGHS finds (seed %i)',
  (series, expirations, shares, seed) => {
    const legs = drawn(seed, series, expirations, shares);
    const { house: maintenance } = leastAmountsOf({ legs, house, asOf: Instant.ofMs(0), date: asOf });
    expect(maintenance / 10_000).toBeCloseTo(leastByHighs(legs), 3);
  },
);

it.each([
  [40, 2, 0, 7],
  [60, 2, 300, 8],
] as const)(
  'leastAmountsOf: %i series in %i expirations with %i shares require 1 to 1.25 times the minimum that HiGHS finds (seed %i)',
  (series, expirations, shares, seed) => {
    const legs = drawn(seed, series, expirations, shares);
    const { house: maintenance } = leastAmountsOf({ legs, house, asOf: Instant.ofMs(0), date: asOf });
    const least = leastByHighs(legs);
    expect(maintenance / 10_000).toBeGreaterThanOrEqual(least - 0.001);
    expect(maintenance / 10_000).toBeLessThanOrEqual(1.25 * least);
  },
);

it.each([
  [30, 3, 1000, 2031],
  [40, 2, 0, 1042],
  [40, 2, 300, 7342],
  [40, 2, 300, 12_342],
  [40, 3, 500, 2543],
  [60, 2, 0, 9062],
  [60, 2, 300, 2362],
  [60, 2, -1000, 7062],
  [60, 3, 0, 8063],
  [60, 3, 2000, 9063],
  [100, 3, 0, 6103],
] as const)(
  "leastAmountsOf: %i series in %i expirations with %i shares require at most 1.25 times HiGHS's bound (seed %i)",
  (series, expirations, shares, seed) => {
    const legs = drawn(seed, series, expirations, shares);
    const { house: maintenance } = leastAmountsOf({ legs, house, asOf: Instant.ofMs(0), date: asOf });
    const bound = leastByHighs(legs, true);
    expect(maintenance / 10_000).toBeGreaterThanOrEqual(bound - 0.001);
    expect(maintenance / 10_000).toBeLessThanOrEqual(1.25 * bound);
  },
);
