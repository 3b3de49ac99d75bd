import type { Contract, Micros, RegTTerms } from './contracts.js';
import { aimedAt, aloneOf, combosOf, intrinsicAt, sameTerms, savings } from './model.js';
import type { UnderlyingPositions, Combo, SpreadBlock } from './model.js';
import { Tableau } from './tableau.js';

/** A column of the program; legs are indexes of contracts. */
export type Column =
  /** Contracts in a SPREAD group. */
  | { readonly kind: 'SPREAD'; readonly block: number; readonly leg: number }
  /** The loss of a SPREAD group, in steps. */
  | { readonly kind: 'LOSS'; readonly block: number }
  /** Groups with stock. */
  | { readonly kind: 'COMBO'; readonly combo: Combo }
  /** Shorts in straddles and strangles, as the one with the greater requirement or the smaller one. */
  | { readonly kind: 'GREATER' | 'SMALLER'; readonly leg: number };

/** Longs that can be in one block only: they are always in it, because they never raise its loss. */
export interface FixedLong {
  readonly leg: number;
  readonly count: number;
}

/**
 * The least partition as an integer program. The objectives are the savings of each column in maintenance and initial requirement, against all
 * contracts and stock alone, in millionths of a dollar.
 */
export class PartitionProgram {
  readonly contracts: readonly Contract[];
  readonly blocks: readonly SpreadBlock[];
  readonly columns: Column[] = [];
  /** Maintenance, less the value that counts for long-dated longs. */
  readonly first: Micros[] = [];
  readonly second: Micros[] = [];
  /** The spread columns of each block, and the longs that are always in it. */
  readonly columnsOf: number[][] = [];
  readonly fixedIn: FixedLong[][] = [];
  readonly lossOf: number[] = [];
  /** Prices at which the loss of each block can be greatest (0 and the long strikes), in increasing order. */
  readonly prices: (readonly Micros[])[] = [];
  /** The size of one contract: the tableau works with multiples of it. */
  readonly unit: Micros;
  /** Common divisor of all strikes, and so of all losses. */
  readonly step: Micros;
  readonly shares: number;
  private readonly combos: readonly Combo[];
  /** Number of columns of smaller shorts in straddles. */
  private smaller = 0;
  /** By block and leg, the loss of one contract at the block's prices, in steps; computed on demand. */
  private readonly losses: (Float64Array | undefined)[][] = [];

  /** `blocks`: those to include. Without straddles the columns are the first ones of the full program. */
  constructor(
    positions: UnderlyingPositions,
    terms: RegTTerms,
    blocks: readonly SpreadBlock[],
    hasStraddles = true,
  ) {
    this.contracts = positions.contracts;
    this.shares = Math.abs(positions.shares);
    this.combos = combosOf(positions, terms);
    this.blocks = blocks;
    let unit = 1;
    let step = 0;
    for (const { strike, shares } of positions.contracts) {
      unit = Math.max(unit, strike, shares);
      step = divisor(step, strike);
    }
    this.unit = unit;
    this.step = step || 1;
    const uses = this.usesOfLongs();
    this.blocks.forEach((block, index) => {
      const prices = [0];
      for (const leg of block.longs) {
        const strike = this.contracts[leg]?.strike ?? 0;
        if (!prices.includes(strike)) prices.push(strike);
      }
      this.prices.push(prices.sort((x, y) => x - y));
      this.losses.push([]);
      this.addPool(block, index, terms, uses);
    });
    for (const combo of this.combos) {
      const [first, second] = savings(combo, positions.contracts, terms);
      this.add({ kind: 'COMBO', combo }, first, second);
    }
    if (hasStraddles) this.addStraddles();
  }

  /** Number of blocks and groups with stock that each contract could be in. */
  private usesOfLongs(): number[] {
    const uses = this.contracts.map(() => 0);
    const count = (legs: readonly number[]): void => {
      for (const leg of legs) uses[leg] = (uses[leg] ?? 0) + 1;
    };
    for (const { longs } of this.blocks) count(longs);
    for (const { legs } of this.combos) count(legs);
    return uses;
  }

