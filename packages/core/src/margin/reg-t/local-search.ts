import type { Contract, Micros } from './contracts.js';
import type { PartitionProgram } from './partition-program.js';

/** An assignment of contracts of a series: to no group, or by a column of the program to a block. */
interface Assignment {
  readonly column: number;
  readonly block: number;
}

const ALONE: Assignment = { column: -1, block: -1 };

/**
 * Improves an integer solution by local moves while any lowers the objective: contracts of a series from one group to another, a short
 * together with a long that covers it, or an exchange of two. An integer point near a fractional optimum of a linear program is often a
 * few moves away from the optimum.
 */
export class LocalSearch {
  /** Numbers visited so far. */
  work = 0;
  private readonly program: PartitionProgram;
  /** By leg; no group comes first. */
  private readonly places: Assignment[][];
  /** Shorts, greatest requirement alone first, with the kind of contract that a straddle needs two of. */
  private readonly byNeed: readonly number[];
  private readonly kinds: readonly number[];
  private readonly combos: readonly number[];

  private readonly counts: Float64Array;
  private readonly left: Float64Array;
  private readonly lossAt: Float64Array[];
  private readonly losses: Float64Array;
  /** Longs less shorts of each block: puts, then calls. */
  private readonly netLongs: Float64Array;
  private shares = 0;
  private sum: Micros = 0;
  private paired: Micros = 0;
  /** Lower bound of the savings of all possible straddles; negative. */
  private readonly mostPaired: Micros;
  private least: Micros = 0;

  constructor(program: PartitionProgram) {
    this.program = program;
    const { contracts, columns, blocks } = program;
    this.places = contracts.map(() => [ALONE]);
    const combos: number[] = [];
    columns.forEach((column, index) => {
      if (column.kind === 'SPREAD') this.places[column.leg]?.push({ column: index, block: column.block });
      if (column.kind === 'COMBO') combos.push(index);
    });
    this.combos = combos;
    const kinds = [...new Set(contracts.map(kindOf))];
    this.kinds = contracts.map((contract) => kinds.indexOf(kindOf(contract)));
    const naked = (leg: number): Micros => contracts[leg]?.naked ?? 0;
    this.byNeed = contracts
      .flatMap(({ isShort }, leg) => (isShort ? [leg] : []))
      .sort((a, b) => naked(b) - naked(a) || a - b);
    this.mostPaired = this.byNeed.reduce(
      (sum, leg) => sum + (contracts[leg]?.count ?? 0) * Math.min(0, this.savedOf(leg)),
      0,
    );
    this.counts = new Float64Array(columns.length);
    this.left = new Float64Array(contracts.length);
    this.lossAt = blocks.map((_, block) => new Float64Array(program.prices[block]?.length ?? 0));
    this.losses = new Float64Array(blocks.length);
    this.netLongs = new Float64Array(2 * blocks.length);
  }

  /** Whole counts of all columns, no worse than `values`, which must be feasible. */
  from(values: Float64Array, mostWork: number): Float64Array {
    this.start(values);
    const allowed = this.work + mostWork;
    while (this.moveOne(allowed) || this.moveTwo(allowed) || this.exchange(allowed)) {
      if (this.work >= allowed) break;
    }
    return this.result();
  }

  private start(values: Float64Array): void {
    const { contracts, columns, shares } = this.program;
    this.counts.fill(0);
    contracts.forEach(({ count }, leg) => (this.left[leg] = count));
    this.lossAt.forEach((losses) => losses.fill(0));
    this.losses.fill(0);
    this.netLongs.fill(0);
    this.shares = shares;
    this.sum = 0;
    this.program.fixedIn.forEach((fixed, block) => {
      for (const { leg, count } of fixed) this.addTo(block, leg, count);
    });
    columns.forEach(({ kind }, index) => {
      const count = Math.round(values[index] ?? 0);
      if (count > 0 && (kind === 'SPREAD' || kind === 'COMBO')) this.apply(index, count);
    });
    this.paired = this.pair();
    this.least = this.total();
  }

