import type { Micros } from './contracts.js';
import { divisionOf, TOLERANCE, withGreater } from './division.js';
import type { Division } from './division.js';
import { divisor } from './programme.js';
import type { Programme } from './programme.js';
import type { Objectives, Tableau } from './tableau.js';

const MOST_ROUNDS = 8;
const POOR_ROUNDS = 4;
const MOST_CUTS = 20;
const MOST_WORK_OF_CUTS = 500_000;
/** How much of a step no rounding makes. */
const STEP_MARGIN = 0.75;
const MAXIMUM_PENALTY = 1e6;

/** A programme that is not solved yet, and what nothing in it can be below. */
interface Open {
  readonly tableau: Tableau;
  readonly bound: number;
}

/** A column that is not whole, and which way is tried first. */
interface Branch {
  readonly column: number;
  readonly value: number;
  /** What the first objective rises by at least, one way and the other. */
  readonly below: number;
  readonly above: number;
  readonly isUpFirst: boolean;
}

/** Branch and bound: from the best so far down to where nothing is fractional, then on with what promises the most. */
export class Search {
  /** The best that has been found. */
  best: Division;
  /** Whether nothing takes less than the best. */
  isCertain = false;
  private readonly programme: Programme;
  private readonly mostWork: number;
  /** Every amount of the first objective is a multiple of this: less than it is no improvement. */
  private readonly step: Micros;
  private readonly isOneObjective: boolean;
  /** Numbers visited so far. */
  work = 0;
  /** Column values of an optimum where nothing needs to be whole; undefined where the work allowed did not suffice. */
  relaxed: Float64Array | undefined;
  private isFirst = true;
  /** What no solution is below, whole or not: both objectives of the first programme, before it was cut. */
  private bound: Objectives = { first: -Infinity, second: -Infinity };

  /** `best`: what is known to be possible. */
  constructor(programme: Programme, mostWork: number, best: Division) {
    this.programme = programme;
    this.best = best;
    this.mostWork = mostWork;
    this.step = stepOf(programme);
    this.isOneObjective = programme.isOneObjective();
  }

  run(): void {
    const root = this.programme.tableau();
    if (!root.improve(this.mostWork)) return;
    const open: Open[] = [];
    let next: Open | undefined = { tableau: root, bound: -Infinity };
    while (next !== undefined) {
      const branches = this.explore(next.tableau);
      if (branches === undefined) {
        // What is not solved may still be known to take no less: then only ties are left.
        this.isCertain = [next, ...open].every(({ bound }) => !this.takesLess(bound));
        return;
      }
      const dive = branches.pop();
      open.push(...branches);
      next = dive ?? takeLowestBound(open);
    }
    this.isCertain = true;
  }

  /**
   * Column values of an optimum of the first programme where nothing needs to be whole; where the work allowed does not suffice, of what it has
   * reached.
   */
  relax(): Float64Array {
    const root = this.programme.tableau();
    if (root.improve(this.mostWork)) this.solve(root, this.mostWork - root.work);
    this.work = root.work;
    return this.valuesOf(root);
  }

  /**
   * Solves one programme. What it finds is kept where it is the best so far; where it is not whole, it branches, the branch to look at
   * next last. Undefined where the work allowed is done.
   */
  private explore(node: Tableau): Open[] | undefined {
    const before = node.work;
    try {
      const solved = this.solve(node, this.mostWork - this.work);
      if (solved !== 'OPTIMAL') return solved === 'NONE' ? [] : undefined;
      let branch = this.branchOf(node);
      if (this.isFirst) {
        this.isFirst = false;
        this.bound = node.objectives;
        this.relaxed = this.valuesOf(node);
        if (branch !== undefined) {
          this.fixColumns(node);
          this.tighten(node);
          branch = this.branchOf(node);
        }
      }
      if (branch === undefined) {
        this.keepIfBetter(divisionOf(this.programme, withGreater(this.programme, this.valuesOf(node))));
        return [];
      }
      return this.branch(node, branch);
    } finally {
      this.work += node.work - before;
    }
  }

  /** Both ways, as far as what they cost at least leaves something to find. */
  private branch(node: Tableau, { column, value, below, above, isUpFirst }: Branch): Open[] {
    const bound = node.objectives.first;
    const most = this.most();
    this.fixColumns(node);
    const isBelow = bound + below <= most;
    const branches: Open[] = [];
    if (bound + above <= most) {
      const tableau = isBelow ? node.copy() : node;
      tableau.addRow([column], [-1], 0 - Math.floor(value) - 1);
      branches.push({ tableau, bound: bound + above });
    }
    if (isBelow) {
      node.addRow([column], [1], Math.floor(value));
      branches.push({ tableau: node, bound: bound + below });
    }
    return isUpFirst ? branches.reverse() : branches;
  }

  /** Leaves out of an optimal programme what is 0 in every division that is better than the best. */
  private fixColumns(node: Tableau): void {
    // Where the second objective can differ by itself, ties are wanted too.
    const least = this.best.first - (this.isOneObjective ? STEP_MARGIN * this.step : 0);
    node.fixByReducedCost(least / this.programme.unit + TOLERANCE * TOLERANCE - node.objectives.first);
  }

  private valuesOf(node: Tableau): Float64Array {
    return node.values(this.programme.columns.length);
  }