  /** Loss of one contract of a leg at the prices of a block, in steps. */
  lossesOf(block: number, leg: number): Float64Array {
    const known = this.losses[block]?.[leg];
    if (known !== undefined) return known;
    const prices = this.prices[block] ?? [];
    const losses = new Float64Array(prices.length);
    const contract = this.contracts[leg];
    if (contract !== undefined) {
      const sign = contract.isShort ? 1 : -1;
      for (let k = 0; k < prices.length; k++)
        losses[k] = (sign * intrinsicAt(contract, prices[k] ?? 0)) / this.step;
    }
    const ofBlock = this.losses[block];
    if (ofBlock !== undefined) ofBlock[leg] = losses;
    return losses;
  }

  private add(column: Column, first: Micros, second: Micros): number {
    this.first.push(first);
    this.second.push(second);
    return this.columns.push(column) - 1;
  }

  private addPool(
    { shorts, longs }: SpreadBlock,
    block: number,
    terms: RegTTerms,
    uses: readonly number[],
  ): void {
    const columns: number[] = [];
    const fixed: FixedLong[] = [];
    for (const leg of shorts) {
      const { naked } = this.contract(leg);
      columns.push(this.add({ kind: 'SPREAD', block, leg }, 0 - naked, 0 - naked));
    }
    for (const leg of longs) {
      const contract = this.contract(leg);
      if (!contract.isLongDated && uses[leg] === 1) {
        fixed.push({ leg, count: contract.count });
        continue;
      }
      const alone = aloneOf(contract, terms);
      columns.push(
        this.add(
          { kind: 'SPREAD', block, leg },
          0 - aimedAt(alone, contract),
          contract.premium - alone.initial,
        ),
      );
    }
    this.columnsOf.push(columns);
    this.fixedIn.push(fixed);
    this.lossOf.push(this.add({ kind: 'LOSS', block }, this.step, this.step));
  }

  contract(leg: number): Contract {
    const contract = this.contracts[leg];
    if (contract === undefined) throw new RangeError('no such contract');
    return contract;
  }

  private addStraddles(): void {
    const { contracts } = this;
    for (let leg = 0; leg < contracts.length; leg++) {
      const contract = this.contract(leg);
      if (!contract.isShort) continue;
      let isGreater = false;
      let isSmaller = false;
      for (const other of contracts) {
        if (!other.isShort || other.isCall === contract.isCall || !sameTerms(other, contract)) continue;
        isGreater ||= other.naked <= contract.naked;
        isSmaller ||= other.naked >= contract.naked;
      }
      if (isGreater) this.add({ kind: 'GREATER', leg }, 0, 0);
      const saved = contract.premium - contract.naked;
      if (saved >= 0 || !isSmaller) continue;
      this.add({ kind: 'SMALLER', leg }, saved, saved);
      this.smaller++;
    }
  }

  /** Each contract and share is used once, longs cover shorts, and a loss is none less than at its ends. */
  tableau(): Tableau {
    const { unit } = this;
    const rows = this.contracts.length + this.smaller + 4 * this.blocks.length + 1;
    // Equal objectives leave no ties for the second to break.
    const tableau = Tableau.of(this.first, this.isOneObjective() ? [] : this.second, unit, rows);
    this.useContractsOnce(tableau);
    this.useSharesOnce(tableau);
    this.matchStraddles(tableau);
    for (let block = 0; block < this.blocks.length; block++) {
      this.coverShorts(tableau, block, true);
      this.coverShorts(tableau, block, false);
      const last = this.prices[block]?.at(-1);
      if (this.blocks[block]?.shorts.some((leg) => this.contracts[leg]?.isCall === false))
        this.boundLoss(tableau, block, 0);
      if (last !== undefined && last > 0) this.boundLoss(tableau, block, last);
    }
    return tableau;
  }

  /** True when every column saves as much initial requirement as maintenance: only stock differs. */
  isOneObjective(): boolean {
    return this.first.every((cost, index) => cost === this.second[index]);
  }

