import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
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
