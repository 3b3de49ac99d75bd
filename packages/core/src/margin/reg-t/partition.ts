import type { Contract, Micros, RegTTerms } from './contracts.js';
import { aimedAt, aloneOf, combosOf, intrinsicAt, maximumLoss, poolsOf, savings } from './model.js';
import type { Chain, Combo, SpreadPool } from './model.js';
import { Tableau } from './tableau.js';

/** How a chain is divided: what is in no group is alone. Counts are by place in the chain. */
export interface Partition {
  readonly combos: readonly { readonly combo: Combo; readonly count: number }[];
  readonly spreads: readonly { readonly legs: ReadonlyMap<number, number>; readonly loss: Micros }[];
  /** Whether the search has ended before it was certain that nothing is less. */
  readonly isApproximate: boolean;
}

/** Coefficients that a search may visit: some tenths of a second. Chains of fewer than 60 series end long before. */
const MOST_WORK = 100_000_000;
const NEARLY = 1e-6;

/**
 * The division of a chain that takes the least maintenance, less the value that long-dated longs count with; among equals the
 * least initially (D104). Found by branch and bound over linear programmes: contracts are counted, not listed, so that their
 * number does not matter, and the maximum loss of a group is the least number that is no less than its loss at any strike.
 */
export function leastPartition(chain: Chain, terms: RegTTerms, mostWork = MOST_WORK): Partition {
  const combos = combosOf(chain, terms);
  const pools = poolsOf(chain.contracts);
  if (combos.length === 0 && pools.length === 0) return { combos: [], spreads: [], isApproximate: false };
  return new Search(chain, terms, combos, pools, mostWork).run();
}

/** Spread columns, then one loss for each pool, then combinations. */
class Search {
  private readonly contracts: readonly Contract[];
  private readonly shares: number;
  private readonly combos: readonly Combo[];
  private readonly pools: readonly SpreadPool[];
  /** Pool and leg of each spread column. */
  private readonly poolOf: number[] = [];
  private readonly legOf: number[] = [];
  private readonly columnsOf: { readonly from: number; readonly to: number }[] = [];
  private readonly first: Micros[] = [];
  private readonly second: Micros[] = [];
  /** The size of one contract: the programme works with multiples of it. */
  private readonly unit: Micros;
  private readonly losses: number;
  private readonly combosFrom: number;
  private readonly columns: number;
  private readonly mostWork: number;
  private work = 0;
  private best: Partition = { combos: [], spreads: [], isApproximate: false };
  private bestFirst: Micros = 0;
  private bestSecond: Micros = 0;

  constructor(
    { contracts, shares }: Chain,
    terms: RegTTerms,
    combos: readonly Combo[],
    pools: readonly SpreadPool[],
    mostWork: number,
  ) {
    this.contracts = contracts;
    this.shares = Math.abs(shares);
    this.combos = combos;
    this.pools = pools;
    this.mostWork = mostWork;
    this.unit = contracts.reduce((most, { strike, shares: value }) => Math.max(most, strike, value), 1);
    pools.forEach(({ shorts, longs }, pool) => {
      const from = this.legOf.length;
      for (const leg of [...shorts, ...longs]) {
        const contract = contracts[leg];
        if (contract === undefined) continue;
        const alone = aloneOf(contract, terms);
        this.poolOf.push(pool);
        this.legOf.push(leg);
        this.first.push(0 - aimedAt(alone, contract));
        this.second.push((contract.isShort ? 0 : contract.premium) - alone.initial);
      }
      this.columnsOf.push({ from, to: this.legOf.length });
    });
    this.losses = this.legOf.length;
    for (let pool = 0; pool < pools.length; pool++) {
      this.first.push(this.unit);
      this.second.push(this.unit);
    }
    this.combosFrom = this.first.length;
    for (const combo of combos) {
      const [first, second] = savings(combo, contracts, terms);
      this.first.push(first);
      this.second.push(second);
    }
    this.columns = this.first.length;
  }

  run(): Partition {
    const root = this.programme();
    let isCertain = root.improve(this.mostWork);
    if (isCertain) {
      const open = [root];
      for (let node = open.pop(); node !== undefined; node = open.pop()) {
        const branches = this.explore(node);
        this.work += node.work;
        if (branches === 'TOO_FAR' || this.work > this.mostWork) {
          isCertain = false;
          break;
        }
        open.push(...branches);
      }
    }
    return isCertain ? this.best : { ...this.best, isApproximate: true };
  }

