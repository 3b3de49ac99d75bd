import type { Contract, Micros, RegTTerms } from './contracts.js';
import { aimedAt, aloneOf, combosOf, intrinsicAt, poolsOf, sameTerms, savings } from './model.js';
import type { Chain, Combo, SpreadPool } from './model.js';
import { Tableau } from './tableau.js';

/** What a column of the programme counts, by places in the chain. */
export type Column =
  /** Contracts in a SPREAD group. */
  | { readonly kind: 'SPREAD'; readonly pool: number; readonly leg: number }
  /** The loss of a SPREAD group, in steps. */
  | { readonly kind: 'LOSS'; readonly pool: number }
  /** Groups with stock. */
  | { readonly kind: 'COMBO'; readonly combo: Combo }
  /** Shorts in straddles and strangles, whose own requirement is the greater one there, or the smaller one. */
  | { readonly kind: 'GREATER' | 'SMALLER'; readonly leg: number };

/** Longs that can serve one SPREAD group and nothing else are in it: they never raise its loss. */
export interface FixedLong {
  readonly leg: number;
  readonly count: number;
}

/**
 * The least partition of a chain as an integer programme: what each column saves, against every contract and all stock alone,
 * of maintenance and initially, in millionths of a dollar.
 */
export class Programme {
  readonly contracts: readonly Contract[];
  readonly pools: readonly SpreadPool[];
  readonly columns: Column[] = [];
  /** Maintenance, less what long-dated longs count with. */
  readonly first: Micros[] = [];
  readonly second: Micros[] = [];
  /** The spread columns of each pool, and the longs that are in it anyway. */
  readonly columnsOf: number[][] = [];
  readonly fixedIn: FixedLong[][] = [];
  readonly lossOf: number[] = [];
  /** Of each pool, the prices at which its loss can be greatest: it turns upwards only at long strikes. In order, 0 first. */
  readonly prices: readonly (readonly Micros[])[];
  /** Of each pool and leg, what one contract loses at its prices, in steps. */
  readonly losses: readonly (readonly Float64Array[])[];
  /** The size of one contract: the tableau works with multiples of it. */
  readonly unit: Micros;
  /** What all strikes, and so all losses, are multiples of. */
  readonly step: Micros;
  readonly shares: number;
  private readonly combos: readonly Combo[];

  constructor(chain: Chain, terms: RegTTerms) {
    this.contracts = chain.contracts;
    this.shares = Math.abs(chain.shares);
    this.combos = combosOf(chain, terms);
    this.pools = poolsOf(chain.contracts);
    this.unit = chain.contracts.reduce((most, { strike, shares }) => Math.max(most, strike, shares), 1);
    this.step = chain.contracts.reduce((step, { strike }) => divisor(step, strike), 0) || 1;
    this.prices = this.pools.map(({ longs }) => {
      const strikes = longs.map((leg) => this.contracts[leg]?.strike ?? 0);
      return [...new Set([0, ...strikes])].sort((a, b) => a - b);
    });
    this.losses = this.prices.map((prices) =>
      this.contracts.map((contract) =>
        Float64Array.from(
          prices,
          (price) => ((contract.isShort ? 1 : -1) * intrinsicAt(contract, price)) / this.step,
        ),
      ),
    );
    this.pools.forEach((pool, index) => this.addPool(pool, index, terms));
    for (const combo of this.combos) {
      const [first, second] = savings(combo, chain.contracts, terms);
      this.add({ kind: 'COMBO', combo }, first, second);
    }
    this.addStraddles();
  }

  private add(column: Column, first: Micros, second: Micros): number {
    this.first.push(first);
    this.second.push(second);
    return this.columns.push(column) - 1;
  }

