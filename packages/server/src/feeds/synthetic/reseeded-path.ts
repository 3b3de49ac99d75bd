import type { Instant } from '@sandpit/core';
import type { BrownianPath } from './brownian-path.js';
import type { Seed } from './chance.js';

/** A new seed for the path after an instant. */
interface Reseeding {
  readonly after: Instant;
  /** A 32-bit integer. */
  readonly seed: number;
}

/** The seed of a market, and its replacements, oldest first. */
export interface Seeds {
  readonly seed: Seed;
  readonly reseeded?: readonly Reseeding[];
}

/** The seed in force at a whole second. */
export function seedAt({ seed, reseeded = [] }: Seeds, second: number): Seed {
  return reseeded.findLast(({ after }) => second > secondOf(after))?.seed ?? seed;
}

/** The last whole second that is not after an instant. */
const secondOf = (instant: Instant): number => Math.floor(instant / 1000);

/** A segment of a path: after `after`, up to the next segment. */
interface Stretch {
  readonly path: PricePath;
  /** Whole second; −∞ for the first. */
  readonly after: number;
  /** Added to the values of `path`, so that they begin at the end of the previous segment. */
  readonly shift: number;
}

/** A path that continues with other draws after each reseeding, from its value there. */
class ReseededPath {
  readonly #stretches: readonly Stretch[];

  constructor(seeds: Seeds, unbroken: (seed: Seed) => PricePath) {
    const stretches: Stretch[] = [{ path: unbroken(seeds.seed), after: Number.NEGATIVE_INFINITY, shift: 0 }];
    for (const { after: instant, seed } of seeds.reseeded ?? []) {
      const after = secondOf(instant);
      const before = stretches.findLast((stretch) => stretch.after < after);
      const path = unbroken(seed);
      const value = before === undefined ? 0 : before.path.at(after) + before.shift;
      // One at the same second replaces the previous one.
      if (stretches.at(-1)?.after === after) stretches.pop();
      stretches.push({ path, after, shift: value - path.at(after) });
    }
    this.#stretches = stretches;
  }

  /** The value at a whole second. */
  at(second: number): number {
    const { path, shift } = this.#stretches.findLast(({ after }) => second > after) as Stretch;
    return path.at(second) + shift;
  }

  /** `BrownianPath.explore`, stretch by stretch. */
  explore(
    from: number,
    until: number,
    matters: (lowest: number, highest: number) => boolean,
    visit: (second: number, value: number) => void,
  ): void {
    for (const [index, { path, after, shift }] of this.#stretches.entries()) {
      const first = Math.max(from, after + 1);
      const end = Math.min(until, (this.#stretches[index + 1]?.after ?? Infinity) + 1);
      if (first < end)
        path.explore(
          first,
          end,
          (lowest, highest) => matters(lowest + shift, highest + shift),
          (second, value) => visit(second, value + shift),
        );
    }
  }
}

/** Source of the logarithm of a price at a whole second. */
export type PricePath = Pick<BrownianPath, 'at' | 'explore'>;

/** The path of a market's instrument. `unbroken`: the path of one seed. */
export const pathOf = (seeds: Seeds, unbroken: (seed: Seed) => PricePath): PricePath =>
  (seeds.reseeded ?? []).length === 0 ? unbroken(seeds.seed) : new ReseededPath(seeds, unbroken);