  /** Each contract and share is used once, longs cover shorts, and a loss is none less than at its ends. */
  private programme(): Tableau {
    const scaled = (costs: readonly Micros[]): number[] => costs.map((cost) => cost / this.unit);
    const tableau = Tableau.of(scaled(this.first), scaled(this.second));
    const uses: number[][] = this.contracts.map(() => []);
    this.legOf.forEach((leg, column) => uses[leg]?.push(column));
    this.combos.forEach(({ legs }, i) => {
      for (const leg of legs) uses[leg]?.push(this.combosFrom + i);
    });
    this.contracts.forEach(({ count }, leg) => {
      const columns = uses[leg] ?? [];
      if (columns.length > 0) tableau.addRow(columns, new Array<number>(columns.length).fill(1), count);
    });
    const withStock = this.combos.flatMap(({ shares }, i) => (shares === 0 ? [] : [i]));
    if (withStock.length > 0) {
      const lot = Math.abs(this.combos[withStock[0] ?? 0]?.shares ?? 1);
      tableau.addRow(
        withStock.map((i) => this.combosFrom + i),
        withStock.map((i) => Math.abs(this.combos[i]?.shares ?? 0) / lot),
        // Where all contracts deliver the same, a part of a lot is of no use.
        withStock.every((i) => Math.abs(this.combos[i]?.shares ?? 0) === lot)
          ? Math.floor(this.shares / lot)
          : this.shares / lot,
      );
    }
    for (let pool = 0; pool < this.pools.length; pool++) {
      this.coverShorts(tableau, pool, true);
      this.coverShorts(tableau, pool, false);
      const prices = this.pricesOf(pool);
      const last = prices.at(-1);
      if (this.hasPuts(pool)) this.boundLoss(tableau, pool, 0);
      if (last !== undefined && last > 0) this.boundLoss(tableau, pool, last);
    }
    return tableau;
  }

  private columnsIn(pool: number): { readonly from: number; readonly to: number } {
    return this.columnsOf[pool] ?? { from: 0, to: 0 };
  }

  private contractOf(column: number): Contract {
    const contract = this.contracts[this.legOf[column] ?? 0];
    if (contract === undefined) throw new RangeError('no such column');
    return contract;
  }

  private hasPuts(pool: number): boolean {
    return this.pools[pool]?.shorts.some((leg) => !this.contracts[leg]?.isCall) ?? false;
  }

  /** Prices at which a loss can be greatest: its value turns upwards only at long strikes. In order, 0 first. */
  private pricesOf(pool: number): Micros[] {
    const strikes = (this.pools[pool]?.longs ?? []).map((leg) => this.contracts[leg]?.strike ?? 0);
    return [...new Set([0, ...strikes])].sort((a, b) => a - b);
  }

  private coverShorts(tableau: Tableau, pool: number, isCall: boolean): void {
    const { from, to } = this.columnsIn(pool);
    const columns: number[] = [];
    const signs: number[] = [];
    let shorts = 0;
    for (let column = from; column < to; column++) {
      const contract = this.contractOf(column);
      if (contract.isCall !== isCall) continue;
      if (contract.isShort) shorts++;
      columns.push(column);
      signs.push(contract.isShort ? 1 : -1);
    }
    if (shorts > 0) tableau.addRow(columns, signs, 0);
  }

  /** The loss of a pool is no less than what its contracts lose at a price. */
  private boundLoss(tableau: Tableau, pool: number, price: Micros): void {
    const { from, to } = this.columnsIn(pool);
    const columns = [this.losses + pool];
    const coefficients = [-1];
    for (let column = from; column < to; column++) {
      const contract = this.contractOf(column);
      const intrinsic = intrinsicAt(contract, price) / this.unit;
      if (intrinsic === 0) continue;
      columns.push(column);
      coefficients.push(contract.isShort ? intrinsic : 0 - intrinsic);
    }
    tableau.addRow(columns, coefficients, 0);
  }

