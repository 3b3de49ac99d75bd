import type { RegTTerms } from './contracts.js';
import { integerSolutionOf, EMPTY_SOLUTION } from './integer-solution.js';
import { partitionOfFew } from './few-series.js';
import { greedyValues } from './greedy.js';
import { LocalSearch } from './local-search.js';
import { poolsOf } from './model.js';
import type { UnderlyingPositions, Partition } from './model.js';
import { PartitionProgram } from './partition-program.js';
import { roundedValues } from './rounding.js';
import { Search } from './search.js';

/*
 * The work that one partition may cost, in numbers visited: about 13 ns each. It depends on the book alone, never on time or on what was asked
 * before, so that a preview, the order, the account view and a re-execution have one figure.
 */
/** Shorts that settle at one instant: nearly every search ends before. */
const WORK_AT_ONE_INSTANT = 400_000;
/** At several instants: nearly every search of few series ends, and most of many solve their linear relaxation. */
const WORK_AT_SEVERAL_INSTANTS = 200_000;
/** The linear relaxation without straddles, where the search was cut short before it had solved the one with them. */
const WORK_OF_RELAXATION = 400_000;
/** Improving a whole partition after a search that was cut short. */
const WORK_OF_IMPROVEMENT = 100_000;
/** The underlyings of a book share these by their series, but each may cost so much. */
const LEAST_WORK = 4000;

/**
 * The division of a chain that takes the least maintenance, less the value that long-dated longs count with; among equals the
 * least initially (D104). Found by branch and bound over linear programmes: contracts are counted, not listed, so that their
 * number does not matter, and the maximum loss of a group is the least number that is no less than its loss at any strike.
 * A search that reaches its allowance is cut short. Then the better of its best and of an improved partition counts, which starts from the
 * rounded linear relaxation or from the greedy partition: allowed, and no less than the least.
 *
 * Groups whose shorts settle at different instants are left out at first. Where contracts need not be whole they save nothing: the
 * longs of such a group can be shared out among its shorts, each short with longs of its own, so that the parts lose no more than the
 * whole (a weak transport: N. Gozlan and others, 2017). So a division that takes what the first programme says without them is the
 * least with them too; only where whole contracts leave a gap are they searched as well, from the best without them.
 *
 * `ofBook`: series of the whole book, among whose chains the work is shared.
 */
export function leastPartition(positions: UnderlyingPositions, terms: RegTTerms, ofBook = 0): Partition {
  const few = partitionOfFew(positions, terms);
  if (few !== undefined) return few;
  const blocks = poolsOf(positions.contracts);
  const plain = blocks.filter(({ isMixed }) => !isMixed);
  const program = new PartitionProgram(positions, terms, plain);
  if (program.columns.length === 0) return { ...EMPTY_SOLUTION, isApproximate: false };
  const series = positions.contracts.length;
  const shared = (work: number): number =>
    Math.max(LEAST_WORK, Math.floor((work * series) / Math.max(series, ofBook)));
  const mostWork = shared(plain.length > 1 ? WORK_AT_SEVERAL_INSTANTS : WORK_AT_ONE_INSTANT);
  const first = new Search(program, mostWork, EMPTY_SOLUTION);
  first.run();
  let search = first;
  if (first.isCertain && plain.length < blocks.length && !first.isAtBound) {
    search = new Search(new PartitionProgram(positions, terms, blocks), mostWork - first.work, first.best);
    search.run();
  }
  if (search.isCertain) return { ...search.best, isApproximate: false };
  first.keepIfBetter(search.best);
  const relaxed = first.relaxed ?? relaxedWithoutStraddles();
  const values = new LocalSearch(program).from(startFrom(relaxed), shared(WORK_OF_IMPROVEMENT));
  first.keepIfBetter(integerSolutionOf(program, values));
  return { ...first.best, isApproximate: !first.isAtBound };

  function relaxedWithoutStraddles(): Float64Array {
    const smaller = new PartitionProgram(positions, terms, plain, false);
    return new Search(smaller, shared(WORK_OF_RELAXATION), EMPTY_SOLUTION).relax();
  }

  function startFrom(relaxed: Float64Array): Float64Array {
    const greedy = greedyValues(program);
    const rounded = roundedValues(program, relaxed);
    return integerSolutionOf(program, rounded).first < integerSolutionOf(program, greedy).first
      ? rounded
      : greedy;
  }
}

/** Chains of fewer series are divided faster than they are recognized. */
const LEAST_SERIES = 12;
const MOST_KNOWN = 32;

/**
 * The latest partitions of large chains. An order asks for the same book several times, to value it, before the trade and after; what is remembered
 * is what would be found again, so that it makes no difference to any figure.
 */
export class Partitions {
  /** By positions and terms as text, oldest first. */
  readonly #known = new Map<string, Partition>();

  of(positions: UnderlyingPositions, terms: RegTTerms, ofBook: number): Partition {
    if (positions.contracts.length < LEAST_SERIES) return leastPartition(positions, terms, ofBook);
    const key = keyOf(positions, terms, ofBook);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const partition = leastPartition(positions, terms, ofBook);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < MOST_KNOWN) break;
      this.#known.delete(oldest);
    }
    this.#known.set(key, partition);
    return partition;
  }
}

/** All that a partition depends on. */
function keyOf(
  { contracts, shares }: UnderlyingPositions,
  { parameters, house, asOf }: RegTTerms,
  ofBook: number,
): string {
  const { houseMaintenanceLongBps: long, houseMaintenanceShortBps: short } = house;
  let key = `${parameters.effectiveFrom} ${asOf} ${long} ${short} ${ofBook} ${shares}`;
  for (const one of contracts) {
    const count = one.isShort ? -one.count : one.count;
    const terms = `${one.multiplier} ${one.deliverable} ${one.inLieu} ${one.style} ${one.settlesAt}`;
    key += `|${one.symbol} ${count} ${one.premium} ${one.naked} ${one.shares} ${one.strike} ${one.factor} ${terms}`;
  }
  return key;
}
