import type { Contract, Micros, RegTTerms } from './contracts.js';
import {
  collar,
  conversion,
  coveredCall,
  coveredPut,
  expireTogether,
  longOption,
  longStock,
  nakedOption,
  protectiveCall,
  protectivePut,
  reversal,
  shortStock,
} from './groups.js';
import type { UnitAmounts } from './groups.js';

/** Positions in one underlying: series in the order of their symbols, and whole shares, negative = short. */
export interface UnderlyingPositions {
  readonly contracts: readonly Contract[];
  readonly shares: number;
}

/** The groups of options with stock. */
export type ComboName =
  | 'COVERED_CALL'
  | 'COVERED_PUT'
  | 'PROTECTIVE_PUT'
  | 'PROTECTIVE_CALL'
  | 'COLLAR'
  | 'CONVERSION'
  | 'REVERSAL';

/** One contract each of one or two series, with the shares that one contract delivers. */
export interface Combo {
  readonly name: ComboName;
  /** Indexes of contracts. */
  readonly legs: readonly number[];
  /** Shares used, negative = short. */
  readonly shares: number;
  readonly amounts: UnitAmounts;
}

/** A partition of the positions in one underlying; contracts in no group are margined alone. Counts are by index of the contract. */
export interface Partition {
  readonly combos: readonly { readonly combo: Combo; readonly count: number }[];
  readonly straddles: readonly { readonly call: number; readonly put: number; readonly count: number }[];
  readonly spreads: readonly { readonly legs: ReadonlyMap<number, number>; readonly loss: Micros }[];
  /** True when the search ended before optimality was proven. */
  readonly isApproximate: boolean;
}

/** Contracts that may form SPREAD groups with each other: none of the longs settles before any of the shorts. */
export interface SpreadBlock {
  readonly shorts: readonly number[];
  readonly longs: readonly number[];
  /** True when its shorts settle at different instants; such a block has calls only or puts only. */
  readonly isMixed: boolean;
}

/** Amounts of a contract alone. */
export const aloneOf = (contract: Contract, terms: RegTTerms): UnitAmounts =>
  contract.isShort ? nakedOption(contract) : longOption(contract, terms);

/** The objective: maintenance, less the value that counts for long-dated longs (D104). */
export const aimedAt = (amounts: UnitAmounts, contract: Contract): Micros =>
  amounts.maintenance - (contract.isShort ? 0 : amounts.counted);

export const sameTerms = (a: Contract, b: Contract): boolean =>
  a.multiplier === b.multiplier &&
  a.deliverable === b.deliverable &&
  a.inLieu === b.inLieu &&
  a.cash === b.cash;

/** True when the terms of two contracts allow one SPREAD group. */
export const sharesSpreads = (a: Contract, b: Contract): boolean => a.style === b.style && sameTerms(a, b);

/** Combinations with stock whose requirement is less than that of their parts. Others are never needed: their parts can replace them. */
export function combosOf({ contracts, shares }: UnderlyingPositions, terms: RegTTerms): Combo[] {
  const combos: Combo[] = [];
  if (shares === 0) return combos;
  const add = (name: ComboName, legs: readonly number[], taken: number, amounts: UnitAmounts): void => {
    // Stock cannot cover contracts that deliver no whole share.
    if (taken === 0 || Math.abs(taken) > Math.abs(shares)) return;
    const [first, second] = savings({ name, legs, shares: taken, amounts }, contracts, terms);
    if (first < 0 || (first === 0 && second < 0)) combos.push({ name, legs, shares: taken, amounts });
  };
  contracts.forEach((a, i) => {
    if (shares > 0 && a.isShort && a.isCall && a.isCoverable)
      add('COVERED_CALL', [i], a.deliverable, coveredCall(a, terms));
    if (shares > 0 && !a.isShort && !a.isCall)
      add('PROTECTIVE_PUT', [i], a.deliverable, protectivePut(a, terms));
    if (shares < 0 && a.isShort && !a.isCall) add('COVERED_PUT', [i], 0 - a.deliverable, coveredPut(a));
    if (shares < 0 && !a.isShort && a.isCall)
      add('PROTECTIVE_CALL', [i], 0 - a.deliverable, protectiveCall(a, terms));
    if (a.isCall) return;
    contracts.forEach((b, k) => {
      if (!b.isCall || !sameTerms(a, b)) return;
      if (!expireTogether(a, b)) return;
      if (shares > 0 && !a.isShort && b.isShort && b.isCoverable && a.strike < b.strike)
        add('COLLAR', [i, k], a.deliverable, collar(a, b, terms));
      if (shares > 0 && !a.isShort && b.isShort && b.isCoverable && a.strike === b.strike)
        add('CONVERSION', [i, k], a.deliverable, conversion(a, b, terms));
      if (shares < 0 && a.isShort && !b.isShort && a.strike === b.strike)
        add('REVERSAL', [i, k], 0 - a.deliverable, reversal(a, b, terms));
    });
  });
  return combos;
}

