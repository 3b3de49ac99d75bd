/** Lists of the history, item by item in either direction, while new items arrive. */
import type { Page } from '../../../store/history.js';

const AT_ONCE = 200;

/** The part of a list query that a reader varies. */
export interface Stretch {
  readonly offset: number;
  readonly limit: number;
  readonly before?: number;
}

type ReadPage<Item> = (stretch: Stretch) => Promise<Page<Item>>;

/** All items of a list, each once. Items that arrive in between follow at the end of an ascending list. */
export const itemsOf = <Item>(read: ReadPage<Item>, isAscending: boolean): AsyncGenerator<Item> =>
  isAscending ? oldestFirst(read) : newestFirst(read);

async function* newestFirst<Item>(read: ReadPage<Item>): AsyncGenerator<Item> {
  let before: number | undefined;
  do {
    const page = await read({ offset: 0, limit: AT_ONCE, ...(before !== undefined && { before }) });
    yield* page.items;
    before = page.next;
  } while (before !== undefined);
}

async function* oldestFirst<Item>(read: ReadPage<Item>): AsyncGenerator<Item> {
  let { total } = await read({ offset: 0, limit: 1 });
  let done = 0;
  while (done < total) {
    const limit = Math.min(AT_ONCE, total - done);
    const offset = total - done - limit;
    const page = await read({ offset, limit });
    // Items that arrived since have moved the page: the same items are now behind a larger offset.
    const isMoved = page.total !== total;
    total = page.total;
    if (isMoved) continue;
    yield* page.items.toReversed();
    done += page.items.length;
    if (page.items.length === 0) return;
  }
}
