import type { Contract, Micros } from './contracts.js';
import { maximumLoss } from './model.js';

/** Names of SPREAD groups by their shape (D104). */
export type SpreadName =
  | 'DEBIT_SPREAD'
  | 'CREDIT_SPREAD'
  | 'LONG_BUTTERFLY'
  | 'SHORT_BUTTERFLY'
  | 'LONG_CONDOR'
  | 'SHORT_CONDOR'
  | 'IRON_CONDOR'
  | 'IRON_BUTTERFLY'
  | 'LONG_BOX'
  | 'SHORT_BOX'
  | 'LONG_CALENDAR'
  | 'DIAGONAL_SPREAD'
  | 'UNIVERSAL_SPREAD';

/** Counts of the contracts of a spread, by index of the contract. */
export type SpreadLegs = ReadonlyMap<number, number>;

export interface NamedSpread {
  readonly name: SpreadName;
  readonly legs: SpreadLegs;
  readonly loss: Micros;
}

/** Spreads of more legs keep one name: naming their parts would be slower than margining them. */
const MOST_LEGS = 12;
const MOST_STEPS = 2000;
const MOST_SHORTS = 2;

/** The terms of a contract that its shape depends on. */
export type ShapedContract = Pick<Contract, 'isCall' | 'isShort' | 'settlesAt' | 'strike'>;

/** The name of a spread by its shape; UNIVERSAL_SPREAD if no other fits. */
export function nameOf(contracts: readonly ShapedContract[], legs: SpreadLegs): SpreadName {
  const counts = [...legs.values()];
  const unit = counts.reduce((a, b) => (b === 0 ? a : gcd(a, b)), 0);
  const parts = [...legs].flatMap(([i, count]) => {
    const contract = contracts[i];
    return contract === undefined ? [] : [{ contract, count: ((contract.isShort ? -1 : 1) * count) / unit }];
  });
  parts.sort(
    (a, b) => Number(b.contract.isCall) - Number(a.contract.isCall) || a.contract.strike - b.contract.strike,
  );
  const ratio = parts.map(({ count }) => count).join();
  const [a, b, c, d] = parts.map(({ contract }) => contract);
  if (a === undefined || b === undefined) return 'UNIVERSAL_SPREAD';
  const isOneRight = parts.every(({ contract }) => contract.isCall === a.isCall);
  const isOneInstant = parts.every(({ contract }) => contract.settlesAt === a.settlesAt);
  if (parts.length === 2 && isOneRight && (ratio === '1,-1' || ratio === '-1,1')) {
    if (!isOneInstant) return a.strike === b.strike ? 'LONG_CALENDAR' : 'DIAGONAL_SPREAD';
    return maximumLoss(contracts, legs) === 0 ? 'DEBIT_SPREAD' : 'CREDIT_SPREAD';
  }
  if (!isOneInstant) return 'UNIVERSAL_SPREAD';
  if (isOneRight) {
    switch (ratio) {
      case '1,-2,1':
        return 'LONG_BUTTERFLY';
      case '-1,2,-1':
        return 'SHORT_BUTTERFLY';
      case '1,-1,-1,1':
        return 'LONG_CONDOR';
      case '-1,1,1,-1':
        return 'SHORT_CONDOR';
      default:
        return 'UNIVERSAL_SPREAD';
    }
  }
  // Two calls, then two puts.
  if (c === undefined || d === undefined || parts.length !== 4 || !b.isCall || c.isCall)
    return 'UNIVERSAL_SPREAD';
  const isBox = a.strike === c.strike && b.strike === d.strike;
  if (isBox && ratio === '1,-1,-1,1') return 'LONG_BOX';
  if (isBox && ratio === '-1,1,1,-1') return 'SHORT_BOX';
  const isIron = d.strike <= a.strike && (ratio === '-1,1,1,-1' || ratio === '1,-1,-1,1');
  if (!isIron) return 'UNIVERSAL_SPREAD';
  return d.strike === a.strike ? 'IRON_BUTTERFLY' : 'IRON_CONDOR';
}

/**
 * The same contracts in named spreads whose total loss is no greater: as few as possible, with unneeded longs
 * alone. If there are none, the one spread itself (D104: fewest unnamed groups, then fewest groups).
 */
export function namedSpreads(contracts: readonly Contract[], legs: SpreadLegs, loss: Micros): NamedSpread[] {
  const whole: NamedSpread = { name: nameOf(contracts, legs), legs, loss };
  if (whole.name !== 'UNIVERSAL_SPREAD' || legs.size > MOST_LEGS) return [whole];
  return new NamedSpreadSearch(contracts, legs, loss).best ?? [whole];
}