  private addPool({ shorts, longs }: SpreadPool, pool: number, terms: RegTTerms): void {
    const columns: number[] = [];
    const fixed: FixedLong[] = [];
    for (const leg of [...shorts, ...longs]) {
      const contract = this.contracts[leg];
      if (contract === undefined) continue;
      if (!contract.isShort && this.hasOneUse(leg, contract)) {
        fixed.push({ leg, count: contract.count });
        continue;
      }
      const alone = aloneOf(contract, terms);
      const paid = contract.isShort ? 0 : contract.premium;
      columns.push(
        this.add({ kind: 'SPREAD', pool, leg }, 0 - aimedAt(alone, contract), paid - alone.initial),
      );
    }
    this.columnsOf.push(columns);
    this.fixedIn.push(fixed);
    this.lossOf.push(this.add({ kind: 'LOSS', pool }, this.step, this.step));
  }

  private hasOneUse(leg: number, { isLongDated }: Contract): boolean {
    const pools = this.pools.filter(({ longs }) => longs.includes(leg)).length;
    return !isLongDated && pools === 1 && !this.combos.some(({ legs }) => legs.includes(leg));
  }

  private addStraddles(): void {
    this.contracts.forEach((contract, leg) => {
      if (!contract.isShort) return;
      const others = this.contracts.filter(
        (other) => other.isShort && other.isCall !== contract.isCall && sameTerms(other, contract),
      );
      if (others.some(({ naked }) => naked <= contract.naked)) this.add({ kind: 'GREATER', leg }, 0, 0);
      const saved = contract.premium - contract.naked;
      if (saved < 0 && others.some(({ naked }) => naked >= contract.naked))
        this.add({ kind: 'SMALLER', leg }, saved, saved);
    });
  }

  /** Each contract and share is used once, longs cover shorts, and a loss is none less than at its ends. */
  tableau(): Tableau {
    const scaled = (costs: readonly Micros[]): number[] => costs.map((cost) => cost / this.unit);
    // Where the second objective says the same as the first, there is nothing to choose by it.
    const second = this.isOneObjective() ? this.second.map(() => 0) : this.second;
    const tableau = Tableau.of(scaled(this.first), scaled(second));
    this.useContractsOnce(tableau);
    this.useSharesOnce(tableau);
    this.matchStraddles(tableau);
    for (let pool = 0; pool < this.pools.length; pool++) {
      this.coverShorts(tableau, pool, true);
      this.coverShorts(tableau, pool, false);
      const last = this.prices[pool]?.at(-1);
      if (this.pools[pool]?.shorts.some((leg) => this.contracts[leg]?.isCall === false))
        this.boundLoss(tableau, pool, 0);
      if (last !== undefined && last > 0) this.boundLoss(tableau, pool, last);
    }
    return tableau;
  }

  /** Whether everything saves as much initially as of maintenance: only stock does not. */
  isOneObjective(): boolean {
    return this.first.every((cost, index) => cost === this.second[index]);
  }

  private useContractsOnce(tableau: Tableau): void {
    const uses: number[][] = this.contracts.map(() => []);
    this.columns.forEach((column, index) => {
      if (column.kind === 'LOSS') return;
      for (const leg of column.kind === 'COMBO' ? column.combo.legs : [column.leg]) uses[leg]?.push(index);
    });
    this.contracts.forEach(({ count }, leg) => {
      const columns = uses[leg] ?? [];
      if (columns.length > 0)
        tableau.addRow(
          columns,
          columns.map(() => 1),
          count,
        );
    });
  }

  private useSharesOnce(tableau: Tableau): void {
    const columns: number[] = [];
    const taken: number[] = [];
    this.columns.forEach((column, index) => {
      if (column.kind !== 'COMBO') return;
      columns.push(index);
      taken.push(Math.abs(column.combo.shares));
    });
    const lot = taken[0];
    if (lot === undefined) return;
    const lots = this.shares / lot;
    // Where all contracts deliver the same, a part of a lot is of no use.
    const isWhole = taken.every((shares) => shares === lot);
    const limit = isWhole ? Math.floor(lots) : lots;
    tableau.addRow(
      columns,
      taken.map((shares) => shares / lot),
      limit,
      isWhole,
    );
  }

