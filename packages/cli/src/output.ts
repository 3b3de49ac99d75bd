/** Output of commands: tables on a terminal, JSON into a pipe or with `--json`. */

export type Row = Readonly<Record<string, unknown>>;

export interface Output {
  readonly isTerminal: boolean;
  readonly write: (text: string) => void;
}

/** Prints rows under these columns; as JSON with all their fields. */
export function printRows(
  { isTerminal, write }: Output,
  rows: readonly Row[],
  columns: readonly string[],
): void {
  write(isTerminal ? tableOf(rows, columns) : `${JSON.stringify(rows, null, 2)}\n`);
}

/** Prints the fields of one object, one per line. */
export function printFields({ isTerminal, write }: Output, fields: object): void {
  if (!isTerminal) return write(`${JSON.stringify(fields, null, 2)}\n`);
  const entries = Object.entries(fields).map(([name, value]) => [name, shown(value)] as const);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  write(entries.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join(''));
}

/** A table with columns as wide as their content and numbers aligned right. */
export function tableOf(rows: readonly Row[], columns: readonly string[]): string {
  if (rows.length === 0) return 'none\n';
  const cells = rows.map((row) => columns.map((column) => shown(row[column])));
  const widths = columns.map((column, i) =>
    Math.max(column.length, ...cells.map((line) => line[i]?.length ?? 0)),
  );
  const isNumber = columns.map((column) => rows.every((row) => typeof (row[column] ?? 0) === 'number'));
  const line = (values: readonly string[]): string =>
    values
      .map((value, i) =>
        isNumber[i] === true ? value.padStart(widths[i] ?? 0) : value.padEnd(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${[columns.map((column) => column.toUpperCase()), ...cells].map(line).join('\n')}\n`;
}

/** Ratios are doubles with up to 17 digits; as JSON they stay exact. */
const MOST_DECIMALS = 6;

function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(Number(value.toFixed(MOST_DECIMALS)));
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  return JSON.stringify(value);
}
