/**
 * A linear programme in a condensed tableau: minimize two objectives, the second among the optima of the first, over
 * `Σ a·x ≤ b`, x ≥ 0. Rows can be added to what has been solved, so that constraints come when they are violated and
 * branches when something is not whole. Only + − × ÷: the same numbers everywhere.
 *
 * Each row says: basic variable = right side − Σ coefficient × variable of the column. A column's costs say what one more of
 * its variable changes of each objective.
 */
export class Tableau {
  private readonly columns: number;
  private readonly rows: Float64Array[];
  /** Costs, with the objectives themselves, negated, in the last place. */
  private readonly first: Float64Array;
  private readonly second: Float64Array;
  /** The variable of each row and of each column. Variables of the model come first, then one slack for each row. */
  private readonly ofRow: number[];
  private readonly ofColumn: Int32Array;
  private variables: number;
  private readonly used: Int32Array;
  /** Work done so far: coefficients visited. */
  work = 0;

  private constructor(
    rows: Float64Array[],
    first: Float64Array,
    second: Float64Array,
    ofRow: number[],
    ofColumn: Int32Array,
    variables: number,
  ) {
    this.columns = ofColumn.length;
    this.rows = rows;
    this.first = first;
    this.second = second;
    this.ofRow = ofRow;
    this.ofColumn = ofColumn;
    this.variables = variables;
    this.used = new Int32Array(this.columns + 1);
  }

  static of(first: readonly number[], second: readonly number[]): Tableau {
    const count = first.length;
    const ofColumn = Int32Array.from({ length: count }, (_, column) => column);
    return new Tableau([], Float64Array.of(...first, 0), Float64Array.of(...second, 0), [], ofColumn, count);
  }

  /** A tableau that can be solved on without this one's knowing. */
  copy(): Tableau {
    const rows = this.rows.map((row) => row.slice());
    const { first, second, ofRow, ofColumn, variables } = this;
    return new Tableau(rows, first.slice(), second.slice(), [...ofRow], ofColumn.slice(), variables);
  }

  /** Adds `Σ coefficients[k] × x[variables[k]] ≤ limit`. */
  addRow(variables: readonly number[], coefficients: readonly number[], limit: number): void {
    const row = new Float64Array(this.columns + 1);
    row[this.columns] = limit;
    const at = this.places();
    for (let k = 0; k < variables.length; k++) {
      const coefficient = coefficients[k] ?? 0;
      const place = at[variables[k] ?? 0] ?? 0;
      if (place >= 0) {
        row[place] = (row[place] ?? 0) + coefficient;
        continue;
      }
      const basic = this.rows[-1 - place];
      if (basic === undefined) continue;
      for (let j = 0; j <= this.columns; j++) row[j] = (row[j] ?? 0) - coefficient * (basic[j] ?? 0);
    }
    this.rows.push(row);
    this.ofRow.push(this.variables++);
    this.work += this.columns;
  }

  /** Where each variable is: its column, or −1 − its row. */
  private places(): Int32Array {
    const at = new Int32Array(this.variables);
    for (let j = 0; j < this.columns; j++) at[this.ofColumn[j] ?? 0] = j;
    for (let i = 0; i < this.ofRow.length; i++) at[this.ofRow[i] ?? 0] = -1 - i;
    return at;
  }

  /** The values of the first `count` variables. */
  values(count: number): Float64Array {
    const values = new Float64Array(count);
    for (let i = 0; i < this.rows.length; i++) {
      const variable = this.ofRow[i] ?? 0;
      if (variable < count) values[variable] = this.rows[i]?.[this.columns] ?? 0;
    }
    return values;
  }

  get objectives(): { readonly first: number; readonly second: number } {
    return { first: 0 - (this.first[this.columns] ?? 0), second: 0 - (this.second[this.columns] ?? 0) };
  }

  /** From a feasible point to an optimal one; false where that takes more than the work allowed. */
  improve(allowed: number): boolean {
    let idle = 0;
    for (;;) {
      const column = this.entering(idle > IDLE_PIVOTS);
      if (column < 0) return true;
      if (this.work > allowed) return false;
      const row = this.leaving(column, idle > IDLE_PIVOTS);
      if (row < 0) throw new RangeError('a programme without bound');
      idle = (this.rows[row]?.[this.columns] ?? 0) > EPSILON ? 0 : idle + 1;
      this.pivot(row, column);
    }
  }

