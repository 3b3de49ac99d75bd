import type { RegTTerms } from './contracts.js';
import { partitionOfFew, UNDIVIDED } from './few-series.js';
import { greedyPartition } from './greedy.js';
import type { Chain, Partition } from './model.js';
import { Programme } from './programme.js';
import { Search } from './search.js';

/** Numbers that a search may visit: some tenths of a second. Chains as people hold them end long before. */
const MOST_WORK = 10_000_000;
/** Books of more series than this are given less, and each chain its share of it. */
const LARGE = 60;
const WORK_OF_LARGE = 3_000_000;
const LEAST_WORK = 20_000;

/** How many numbers the search may visit for a chain, by how many series it has and the book it is in. */
export const mostWorkOf = (series: number, ofBook: number): number =>
  ofBook <= LARGE ? MOST_WORK : Math.max(LEAST_WORK, Math.floor((WORK_OF_LARGE * series) / ofBook));

/**
 * The division of a chain that takes the least maintenance, less the value that long-dated longs count with; among equals the
 * least initially (D104). Found by branch and bound over linear programmes: contracts are counted, not listed, so that their
 * number does not matter, and the maximum loss of a group is the least number that is no less than its loss at any strike.
 */
export function leastPartition(
  chain: Chain,
  terms: RegTTerms,
  mostWork = mostWorkOf(chain.contracts.length, chain.contracts.length),
): Partition {
  const few = partitionOfFew(chain, terms);
  if (few !== undefined) return few;
  const programme = new Programme(chain, terms);
  if (programme.columns.length === 0) return UNDIVIDED;
  const search = new Search(programme, mostWork);
  search.run();
  const { best } = search;
  if (search.isCertain) return { ...best, isApproximate: false };
  // What a search that was cut short has found may be worse than what a glance finds.
  const quick = greedyPartition(chain, terms);
  return { ...(quick.first < best.first ? quick : best), isApproximate: true };
}
