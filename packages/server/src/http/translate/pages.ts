import { CURSOR_EXPECTED, type PageQuery, type Pagination } from '@sandpit/protocol';
import type { Page } from '../../store/history.js';

/** Cursor of the next page, for the header of the answer; JSON omits it. */
export const NEXT_CURSOR = Symbol('X-Next-Cursor');

/** The items of a page whose whole list is in memory. Copies of a page do not have it. */
export const REST = Symbol('rest of the list');

/** Emits the whole list as lines of CSV, if another thread writes them; false = the reader has disconnected. */
export const ALL_LINES = Symbol('lines of the whole list');

/** Marks a query that does not need the total. */
export const UNCOUNTED = Symbol('uncounted');

export interface PageReply<Item> {
  data: Item[];
  pagination: Pagination;
  [NEXT_CURSOR]?: string;
  [REST]?: () => Iterable<Item>;
  [ALL_LINES]?: (emit: (lines: string) => Promise<boolean>) => Promise<void>;
}

/** A cursor that no list gave: 400. */
export class BadCursor extends Error {
  override readonly name = 'BadCursor';

  constructor() {
    super(`cursor ${CURSOR_EXPECTED}`);
  }
}

/** Window that a store needs to find a page. Throws `BadCursor`. */
export function windowOf({ page, limit, cursor, [UNCOUNTED]: isUncounted }: Uncounted<PageQuery>): {
  readonly offset: number;
  readonly limit: number;
  readonly before?: number;
  readonly isUncounted?: true;
} {
  const counting = isUncounted === true ? { isUncounted } : {};
  if (cursor === undefined) return { offset: (page - 1) * limit, limit, ...counting };
  const ordinal = /^n(\d{1,15})$/.exec(cursor)?.[1];
  if (ordinal === undefined) throw new BadCursor();
  return { offset: 0, limit, before: Number(ordinal), ...counting };
}

type Uncounted<Query> = Query & { readonly [UNCOUNTED]?: true };

/** One page of a history list as it travels. */
export function pageReply<Item>(
  data: Item[],
  { total, next }: Pick<Page<unknown>, 'total' | 'next'>,
  query: PageQuery,
): PageReply<Item> {
  return reply(data, total, query, next === undefined ? undefined : `n${next}`);
}

/** Place of a page in a list: behind `offset` items, or behind the item that a cursor names. */
export interface ListWindow {
  readonly offset: number;
  readonly limit: number;
  readonly after?: CursorItem;
}

/** The last item that was shown, as a cursor names it, and the number of items behind it at that time. */
interface CursorItem {
  readonly key: string;
  readonly left: number;
}

/** Place of a page in a list that is put together as a whole. Throws `BadCursor`. */
export const listWindow = ({ page, limit, cursor }: PageQuery): ListWindow =>
  cursor === undefined ? { offset: (page - 1) * limit, limit } : { offset: 0, limit, after: keyIn(cursor) };

/** The items of a page of such a list, with the number of items in front of the page's end and behind it. */
export function itemsIn<Stored>(
  all: readonly Stored[],
  { offset, limit, after }: ListWindow,
  keyOf: (stored: Stored) => string | number,
): { readonly items: readonly Stored[]; readonly end: number; readonly left: number } {
  const first = after === undefined ? offset : firstAfter(all, after, keyOf);
  const items = all.slice(first, first + limit);
  const end = first + items.length;
  return { items, end, left: Math.max(0, all.length - end) };
}

/**
 * One page of a loaded list. A cursor names the last item shown and the number of items after it: new items may be added before it. Throws
 * `BadCursor`.
 */
export function pageOfAll<Stored, Item>(
  all: readonly Stored[],
  query: PageQuery,
  keyOf: (stored: Stored) => string | number,
  show: (stored: Stored) => Item,
): PageReply<Item> {
  const { items, end, left } = itemsIn(all, listWindow(query), keyOf);
  const last = items.at(-1);
  const next = last === undefined || left === 0 ? undefined : cursorOf(String(keyOf(last)), left);
  const found = reply(items.map(show), all.length, query, next);
  if (next !== undefined) Object.defineProperty(found, REST, { value: rest });
  return found;

  function* rest(): Iterable<Item> {
    for (let index = end; index < all.length; index += 1) yield show(all[index] as Stored);
  }
}

/** A page with its items in the form in which they travel. Further pages are requested one by one. */
export function pageShown<Stored, Item>(page: PageReply<Stored>, data: Item[]): PageReply<Item> {
  const { pagination, [NEXT_CURSOR]: next } = page;
  return { data, pagination, ...(next !== undefined && { [NEXT_CURSOR]: next }) };
}

/** One page of a list from elsewhere. */
export function pageFound<Item>(
  data: Item[],
  { total, left, lastKey }: FoundPage,
  query: PageQuery,
): PageReply<Item> {
  const isLast = data.length === 0 || left === 0;
  return reply(data, total, query, isLast ? undefined : cursorOf(String(lastKey), left));
}

interface FoundPage {
  readonly total: number;
  /** Items behind the page. */
  readonly left: number;
  /** Key of the page's last item. */
  readonly lastKey: string | number | undefined;
}

function reply<Item>(
  data: Item[],
  total: number,
  { page, limit }: PageQuery,
  next: string | undefined,
): PageReply<Item> {
  return {
    data,
    pagination: { page, limit, total, totalPages: Math.ceil(total / limit) },
    ...(next !== undefined && { [NEXT_CURSOR]: next }),
  };
}

const cursorOf = (key: string, left: number): string =>
  `k${Buffer.from(JSON.stringify([key, left])).toString('base64url')}`;

function firstAfter<Stored>(
  all: readonly Stored[],
  { key, left }: CursorItem,
  keyOf: (stored: Stored) => string | number,
): number {
  const index = all.findIndex((stored) => String(keyOf(stored)) === key);
  // The item that the cursor names may have been removed since.
  return index === -1 ? Math.max(all.length - left, 0) : index + 1;
}

function keyIn(cursor: string): CursorItem {
  if (!cursor.startsWith('k')) throw new BadCursor();
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor.slice(1), 'base64url').toString());
    if (Array.isArray(parts) && typeof parts[0] === 'string' && Number.isSafeInteger(parts[1]))
      return { key: parts[0], left: parts[1] as number };
  } catch {
    // Malformed cursor.
  }
  throw new BadCursor();
}
