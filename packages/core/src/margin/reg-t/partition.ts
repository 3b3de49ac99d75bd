import type { Micros, RegTTerms } from './contracts.js';
import { greedyPartition } from './greedy.js';
import { shortStraddle } from './groups.js';
import { maximumLoss } from './model.js';
import type { Chain, Combo } from './model.js';
import { divisor, Programme } from './programme.js';
import type { Tableau } from './tableau.js';

/** How a chain is divided: what is in no group is alone. Counts are by place in the chain. */
export interface Partition {
  readonly combos: readonly { readonly combo: Combo; readonly count: number }[];
  readonly straddles: readonly { readonly call: number; readonly put: number; readonly count: number }[];
  readonly spreads: readonly { readonly legs: ReadonlyMap<number, number>; readonly loss: Micros }[];
  /** Whether the search has ended before it was certain that nothing is less. */
  readonly isApproximate: boolean;
}

/** Coefficients that a search may visit: some tenths of a second. Chains of fewer than 60 series end long before. */
const MOST_WORK = 20_000_000;
/** Chains of more series than this are given less, and then divided at a glance. */
const LARGE = 60;
const LEAST_WORK = 4_000_000;
const NEARLY = 1e-6;
const MOST_ROUNDS = 20;
const POOR_ROUNDS = 3;
const MOST_CUTS = 20;
const NOTHING: Partition = { combos: [], straddles: [], spreads: [], isApproximate: false };

/**
 * The division of a chain that takes the least maintenance, less the value that long-dated longs count with; among equals the
 * least initially (D104). Found by branch and bound over linear programmes: contracts are counted, not listed, so that their
 * number does not matter, and the maximum loss of a group is the least number that is no less than its loss at any strike.
 */
export function leastPartition(
  chain: Chain,
  terms: RegTTerms,
  mostWork = chain.contracts.length > LARGE ? LEAST_WORK : MOST_WORK,
): Partition {
  const programme = new Programme(chain, terms);
  if (programme.columns.length === 0) return NOTHING;
  const { best, bestFirst } = new Search(programme, mostWork).run();
  if (!best.isApproximate) return best;
  // What a search that was cut short has found may be worse than what a glance finds.
  const quick = greedyPartition(chain, terms);
  return quick.first < bestFirst ? { ...quick, isApproximate: true } : best;
}

class Search {
  private readonly programme: Programme;
  private readonly mostWork: number;
  private work = 0;
  private best = NOTHING;
  private bestFirst: Micros = 0;
  private bestSecond: Micros = 0;
  /** Every amount of the first objective is a multiple of this: less than it is no improvement. */
  private readonly step: Micros;
  private rounds = 0;
  private poor = 0;
  private bound = 0;
  private model = 0;

  constructor(programme: Programme, mostWork: number) {
    this.programme = programme;
    this.mostWork = mostWork;
    this.step = stepOf(programme);
  }

