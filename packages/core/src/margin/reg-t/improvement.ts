import type { Contract, Micros } from './contracts.js';
import type { Programme } from './programme.js';

/** Where contracts of a series can lie: alone, or by a column of the programme in a pool. */
interface Place {
  readonly column: number;
  readonly pool: number;
}

const ALONE: Place = { column: -1, pool: -1 };

/**
 * Makes a whole division better step by step: contracts of a series out of one group and into another, a short with a long that
 * covers it, or two that take each other's place, as long as anything is gained. What is whole near a fractional solution of a linear
 * programme is often a few steps away from the least.
 */
export class Improvement {
  /** Numbers visited so far. */
  work = 0;
  private readonly programme: Programme;
  /** By leg; alone comes first. */
  private readonly places: Place[][];
  /** Shorts, those that take most alone first, with the kind of contract that a straddle needs two of. */
  private readonly byNeed: readonly number[];
  private readonly kinds: readonly number[];
  private readonly combos: readonly number[];

  private readonly counts: Float64Array;
  private readonly left: Float64Array;
  private readonly lossAt: Float64Array[];
  private readonly losses: Float64Array;
  /** Longs less shorts of each pool: puts, then calls. */
  private readonly room: Float64Array;
  private shares = 0;
  private sum: Micros = 0;
  private paired: Micros = 0;
  /** What all straddles that there could be take less; negative. */
  private readonly mostPaired: Micros;
  private least: Micros = 0;