  private apply(index: number, count: number): void {
    const column = this.program.columns[index];
    this.counts[index] = (this.counts[index] ?? 0) + count;
    this.sum += count * (this.program.first[index] ?? 0);
    if (column?.kind === 'SPREAD') this.addTo(column.block, column.leg, count);
    if (column?.kind === 'COMBO') {
      for (const leg of column.combo.legs) this.left[leg] = (this.left[leg] ?? 0) - count;
      this.shares -= count * Math.abs(column.combo.shares);
    }
  }

  /** Adds contracts of a leg to a block; negative = removes them. */
  private addTo(block: number, leg: number, count: number): void {
    const at = this.lossAt[block];
    const one = this.program.lossesOf(block, leg);
    const contract = this.program.contracts[leg];
    if (at === undefined || contract === undefined) return;
    let most = 0;
    for (let k = 0; k < at.length; k++) {
      const loss = (at[k] ?? 0) + count * (one[k] ?? 0);
      at[k] = loss;
      if (loss > most) most = loss;
    }
    this.work += at.length;
    this.losses[block] = most * this.program.step;
    const right = 2 * block + Number(contract.isCall);
    this.netLongs[right] = (this.netLongs[right] ?? 0) + (contract.isShort ? -count : count);
    this.left[leg] = (this.left[leg] ?? 0) - count;
  }

  /** Objective value, relative to all contracts alone. */
  private total(): Micros {
    let total = this.sum + this.paired;
    for (const loss of this.losses) total += loss;
    return total;
  }

  /** Savings of the straddles among all contracts that are alone; negative. */
  private pair(): Micros {
    let saved = 0;
    this.straddles((leg, count, isGreater) => {
      if (!isGreater) saved += count * this.savedOf(leg);
    });
    return saved;
  }

  /** Saving of the smaller short of a straddle against alone; negative. */
  private savedOf(leg: number): Micros {
    const contract = this.program.contracts[leg];
    return contract === undefined ? 0 : contract.premium - contract.naked;
  }

  private readonly waiting = new Map<number, number>();

  /** Pairs the shorts that are alone, the greatest first: each with any waiting greater short of the other right. */
  private straddles(take: (leg: number, count: number, isGreater: boolean) => void): void {
    const { waiting } = this;
    waiting.clear();
    this.work += this.byNeed.length;
    for (const leg of this.byNeed) {
      const left = this.left[leg] ?? 0;
      if (left <= 0) continue;
      const isCall = Number(this.program.contracts[leg]?.isCall);
      const kind = 2 * (this.kinds[leg] ?? 0);
      const greater = waiting.get(kind + 1 - isCall) ?? 0;
      const paired = this.savedOf(leg) < 0 ? Math.min(left, greater) : 0;
      if (paired > 0) {
        waiting.set(kind + 1 - isCall, greater - paired);
        take(leg, paired, false);
      }
      waiting.set(kind + isCall, (waiting.get(kind + isCall) ?? 0) + left - paired);
      if (left > paired) take(leg, left - paired, true);
    }
  }

  private result(): Float64Array {
    const counts = this.counts.slice();
    const smaller = new Map<number, number>();
    const greater = new Map<number, number>();
    this.straddles((leg, count, isGreater) => (isGreater ? greater : smaller).set(leg, count));
    this.program.columns.forEach((column, index) => {
      if (column.kind === 'GREATER') counts[index] = greater.get(column.leg) ?? 0;
      if (column.kind === 'SMALLER') counts[index] = smaller.get(column.leg) ?? 0;
    });
    return counts;
  }

  private held(leg: number, place: Assignment): number {
    return (place === ALONE ? this.left[leg] : this.counts[place.column]) ?? 0;
  }

  private put(place: Assignment, count: number): void {
    if (place !== ALONE) this.apply(place.column, count);
  }

