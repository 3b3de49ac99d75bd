import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `most` values; the least recently used is evicted. It grows with its content: with `max`, lru-cache allocates
 * room for all values at once (217 kB and some milliseconds for 10,000).
 */
export const boundedCache = <Value extends object | number>(most: number): LRUCache<string, Value> =>
  new LRUCache<string, Value>({ maxSize: most, sizeCalculation: () => 1 });
