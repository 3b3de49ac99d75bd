/**
 * A linear program in a condensed tableau: minimize two objectives, the second among the optima of the first, over
 * `Σ a·x ≤ b`, x ≥ 0. Rows can be added to a solved tableau: constraints when they are violated, and
 * branches on fractional variables. Only + − × ÷, so that results are the same on all machines.
 *
 * Each row means: basic variable = right side − Σ coefficient × variable of the column. A column's costs are the changes of each
 * objective per unit of its variable.
 */
export class Tableau {
  /** Number of columns. Behind them: the perturbed right side, then the true one (see `improve`). */
  private columns: number;
  private rows = 0;
  /**
   * The costs of the first objective, of the second, then one row after the other, each of `columns` + 2 numbers. In the place of the right
   * side, the rows of costs have the negated objective.
   */
  private cells: Float64Array;
  /** The variable of each row and of each column. Variables of the model come first, then one slack for each row. */
  private readonly ofRow: number[];
  private ofColumn: Int32Array;
  private variables: number;
  /** By variable: true when it is integral in every relevant solution. */
  private readonly isWhole: boolean[];
  private readonly isOneObjective: boolean;
  private readonly used: Int32Array;
  /** True when every variable of the model is still nonbasic, in its own column. */
  private isFresh: boolean;
  /** Work done so far: coefficients visited. */
  work = 0;

  private constructor(
    cells: Float64Array,
    rows: number,
    ofRow: number[],
    ofColumn: Int32Array,
    variables: number,
    isWhole: boolean[],
    isOneObjective: boolean,
    isFresh: boolean,
  ) {
    this.columns = ofColumn.length;
    this.cells = cells;
    this.rows = rows;
    this.ofRow = ofRow;
    this.ofColumn = ofColumn;
    this.variables = variables;
    this.isWhole = isWhole;
    this.isOneObjective = isOneObjective;
    this.isFresh = isFresh;
    this.used = new Int32Array(this.columns + 2);
  }

  /** All variables of the model are whole numbers. Costs are in parts of `unit`; `rows`: initial capacity. */
  static of(first: readonly number[], second: readonly number[], unit: number, rows: number): Tableau {
    const count = first.length;
    const ofColumn = new Int32Array(count);
    const isWhole: boolean[] = [];
    const cells = new Float64Array((count + 2) * (2 + rows + MORE_ROWS));
    let isOneObjective = true;
    for (let column = 0; column < count; column++) {
      const cost = (second[column] ?? 0) / unit;
      ofColumn[column] = column;
      isWhole.push(true);
      cells[column] = (first[column] ?? 0) / unit;
      cells[count + 2 + column] = cost;
      isOneObjective &&= cost === 0;
    }
    return new Tableau(cells, 0, [], ofColumn, count, isWhole, isOneObjective, true);
  }

  /** An independent copy. */
  copy(): Tableau {
    const { rows, ofRow, ofColumn, variables, isWhole, isOneObjective } = this;
    const cells = new Float64Array((2 + rows + MORE_ROWS) * this.stride);
    cells.set(this.cells.subarray(0, (2 + rows) * this.stride));
    this.work += rows + (cells.length >> 3);
    return new Tableau(
      cells,
      rows,
      [...ofRow],
      ofColumn.slice(),
      variables,
      [...isWhole],
      isOneObjective,
      false,
    );
  }

  /** Replaces this tableau with a copy that was solved further; its own work count stays. */
  replaceWith(other: Tableau): void {
    this.isFresh = false;
    this.ofRow.splice(0, this.ofRow.length, ...other.ofRow);
    this.isWhole.splice(0, this.isWhole.length, ...other.isWhole);
    this.columns = other.columns;
    this.rows = other.rows;
    this.cells = other.cells;
    this.ofColumn = other.ofColumn;
    this.variables = other.variables;
  }

  private get stride(): number {
    return this.columns + 2;
  }