  private isAllowed(): boolean {
    this.work += this.netLongs.length + this.left.length;
    for (const netLongs of this.netLongs) if (netLongs < 0) return false;
    for (const left of this.left) if (left < 0) return false;
    return this.shares >= 0;
  }

  /** Tries moves, and reverts them if they are infeasible or no improvement. */
  private tried(count: number, moves: readonly (readonly [from: Assignment, to: Assignment])[]): boolean {
    let changesUnpaired = false;
    for (const [from, to] of moves) {
      this.put(from, -count);
      this.put(to, count);
      changesUnpaired ||= from === ALONE || to === ALONE;
    }
    if (this.isAllowed()) {
      const before = this.paired;
      // Straddles are recomputed only if they could improve the objective.
      const least = this.total() + (changesUnpaired ? this.mostPaired - before : 0);
      if (least < this.least) {
        if (changesUnpaired) this.paired = this.pair();
        const total = this.total();
        if (total < this.least) {
          this.least = total;
          return true;
        }
        this.paired = before;
      }
    }
    for (const [from, to] of moves) {
      this.put(from, count);
      this.put(to, -count);
    }
    return false;
  }

  /** Adds or removes a unit of a group with stock, or moves contracts of one leg. */
  private moveOne(allowed: number): boolean {
    for (const combo of this.combos) {
      const place = { column: combo, block: -1 };
      if (this.tried(1, [[ALONE, place]])) return true;
      if ((this.counts[combo] ?? 0) > 0 && this.tried(1, [[place, ALONE]])) return true;
    }
    return this.places.some((places, leg) =>
      places.some((from) =>
        places.some((to) => {
          const held = this.held(leg, from);
          if (from === to || held <= 0 || this.work > allowed) return false;
          return this.tried(held, [[from, to]]) || (held > 1 && this.tried(1, [[from, to]]));
        }),
      ),
    );
  }

  /** Moves a short and a long of the same right to the same block. */
  private moveTwo(allowed: number): boolean {
    const { contracts } = this.program;
    return this.byNeed.some((short) =>
      this.places[short]?.some((to) => {
        if (to === ALONE) return false;
        return this.places.some((others, long) => {
          if (contracts[long]?.isShort !== false || contracts[long].isCall !== contracts[short]?.isCall)
            return false;
          const into = others.find(({ block }) => block === to.block);
          if (into === undefined) return false;
          return this.places[short]?.some((from) =>
            others.some((source) => {
              const count = Math.min(this.held(short, from), this.held(long, source));
              if (from === to || source === into || count <= 0 || this.work > allowed) return false;
              const moves = [[from, to] as const, [source, into] as const];
              return this.tried(count, moves) || (count > 1 && this.tried(1, moves));
            }),
          );
        });
      }),
    );
  }

  /** Exchanges the assignments of two shorts, or two longs, of one right. */
  private exchange(allowed: number): boolean {
    const { contracts } = this.program;
    return this.places.some((mine, one) =>
      this.places.some((others, other) => {
        if (other <= one || contracts[one]?.isShort !== contracts[other]?.isShort) return false;
        if (contracts[one]?.isCall !== contracts[other]?.isCall) return false;
        return mine.some((from) =>
          others.some((source) => {
            if (from.block === source.block || this.work > allowed) return false;
            const to = mine.find(({ block }) => block === source.block);
            const back = others.find(({ block }) => block === from.block);
            const count = Math.min(this.held(one, from), this.held(other, source));
            if (to === undefined || back === undefined || count <= 0) return false;
            const moves = [[from, to] as const, [source, back] as const];
            return this.tried(1, moves) || (count > 1 && this.tried(count, moves));
          }),
        );
      }),
    );
  }
}

const kindOf = ({ multiplier, deliverable, inLieu, cash }: Contract): string =>
  `${multiplier}|${deliverable}|${inLieu}|${cash}`;
