import type { Micros } from './contracts.js';
import { integerSolutionOf, TOLERANCE, withGreater } from './integer-solution.js';
import type { IntegerSolution } from './integer-solution.js';
import { divisor } from './partition-program.js';
import type { PartitionProgram } from './partition-program.js';
import type { Objectives, Tableau } from './tableau.js';

const MOST_ROUNDS = 8;
const POOR_ROUNDS = 4;
const MOST_CUTS = 20;
const MOST_WORK_OF_CUTS = 500_000;
/** Part of a step that is more than any rounding error. */
const STEP_MARGIN = 0.75;
const MAXIMUM_PENALTY = 1e6;

/** An unsolved branch and its lower bound. */
interface Open {
  readonly tableau: Tableau;
  readonly bound: number;
}

/** A fractional column, and the branch that is explored first. */
interface Branch {
  readonly column: number;
  readonly value: number;
  /** Lower bounds of the rise of the first objective in the two branches. */
  readonly below: number;
  readonly above: number;
  readonly isUpFirst: boolean;
}

/** Branch and bound: dives from the incumbent until no column is fractional, then continues with the most promising branch. */
export class Search {
  /** The incumbent. */
  best: IntegerSolution;
  /** True when the incumbent is proven optimal. */
  isCertain = false;
  private readonly program: PartitionProgram;
  private readonly mostWork: number;
  /** Every amount of the first objective is a multiple of this: smaller differences are no improvement. */
  private readonly step: Micros;
  private readonly isOneObjective: boolean;
  /** Numbers visited so far. */
  work = 0;
  /** Column values of an optimum of the relaxation; undefined if the work limit was reached. */
  relaxed: Float64Array | undefined;
  private isFirst = true;
  /** Lower bound of all solutions: both objectives of the root program before cuts. */
  private bound: Objectives = { first: -Infinity, second: -Infinity };

  /** `best`: a known feasible solution. */
  constructor(program: PartitionProgram, mostWork: number, best: IntegerSolution) {
    this.program = program;
    this.best = best;
    this.mostWork = mostWork;
    this.step = stepOf(program);
    this.isOneObjective = program.isOneObjective();
  }

  run(): void {
    const root = this.program.tableau();
    if (!root.improve(this.mostWork)) return;
    const open: Open[] = [];
    let next: Open | undefined = { tableau: root, bound: -Infinity };
    while (next !== undefined) {
      const branches = this.explore(next.tableau);
      if (branches === undefined) {
        // Unsolved branches whose bounds are no better leave only ties.
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
   * Column values of an optimum of the root relaxation; if the work limit is reached, those of the last
   * point.
   */
  relax(): Float64Array {
    const root = this.program.tableau();
    if (root.improve(this.mostWork)) this.solve(root, this.mostWork - root.work);
    this.work = root.work;
    return this.valuesOf(root);
  }

  /**
   * Solves one branch. Keeps an improved integer solution. Branches on a fractional one; the branch to explore
   * next is last. Undefined if the work limit is reached.
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
        this.keepIfBetter(integerSolutionOf(this.program, withGreater(this.program, this.valuesOf(node))));
        return [];
      }
      return this.branch(node, branch);
    } finally {
      this.work += node.work - before;
    }
  }

  /** Both branches, unless their lower bounds rule them out. */
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

  /** Fixes the columns of an optimal program that are 0 in every solution better than the incumbent. */
  private fixColumns(node: Tableau): void {
    // With a second objective, solutions that tie in the first are wanted too.
    const least = this.best.first - (this.isOneObjective ? STEP_MARGIN * this.step : 0);
    node.fixByReducedCost(least / this.program.unit + TOLERANCE * TOLERANCE - node.objectives.first);
  }

  private valuesOf(node: Tableau): Float64Array {
    return node.values(this.program.columns.length);
  }

  /** Moves to an optimal point at which no block loses more than its constraints state; NONE if no better one exists. */
  private solve(node: Tableau, mostWork: number): 'OPTIMAL' | 'NONE' | 'TOO_LONG' {
    const allowed = node.work + mostWork;
    const { unit } = this.program;
    do {
      if (!node.repair(allowed, this.most())) return node.work > allowed ? 'TOO_LONG' : 'NONE';
      const { first, second } = node.objectives;
      if (!this.mayBeBetter(first * unit, second * unit)) return 'NONE';
    } while (this.addViolated(node, this.valuesOf(node)));
    return 'OPTIMAL';
  }

  /** Upper bound of the first objective, in units: repairing only ever raises it. */
  private most(): number {
    const { best, step, isOneObjective } = this;
    const least = isOneObjective ? best.first - STEP_MARGIN * step : best.first;
    return least / this.program.unit + TOLERANCE * Math.max(1, Math.abs(least / this.program.unit));
  }

  /** Adds cuts to the root program while they raise its bound. */
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
      // Repeated cuts can accumulate more than the tolerated rounding error.
      if (solved !== 'OPTIMAL' || first < bound - TOLERANCE * Math.abs(bound)) return;
      root.replaceWith(cut);
      if (first < bound + 1e-4 * Math.abs(bound)) poor++;
    }
  }

  /** Replaces the incumbent by a better solution of the same positions. */
  keepIfBetter(found: IntegerSolution): void {
    const { best } = this;
    if (found.first > best.first || (found.first === best.first && found.second >= best.second)) return;
    this.best = found;
  }

  /** True when the incumbent reaches the bound of the root relaxation. */
  get isAtBound(): boolean {
    const { unit } = this.program;
    return !this.mayBeBetter(this.bound.first * unit, this.bound.second * unit);
  }

  /** True when a branch with this bound, in units, may improve the first objective. */
  private takesLess(bound: number): boolean {
    return bound * this.program.unit < this.best.first - STEP_MARGIN * this.step;
  }

  private mayBeBetter(first: Micros, second: Micros): boolean {
    const { best } = this;
    if (this.isOneObjective) return this.takesLess(first / this.program.unit);
    const near = 1e-3 * Math.max(1, Math.abs(best.first) * 1e-9);
    if (first > best.first + near) return false;
    return first < best.first - near || second < best.second - near;
  }

  /** Adds the price at which each block loses more than its constraints state. */
  private addViolated(node: Tableau, values: Float64Array): boolean {
    const { program } = this;
    let isAny = false;
    program.blocks.forEach((_, block) => {
      if (!program.columnsOf[block]?.some((column) => (values[column] ?? 0) > TOLERANCE)) return;
      const known = values[program.lossOf[block] ?? 0] ?? 0;
      let most = known + TOLERANCE * Math.max(1, known);
      let worst = -1;
      const losses = program.lossesIn(block, values);
      for (let k = 0; k < losses.length; k++) {
        const loss = losses[k] ?? 0;
        if (loss <= most) continue;
        most = loss;
        worst = program.prices[block]?.[k] ?? -1;
      }
      if (worst < 0) return;
      program.boundLoss(node, block, worst);
      isAny = true;
    });
    return isAny;
  }

  /**
   * The column to branch on: the one with the greatest cost either way; undefined if all are whole. Greater shorts of straddles may stay
   * fractional: they cost nothing and are set to the remainder.
   */
  private branchOf(node: Tableau): Branch | undefined {
    const { columns } = this.program;
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

/** The greatest common divisor of all costs of the first objective. */
function stepOf(program: PartitionProgram): Micros {
  const { columns, first } = program;
  let step = program.step;
  for (let index = 0; index < columns.length; index++) {
    if (columns[index]?.kind === 'LOSS') continue;
    step = divisor(step, Math.abs(first[index] ?? 0));
  }
  return step;
}
