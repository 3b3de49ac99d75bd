import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide } from '../../values/scaled.js';
import type { Amounts } from '../book.js';
import { STRATEGIES } from '../group-names.js';
import type { Strategy } from '../group-names.js';
import { factorOf, sharesOf, stockRates } from './contracts.js';
import type { Contract, Micros, RegTTerms } from './contracts.js';
import {
  comboFormula,
  longFormula,
  nakedFormula,
  spreadFormula,
  stockFormula,
  straddleFormula,
} from './explain.js';
import { longOption, nakedOption, shortStraddle } from './groups.js';
import type { UnitAmounts } from './groups.js';
import type { UnderlyingPositions, Partition } from './model.js';
import { namedSpreads } from './shapes.js';
import type { NamedSpread } from './shapes.js';

/** Amounts without `opening`, which for securities equals the house requirement. */
type GroupAmounts = Omit<Amounts, 'opening'>;

/** One line of a requirement: holdings that are margined together, with the rule that applies. */
export interface RegTGroup {
  readonly strategy: Strategy;
  readonly underlying: string;
  readonly legs: readonly { readonly symbol: string; readonly quantity: Quantity }[];
  /** Rounded to 1/10,000 dollar. */
  readonly amounts: GroupAmounts;
  /** The rule and its formula with the figures of this group. */
  readonly rule: string;
  /** True when the search ended before optimality was proven. */
  readonly isApproximate: boolean;
}

/** The partitioned positions of one underlying. */
export interface Divided {
  readonly underlying: string;
  readonly positions: UnderlyingPositions;
  readonly partition: Partition;
  /** All shares, including fractional ones. */
  readonly shares: Quantity;
  readonly price: Price;
  readonly leverageFactor: number;
  /** D105; absent = the width. */
  readonly shortBoxCostBps: number | undefined;
}

/** The groups of one underlying, one line each, in the order of their names, then of their symbols. */
export function listGroups(divided: Divided, terms: RegTTerms): RegTGroup[] {
  const { positions, partition, underlying } = divided;
  const { contracts } = positions;
  const left = contracts.map(({ count }) => count);
  let shares: Quantity = divided.shares;
  const lines: RegTGroup[] = [];
  const of = (i: number): Contract => {
    const contract = contracts[i];
    if (contract === undefined) throw new RangeError('no such contract');
    return contract;
  };
  const optionsIn = (legs: Iterable<readonly [leg: number, count: number]>): RegTGroup['legs'] =>
    Array.from(legs, ([i, count]) => {
      left[i] = (left[i] ?? 0) - count;
      return { symbol: of(i).symbol, quantity: Quantity.of(of(i).isShort ? -count : count) };
    });
  const add = (strategy: Strategy, legs: RegTGroup['legs'], amounts: GroupAmounts, rule: string): unknown =>
    lines.push({ strategy, underlying, legs, amounts, rule, isApproximate: partition.isApproximate });

  for (const { combo, count } of partition.combos) {
    const taken = Quantity.of(combo.shares * count);
    shares = Quantity.subtract(shares, taken);
    const legs = [
      { symbol: underlying, quantity: taken },
      ...optionsIn(combo.legs.map((leg) => [leg, count] as const)),
    ];
    const rule = comboFormula(combo.name, combo.legs.map(of), combo.amounts.maintenance, terms);
    add(combo.name, legs, times(combo.amounts, count), rule);
  }
  for (const { call, put, count } of together(partition.straddles)) {
    const amounts = shortStraddle(of(call), of(put));
    const name = of(call).strike === of(put).strike ? 'SHORT_STRADDLE' : 'SHORT_STRANGLE';
    const legs = optionsIn([
      [call, count],
      [put, count],
    ]);
    add(name, legs, times(amounts, count), straddleFormula(of(call), of(put), amounts.maintenance));
  }
  const spreads = partition.spreads.flatMap(({ legs, loss }) => namedSpreads(contracts, legs, loss));
  for (const spread of alike(spreads)) {
    const legs = [...spread.legs].sort(([a], [b]) => a - b);
    const { amounts, rule } = spreadAmounts(divided, spread);
    add(spread.name, optionsIn(legs), amounts, rule);
  }
  contracts.forEach((option, i) => {
    const count = left[i] ?? 0;
    if (count === 0) return;
    const name = `${option.isShort ? 'NAKED' : 'LONG'}_${option.isCall ? 'CALL' : 'PUT'}` as const;
    const amounts = option.isShort ? nakedOption(option) : longOption(option, terms);
    const rule = option.isShort ? nakedFormula(option, terms) : longFormula(option, terms);
    add(name, optionsIn([[i, count]]), times(amounts, count), rule);
  });
  if (shares !== 0) {
    const amounts = times(stockUnit(shares, divided, terms), 1);
    const legs = [{ symbol: underlying, quantity: shares }];
    add(shares > 0 ? 'LONG_STOCK' : 'SHORT_STOCK', legs, amounts, stockRule(shares < 0, divided, terms));
  }
  return lines.sort(
    (a, b) => STRATEGIES.indexOf(a.strategy) - STRATEGIES.indexOf(b.strategy) || bySymbols(a, b),
  );
}