  /** From an optimal point that new rows have made infeasible to an optimal one; false where there is none, or too far. */
  repair(allowed: number): boolean {
    let pivots = 0;
    for (;;) {
      const row = this.violated(++pivots > MANY_PIVOTS);
      if (row < 0) return true;
      if (this.work > allowed) return false;
      const column = this.cheapest(row);
      if (column < 0) return false;
      this.pivot(row, column);
    }
  }

  /** The column that lowers the objectives fastest; the first that does, where `first` is wanted to end a circle. */
  private entering(first: boolean): number {
    const n = this.columns;
    let best = -1;
    let least = -EPSILON;
    for (let j = 0; j < n; j++) {
      const cost = this.first[j] ?? 0;
      if (cost < least) {
        if (first) {
          if (best < 0 || (this.ofColumn[j] ?? 0) < (this.ofColumn[best] ?? 0)) best = j;
        } else {
          best = j;
          least = cost;
        }
      }
    }
    if (best >= 0) return best;
    for (let j = 0; j < n; j++) {
      if ((this.first[j] ?? 0) > EPSILON) continue;
      const cost = this.second[j] ?? 0;
      if (cost < least) {
        if (first) {
          if (best < 0 || (this.ofColumn[j] ?? 0) < (this.ofColumn[best] ?? 0)) best = j;
        } else {
          best = j;
          least = cost;
        }
      }
    }
    return best;
  }

  private leaving(column: number, first: boolean): number {
    const n = this.columns;
    let best = -1;
    let least = Infinity;
    let pivot = 0;
    for (let i = 0; i < this.rows.length; i++) {
      const row = this.rows[i];
      const coefficient = row?.[column] ?? 0;
      if (row === undefined || coefficient <= EPSILON) continue;
      const ratio = Math.max(0, row[n] ?? 0) / coefficient;
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
    const n = this.columns;
    let best = -1;
    let least = -FEASIBLE;
    for (let i = 0; i < this.rows.length; i++) {
      const value = this.rows[i]?.[n] ?? 0;
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

  /** The column that repairs a row at the least cost of the first objective, then of the second. */
  private cheapest(rowIndex: number): number {
    const row = this.rows[rowIndex];
    let best = -1;
    let firstRatio = Infinity;
    let secondRatio = Infinity;
    if (row === undefined) return best;
    for (let j = 0; j < this.columns; j++) {
      const coefficient = 0 - (row[j] ?? 0);
      if (coefficient <= EPSILON) continue;
      const ratio = Math.max(0, this.first[j] ?? 0) / coefficient;
      const second = (this.second[j] ?? 0) / coefficient;
      if (ratio < firstRatio - EPSILON || (ratio < firstRatio + EPSILON && second < secondRatio - EPSILON)) {
        best = j;
        firstRatio = Math.min(ratio, firstRatio);
        secondRatio = second;
      }
    }
    return best;
  }

  private pivot(rowIndex: number, column: number): void {
    const n = this.columns;
    const row = this.rows[rowIndex];
    if (row === undefined) return;
    const inverse = 1 / (row[column] ?? 1);
    let used = 0;
    for (let j = 0; j <= n; j++) {
      if (row[j] === 0 || j === column) continue;
      row[j] = (row[j] ?? 0) * inverse;
      this.used[used++] = j;
    }
    row[column] = inverse;
    for (let i = 0; i < this.rows.length; i++) {
      const other = this.rows[i];
      if (other !== undefined && i !== rowIndex) this.eliminate(other, row, column, used, inverse);
    }
    this.eliminate(this.first, row, column, used, inverse);
    this.eliminate(this.second, row, column, used, inverse);
    const variable = this.ofRow[rowIndex] ?? 0;
    this.ofRow[rowIndex] = this.ofColumn[column] ?? 0;
    this.ofColumn[column] = variable;
    this.work += this.rows.length;
  }

  private eliminate(
    other: Float64Array,
    row: Float64Array,
    column: number,
    used: number,
    inverse: number,
  ): void {
    const factor = other[column] ?? 0;
    if (factor === 0) return;
    for (let k = 0; k < used; k++) {
      const j = this.used[k] ?? 0;
      const value = (other[j] ?? 0) - factor * (row[j] ?? 0);
      // What is left of equal numbers is nothing, not a coefficient.
      other[j] = value < DUST && value > -DUST ? 0 : value;
    }
    other[column] = 0 - factor * inverse;
    this.work += used;
  }
}

/** Costs and coefficients below this are none: quantities and prices are scaled to about one. */
const EPSILON = 1e-9;
const FEASIBLE = 1e-9;
const DUST = 1e-13;
/** Pivots in a row that gain nothing before the rule that cannot go in circles takes over. */
const IDLE_PIVOTS = 30;
const MANY_PIVOTS = 1000;
