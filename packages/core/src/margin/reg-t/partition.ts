import type { RegTTerms } from './contracts.js';
import { UNDIVIDED } from './division.js';
import { partitionOfFew } from './few-series.js';
import { greedyPartition } from './greedy.js';
import { poolsOf } from './model.js';
import type { Chain, Partition } from './model.js';
import { Programme } from './programme.js';
import { Search } from './search.js';

/** Numbers that a search may visit: some tenths of a second. Chains as people hold them end long before. */
const MOST_WORK = 10_000_000;
/** Books of more series than this are given less, and each chain its share of it. */
const LARGE = 60;
const WORK_OF_LARGE = 3_000_000;
const LEAST_WORK = 20_000;
/** The share that is kept for making better what a search that is cut short has found. */
const OF_IMPROVEMENT = 0.2;

/** How many numbers the search may visit for a chain, by how many series it has and the book it is in. */
export const mostWorkOf = (series: number, ofBook: number): number =>
  ofBook <= LARGE ? MOST_WORK : Math.max(LEAST_WORK, Math.floor((WORK_OF_LARGE * series) / ofBook));

/**
 * The division of a chain that takes the least maintenance, less the value that long-dated longs count with; among equals the
 * least initially (D104). Found by branch and bound over linear programmes: contracts are counted, not listed, so that their
 * number does not matter, and the maximum loss of a group is the least number that is no less than its loss at any strike.
 *
 * Groups whose shorts settle at different instants are left out at first. Where contracts need not be whole they save nothing: the
 * longs of such a group can be shared out among its shorts, each short with longs of its own, so that the parts lose no more than the
 * whole (a weak transport: N. Gozlan and others, 2017). So a division that takes what the first programme says without them is the
 * least with them too; only where whole contracts leave a gap are they searched as well, from the best without them.
 */
export function leastPartition(
  chain: Chain,
  terms: RegTTerms,
  mostWork = mostWorkOf(chain.contracts.length, chain.contracts.length),
): Partition {
  const few = partitionOfFew(chain, terms);
  if (few !== undefined) return few;
  const pools = poolsOf(chain.contracts);
  const plain = pools.filter(({ isMixed }) => !isMixed);
  const programme = new Programme(chain, terms, plain);
  if (programme.columns.length === 0) return { ...UNDIVIDED, isApproximate: false };
  const search = new Search(programme, mostWork * (1 - OF_IMPROVEMENT), UNDIVIDED);
  search.run();
  if (search.isCertain && (plain.length === pools.length || search.isAtBound))
    return { ...search.best, isApproximate: false };
  let { best } = search;
  if (search.isCertain) {
    const all = new Search(new Programme(chain, terms, pools), mostWork - search.work, best);
    all.run();
    if (all.isCertain) return { ...all.best, isApproximate: false };
    ({ best } = all);
  } else {
    search.improve(mostWork * OF_IMPROVEMENT);
    ({ best } = search);
  }
  // What a search that was cut short has found may be worse than what a glance finds.
  const quick = greedyPartition(chain, terms);
  return { ...(quick.first < best.first ? quick : best), isApproximate: true };
}
