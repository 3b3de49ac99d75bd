import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isSecondary?: boolean;
}

export const classOfCell = ({
  isNumber,
  isSecondary,
}: Pick<Column<never>, 'isNumber' | 'isSecondary'>): string =>
  `${isNumber === true ? 'number' : ''}${isSecondary === true ? ' secondary' : ''}`;