  /** Solves one programme: what it finds is kept where it is the best so far; where it is not whole, it branches. */
  private explore(node: Tableau): Tableau[] | 'TOO_FAR' {
    const allowed = this.mostWork - this.work;
    let values: Float64Array;
    do {
      if (!node.repair(allowed)) return node.work > allowed ? 'TOO_FAR' : [];
      const { first, second } = node.objectives;
      if (!this.mayBeBetter(first * this.unit, second * this.unit)) return [];
      values = node.values(this.columns);
    } while (this.addViolated(node, values));
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
    this.work += node.work + below.work;
    node.work = 0;
    return value - Math.floor(value) < 0.5 ? [node, below] : [below, node];
  }

  private mayBeBetter(first: Micros, second: Micros): boolean {
    const near = 1e-3 * Math.max(1, Math.abs(this.bestFirst) * 1e-9);
    if (first > this.bestFirst + near) return false;
    return first < this.bestFirst - near || second < this.bestSecond - near;
  }

  /** Adds the price at which each pool loses more than its programme knows of. */
  private addViolated(node: Tableau, values: Float64Array): boolean {
    let isAny = false;
    for (let pool = 0; pool < this.pools.length; pool++) {
      const { from, to } = this.columnsIn(pool);
      let isUsed = false;
      for (let column = from; column < to && !isUsed; column++) isUsed = (values[column] ?? 0) > NEARLY;
      if (!isUsed) continue;
      const known = values[this.losses + pool] ?? 0;
      let most = known + 1e-9 * Math.max(1, known);
      let worst = -1;
      for (const price of this.pricesOf(pool)) {
        let loss = 0;
        for (let column = from; column < to; column++) {
          const count = values[column] ?? 0;
          if (count === 0) continue;
          const contract = this.contractOf(column);
          loss += (contract.isShort ? count : 0 - count) * (intrinsicAt(contract, price) / this.unit);
        }
        if (loss > most) {
          most = loss;
          worst = price;
        }
      }
      if (worst >= 0) {
        this.boundLoss(node, pool, worst);
        isAny = true;
      }
    }
    return isAny;
  }

  /** The column whose count is furthest from a whole number; −1 where all are whole. */
  private leastWhole(values: Float64Array): number {
    let best = -1;
    let furthest = NEARLY;
    for (let column = 0; column < this.columns; column++) {
      if (column >= this.losses && column < this.combosFrom) continue;
      const value = values[column] ?? 0;
      const distance = Math.abs(value - Math.round(value));
      if (distance > furthest) {
        furthest = distance;
        best = column;
      }
    }
    return best;
  }

  /** Whole counts near a broken solution: no more than it has of anything, and of shorts no more than longs cover. */
  private roundedDown(values: Float64Array): Float64Array {
    const whole = values.map((value) => Math.floor(value + NEARLY));
    for (let pool = 0; pool < this.pools.length; pool++) {
      const { from, to } = this.columnsIn(pool);
      for (const isCall of [true, false]) {
        let room = 0;
        for (let column = from; column < to; column++) {
          const contract = this.contractOf(column);
          if (contract.isCall === isCall) room += (contract.isShort ? -1 : 1) * (whole[column] ?? 0);
        }
        for (let column = from; column < to && room < 0; column++) {
          const contract = this.contractOf(column);
          if (contract.isCall !== isCall || !contract.isShort) continue;
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
    let first = 0;
    let second = 0;
    const spreads = this.pools.flatMap((_, pool) => {
      const { from, to } = this.columnsIn(pool);
      const legs = new Map<number, number>();
      for (let column = from; column < to; column++) {
        const count = Math.round(values[column] ?? 0);
        if (count <= 0) continue;
        legs.set(this.legOf[column] ?? 0, count);
        first += count * (this.first[column] ?? 0);
        second += count * (this.second[column] ?? 0);
      }
      if (legs.size === 0) return [];
      const loss = maximumLoss(this.contracts, legs);
      first += loss;
      second += loss;
      return [{ legs, loss }];
    });
    const combos = this.combos.flatMap((combo, i) => {
      const column = this.combosFrom + i;
      const count = Math.round(values[column] ?? 0);
      if (count <= 0) return [];
      first += count * (this.first[column] ?? 0);
      second += count * (this.second[column] ?? 0);
      return [{ combo, count }];
    });
    if (first > this.bestFirst || (first === this.bestFirst && second >= this.bestSecond)) return;
    this.best = { combos, spreads, isApproximate: false };
    this.bestFirst = first;
    this.bestSecond = second;
  }
}
