import type { Micros } from './contracts.js';
import { shortStraddle } from './groups.js';
import { maximumLoss } from './model.js';
import type { Combo, Partition } from './model.js';
import type { PartitionProgram } from './partition-program.js';

/** A partition with whole counts, and its change of both objectives against the partition without groups. */
export interface IntegerSolution extends Omit<Partition, 'isApproximate'> {
  readonly first: Micros;
  readonly second: Micros;
}

export const EMPTY_SOLUTION: IntegerSolution = {
  combos: [],
  straddles: [],
  spreads: [],
  first: 0,
  second: 0,
};

/** Rounding error within which a count is still whole. */
export const TOLERANCE = 1e-6;

/** The partition that whole column values of a program describe, with exact amounts. */
export function integerSolutionOf(program: PartitionProgram, values: Float64Array): IntegerSolution {
  let first = 0;
  let second = 0;
  const combos: { combo: Combo; count: number }[] = [];
  program.columns.forEach((column, index) => {
    const count = Math.round(values[index] ?? 0);
    if (count <= 0 || (column.kind !== 'COMBO' && column.kind !== 'SPREAD')) return;
    if (column.kind === 'COMBO') combos.push({ combo: column.combo, count });
    first += count * (program.first[index] ?? 0);
    second += count * (program.second[index] ?? 0);
  });
  const spreads: { legs: Map<number, number>; loss: Micros }[] = [];
  for (let block = 0; block < program.blocks.length; block++) {
    const legs = program.legsIn(block, values);
    if (legs.size === 0) continue;
    const loss = maximumLoss(program.contracts, legs);
    first += loss;
    second += loss;
    spreads.push({ legs, loss });
  }
  const straddles = straddlesOf(program, values);
  for (const { saved, count } of straddles) {
    first -= saved * count;
    second -= saved * count;
  }
  return { combos, straddles, spreads, first, second };
}

/** Solution with all single shorts as the greater shorts of straddles. */
export function withGreater({ columns, contracts }: PartitionProgram, values: Float64Array): Float64Array {
  const left = contracts.map(({ count }) => count);
  const whole = values.map((value) => Math.round(value));
  columns.forEach((column, index) => {
    if (column.kind === 'COMBO')
      for (const leg of column.combo.legs) left[leg] = (left[leg] ?? 0) - (whole[index] ?? 0);
    else if (column.kind === 'SPREAD' || column.kind === 'SMALLER')
      left[column.leg] = (left[column.leg] ?? 0) - (whole[index] ?? 0);
  });
  columns.forEach((column, index) => {
    if (column.kind === 'GREATER') whole[index] = left[column.leg] ?? 0;
  });
  return whole;
}

/** Pairs the shorts of straddles, the greatest first: preferably with one of the same strike. */
function straddlesOf(
  { contracts, columns }: PartitionProgram,
  values: Float64Array,
): (Partition['straddles'][number] & { saved: Micros })[] {
  const left: { leg: number; count: number; isGreater: boolean }[] = [];
  columns.forEach((column, index) => {
    const count = Math.round(values[index] ?? 0);
    if (count > 0 && (column.kind === 'GREATER' || column.kind === 'SMALLER'))
      left.push({ leg: column.leg, count, isGreater: column.kind === 'GREATER' });
  });
  const of = (leg: number) => contracts[leg] ?? fail();
  const smaller = left.filter(({ isGreater }) => !isGreater);
  smaller.sort((a, b) => of(b.leg).naked - of(a.leg).naked || a.leg - b.leg);
  const greater = left.filter(({ isGreater }) => isGreater);
  return smaller.flatMap((one) => {
    const mine = of(one.leg);
    const partners = greater.filter(({ leg }) => {
      const other = of(leg);
      return (
        other.isCall !== mine.isCall &&
        other.naked >= mine.naked &&
        other.multiplier === mine.multiplier &&
        other.deliverable === mine.deliverable &&
        other.inLieu === mine.inLieu &&
        other.cash === mine.cash
      );
    });
    const differs = ({ leg }: { leg: number }): number => Number(of(leg).strike !== mine.strike);
    partners.sort((a, b) => differs(a) - differs(b) || a.leg - b.leg);
    return partners.flatMap((partner) => {
      const count = Math.min(one.count, partner.count);
      one.count -= count;
      partner.count -= count;
      if (count === 0) return [];
      const call = mine.isCall ? one.leg : partner.leg;
      const put = mine.isCall ? partner.leg : one.leg;
      const saved = of(call).naked + of(put).naked - shortStraddle(of(call), of(put)).maintenance;
      return [{ call, put, count, saved }];
    });
  });
}

function fail(): never {
  throw new RangeError('no such contract');
}
