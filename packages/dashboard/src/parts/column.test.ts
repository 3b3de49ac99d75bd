import { describe, expect, it } from 'vitest';
import { type Column, sorted } from './column.ts';

interface Row {
  readonly name: string;
  readonly value?: number;
}
const COLUMNS: readonly Pick<Column<Row>, 'title' | 'sortBy'>[] = [
  { title: 'Name', sortBy: ({ name }) => name },
  { title: 'Value', sortBy: ({ value }) => value },
  { title: 'Note' },
];
const ROWS: readonly Row[] = [
  { name: 'b', value: 2 },
  { name: 'c' },
  { name: 'a', value: 10 },
  { name: 'd', value: 2 },
];

describe('Sorted tables', () => {
  const names = (by: string, isDown: boolean): string =>
    sorted(ROWS, COLUMNS, { by, isDown })
      .map(({ name }) => name)
      .join('');

  it('numbers by size and texts by letter, rows without a value last, equal rows in their order', () => {
    expect(names('Name', false)).toBe('abcd');
    expect(names('Name', true)).toBe('dcba');
    expect(names('Value', false)).toBe('bdac');
    expect(names('Value', true)).toBe('abdc');
  });

  it('stay as they are by a column without values, by an unknown one, and without a choice', () => {
    expect(names('Note', true)).toBe('bcad');
    expect(names('Nothing', true)).toBe('bcad');
    expect(sorted(ROWS, COLUMNS, undefined)).toBe(ROWS);
  });
});
