import type { PageQuery, Pagination } from '@sandpit/protocol';

export interface PageReply<Item> {
  data: Item[];
  pagination: Pagination;
}

/** What a store needs to find a page. */
export const windowOf = ({
  page,
  limit,
}: PageQuery): { readonly offset: number; readonly limit: number } => ({
  offset: (page - 1) * limit,
  limit,
});

/** One page as it travels. */
export function pageReply<Item>(data: Item[], total: number, { page, limit }: PageQuery): PageReply<Item> {
  return { data, pagination: { page, limit, total, totalPages: Math.ceil(total / limit) } };
}

/** One page of a list that is at hand. */
export function pageOfAll<Stored, Item>(
  all: readonly Stored[],
  query: PageQuery,
  show: (stored: Stored) => Item,
): PageReply<Item> {
  const { offset, limit } = windowOf(query);
  return pageReply(all.slice(offset, offset + limit).map(show), all.length, query);
}