  /** To an optimal point at which no pool loses more than its programme knows of; NONE where there is none that is better. */
  private solve(node: Tableau, mostWork: number): 'OPTIMAL' | 'NONE' | 'TOO_LONG' {
    const allowed = node.work + mostWork;
    const { unit } = this.programme;
    do {
      if (!node.repair(allowed, this.most())) return node.work > allowed ? 'TOO_LONG' : 'NONE';
      const { first, second } = node.objectives;
      if (!this.mayBeBetter(first * unit, second * unit)) return 'NONE';
    } while (this.addViolated(node, this.valuesOf(node)));
    return 'OPTIMAL';
  }

  /** The first objective, in units, beyond which nothing is better: repairing only ever raises it. */
  private most(): number {
    const { best, step, isOneObjective } = this;
    const least = isOneObjective ? best.first - STEP_MARGIN * step : best.first;
    return least / this.programme.unit + TOLERANCE * Math.max(1, Math.abs(least / this.programme.unit));
  }

  /** Cuts the first programme, as long as that raises what nothing can be below. */
  private tighten(root: Tableau): void {
    const model = root.size;
    let poor = 0;
    for (let round = 0; round < MOST_ROUNDS && poor < POOR_ROUNDS; round++) {
      if (root.work > this.mostWork / 2) return;
      const bound = root.objectives.first;
      const cut = root.copy();
      cut.dropSlackCuts(model);
      if (cut.cut(MOST_CUTS) === 0) return;
      const solved = this.solve(cut, Math.min(MOST_WORK_OF_CUTS, this.mostWork / 4));
      root.work += cut.work;
      const { first } = cut.objectives;
      // Cuts of cuts can be more than rounding bears.
      if (solved !== 'OPTIMAL' || first < bound - TOLERANCE * Math.abs(bound)) return;
      root.replaceWith(cut);
      if (first < bound + 1e-4 * Math.abs(bound)) poor++;
    }
  }

  /** Makes a division of the same chain the best where it is better. */
  keepIfBetter(found: Division): void {
    const { best } = this;
    if (found.first > best.first || (found.first === best.first && found.second >= best.second)) return;
    this.best = found;
  }

  /** Whether the best takes no more than the first programme does where nothing needs to be whole. */
  get isAtBound(): boolean {
    const { unit } = this.programme;
    return !this.mayBeBetter(this.bound.first * unit, this.bound.second * unit);
  }

  /** Whether something that is bounded so, in units, may take less than the best: of the first objective. */
  private takesLess(bound: number): boolean {
    return bound * this.programme.unit < this.best.first - STEP_MARGIN * this.step;
  }

  private mayBeBetter(first: Micros, second: Micros): boolean {
    const { best } = this;
    if (this.isOneObjective) return this.takesLess(first / this.programme.unit);
    const near = 1e-3 * Math.max(1, Math.abs(best.first) * 1e-9);
    if (first > best.first + near) return false;
    return first < best.first - near || second < best.second - near;
  }

  /** Adds the price at which each pool loses more than its programme knows of. */
  private addViolated(node: Tableau, values: Float64Array): boolean {
    const { programme } = this;
    let isAny = false;
    programme.pools.forEach((_, pool) => {
      if (!programme.columnsOf[pool]?.some((column) => (values[column] ?? 0) > TOLERANCE)) return;
      const known = values[programme.lossOf[pool] ?? 0] ?? 0;
      let most = known + TOLERANCE * Math.max(1, known);
      let worst = -1;
      const losses = programme.lossesIn(pool, values);
      for (let k = 0; k < losses.length; k++) {
        const loss = losses[k] ?? 0;
        if (loss <= most) continue;
        most = loss;
        worst = programme.prices[pool]?.[k] ?? -1;
      }
      if (worst < 0) return;
      programme.boundLoss(node, pool, worst);
      isAny = true;
    });
    return isAny;
  }

  /**
   * The column to branch on: the one that costs most either way; undefined where all are whole. Greater shorts of straddles need not be:
   * they cost nothing, and are whatever is left.
   */
  private branchOf(node: Tableau): Branch | undefined {
    const { columns } = this.programme;
    let best: Branch | undefined;
    let most = -1;
    for (const { variable, value, below, above } of node.fractional(columns.length, TOLERANCE)) {
      const kind = columns[variable]?.kind;
      if (kind === 'GREATER') continue;
      if (kind === 'LOSS' && Math.abs(value - Math.round(value)) < TOLERANCE * value) continue;
      const fraction = value - Math.floor(value);
      const less = Math.min(below, above, MAXIMUM_PENALTY);
      const more = Math.min(Math.max(below, above), MAXIMUM_PENALTY);
      const weight = less + 1e-3 * more + 1e-9 * Math.min(fraction, 1 - fraction);
      if (weight <= most) continue;
      most = weight;
      best = {
        column: variable,
        value,
        below,
        above,
        isUpFirst: above < below || (above === below && fraction > 0.5),
      };
    }
    return best;
  }
}

function takeLowestBound(open: Open[]): Open | undefined {
  let least = 0;
  open.forEach(({ bound }, i) => {
    if (bound < (open[least]?.bound ?? 0)) least = i;
  });
  return open.splice(least, 1)[0];
}

/** The greatest common divisor of what the first objective is made of. */
function stepOf(programme: Programme): Micros {
  const { columns, first } = programme;
  let step = programme.step;
  for (let index = 0; index < columns.length; index++) {
    if (columns[index]?.kind === 'LOSS') continue;
    step = divisor(step, Math.abs(first[index] ?? 0));
  }
  return step;
}