  /** Index of a row's first cell. */
  private at(row: number): number {
    return (2 + row) * this.stride;
  }

  private cell(index: number): number {
    return this.cells[index] ?? 0;
  }

  /** The value of the variable of a row. */
  private valueOf(row: number): number {
    return this.cell(this.at(row) + this.columns);
  }

  /** Adds `Σ coefficients[k] × x[variables[k]] ≤ limit`; all whole numbers unless `isWhole` is false. */
  addRow(variables: readonly number[], coefficients: readonly number[], limit: number, isWhole = true): void {
    const n = this.columns;
    if (this.isFresh) {
      const at = this.roomForRow();
      for (let k = 0; k < variables.length; k++) this.cells[at + (variables[k] ?? 0)] = coefficients[k] ?? 0;
      this.cells[at + n] = limit;
      this.cells[at + n + 1] = limit;
      this.countRow(isWhole);
      return;
    }
    const row = new Float64Array(n + 2);
    row[n] = limit;
    row[n + 1] = limit;
    const places = this.places();
    for (let k = 0; k < variables.length; k++) {
      const coefficient = coefficients[k] ?? 0;
      const place = places[variables[k] ?? 0] ?? 0;
      if (place === GONE) continue;
      if (place >= 0) {
        row[place] = (row[place] ?? 0) + coefficient;
        continue;
      }
      const basic = this.at(-1 - place);
      for (let j = 0; j <= n + 1; j++) row[j] = (row[j] ?? 0) - coefficient * this.cell(basic + j);
    }
    this.append(row, isWhole);
  }

  private append(row: Float64Array, isWhole: boolean): void {
    const at = this.roomForRow();
    this.cells.set(row, at);
    this.countRow(isWhole);
  }

  /** Index of the next row, after growing the cells if necessary. */
  private roomForRow(): number {
    const at = this.at(this.rows);
    if (at + this.stride > this.cells.length) {
      const cells = new Float64Array(at + this.stride * MORE_ROWS);
      cells.set(this.cells.subarray(0, at));
      this.cells = cells;
    }
    return at;
  }

  private countRow(isWhole: boolean): void {
    this.rows++;
    this.ofRow.push(this.variables++);
    this.isWhole.push(isWhole);
    this.work += this.columns;
  }

  /**
   * Cuts off a fractional solution, but no integral one: Gomory's mixed-integer cuts, one for each fractional row
   * (R. Gomory, 1960). Returns their number.
   */
  cut(most: number): number {
    const fractional: number[] = [];
    for (let i = 0; i < this.rows && fractional.length < most; i++) {
      const value = this.valueOf(i);
      const fraction = value - Math.floor(value);
      if (this.isWhole[this.ofRow[i] ?? 0] && fraction > MINIMUM_FRACTION && fraction < 1 - MINIMUM_FRACTION)
        fractional.push(i);
    }
    let added = 0;
    for (const i of fractional) {
      const cut = this.gomory(i);
      if (cut === undefined) continue;
      this.append(cut, false);
      added++;
    }
    return added;
  }

  private gomory(row: number): Float64Array | undefined {
    const n = this.columns;
    const at = this.at(row);
    const value = this.cell(at + n);
    const part = value - Math.floor(value);
    const cut = new Float64Array(n + 2);
    let largest = 0;
    for (let j = 0; j < n; j++) {
      const coefficient = this.cell(at + j);
      if (coefficient === 0) continue;
      let share = coefficient > 0 ? coefficient / part : (0 - coefficient) / (1 - part);
      if (this.isWhole[this.ofColumn[j] ?? 0]) {
        const fraction = coefficient - Math.floor(coefficient);
        share = fraction <= part ? fraction / part : (1 - fraction) / (1 - part);
      }
      if (share <= DUST) continue;
      cut[j] = 0 - share;
      largest = Math.max(largest, share);
    }
    if (largest === 0 || largest > STEEP) return undefined;
    cut[n] = CUT_LIMIT;
    cut[n + 1] = CUT_LIMIT;
    return cut;
  }

