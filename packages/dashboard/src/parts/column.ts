import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isSecondary?: boolean;
  /** May be longer than there is room for: what does not fit is cut. Costs each cell a clip of its own when it is drawn. */
  readonly isLong?: boolean;
}

export const classOfCell = ({
  isNumber,
  isSecondary,
  isLong,
}: Pick<Column<never>, 'isNumber' | 'isSecondary' | 'isLong'>): string =>
  `${isNumber === true ? 'number' : ''}${isSecondary === true ? ' secondary' : ''}${isLong === true ? ' long' : ''}`;
