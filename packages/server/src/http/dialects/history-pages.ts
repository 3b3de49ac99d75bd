/** Lists of the history, item by item in either direction, while new items arrive. */
import type { Page } from '../../store/history.js';

const AT_ONCE = 200;

/** The part of a list query that a reader varies. */
interface Stretch {
  readonly offset: number;
  readonly limit: number;
  readonly before?: number;
}

type ReadPage<Item> = (stretch: Stretch) => Promise<Page<Item>>;

/** All items of a list, each once. Items that arrive in between are left out. */
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

/** The list as it is at the beginning: the pages are counted from its newest item, which newer ones do not move. */
async function* oldestFirst<Item>(read: ReadPage<Item>): AsyncGenerator<Item> {
  const newest = await read({ offset: 0, limit: 1 });
  const before = newest.next;
  for (let left = before === undefined ? 0 : newest.total - 1; left > 0 && before !== undefined;) {
    const limit = Math.min(AT_ONCE, left);
    left -= limit;
    const { items } = await read({ offset: left, limit, before });
    yield* items.toReversed();
  }
  yield* newest.items;
}
