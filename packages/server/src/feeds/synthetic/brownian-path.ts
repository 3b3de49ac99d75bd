/**
 * A random path that can be evaluated at any second directly, always with the same result.
 *
 * Time is cut into blocks of 2^24 seconds (194 days). The values at the cuts are independent draws. Inside a block the path is a Brownian
 * bridge, built by halving: the middle of an interval of length T is the mean of its ends plus a draw with standard deviation √T / 2. Every
 * second is the middle of exactly one such interval, so each second owns one draw, a pure function of its number: any second is reached in
 * 24 steps, and a path that is read forward, with its current intervals cached, needs two per second on average.
 *
 * The cuts have variance T / 2, which makes the variance T / 2 everywhere: over short times a random walk with
 * variance 1 per second, over years a stationary one that has no year in which it can get lost.
 */

/** A draw with mean 0 and variance 1 that belongs to a second; at most `bound` in size. */
export interface Draws {
  readonly bound: number;
  of(second: number): number;
}

const LEVELS = 24;
const BLOCK_SECONDS = 1 << LEVELS;
const CUT_SCALE = Math.sqrt(BLOCK_SECONDS / 2);

/** By level (interval length 2^level): the standard deviation of the middle. */
const MIDDLE_SCALE = Float64Array.from({ length: LEVELS + 1 }, (_, level) => Math.sqrt(2 ** level) / 2);

/** By level: how far beyond its ends a path can get inside an interval, per unit of the largest draw. */
const REACH = Float64Array.from({ length: LEVELS + 1 }, (_, level) =>
  MIDDLE_SCALE.slice(1, level + 1).reduce((sum, scale) => sum + scale, 0),
);

/** Values at the cuts, by number of the block that begins there. */
export type Cuts = (block: number) => number;

/** Independent cuts: the path is stationary over years. */
const stationaryCuts =
  (draws: Draws): Cuts =>
  (block) =>
    CUT_SCALE * draws.of(block * BLOCK_SECONDS);

/** Cuts of a random walk that is 0 at the cut before a second: with normal draws the path has independent increments. */
export function wanderingCuts(draws: Draws, second: number): Cuts {
  const origin = Math.floor(second / BLOCK_SECONDS);
  const scale = Math.sqrt(BLOCK_SECONDS);
  const stepOf = (block: number): number => scale * draws.of(block * BLOCK_SECONDS);
  const later = [0];
  const earlier = [0];
  return (block) => {
    const distance = Math.abs(block - origin);
    const known = block < origin ? earlier : later;
    while (known.length <= distance) {
      const last = known[known.length - 1] as number;
      // Each cut but the origin owns the step that leads away from the origin.
      if (block < origin) known.push(last - stepOf(origin - known.length));
      else known.push(last + stepOf(origin + known.length));
    }
    return known[distance] as number;
  };
}

export class BrownianPath {
  private readonly draws: Draws;
  private readonly cut: Cuts;
  private block = Number.NaN;
  private offset = 0;
  /** The ends of the interval of each length that the last second lies in. */
  private readonly left = new Float64Array(LEVELS + 1);
  private readonly right = new Float64Array(LEVELS + 1);

  constructor(draws: Draws, cuts = stationaryCuts(draws)) {
    this.draws = draws;
    this.cut = cuts;
  }

  /** The value at a whole second. */
  at(second: number): number {
    const block = Math.floor(second / BLOCK_SECONDS);
    const start = block * BLOCK_SECONDS;
    const offset = second - start;
    let level: number;
    if (block === this.block) {
      // Intervals longer than the highest bit that changed are the same as last time.
      level = 32 - Math.clz32(offset ^ this.offset);
    } else {
      level = LEVELS;
      this.block = block;
      this.left[LEVELS] = this.cut(block);
      this.right[LEVELS] = this.cut(block + 1);
    }
    this.offset = offset;
    let left = this.left[level] as number;
    let right = this.right[level] as number;
    while (level > 0) {
      const half = 1 << (level - 1);
      const middle = (offset & -(half << 1)) + half;
      const value = (left + right) / 2 + (MIDDLE_SCALE[level] as number) * this.draws.of(start + middle);
      if ((offset & half) === 0) right = value;
      else left = value;
      level--;
      this.left[level] = left;
      this.right[level] = right;
    }
    return left;
  }

  /**
   * Visits seconds of [from, until), coarse ones first, and skips whole intervals for which `matters` returns false, given the bounds of
   * the path there: computes the exact high and low of a day without each of its seconds.
   */
  explore(
    from: number,
    until: number,
    matters: (lowest: number, highest: number) => boolean,
    visit: (second: number, value: number) => void,
  ): void {
    for (let block = Math.floor(from / BLOCK_SECONDS); block * BLOCK_SECONDS < until; block++) {
      this.exploreBlock(block, from, until, matters, visit);
    }
  }

  private exploreBlock(
    block: number,
    from: number,
    until: number,
    matters: (lowest: number, highest: number) => boolean,
    visit: (second: number, value: number) => void,
  ): void {
    const start = block * BLOCK_SECONDS;
    const first = this.cut(block);
    if (start >= from && start < until) visit(start, first);
    /** Three numbers per interval of the level: its start and the values at its ends. */
    let intervals = [start, first, this.cut(block + 1)];
    for (let level = LEVELS; level > 0; level--) {
      const half = 1 << (level - 1);
      const reach = (REACH[level] as number) * this.draws.bound;
      const halves: number[] = [];
      for (let i = 0; i < intervals.length; i += 3) {
        const begin = intervals[i] as number;
        if (begin + 2 * half <= from || begin >= until) continue;
        const left = intervals[i + 1] as number;
        const right = intervals[i + 2] as number;
        if (!matters(Math.min(left, right) - reach, Math.max(left, right) + reach)) continue;
        const middle = begin + half;
        const value = (left + right) / 2 + (MIDDLE_SCALE[level] as number) * this.draws.of(middle);
        if (middle >= from && middle < until) visit(middle, value);
        halves.push(begin, left, value, middle, value, right);
      }
      intervals = halves;
    }
  }
}