/**
 * The sums of the groups without naming them; undefined if they depend on the naming of groups: amounts that each line rounds, long-dated
 * longs, which count alone, and short boxes with a house rule.
 */
export function sumsOf(divided: Divided, terms: RegTTerms): GroupAmounts | undefined {
  const { positions, partition, shortBoxCostBps } = divided;
  const { contracts } = positions;
  const left = contracts.map(({ count }) => count);
  let shares: Quantity = divided.shares;
  const sum = { fed: 0, house: 0, initial: 0, counted: 0, isExact: true };
  const add = ({ fed, maintenance, initial, counted }: UnitAmounts, count: number): void => {
    for (const amount of [fed, maintenance, initial, counted])
      if (amount % MICROS_OF_MONEY !== 0 || !Number.isSafeInteger(amount * count)) sum.isExact = false;
    sum.fed += fed * count;
    sum.house += maintenance * count;
    sum.initial += initial * count;
    sum.counted += counted * count;
  };
  const takeOut = (leg: number, count: number): void => {
    left[leg] = (left[leg] ?? 0) - count;
  };
  for (const { combo, count } of partition.combos) {
    shares = Quantity.subtract(shares, Quantity.of(combo.shares * count));
    for (const leg of combo.legs) takeOut(leg, count);
    add(combo.amounts, count);
  }
  for (const { call, put, count } of partition.straddles) {
    takeOut(call, count);
    takeOut(put, count);
    const [a, b] = [contracts[call], contracts[put]];
    if (a !== undefined && b !== undefined) add(shortStraddle(a, b), count);
  }
  for (const { legs, loss } of partition.spreads) {
    add({ fed: loss, maintenance: loss, initial: loss, counted: 0 }, 1);
    for (const [leg, count] of legs) {
      takeOut(leg, count);
      const option = contracts[leg];
      if (option === undefined || option.isShort) continue;
      const isOfHouse = shortBoxCostBps !== undefined && option.style === 'EUROPEAN';
      if (option.isLongDated || isOfHouse) return undefined;
      add({ fed: 0, maintenance: 0, initial: option.premium, counted: 0 }, count);
    }
  }
  for (let leg = 0; leg < contracts.length; leg++) {
    const option = contracts[leg];
    const count = left[leg] ?? 0;
    if (option === undefined || count === 0) continue;
    add(option.isShort ? nakedOption(option) : longOption(option, terms), count);
  }
  if (!sum.isExact || !Number.isSafeInteger(sum.fed + sum.house + sum.initial + Math.abs(sum.counted)))
    return undefined;
  const stock = shares === 0 ? undefined : times(stockUnit(shares, divided, terms), 1);
  const money = (amount: Micros, ofStock = Money.zero): Money =>
    Money.add(Money.ofUnits(amount / MICROS_OF_MONEY), ofStock);
  return {
    fed: money(sum.fed, stock?.fed),
    house: money(sum.house, stock?.house),
    initial: money(sum.initial, stock?.initial),
    counted: money(sum.counted, stock?.counted),
  };
}

const MICROS_OF_MONEY = 100;