  /** Drops the cuts that do not bind: rows past the first `keep` whose own variable is not 0. */
  dropSlackCuts(keep: number): void {
    let kept = 0;
    for (let i = 0; i < this.rows; i++) {
      const variable = this.ofRow[i] ?? 0;
      if (variable >= keep && !this.isWhole[variable] && this.valueOf(i) > FEASIBLE) continue;
      if (kept < i) this.cells.copyWithin(this.at(kept), this.at(i), this.at(i + 1));
      this.ofRow[kept] = variable;
      kept++;
    }
    this.rows = kept;
    this.ofRow.length = kept;
  }

  /**
   * Removes columns that are 0 in every integral solution whose first objective is less than `most` above the current one: those whose
   * reduced cost exceeds it, in an optimal tableau.
   */
  fixByReducedCost(most: number): void {
    const n = this.columns;
    let kept = 0;
    for (let j = 0; j < n; j++) {
      if (this.cell(j) <= most || !this.isWhole[this.ofColumn[j] ?? 0]) this.used[kept++] = j;
    }
    if (kept === n) return;
    this.isFresh = false;
    const before = this.stride;
    const cells = new Float64Array((2 + this.rows + MORE_ROWS) * (kept + 2));
    for (let i = 0; i < this.rows + 2; i++) {
      const from = i * before;
      const to = i * (kept + 2);
      for (let k = 0; k < kept; k++) cells[to + k] = this.cell(from + (this.used[k] ?? 0));
      cells[to + kept] = this.cell(from + n);
      cells[to + kept + 1] = this.cell(from + n + 1);
    }
    this.ofColumn = Int32Array.from(this.used.subarray(0, kept), (j) => this.ofColumn[j] ?? 0);
    this.columns = kept;
    this.cells = cells;
    this.work += kept * this.rows;
  }

  /** Location of each variable: its column, or −1 − its row; `GONE` if it was removed. */
  private places(): Int32Array {
    const at = new Int32Array(this.variables).fill(GONE);
    for (let j = 0; j < this.columns; j++) at[this.ofColumn[j] ?? 0] = j;
    for (let i = 0; i < this.rows; i++) at[this.ofRow[i] ?? 0] = -1 - i;
    return at;
  }

  /** Number of variables, slacks of rows included. */
  get size(): number {
    return this.variables;
  }

  /** The values of the first `count` variables. */
  values(count: number): Float64Array {
    const values = new Float64Array(count);
    for (let i = 0; i < this.rows; i++) {
      const variable = this.ofRow[i] ?? 0;
      if (variable < count) values[variable] = this.valueOf(i);
    }
    return values;
  }

  get objectives(): Objectives {
    return { first: 0 - this.cell(this.columns), second: 0 - this.cell(this.stride + this.columns) };
  }

  /** The fractional ones of the first `count` variables, with the cost of making each integral. */
  fractional(count: number, nearly: number): Fractional[] {
    const fractional: Fractional[] = [];
    for (let i = 0; i < this.rows; i++) {
      const variable = this.ofRow[i] ?? 0;
      if (variable >= count) continue;
      const value = this.valueOf(i);
      if (Math.abs(value - Math.round(value)) > nearly) fractional.push(this.penaltiesOf(i, variable, value));
    }
    return fractional;
  }

  private penaltiesOf(row: number, variable: number, value: number): Fractional {
    const at = this.at(row);
    let below = Infinity;
    let above = Infinity;
    for (let j = 0; j < this.columns; j++) {
      const coefficient = this.cell(at + j);
      const cost = Math.max(0, this.cell(j));
      if (coefficient > PIVOT) below = Math.min(below, cost / coefficient);
      else if (coefficient < -PIVOT) above = Math.min(above, 0 - cost / coefficient);
    }
    this.work += this.columns;
    const fraction = value - Math.floor(value);
    return { variable, value, below: below * fraction, above: above * (1 - fraction) };
  }