  /**
   * A short that is the smaller one in a straddle needs one of the other right that is not smaller. What serves one serves
   * all that are smaller still, so that counting from the greatest down is enough.
   */
  private matchStraddles(tableau: Tableau): void {
    this.columns.forEach((column) => {
      if (column.kind !== 'SMALLER') return;
      const from = this.contracts[column.leg];
      if (from === undefined) return;
      const columns: number[] = [];
      const signs: number[] = [];
      this.columns.forEach((other, index) => {
        if (other.kind !== 'SMALLER' && other.kind !== 'GREATER') return;
        const contract = this.contracts[other.leg];
        if (contract === undefined || contract.naked < from.naked || !sameTerms(contract, from)) return;
        if ((contract.isCall === from.isCall) !== (other.kind === 'SMALLER')) return;
        columns.push(index);
        signs.push(other.kind === 'SMALLER' ? 1 : -1);
      });
      tableau.addRow(columns, signs, 0);
    });
  }

  private coverShorts(tableau: Tableau, pool: number, isCall: boolean): void {
    const columns: number[] = [];
    const signs: number[] = [];
    let shorts = 0;
    let covered = 0;
    for (const column of this.columnsOf[pool] ?? []) {
      const contract = this.contractIn(column);
      if (contract.isCall !== isCall) continue;
      if (contract.isShort) shorts++;
      columns.push(column);
      signs.push(contract.isShort ? 1 : -1);
    }
    for (const { leg, count } of this.fixedIn[pool] ?? []) {
      if (this.contracts[leg]?.isCall === isCall) covered += count;
    }
    if (shorts > 0) tableau.addRow(columns, signs, covered);
  }

  /** The contract that a spread column counts. */
  contractIn(index: number): Contract {
    const column = this.columns[index];
    const contract = column?.kind === 'SPREAD' ? this.contracts[column.leg] : undefined;
    if (contract === undefined) throw new RangeError('no such column');
    return contract;
  }

  /** The loss of a pool is no less than what its contracts lose at a price. */
  boundLoss(tableau: Tableau, pool: number, price: Micros): void {
    const columns = [this.lossOf[pool] ?? 0];
    const coefficients = [-1];
    let covered = 0;
    for (const column of this.columnsOf[pool] ?? []) {
      const contract = this.contractIn(column);
      const intrinsic = intrinsicAt(contract, price) / this.step;
      if (intrinsic === 0) continue;
      columns.push(column);
      coefficients.push(contract.isShort ? intrinsic : 0 - intrinsic);
    }
    for (const { leg, count } of this.fixedIn[pool] ?? []) {
      const contract = this.contracts[leg];
      if (contract !== undefined) covered += (count * intrinsicAt(contract, price)) / this.step;
    }
    tableau.addRow(columns, coefficients, covered);
  }

  /** What a pool loses at each of its prices by such counts of its columns, in steps. */
  lossesIn(pool: number, values: Float64Array): Float64Array {
    const losses = new Float64Array(this.prices[pool]?.length ?? 0);
    const add = (leg: number, count: number): void => {
      const one = this.losses[pool]?.[leg];
      if (one === undefined || count === 0) return;
      for (let k = 0; k < losses.length; k++) losses[k] = (losses[k] ?? 0) + count * (one[k] ?? 0);
    };
    for (const index of this.columnsOf[pool] ?? []) {
      const column = this.columns[index];
      if (column?.kind === 'SPREAD') add(column.leg, values[index] ?? 0);
    }
    for (const { leg, count } of this.fixedIn[pool] ?? []) add(leg, count);
    return losses;
  }

  /** Contracts in a pool by whole counts of its columns: none where it has no short. */
  legsIn(pool: number, values: Float64Array): Map<number, number> {
    const legs = new Map<number, number>();
    let hasShorts = false;
    for (const index of this.columnsOf[pool] ?? []) {
      const column = this.columns[index];
      const count = Math.round(values[index] ?? 0);
      if (column?.kind !== 'SPREAD' || count <= 0) continue;
      legs.set(column.leg, count);
      hasShorts ||= this.contracts[column.leg]?.isShort === true;
    }
    for (const { leg, count } of this.fixedIn[pool] ?? []) legs.set(leg, count);
    return hasShorts ? legs : new Map<number, number>();
  }
}

/** The greatest common divisor. */
export function divisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
