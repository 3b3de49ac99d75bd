import { type Static, type TSchema } from 'typebox';
import { closed, count, integer, listOf, optional, parameters, text } from './fields.js';

export const Pagination = closed('Pagination', {
  page: count(),
  limit: count(),
  total: count({ description: 'Total number of items.' }),
  totalPages: count(),
});
export type Pagination = Static<typeof Pagination>;

/** Message for a `cursor` that no list returned. */
export const CURSOR_EXPECTED = 'must be an X-Next-Cursor of this list';

/** `page` and `limit` of every paged list (D21). */
export const pageFields = {
  page: integer(1, 1_000_000_000, {
    default: 1,
    description: 'The page, from 1.',
    'x-expected': 'must be an integer of at least 1',
    'x-range-in-expected': false,
  }),
  limit: integer(1, 500, { default: 50, description: 'Items per page.' }),
  cursor: optional(
    text({
      maxLength: 1024,
      pattern: '^[A-Za-z0-9_-]+$',
      description:
        'The `X-Next-Cursor` of the previous page, instead of `page`. New items cause no gaps or duplicates.',
      'x-expected': CURSOR_EXPECTED,
    }),
  ),
};

export const PageQuery = parameters(pageFields);
export type PageQuery = Static<typeof PageQuery>;

/** One page of a list. */
export function paged<Item extends TSchema>(name: string, item: Item, description: string) {
  return closed(name, { data: listOf(item), pagination: Pagination }, { description });
}

/** The query of an operation that has none: any parameter is refused. */
export const NoQuery = parameters({});