  /**
   * Moves from a feasible point to an optimal one, except for rounding: `repair` finishes it. False if the work limit is reached. Many
   * right sides are 0; their pivots gain nothing and can cycle: during the iteration each is perturbed by a slightly different amount.
   */
  improve(allowed: number): boolean {
    const n = this.columns;
    for (let i = 0; i < this.rows; i++) {
      const at = this.at(i) + n;
      this.cells[at] = this.cell(at) + PERTURBATION * (1 + ((i * 7919) % 101) / 101);
    }
    const isDone = this.improvePerturbed(allowed);
    for (let i = 0; i < this.rows + 2; i++) {
      const at = i * this.stride + n;
      this.cells[at] = this.cell(at + 1);
    }
    return isDone;
  }

  private improvePerturbed(allowed: number): boolean {
    let idle = 0;
    for (;;) {
      const column = this.entering(idle > IDLE_PIVOTS);
      if (column < 0) return true;
      if (this.work > allowed) return false;
      const row = this.leaving(column, idle > IDLE_PIVOTS);
      if (row < 0) throw new RangeError('unbounded program');
      idle = this.valueOf(row) > EPSILON ? 0 : idle + 1;
      this.pivot(row, column);
    }
  }

  /** Moves from an optimal point that new rows have made infeasible to an optimal one; false if there is none, or at the limit. */
  repair(allowed: number, most = Infinity): boolean {
    let pivots = 0;
    for (;;) {
      const byVariable = ++pivots > MANY_PIVOTS;
      const row = this.violated(byVariable);
      if (row < 0) return true;
      if (this.work > allowed || 0 - this.cell(this.columns) > most) return false;
      const column = this.cheapest(row, byVariable);
      if (column < 0) return false;
      this.pivot(row, column);
    }
  }

  /** The column with the steepest decrease of the objectives; with `first` the first that decreases them, to end a cycle. */
  private entering(first: boolean): number {
    const n = this.columns;
    let best = -1;
    let least = -EPSILON;
    const look = (j: number, cost: number): void => {
      if (cost >= least) return;
      if (first) {
        if (best < 0 || (this.ofColumn[j] ?? 0) < (this.ofColumn[best] ?? 0)) best = j;
      } else {
        best = j;
        least = cost;
      }
    };
    for (let j = 0; j < n; j++) look(j, this.cell(j));
    if (best >= 0 || this.isOneObjective) return best;
    for (let j = 0; j < n; j++) if (this.cell(j) <= EPSILON) look(j, this.cell(n + 2 + j));
    return best;
  }

  private leaving(column: number, first: boolean): number {
    let best = -1;
    let least = Infinity;
    let pivot = 0;
    for (let i = 0; i < this.rows; i++) {
      const at = this.at(i);
      const coefficient = this.cell(at + column);
      if (coefficient <= PIVOT) continue;
      const ratio = Math.max(0, this.cell(at + this.columns)) / coefficient;
      const isTie = ratio <= least + EPSILON && ratio >= least - EPSILON;
      const better = first ? (this.ofRow[i] ?? 0) < (this.ofRow[best] ?? 0) : coefficient > pivot;
      if (best < 0 || (isTie ? better : ratio < least)) {
        best = i;
        least = isTie ? Math.min(ratio, least) : ratio;
        pivot = coefficient;
      }
    }
    return best;
  }

  private violated(first: boolean): number {
    let best = -1;
    let least = -FEASIBLE;
    for (let i = 0; i < this.rows; i++) {
      const value = this.valueOf(i);
      if (value >= least) continue;
      if (first) {
        if (best < 0 || (this.ofRow[i] ?? 0) < (this.ofRow[best] ?? 0)) best = i;
      } else {
        best = i;
        least = value;
      }
    }
    return best;
  }

