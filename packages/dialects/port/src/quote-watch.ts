/** One look at the market for all readers of a simulation. */
import type { Desk, Watch, Watcher } from './port.js';
import type { Quote } from '@sandpit/protocol';

const INTERVAL_MS = 250;
const AT_ONCE = 100;
/** At most this share of the time is spent on looking. */
const MOST_LOOKING = 1 / 4;

/** The latest quotes of symbols. Those without a quote are left out. */
export async function quotesOf(
  { market }: Desk,
  symbols: Iterable<string>,
): Promise<ReadonlyMap<string, Quote>> {
  const all = [...new Set(symbols)];
  const found = new Map<string, Quote>();
  for (let i = 0; i < all.length; i += AT_ONCE)
    for (const quote of await market.latest(all.slice(i, i + AT_ONCE))) found.set(quote.symbol, quote);
  return found;
}

/**
 * Follows the market: readers of one simulation share a look, four times a second at most. Call the result to add a reader, which ends with its
 * connection. `lookOf` makes the look of a simulation when its first reader comes.
 */
export function sharedWatch<Reader extends Watcher>(
  lookOf: (desk: Desk) => (readers: readonly Reader[]) => Promise<void>,
): (desk: Desk, reader: Reader) => void {
  const watches = new WeakMap<object, Watch<Reader>>();
  const open = (desk: Desk): Watch<Reader> => {
    const look = lookOf(desk);
    return desk.market.watch<Reader>(async (readers) => {
      const beganMs = performance.now();
      await look(readers);
      return Math.max(INTERVAL_MS, (performance.now() - beganMs) / MOST_LOOKING);
    });
  };
  return (desk, reader) => {
    const watch = watches.get(desk.key) ?? open(desk);
    watches.set(desk.key, watch);
    watch.add(reader);
  };
}
