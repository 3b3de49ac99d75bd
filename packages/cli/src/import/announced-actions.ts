/** Files of corporate actions in the columns of a recording's `corporate_actions.csv`, imported with the prices that they belong to. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BadReplayFile, checkActions } from '@sandpit/server/recordings';
import { type FileRecord, recordsOf } from './records.js';
import { UnusableFile } from './unusable-file.js';

/** Columns of every `corporate_actions.csv`. */
export const ACTION_COLUMNS = ['ex_date', 'symbol', 'type', 'split_new_for_old', 'cash_per_share'] as const;
/** Columns that it has where an action needs them. */
const MORE_COLUMNS = ['declared', 'new_symbol', 'basis_percent', 'pay_date'] as const;
type ActionColumn = (typeof ACTION_COLUMNS | typeof MORE_COLUMNS)[number];
const COLUMNS: readonly ActionColumn[] = [...ACTION_COLUMNS, ...MORE_COLUMNS];

/** Columns that an action of a type may fill, besides its date, symbol, type and `declared`. */
const COLUMNS_OF: Readonly<Record<string, readonly ActionColumn[]>> = {
  split: ['split_new_for_old'],
  cash_dividend: ['cash_per_share', 'pay_date'],
  special_dividend: ['cash_per_share', 'pay_date'],
  stock_dividend: ['split_new_for_old'],
  symbol_change: ['new_symbol'],
  spin_off: ['split_new_for_old', 'new_symbol', 'basis_percent'],
  merger: ['split_new_for_old', 'cash_per_share', 'new_symbol', 'pay_date'],
  delisting: ['cash_per_share', 'pay_date'],
};

/** The types of actions in a file. */
export const ACTION_TYPES: readonly string[] = Object.keys(COLUMNS_OF);

/** An action by column; empty cells are absent. */
export type ActionCells = Readonly<Partial<Record<ActionColumn, string>>>;

export interface AnnouncedActions {
  readonly path: string;
  readonly rows: readonly ActionRow[];
}

/** An action with its line in the file. */
interface ActionRow {
  readonly line: number;
  readonly cells: ActionCells;
}

/** The actions of a file; `undefined` if its header is not that of actions. Throws `UnusableFile`. */
export async function announcedIn(path: string, directory: string): Promise<AnnouncedActions | undefined> {
  const read = { header: '' };
  const isOfActions = (): boolean => /\bex_date\b/.test(read.header) && /\btype\b/.test(read.header);
  const delimiterOf = (first: string): string => {
    read.header = first;
    return [',', ';', '\t', '|'].find((one) => first.includes(one)) ?? ',';
  };
  try {
    const records: FileRecord[] = [];
    for await (const record of recordsOf(path, delimiterOf, () => undefined)) {
      if (!isOfActions()) return undefined;
      records.push(record);
    }
    return { path, rows: await checkedRows(path, records, directory) };
  } catch (error) {
    // A file of prices is read by its own layout, which also says what is wrong with it.
    if (!isOfActions()) return undefined;
    throw error;
  }
}

async function checkedRows(
  path: string,
  [first, ...records]: readonly FileRecord[],
  directory: string,
): Promise<readonly ActionRow[]> {
  if (first === undefined || records.length === 0)
    throw new UnusableFile(path, 'its header is all that it has');
  const header = headerOf(path, first);
  const rows = records.map((record) => ({ line: record.line, cells: rowOf(path, header, record) }));
  // The rows as a recording has them, each on the line that it has in the file.
  const lines = [COLUMNS.join(',')];
  for (const { line, cells } of rows)
    lines[line - 1] = COLUMNS.map((column) => cells[column] ?? '').join(',');
  const copy = join(directory, 'actions');
  writeFileSync(copy, `${Array.from(lines, (text: string | undefined) => text ?? '').join('\n')}\n`);
  try {
    await checkActions(copy);
  } catch (error) {
    if (!(error instanceof BadReplayFile)) throw error;
    throw new UnusableFile(path, error.message.slice(copy.length).replace(/^[,:] /, ''));
  }
  return rows;
}

function headerOf(path: string, { cells, line }: FileRecord): readonly string[] {
  const unknown = cells.find((name) => !COLUMNS.some((column) => column === name));
  if (unknown !== undefined)
    throw new UnusableFile(
      path,
      `line ${line}: unknown column "${unknown}"; the columns are ${COLUMNS.join(', ')}`,
    );
  if (new Set(cells).size < cells.length)
    throw new UnusableFile(path, `line ${line}: a column is there twice`);
  if (!cells.includes('symbol')) throw new UnusableFile(path, `line ${line}: the column symbol is missing`);
  return cells;
}

function rowOf(path: string, header: readonly string[], { cells, line }: FileRecord): ActionCells {
  if (cells.length !== header.length)
    throw new UnusableFile(path, `line ${line}: ${cells.length} cells where the header has ${header.length}`);
  const row: ActionCells = Object.fromEntries(
    header.map((name, index) => [name, cells[index] ?? ''] as const).filter(([, cell]) => cell !== ''),
  );
  const { type = '' } = row;
  const columns = Object.hasOwn(COLUMNS_OF, type) ? COLUMNS_OF[type] : undefined;
  if (columns === undefined)
    throw new UnusableFile(
      path,
      `line ${line}: unknown type "${type}"; the types are ${Object.keys(COLUMNS_OF).join(', ')}`,
    );
  const extra = COLUMNS.slice(3).find(
    (column) => column !== 'declared' && row[column] !== undefined && !columns.includes(column),
  );
  if (extra !== undefined) throw new UnusableFile(path, `line ${line}: ${extra} must be empty for a ${type}`);
  return row;
}