  /**
   * The column that repairs a row at the least cost of the first objective, then of the second; among nearly equal costs the one
   * with the largest coefficient, for numerical stability (P. Harris, 1973).
   */
  private cheapest(rowIndex: number, byVariable: boolean): number {
    const row = this.at(rowIndex);
    const n = this.columns;
    let most = Infinity;
    for (let j = 0; j < n; j++) {
      const coefficient = 0 - this.cell(row + j);
      if (coefficient <= PIVOT) continue;
      const ratio = (Math.max(0, this.cell(j)) + SLACK) / coefficient;
      if (ratio < most) most = ratio;
    }
    let best = -1;
    let pivot = 0;
    let leastSecond = Infinity;
    for (let j = 0; j < n; j++) {
      const coefficient = 0 - this.cell(row + j);
      if (coefficient <= PIVOT || Math.max(0, this.cell(j)) > most * coefficient) continue;
      if (!this.isOneObjective) {
        const second = this.cell(n + 2 + j) / coefficient;
        if (second > leastSecond + EPSILON) continue;
        if (second < leastSecond - EPSILON) pivot = 0;
        leastSecond = Math.min(second, leastSecond);
      }
      const isBetter = byVariable
        ? pivot === 0 || (this.ofColumn[j] ?? 0) < (this.ofColumn[best] ?? 0)
        : coefficient > pivot;
      if (!isBetter) continue;
      best = j;
      pivot = coefficient;
    }
    return best;
  }

  private pivot(rowIndex: number, column: number): void {
    const { cells, used } = this;
    this.isFresh = false;
    const n = this.columns;
    const stride = n + 2;
    const row = this.at(rowIndex);
    const inverse = 1 / (cells[row + column] ?? 1);
    let count = 0;
    for (let j = 0; j <= n + 1; j++) {
      const value = cells[row + j] ?? 0;
      if (value === 0 || j === column) continue;
      cells[row + j] = value * inverse;
      used[count++] = j;
    }
    cells[row + column] = inverse;
    const end = (2 + this.rows) * stride;
    let touched = 0;
    for (let other = 0; other < end; other += stride) {
      const factor = cells[other + column] ?? 0;
      if (factor === 0 || other === row) continue;
      for (let k = 0; k < count; k++) {
        const j = used[k] ?? 0;
        const value = (cells[other + j] ?? 0) - factor * (cells[row + j] ?? 0);
        // A difference of equal numbers is rounding noise and counts as 0.
        cells[other + j] = value < DUST && value > -DUST ? 0 : value;
      }
      cells[other + column] = 0 - factor * inverse;
      touched++;
    }
    const variable = this.ofRow[rowIndex] ?? 0;
    this.ofRow[rowIndex] = this.ofColumn[column] ?? 0;
    this.ofColumn[column] = variable;
    this.work += this.rows + n + touched * count;
  }
}

export interface Objectives {
  readonly first: number;
  readonly second: number;
}

/**
 * A fractional variable, with lower bounds of the first objective's rise if it is at most the integer below, or at least the one above (N.
 * Driebeek, 1966).
 */
export interface Fractional {
  readonly variable: number;
  readonly value: number;
  readonly below: number;
  readonly above: number;
}

/** Spare rows to allocate. */
const MORE_ROWS = 8;
const GONE = 0x40000000;
/** Tolerance for costs and coefficients: quantities and prices are scaled to about one. */
const EPSILON = 1e-9;
const FEASIBLE = 1e-8;
const DUST = 1e-11;
/** Error of a cost that is accepted for a larger pivot. */
const SLACK = 1e-9;
/** The smallest pivot. */
const PIVOT = 1e-7;
const PERTURBATION = 1e-6;
/** Minimum distance of a fraction from a whole number for a cut. */
const MINIMUM_FRACTION = 0.01;
/** Limit of a cut, relaxed for rounding. */
const CUT_LIMIT = -1 + 1e-6;
/** Largest coefficient of a trusted cut. */
const STEEP = 1e4;
/** Pivots without gain before the anti-cycling rule applies. */
const IDLE_PIVOTS = 30;
const MANY_PIVOTS = 300;
