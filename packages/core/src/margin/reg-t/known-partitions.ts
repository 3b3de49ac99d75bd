import type { RegTTerms } from './contracts.js';
import type { Chain, Partition } from './model.js';
import { leastPartition, mostWorkOf } from './partition.js';

/** Chains of fewer series are divided faster than they are recognized. */
const LEAST_SERIES = 12;
const MOST_SERIES = 200;
const MOST_KNOWN = 32;

/** The latest large chains as text, oldest first, with their partitions. */
const known = new Map<string, Partition>();

/**
 * The least partition of a chain (D104). One request asks for the same book several times, to value it, before an order and after: a large chain
 * is divided once. `ofBook`: series of the whole book, among whose chains the work is shared.
 */
export function partitionOf(chain: Chain, terms: RegTTerms, ofBook: number): Partition {
  const series = chain.contracts.length;
  const mostWork = mostWorkOf(series, Math.max(series, ofBook));
  // Of a book of very many series there are too many chains to remember.
  if (series < LEAST_SERIES || ofBook > MOST_SERIES) return leastPartition(chain, terms, mostWork);
  const { parameters, house, asOf } = terms;
  const { houseMaintenanceLongBps: long, houseMaintenanceShortBps: short } = house;
  const key = JSON.stringify([parameters.effectiveFrom, asOf, long, short, mostWork, chain]);
  const found = known.get(key);
  if (found !== undefined) return found;
  const partition = leastPartition(chain, terms, mostWork);
  for (const oldest of known.keys()) {
    if (known.size < MOST_KNOWN) break;
    known.delete(oldest);
  }
  known.set(key, partition);
  return partition;
}
