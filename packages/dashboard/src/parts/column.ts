import type { ComponentChildren } from 'preact';
import type { TermName } from '../why/terms.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The explanation of the title, for a column without sorting. */
  readonly term?: TermName;
  readonly isNumber?: boolean;
  /** The value by which the rows may be sorted; absent = they cannot. */
  readonly sortBy?: (row: Row) => number | string | undefined;
  /** Left out on narrow screens. */
  readonly isSecondary?: boolean;
  /** Left out on phones only. */
  readonly isWide?: boolean;
  /** May be too long: the overflow is clipped, which costs each cell a clip when drawn. */
  readonly isLong?: boolean;
}

export const classOfCell = ({
  isNumber,
  isSecondary,
  isWide,
  isLong,
}: Pick<Column<never>, 'isNumber' | 'isSecondary' | 'isWide' | 'isLong'>): string =>
  `${isNumber === true ? 'number' : ''}${isSecondary === true ? ' secondary' : ''}${isWide === true ? ' wide' : ''}${isLong === true ? ' long' : ''}`;

export interface Sort {
  /** Title of a column. */
  readonly by: string;
  readonly isDown: boolean;
}

/** Rows by the value of a column; those without a value last. Equal rows keep their order. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Pick<Column<Row>, 'title' | 'sortBy'>[],
  sort: Sort | undefined,
): readonly Row[] {
  const valueOf = columns.find(({ title }) => title === sort?.by)?.sortBy;
  if (valueOf === undefined || sort === undefined) return rows;
  const order = (a: number | string, b: number | string): number =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en');
  return [...rows].sort((one, other) => {
    const [a, b] = [valueOf(one), valueOf(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return sort.isDown ? order(b, a) : order(a, b);
  });
}
