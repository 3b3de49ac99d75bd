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
  /** Coefficients, then the right side that is worked with, then the true one: see `improve`. */
  private readonly rows: Float64Array[];
  /** Costs, with the objectives themselves, negated, where rows have their right sides. */
  private readonly first: Float64Array;
  private readonly second: Float64Array;
  /** The variable of each row and of each column. Variables of the model come first, then one slack for each row. */
  private readonly ofRow: number[];
  private readonly ofColumn: Int32Array;
  private variables: number;
  /** Of each variable, whether it is whole in every solution that is wanted. */
  private readonly isWhole: boolean[];
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
    isWhole: boolean[],
  ) {
    this.columns = ofColumn.length;
    this.rows = rows;
    this.first = first;
    this.second = second;
    this.ofRow = ofRow;
    this.ofColumn = ofColumn;
    this.variables = variables;
    this.isWhole = isWhole;
    this.used = new Int32Array(this.columns + 2);
  }

  /** All variables of the model are whole numbers. */
  static of(first: readonly number[], second: readonly number[]): Tableau {
    const count = first.length;
    const ofColumn = Int32Array.from({ length: count }, (_, column) => column);
    const isWhole = new Array<boolean>(count).fill(true);
    const [one, two] = [first, second].map((costs) => Float64Array.of(...costs, 0, 0));
    if (one === undefined || two === undefined) throw new RangeError('no costs');
    return new Tableau([], one, two, [], ofColumn, count, isWhole);
  }

  /** A tableau that can be solved on without this one's knowing. */
  copy(): Tableau {
    const rows = this.rows.map((row) => row.slice());
    const { first, second, ofRow, ofColumn, variables, isWhole } = this;
    return new Tableau(rows, first.slice(), second.slice(), [...ofRow], ofColumn.slice(), variables, [
      ...isWhole,
    ]);
  }

  /** Adds `Σ coefficients[k] × x[variables[k]] ≤ limit`; whole numbers, but where the caller says otherwise. */
  addRow(variables: readonly number[], coefficients: readonly number[], limit: number, isWhole = true): void {
    const row = new Float64Array(this.columns + 2);
    row[this.columns] = limit;
    row[this.columns + 1] = limit;
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
      for (let j = 0; j <= this.columns + 1; j++) row[j] = (row[j] ?? 0) - coefficient * (basic[j] ?? 0);
    }
    this.append(row, isWhole);
  }

  private append(row: Float64Array, isWhole: boolean): void {
    this.rows.push(row);
    this.ofRow.push(this.variables++);
    this.isWhole.push(isWhole);
    this.work += this.columns;
  }

  /**
   * Cuts off a solution that is not whole, and nothing that is: Gomory's mixed-integer cuts, one for each row that is broken
   * (R. Gomory, 1960). Returns how many there were.
   */
  cut(most: number): number {
    const n = this.columns;
    const broken: number[] = [];
    for (let i = 0; i < this.rows.length && broken.length < most; i++) {
      const value = this.rows[i]?.[n] ?? 0;
      const fraction = value - Math.floor(value);
      if (this.isWhole[this.ofRow[i] ?? 0] && fraction > BROKEN && fraction < 1 - BROKEN) broken.push(i);
    }
    let added = 0;
    for (const i of broken) {
      const row = this.rows[i];
      const cut = row === undefined ? undefined : this.gomory(row);
      if (cut === undefined) continue;
      this.append(cut, false);
      added++;
    }
    return added;
  }

  private gomory(row: Float64Array): Float64Array | undefined {
    const n = this.columns;
    const value = row[n] ?? 0;
    const part = value - Math.floor(value);
    const cut = new Float64Array(n + 2);
    let largest = 0;
    for (let j = 0; j < n; j++) {
      const coefficient = row[j] ?? 0;
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

  /** Forgets the cuts that do not bind: rows past the first `keep` whose own variable is not 0. */
  forgetIdle(keep: number): void {
    let kept = 0;
    for (let i = 0; i < this.rows.length; i++) {
      const row = this.rows[i];
      const variable = this.ofRow[i] ?? 0;
      if (row === undefined) continue;
      if (variable >= keep && !this.isWhole[variable] && (row[this.columns] ?? 0) > FEASIBLE) continue;
      this.rows[kept] = row;
      this.ofRow[kept] = variable;
      kept++;
    }
    this.rows.length = kept;
    this.ofRow.length = kept;
  }

  /** Where each variable is: its column, or −1 − its row. */
  private places(): Int32Array {
    const at = new Int32Array(this.variables);
    for (let j = 0; j < this.columns; j++) at[this.ofColumn[j] ?? 0] = j;
    for (let i = 0; i < this.ofRow.length; i++) at[this.ofRow[i] ?? 0] = -1 - i;
    return at;
  }

  /** How many variables there are, slacks of rows included. */
  get size(): number {
    return this.variables;
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

  /**
   * From a feasible point to an optimal one, as far as rounding goes: `repair` finishes it. False where that takes more than
   * the work allowed. Many right sides are 0, where steps gain nothing and can go in circles: on the way each is a little
   * more, and another little more than the others.
   */
  improve(allowed: number): boolean {
    const n = this.columns;
    this.rows.forEach((row, i) => {
      row[n] = (row[n] ?? 0) + PERTURBATION * (1 + ((i * 7919) % 101) / 101);
    });
    const isDone = this.improvePerturbed(allowed);
    for (const row of [...this.rows, this.first, this.second]) row[n] = row[n + 1] ?? 0;
    return isDone;
  }

  private improvePerturbed(allowed: number): boolean {
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
      const byVariable = ++pivots > MANY_PIVOTS;
      const row = this.violated(byVariable);
      if (row < 0) return true;
      if (this.work > allowed) return false;
      const column = this.cheapest(row, byVariable);
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
      if (row === undefined || coefficient <= PIVOT) continue;
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
  private cheapest(rowIndex: number, byVariable: boolean): number {
    const row = this.rows[rowIndex];
    let best = -1;
    let leastFirst = Infinity;
    let leastSecond = Infinity;
    let pivot = 0;
    if (row === undefined) return best;
    for (let j = 0; j < this.columns; j++) {
      const coefficient = 0 - (row[j] ?? 0);
      if (coefficient <= PIVOT) continue;
      const first = Math.max(0, this.first[j] ?? 0) / coefficient;
      if (first > leastFirst + EPSILON) continue;
      const second = (this.second[j] ?? 0) / coefficient;
      const isTie = first >= leastFirst - EPSILON;
      if (isTie && second > leastSecond + EPSILON) continue;
      if (isTie && second >= leastSecond - EPSILON) {
        const isBetter = byVariable
          ? (this.ofColumn[j] ?? 0) < (this.ofColumn[best] ?? 0)
          : coefficient > pivot;
        if (!isBetter) continue;
      }
      best = j;
      leastFirst = isTie ? Math.min(first, leastFirst) : first;
      leastSecond = second;
      pivot = coefficient;
    }
    return best;
  }

  private pivot(rowIndex: number, column: number): void {
    const n = this.columns;
    const row = this.rows[rowIndex];
    if (row === undefined) return;
    const inverse = 1 / (row[column] ?? 1);
    let used = 0;
    for (let j = 0; j <= n + 1; j++) {
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
const FEASIBLE = 1e-8;
const DUST = 1e-11;
/** The least coefficient that is divided by. */
const PIVOT = 1e-7;
const PERTURBATION = 1e-6;
/** Fractions closer to a whole number than this are not cut by. */
const BROKEN = 0.01;
/** A little less is asked of a cut than it says, for what has been rounded. */
const CUT_LIMIT = -1 + 1e-6;
/** Cuts with larger coefficients are not to be trusted. */
const STEEP = 1e4;
/** Pivots in a row that gain nothing before the rule that cannot go in circles takes over. */
const IDLE_PIVOTS = 30;
const MANY_PIVOTS = 300;
