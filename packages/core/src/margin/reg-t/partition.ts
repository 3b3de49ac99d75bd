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
 * Work limits of one partition, in numbers visited: about 13 ns each. They depend on the book alone, never on time or on earlier
 * requests, so that a preview, the order, the account view and a re-execution have the same figure.
 */
/** Shorts that settle at one instant: nearly all searches end before the limit. */
const WORK_AT_ONE_INSTANT = 400_000;
/** Several instants: nearly all searches of few series end, and most of many series solve their linear relaxation. */
const WORK_AT_SEVERAL_INSTANTS = 200_000;
/** The linear relaxation without straddles, if the search was cut short before it had solved the one with them. */
const WORK_OF_RELAXATION = 400_000;
/** Improving a whole partition after a search that was cut short. */
const WORK_OF_IMPROVEMENT = 100_000;
/** The underlyings of a book share these limits by their number of series, with this minimum each. */
const LEAST_WORK = 4000;

/**
 * The partition of an offset group with the least maintenance, less the equity contribution of long-dated longs; in a tie the least initial
 * requirement (D104). Found by branch and bound over linear programs: contracts are counted, not listed, so that their number does not
 * matter, and the maximum loss of a group is the least number that is no less than its loss at any strike. A search that reaches its limit
 * is cut short. Then the better of its incumbent and of an improved partition counts, which starts from the rounded linear relaxation or
 * from the greedy partition: feasible, and no less than the optimum.
 *
 * Groups whose shorts settle at different instants are left out at first. Without integrality they save nothing: the
 * longs of such a group can be distributed among its shorts, each short with its own longs, so that the parts lose no more than the
 * whole (a weak transport: N. Gozlan and others, 2017). So a partition that reaches the bound of the first program is
 * optimal with them too; only if integrality leaves a gap are they searched as well, starting from the best without them.
 *
 * `ofBook`: series of the whole book, whose offset groups share the work limit.
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

/** Groups with fewer series are partitioned faster than looked up. */
const LEAST_SERIES = 12;
const MOST_KNOWN = 32;

/**
 * The latest partitions of large offset groups. An order requires the same book several times: for its value, before the trade and after. A
 * cached partition is the one that would be found again, so it changes no figure.
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

/** All inputs of a partition. */
function keyOf(
  { contracts, shares }: UnderlyingPositions,
  { parameters, house, asOf }: RegTTerms,
  ofBook: number,
): string {
  const { houseMaintenanceLongBps: long, houseMaintenanceShortBps: short } = house;
  let key = `${parameters.effectiveFrom} ${asOf} ${long} ${short} ${ofBook} ${shares}`;
  for (const one of contracts) {
    const count = one.isShort ? -one.count : one.count;
    const terms = `${one.multiplier} ${one.deliverable} ${one.inLieu} ${one.cash} ${one.isCoverable} ${one.style} ${one.settlesAt}`;
    key += `|${one.symbol} ${count} ${one.premium} ${one.naked} ${one.shares} ${one.strike} ${one.factor} ${terms}`;
  }
  return key;
}