  private useContractsOnce(tableau: Tableau): void {
    const uses: number[][] = this.contracts.map(() => []);
    const { columns } = this;
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index];
      if (column === undefined || column.kind === 'LOSS') continue;
      if (column.kind === 'COMBO') for (const leg of column.combo.legs) uses[leg]?.push(index);
      else uses[column.leg]?.push(index);
    }
    for (let leg = 0; leg < uses.length; leg++) {
      const mine = uses[leg] ?? [];
      if (mine.length > 0)
        tableau.addRow(
          mine,
          mine.map(() => 1),
          this.contract(leg).count,
        );
    }
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
    // If all contracts deliver the same, a partial lot is of no use.
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
   * The smaller short of a straddle needs one of the other right that is not smaller. A partner of one also fits all
   * smaller ones, so counting from the greatest down is enough.
   */
  private matchStraddles(tableau: Tableau): void {
    const shorts: number[] = [];
    this.columns.forEach(({ kind }, index) => {
      if (kind === 'SMALLER' || kind === 'GREATER') shorts.push(index);
    });
    for (const index of shorts) {
      const column = this.columns[index];
      if (column?.kind !== 'SMALLER') continue;
      const from = this.contract(column.leg);
      const columns: number[] = [];
      const signs: number[] = [];
      for (const place of shorts) {
        const other = this.columns[place];
        if (other?.kind !== 'SMALLER' && other?.kind !== 'GREATER') continue;
        const contract = this.contract(other.leg);
        if (contract.naked < from.naked || !sameTerms(contract, from)) continue;
        if ((contract.isCall === from.isCall) !== (other.kind === 'SMALLER')) continue;
        columns.push(place);
        signs.push(other.kind === 'SMALLER' ? 1 : -1);
      }
      tableau.addRow(columns, signs, 0);
    }
  }

  private coverShorts(tableau: Tableau, block: number, isCall: boolean): void {
    const columns: number[] = [];
    const signs: number[] = [];
    let shorts = 0;
    let covered = 0;
    for (const column of this.columnsOf[block] ?? []) {
      const contract = this.contractIn(column);
      if (contract.isCall !== isCall) continue;
      if (contract.isShort) shorts++;
      columns.push(column);
      signs.push(contract.isShort ? 1 : -1);
    }
    for (const { leg, count } of this.fixedIn[block] ?? []) {
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

  /** Constraint: the loss of a block is at least the loss of its contracts at a price. */
  boundLoss(tableau: Tableau, block: number, price: Micros): void {
    const columns = [this.lossOf[block] ?? 0];
    const coefficients = [-1];
    let covered = 0;
    for (const column of this.columnsOf[block] ?? []) {
      const contract = this.contractIn(column);
      const intrinsic = intrinsicAt(contract, price) / this.step;
      if (intrinsic === 0) continue;
      columns.push(column);
      coefficients.push(contract.isShort ? intrinsic : 0 - intrinsic);
    }
    for (const { leg, count } of this.fixedIn[block] ?? []) {
      const contract = this.contracts[leg];
      if (contract !== undefined) covered += (count * intrinsicAt(contract, price)) / this.step;
    }
    tableau.addRow(columns, coefficients, covered);
  }

  /** Loss of a block at each of its prices for given column values, in steps. */
  lossesIn(block: number, values: Float64Array): Float64Array {
    const losses = new Float64Array(this.prices[block]?.length ?? 0);
    const add = (leg: number, count: number): void => {
      if (count === 0) return;
      const one = this.lossesOf(block, leg);
      for (let k = 0; k < losses.length; k++) losses[k] = (losses[k] ?? 0) + count * (one[k] ?? 0);
    };
    for (const index of this.columnsOf[block] ?? []) {
      const column = this.columns[index];
      if (column?.kind === 'SPREAD') add(column.leg, values[index] ?? 0);
    }
    for (const { leg, count } of this.fixedIn[block] ?? []) add(leg, count);
    return losses;
  }

  /** Contracts in a block for whole column values; none if it has no short. */
  legsIn(block: number, values: Float64Array): Map<number, number> {
    const legs = new Map<number, number>();
    let hasShorts = false;
    for (const index of this.columnsOf[block] ?? []) {
      const column = this.columns[index];
      const count = Math.round(values[index] ?? 0);
      if (column?.kind !== 'SPREAD' || count <= 0) continue;
      legs.set(column.leg, count);
      hasShorts ||= this.contracts[column.leg]?.isShort === true;
    }
    for (const { leg, count } of this.fixedIn[block] ?? []) legs.set(leg, count);
    return hasShorts ? legs : new Map<number, number>();
  }
}

/** The greatest common divisor. */
export function divisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