const symbolsOf = ({ legs }: RegTGroup): string => legs.map(({ symbol }) => symbol).join();
const bySymbols = (a: RegTGroup, b: RegTGroup): number => (symbolsOf(a) < symbolsOf(b) ? -1 : 1);

/** Amounts of `count` units, rounded half up to 1/10,000 dollar. */
function times(unit: UnitAmounts, count: number): GroupAmounts {
  const money = (amount: Micros): Money => Money.ofUnits(multiplyDivide(amount, count, 100, 'half-up'));
  return {
    fed: money(unit.fed),
    house: money(unit.maintenance),
    initial: money(unit.initial),
    counted: money(unit.counted),
  };
}

/** Merges straddles of the same two series into one line. */
function together(straddles: Partition['straddles']): Partition['straddles'] {
  const byLegs = new Map<string, Partition['straddles'][number]>();
  for (const straddle of straddles) {
    const key = `${straddle.call} ${straddle.put}`;
    byLegs.set(key, { ...straddle, count: straddle.count + (byLegs.get(key)?.count ?? 0) });
  }
  return [...byLegs.values()];
}

/** Merges spreads of the same series in the same ratio into one line: their losses add up. */
function alike(spreads: readonly NamedSpread[]): NamedSpread[] {
  const byLegs = new Map<string, NamedSpread>();
  for (const spread of spreads) {
    const [, any = 1] = [...spread.legs].toSorted(([a], [b]) => a - b)[0] ?? [];
    const ratio = [...spread.legs].toSorted(([a], [b]) => a - b).map(([i, count]) => `${i}:${count / any}`);
    const key = `${spread.name} ${ratio.join()}`;
    const before = byLegs.get(key);
    const legs = new Map([...spread.legs].map(([i, count]) => [i, count + (before?.legs.get(i) ?? 0)]));
    byLegs.set(key, { name: spread.name, legs, loss: spread.loss + (before?.loss ?? 0) });
  }
  return [...byLegs.values()];
}

/** A spread requires its maximum loss; a short box, if the house has that rule, its cost to close (D105). */
function spreadAmounts(
  { positions: { contracts }, shortBoxCostBps }: Divided,
  { name, legs, loss }: NamedSpread,
): { amounts: GroupAmounts; rule: string } {
  let paid = 0;
  let toClose = 0;
  let isEuropeanCash = true;
  for (const [i, count] of legs) {
    const option = contracts[i];
    if (option === undefined) continue;
    if (!option.isShort) paid += option.premium * count;
    toClose += (option.isShort ? option.premium : 0 - option.premium) * count;
    isEuropeanCash &&= option.style === 'EUROPEAN' && option.settlement === 'CASH';
  }
  let taken = loss;
  let rule = spreadFormula(contracts, legs, loss);
  if (name === 'SHORT_BOX' && shortBoxCostBps !== undefined && isEuropeanCash) {
    const cost = multiplyDivide(Math.max(0, toClose), shortBoxCostBps, 10_000, 'half-up');
    if (cost > loss) {
      taken = cost;
      rule = `D105: ${shortBoxCostBps / 100} % of the cost to close, more than the difference of the strikes`;
    }
  }
  return { amounts: times({ fed: taken, maintenance: taken, initial: taken + paid, counted: 0 }, 1), rule };
}

/** Stock without options (D100). */
function stockUnit(quantity: Quantity, { price, leverageFactor }: Divided, terms: RegTTerms): UnitAmounts {
  const shares = Quantity.abs(quantity);
  const value = multiplyDivide(price, shares, 1e8, 'half-up');
  const factor = factorOf(leverageFactor);
  const { fed, shortFed, long, short } = sharesOf(value, price, shares / 1e6, factor, terms);
  return quantity < 0
    ? { fed: shortFed, maintenance: short, initial: Math.max(shortFed, short), counted: 0 - value }
    : { fed, maintenance: long, initial: Math.max(fed, long), counted: value };
}

function stockRule(isShort: boolean, { price, leverageFactor }: Divided, terms: RegTTerms): string {
  const rates = stockRates(terms, factorOf(leverageFactor));
  return stockFormula(isShort, Price.format(price), rates.long, rates.short, terms);
}