interface Shape {
  readonly legs: readonly number[];
  readonly ratio: readonly number[];
  readonly loss: Micros;
  readonly name: SpreadName;
}

/** The search for the fewest named spreads. */
class NamedSpreadSearch {
  best: NamedSpread[] | undefined;
  private fewest = Infinity;
  private steps = 0;
  private readonly contracts: readonly Contract[];
  private readonly longs: readonly number[];
  private readonly shorts: readonly number[];
  private readonly left: Map<number, number>;
  /** By short: the shapes that it is part of. */
  private readonly shapesOf = new Map<number, Shape[]>();
  private readonly chosen: NamedSpread[] = [];

  constructor(contracts: readonly Contract[], legs: SpreadLegs, loss: Micros) {
    this.contracts = contracts;
    this.left = new Map(legs);
    const places = [...legs.keys()].sort((a, b) => a - b);
    this.longs = places.filter((i) => contracts[i]?.isShort === false);
    this.shorts = places.filter((i) => contracts[i]?.isShort === true);
    const shapes = this.shapesAmong();
    for (const short of this.shorts)
      this.shapesOf.set(
        short,
        shapes.filter((shape) => shape.legs.includes(short)),
      );
    this.divide(loss);
  }

  /** Every named shape with one unit of its ratio, those with the most legs first. */
  private shapesAmong(): Shape[] {
    const shapes: Shape[] = [];
    const add = (legs: readonly number[], ratio: readonly number[]): void => {
      const map = new Map(legs.map((leg, i) => [leg, ratio[i] ?? 0]));
      if (map.size !== legs.length) return;
      const name = nameOf(this.contracts, map);
      if (name !== 'UNIVERSAL_SPREAD')
        shapes.push({ legs, ratio, name, loss: maximumLoss(this.contracts, map) });
    };
    const of = (i: number): Contract => this.contracts[i] ?? missing();
    const pairs = this.shorts.flatMap((short) =>
      this.longs
        .filter((long) => of(long).isCall === of(short).isCall && of(long).settlesAt >= of(short).settlesAt)
        .map((long) => [short, long] as const),
    );
    pairs.forEach(([short, long], k) => {
      add([short, long], [1, 1]);
      for (const [other, third] of pairs.slice(k + 1)) {
        if (other === short) add([short, long, third], [2, 1, 1]);
        else if (third === long) add([short, other, long], [1, 1, 2]);
        else add([short, long, other, third], [1, 1, 1, 1]);
      }
    });
    return shapes.sort((a, b) => b.legs.length - a.legs.length);
  }

  private divide(loss: Micros): void {
    if (++this.steps > MOST_STEPS) return;
    let short: number | undefined;
    let shorts = 0;
    for (const i of this.shorts) {
      if ((this.left.get(i) ?? 0) <= 0) continue;
      short ??= i;
      shorts++;
    }
    if (short === undefined) {
      const alone = this.longs.filter((i) => (this.left.get(i) ?? 0) > 0).length;
      if (this.chosen.length + alone >= this.fewest) return;
      this.fewest = this.chosen.length + alone;
      this.best = [...this.chosen];
      return;
    }
    // No shape has more than two shorts.
    if (this.chosen.length + Math.ceil(shorts / MOST_SHORTS) >= this.fewest) return;
    for (const shape of this.shapesOf.get(short) ?? []) {
      let most = shape.loss === 0 ? Infinity : Math.floor(loss / shape.loss);
      for (let i = 0; i < shape.legs.length && most > 0; i++) {
        const held = this.left.get(shape.legs[i] ?? 0) ?? 0;
        most = Math.min(most, Math.floor(held / (shape.ratio[i] ?? 1)));
      }
      for (let units = most; units >= Math.max(1, most - 2); units--) {
        this.take(shape, units, -1);
        this.chosen.push({
          name: shape.name,
          legs: new Map(shape.legs.map((leg, i) => [leg, (shape.ratio[i] ?? 0) * units])),
          loss: shape.loss * units,
        });
        this.divide(loss - shape.loss * units);
        this.chosen.pop();
        this.take(shape, units, 1);
      }
    }
  }

  private take({ legs, ratio }: Shape, units: number, sign: 1 | -1): void {
    legs.forEach((leg, i) => {
      this.left.set(leg, (this.left.get(leg) ?? 0) + sign * units * (ratio[i] ?? 0));
    });
  }
}

function missing(): never {
  throw new RangeError('no such contract');
}

function gcd(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