/** Changes of the two objectives by a combination, against its parts alone. */
export function savings(combo: Combo, contracts: readonly Contract[], terms: RegTTerms): [Micros, Micros] {
  let first = combo.amounts.maintenance;
  let second = combo.amounts.initial;
  for (const leg of combo.legs) {
    const contract = contracts[leg];
    if (contract === undefined) continue;
    const alone = aloneOf(contract, terms);
    first -= aimedAt(alone, contract);
    second -= alone.initial;
  }
  const any = contracts[combo.legs[0] ?? 0];
  if (any !== undefined) {
    const stock = combo.shares > 0 ? longStock(any) : shortStock(any);
    first -= stock.maintenance;
    second -= stock.initial;
  }
  return [first, second];
}

/**
 * Blocks in which SPREAD groups can be useful. A larger group is never worse than its parts (the maximum loss is subadditive), so one
 * for each settlement time is enough: of calls and puts whose shorts all settle then, which share a loss; and, if shorts also
 * settle earlier, of calls alone and of puts alone (D104).
 */
export function poolsOf(contracts: readonly Contract[]): SpreadBlock[] {
  const blocks: SpreadBlock[] = [];
  const isDone = contracts.map(() => false);
  for (let first = 0; first < contracts.length; first++) {
    const kind = contracts[first];
    if (isDone[first] === true || kind === undefined) continue;
    const shorts: number[] = [];
    const longs: number[] = [];
    for (let i = first; i < contracts.length; i++) {
      const contract = contracts[i];
      if (isDone[i] === true || contract === undefined || !sharesSpreads(contract, kind)) continue;
      isDone[i] = true;
      (contract.isShort ? shorts : longs).push(i);
    }
    if (longs.length > 0 && shorts.length > 0) addBlocks(blocks, contracts, shorts, longs);
  }
  return blocks;
}

/** The blocks of contracts whose terms allow one group. */
function addBlocks(
  blocks: SpreadBlock[],
  contracts: readonly Contract[],
  shorts: readonly number[],
  longs: readonly number[],
): void {
  const at = (i: number): number => contracts[i]?.settlesAt ?? 0;
  const isCall = (i: number): boolean => contracts[i]?.isCall === true;
  const instants: number[] = [];
  for (const short of shorts) if (!instants.includes(at(short))) instants.push(at(short));
  instants.sort((a, b) => a - b);
  for (const instant of instants) {
    const later = longs.filter((i) => at(i) >= instant);
    const calls = later.some(isCall);
    const puts = later.some((i) => !isCall(i));
    const due = shorts.filter((i) => at(i) === instant && (isCall(i) ? calls : puts));
    if (due.length > 0) blocks.push({ shorts: due, longs: later, isMixed: false });
    if (instant === instants[0]) continue;
    for (const ofCalls of [true, false]) {
      if (!(ofCalls ? calls : puts)) continue;
      const covered = shorts.filter((i) => isCall(i) === ofCalls && at(i) <= instant);
      if (covered.some((i) => at(i) < instant) && covered.some((i) => at(i) === instant))
        blocks.push({ shorts: covered, longs: later.filter((i) => isCall(i) === ofCalls), isMixed: true });
    }
  }
}

/** Intrinsic value of one contract at expiration, for a price of its underlying. */
export const intrinsicAt = (contract: Pick<Contract, 'isCall' | 'strike'>, price: Micros): Micros =>
  Math.max(0, contract.isCall ? price - contract.strike : contract.strike - price);

/** The maximum loss of a SPREAD group, counts by index of the contract (D104). Longs cover shorts, so it occurs at a strike. */
export function maximumLoss(
  contracts: readonly Pick<Contract, 'isCall' | 'isShort' | 'strike'>[],
  legs: ReadonlyMap<number, number>,
): Micros {
  let least = 0;
  const valueAt = (price: Micros): Micros => {
    let value = 0;
    for (const [i, count] of legs) {
      const contract = contracts[i];
      if (contract !== undefined) value += (contract.isShort ? -count : count) * intrinsicAt(contract, price);
    }
    return value;
  };
  least = Math.min(least, valueAt(0));
  for (const i of legs.keys()) least = Math.min(least, valueAt(contracts[i]?.strike ?? 0));
  return 0 - least;
}