  constructor(programme: Programme) {
    this.programme = programme;
    const { contracts, columns, pools } = programme;
    this.places = contracts.map(() => [ALONE]);
    const combos: number[] = [];
    columns.forEach((column, index) => {
      if (column.kind === 'SPREAD') this.places[column.leg]?.push({ column: index, pool: column.pool });
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
    this.lossAt = pools.map((_, pool) => new Float64Array(programme.prices[pool]?.length ?? 0));
    this.losses = new Float64Array(pools.length);
    this.room = new Float64Array(2 * pools.length);
  }

  /** Whole counts of all columns that are no worse than these; `values` must be allowed. */
  from(values: Float64Array, mostWork: number): Float64Array {
    this.start(values);
    const allowed = this.work + mostWork;
    while (this.moveOne(allowed) || this.moveTwo(allowed) || this.exchange(allowed)) {
      if (this.work >= allowed) break;
    }
    return this.result();
  }

  private start(values: Float64Array): void {
    const { contracts, columns, shares } = this.programme;
    this.counts.fill(0);
    contracts.forEach(({ count }, leg) => (this.left[leg] = count));
    this.lossAt.forEach((losses) => losses.fill(0));
    this.losses.fill(0);
    this.room.fill(0);
    this.shares = shares;
    this.sum = 0;
    this.programme.fixedIn.forEach((fixed, pool) => {
      for (const { leg, count } of fixed) this.addTo(pool, leg, count);
    });
    columns.forEach(({ kind }, index) => {
      const count = Math.round(values[index] ?? 0);
      if (count > 0 && (kind === 'SPREAD' || kind === 'COMBO')) this.apply(index, count);
    });
    this.paired = this.pair();
    this.least = this.total();
  }

  private apply(index: number, count: number): void {
    const column = this.programme.columns[index];
    this.counts[index] = (this.counts[index] ?? 0) + count;
    this.sum += count * (this.programme.first[index] ?? 0);
    if (column?.kind === 'SPREAD') this.addTo(column.pool, column.leg, count);
    if (column?.kind === 'COMBO') {
      for (const leg of column.combo.legs) this.left[leg] = (this.left[leg] ?? 0) - count;
      this.shares -= count * Math.abs(column.combo.shares);
    }
  }

  /** Contracts of a leg into a pool; negative = out of it. */
  private addTo(pool: number, leg: number, count: number): void {
    const at = this.lossAt[pool];
    const one = this.programme.lossesOf(pool, leg);
    const contract = this.programme.contracts[leg];
    if (at === undefined || contract === undefined) return;
    let most = 0;
    for (let k = 0; k < at.length; k++) {
      const loss = (at[k] ?? 0) + count * (one[k] ?? 0);
      at[k] = loss;
      if (loss > most) most = loss;
    }
    this.work += at.length;
    this.losses[pool] = most * this.programme.step;
    const right = 2 * pool + Number(contract.isCall);
    this.room[right] = (this.room[right] ?? 0) + (contract.isShort ? -count : count);
    this.left[leg] = (this.left[leg] ?? 0) - count;
  }

  /** What it comes to, against everything alone. */
  private total(): Micros {
    let total = this.sum + this.paired;
    for (const loss of this.losses) total += loss;
    return total;
  }

  /** What the straddles of all that is alone take less than their parts; negative. */
  private pair(): Micros {
    let saved = 0;
    this.straddles((leg, count, isGreater) => {
      if (!isGreater) saved += count * this.savedOf(leg);
    });
    return saved;
  }

  /** What the smaller one of a straddle takes less than alone; negative. */
  private savedOf(leg: number): Micros {
    const contract = this.programme.contracts[leg];
    return contract === undefined ? 0 : contract.premium - contract.naked;
  }

  private readonly waiting = new Map<number, number>();

  /** Pairs the shorts that are alone, the greatest first: each with any greater one of the other right that waits. */
  private straddles(take: (leg: number, count: number, isGreater: boolean) => void): void {
    const { waiting } = this;
    waiting.clear();
    this.work += this.byNeed.length;
    for (const leg of this.byNeed) {
      const left = this.left[leg] ?? 0;
      if (left <= 0) continue;
      const isCall = Number(this.programme.contracts[leg]?.isCall);
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
    this.programme.columns.forEach((column, index) => {
      if (column.kind === 'GREATER') counts[index] = greater.get(column.leg) ?? 0;
      if (column.kind === 'SMALLER') counts[index] = smaller.get(column.leg) ?? 0;
    });
    return counts;
  }

  private held(leg: number, place: Place): number {
    return (place === ALONE ? this.left[leg] : this.counts[place.column]) ?? 0;
  }

  private put(place: Place, count: number): void {
    if (place !== ALONE) this.apply(place.column, count);
  }

  private isAllowed(): boolean {
    this.work += this.room.length + this.left.length;
    for (const room of this.room) if (room < 0) return false;
    for (const left of this.left) if (left < 0) return false;
    return this.shares >= 0;
  }

  /** Does it, and undoes it where it is not allowed or gains nothing. */
  private tried(count: number, moves: readonly (readonly [from: Place, to: Place])[]): boolean {
    let changesUnpaired = false;
    for (const [from, to] of moves) {
      this.put(from, -count);
      this.put(to, count);
      changesUnpaired ||= from === ALONE || to === ALONE;
    }
    if (this.isAllowed()) {
      const before = this.paired;
      // Straddles are looked at only where they could make it better.
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

  /** One more or one less of a group with stock, or contracts of one leg elsewhere. */
  private moveOne(allowed: number): boolean {
    for (const combo of this.combos) {
      const place = { column: combo, pool: -1 };
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

  /** A short and a long of the same right into the same pool. */
  private moveTwo(allowed: number): boolean {
    const { contracts } = this.programme;
    return this.byNeed.some((short) =>
      this.places[short]?.some((to) => {
        if (to === ALONE) return false;
        return this.places.some((others, long) => {
          if (contracts[long]?.isShort !== false || contracts[long].isCall !== contracts[short]?.isCall)
            return false;
          const into = others.find(({ pool }) => pool === to.pool);
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

  /** Two shorts, or two longs, of one right take each other's places. */
  private exchange(allowed: number): boolean {
    const { contracts } = this.programme;
    return this.places.some((mine, one) =>
      this.places.some((others, other) => {
        if (other <= one || contracts[one]?.isShort !== contracts[other]?.isShort) return false;
        if (contracts[one]?.isCall !== contracts[other]?.isCall) return false;
        return mine.some((from) =>
          others.some((source) => {
            if (from.pool === source.pool || this.work > allowed) return false;
            const to = mine.find(({ pool }) => pool === source.pool);
            const back = others.find(({ pool }) => pool === from.pool);
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

const kindOf = ({ multiplier, deliverable, inLieu }: Contract): string =>
  `${multiplier}|${deliverable}|${inLieu}`;