  run(): { readonly best: Partition; readonly bestFirst: Micros } {
    const root = this.programme.tableau();
    let isCertain = root.improve(this.mostWork);
    const open = isCertain ? [root] : [];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const branches = this.explore(node, node === root);
      if (branches === undefined) {
        isCertain = false;
        break;
      }
      open.push(...branches);
    }
    const { best, bestFirst } = this;
    return { best: isCertain ? best : { ...best, isApproximate: true }, bestFirst };
  }

  /**
   * Solves one programme. What it finds is kept where it is the best so far; where it is not whole, it branches. Undefined
   * where the work allowed is done.
   */
  private explore(node: Tableau, isRoot: boolean): Tableau[] | undefined {
    let values: Float64Array;
    const before = node.work;
    const allowed = this.mostWork - this.work + before;
    try {
      do {
        if (!node.repair(allowed)) return node.work > allowed ? undefined : [];
        const { first, second } = node.objectives;
        const { unit } = this.programme;
        if (!this.mayBeBetter(first * unit, second * unit)) return [];
        values = node.values(this.programme.columns.length);
      } while (this.addViolated(node, values) || (isRoot && this.tighten(node)));
    } finally {
      this.work += node.work - before;
    }
    const broken = this.leastWhole(values);
    if (broken < 0) {
      this.keepIfBetter(values);
      return [];
    }
    this.keepIfBetter(this.roundedDown(values));
    const value = values[broken] ?? 0;
    const below = node.copy();
    below.addRow([broken], [1], Math.floor(value));
    node.addRow([broken], [-1], 0 - Math.floor(value) - 1);
    return value - Math.floor(value) < 0.5 ? [node, below] : [below, node];
  }

  /** Cuts the first programme, as long as that raises what nothing can be below. */
  private tighten(node: Tableau): boolean {
    if (this.rounds === 0) this.model = node.size;
    const { first } = node.objectives;
    if (this.rounds > 0 && first < this.bound + 1e-4 * Math.abs(this.bound)) this.poor++;
    this.bound = first;
    if (this.poor > POOR_ROUNDS || this.rounds++ > MOST_ROUNDS) return false;
    node.forgetIdle(this.model);
    return node.cut(MOST_CUTS) > 0;
  }

  private mayBeBetter(first: Micros, second: Micros): boolean {
    const near = 1e-3 * Math.max(1, Math.abs(this.bestFirst) * 1e-9);
    if (this.step > 0) return first < this.bestFirst - this.step + near;
    if (first > this.bestFirst + near) return false;
    return first < this.bestFirst - near || second < this.bestSecond - near;
  }

  /** Adds the price at which each pool loses more than its programme knows of. */
  private addViolated(node: Tableau, values: Float64Array): boolean {
    const { programme } = this;
    let isAny = false;
    for (let pool = 0; pool < programme.pools.length; pool++) {
      if (!programme.columnsOf[pool]?.some((column) => (values[column] ?? 0) > NEARLY)) continue;
      const known = values[programme.lossOf[pool] ?? 0] ?? 0;
      let most = known + NEARLY * Math.max(1, known);
      let worst = -1;
      for (const price of programme.pricesOf(pool)) {
        const loss = programme.lossAt(pool, price, values);
        if (loss > most) {
          most = loss;
          worst = price;
        }
      }
      if (worst >= 0) {
        programme.boundLoss(node, pool, worst);
        isAny = true;
      }
    }
    return isAny;
  }

  /** The column to branch on: the one whose fraction costs most; −1 where all are whole. */
  private leastWhole(values: Float64Array): number {
    const { columns } = this.programme;
    let best = -1;
    let furthest = NEARLY;
    for (let index = 0; index < columns.length; index++) {
      if (columns[index]?.kind === 'LOSS') continue;
      const value = values[index] ?? 0;
      const distance = Math.abs(value - Math.round(value));
      if (distance > furthest) {
        furthest = distance;
        best = index;
      }
    }
    return best;
  }

  /** Whole counts near a broken solution: no more than it has of anything, and nothing that another part must carry. */
  private roundedDown(values: Float64Array): Float64Array {
    const { programme } = this;
    const whole = values.map((value) => Math.floor(value + NEARLY));
    for (let pool = 0; pool < programme.pools.length; pool++) {
      const columns = programme.columnsOf[pool] ?? [];
      for (const isCall of [true, false]) {
        let room = 0;
        for (const { leg, count } of programme.fixedIn[pool] ?? []) {
          if (programme.contracts[leg]?.isCall === isCall) room += count;
        }
        const mine = columns.filter((column) => programme.contractIn(column).isCall === isCall);
        for (const column of mine)
          room += (programme.contractIn(column).isShort ? -1 : 1) * (whole[column] ?? 0);
        for (const column of mine) {
          if (room >= 0 || !programme.contractIn(column).isShort) continue;
          const less = Math.min(whole[column] ?? 0, 0 - room);
          whole[column] = (whole[column] ?? 0) - less;
          room += less;
        }
      }
    }
    return whole;
  }

  /** Takes whole counts as the best so far, where their exact amounts are less. */
  private keepIfBetter(values: Float64Array): void {
    const { programme } = this;
    let first = 0;
    let second = 0;
    const count = (index: number, times: number): void => {
      first += times * (programme.first[index] ?? 0);
      second += times * (programme.second[index] ?? 0);
    };
    const combos: { combo: Combo; count: number }[] = [];
    programme.columns.forEach((column, index) => {
      const times = Math.round(values[index] ?? 0);
      if (times <= 0 || column.kind === 'LOSS') return;
      if (column.kind === 'COMBO') combos.push({ combo: column.combo, count: times });
      if (column.kind === 'COMBO' || column.kind === 'SPREAD') count(index, times);
    });
    const spreads: { legs: Map<number, number>; loss: Micros }[] = [];
    for (let pool = 0; pool < programme.pools.length; pool++) {
      const legs = programme.legsIn(pool, values);
      if (legs.size === 0) continue;
      const loss = maximumLoss(programme.contracts, legs);
      first += loss;
      second += loss;
      spreads.push({ legs, loss });
    }
    const straddles = this.straddlesOf(values);
    for (const { saved, count: times } of straddles) {
      first -= saved * times;
      second -= saved * times;
    }
    if (first > this.bestFirst || (first === this.bestFirst && second >= this.bestSecond)) return;
    this.best = { combos, straddles, spreads, isApproximate: false };
    this.bestFirst = first;
    this.bestSecond = second;
  }

  /** Pairs the shorts of straddles, the greatest first: with one of the same strike where there is one. */
  private straddlesOf(values: Float64Array): (Partition['straddles'][number] & { saved: Micros })[] {
    const { contracts, columns } = this.programme;
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
          other.deliverable === mine.deliverable
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
}

function fail(): never {
  throw new RangeError('no such contract');
}

/** The greatest common divisor of what the first objective is made of; 0 where the second can differ by itself. */
function stepOf(programme: Programme): Micros {
  const { columns, first } = programme;
  if (!programme.isOneObjective()) return 0;
  let step = programme.step;
  for (let index = 0; index < columns.length; index++) {
    if (columns[index]?.kind === 'LOSS') continue;
    step = divisor(step, Math.abs(first[index] ?? 0));
  }
  return step;
}
