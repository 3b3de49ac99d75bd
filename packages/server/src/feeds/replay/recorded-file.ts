import { basename } from 'node:path';
import { MINUTE_MS } from '../bar-window.js';
import { TICK_COLUMNS } from '../tick-file.js';
import { BadReplayFile } from './bad-replay-file.js';
import { FILE_START, lineBatches } from './csv-lines.js';
import type { FilePosition } from './csv-lines.js';

type FileKind = 'daily' | 'trades' | 'quotes' | 'index' | 'interest' | 'contracts' | 'actions' | 'ticks';

/** The columns a file of that kind must have; it may have others, in any order. */
const COLUMNS = {
  daily: ['date', 'symbol', 'open', 'high', 'low', 'close', 'volume'],
  trades: ['ts', 'symbol', 'open', 'high', 'low', 'close', 'volume'],
  quotes: [
    ...['ts', 'symbol', 'bid_open', 'bid_high', 'bid_low', 'bid_close', 'bid_size'],
    ...['ask_open', 'ask_high', 'ask_low', 'ask_close', 'ask_size'],
  ],
  index: ['ts', 'symbol', 'open', 'high', 'low', 'close'],
  interest: ['ts', 'symbol', 'open_interest'],
  contracts: ['symbol', 'multiplier', 'settlement'],
  actions: ['ex_date', 'symbol', 'type', 'split_new_for_old', 'cash_per_share'],
  ticks: TICK_COLUMNS,
} as const satisfies Record<FileKind, readonly string[]>;

/** Columns that it may have as well; a cell is empty when there is none. */
const MORE_COLUMNS: Partial<Record<FileKind, readonly string[]>> = {
  daily: ['asset_class'],
  actions: ['declared', 'new_symbol', 'basis_percent', 'pay_date'],
  contracts: [
    ...['underlying', 'style', 'settle_session', 'first_seen', 'root', 'tick_size', 'last_trade_date'],
    'deliverable',
  ],
};

export interface RecordedFile {
  readonly path: string;
  readonly kind: FileKind;
  /** Length of a row's interval; the row becomes known at its end. */
  readonly rowMs: number;
}

/** One row, its cells in the order of `COLUMNS`. */
export interface Row {
  readonly cells: readonly string[];
  readonly line: number;
}

export interface RowBatch {
  readonly rows: readonly Row[];
  readonly position: FilePosition;
}

const HOUR_MS = 3_600_000;

/** Kind of a file by its name; `undefined` for an unknown name. */
export function kindOf(path: string): Omit<RecordedFile, 'path'> | undefined {
  const stem = basename(path).replace(/\.gz$/, '');
  const ofMinutes = (kind: FileKind): Omit<RecordedFile, 'path'> => ({ kind, rowMs: MINUTE_MS });
  if (stem === 'daily_bars.csv') return ofMinutes('daily');
  if (stem === 'corporate_actions.csv') return ofMinutes('actions');
  if (/^(.+_)?contracts\.csv$/.test(stem)) return ofMinutes('contracts');
  if (/^(.+_)?open_interest\.csv$/.test(stem)) return { kind: 'interest', rowMs: 0 };
  if (/^ticks_.+\.csv$/.test(stem)) return { kind: 'ticks', rowMs: 0 };
  if (stem.endsWith('_trades.csv')) return ofMinutes('trades');
  if (stem.endsWith('_quotes.csv')) return ofMinutes('quotes');
  if (stem.endsWith('_quotes_hourly.csv')) return { kind: 'quotes', rowMs: HOUR_MS };
  if (/^[A-Z]{1,6}_\d{4}-\d{2}-\d{2}\.csv$|_index\.csv$/.test(stem)) return ofMinutes('index');
  return undefined;
}

/** Reads the rows of a file in order, in constant memory. A position must be the beginning of a line behind the header. */
export async function* rowBatches(file: RecordedFile, from?: FilePosition): AsyncGenerator<RowBatch> {
  const layout = await layoutOf(file);
  for await (const { lines, position } of lineBatches(file.path, from ?? FILE_START)) {
    const rows: Row[] = [];
    for (const [index, text] of lines.entries()) {
      const line = position.line + index;
      if (line === 1 || text === '') continue;
      const cells = text.split(',');
      // A crash may cut the last line of a recording.
      if (file.kind === 'ticks' && lines.length === 1 && cells.length < layout.width) continue;
      if (cells.length !== layout.width) {
        const found = `${cells.length} cells where the header has ${layout.width}`;
        throw new BadReplayFile(file.path, line, `${found}: "${text.slice(0, 80)}"`);
      }
      rows.push({ cells: layout.inOrder ? cells : layout.order.map((column) => cells[column] ?? ''), line });
    }
    yield { rows, position };
  }
}

interface Layout {
  readonly width: number;
  /** Indexes of our columns in the file. */
  readonly order: readonly number[];
  /** True if the columns are in the expected order. */
  readonly inOrder: boolean;
}

async function layoutOf(file: RecordedFile): Promise<Layout> {
  for await (const { lines } of lineBatches(file.path)) {
    const names = (lines[0] ?? '').replace(/^\uFEFF/, '').split(',');
    const order = COLUMNS[file.kind].map((column) => {
      const index = names.indexOf(column);
      if (index < 0) throw new BadReplayFile(file.path, 1, `the header has no column "${column}"`);
      return index;
    });
    // Missing cells at the end of a row are empty.
    for (const column of MORE_COLUMNS[file.kind] ?? []) {
      const index = names.indexOf(column);
      order.push(index < 0 ? names.length : index);
    }
    return { width: names.length, order, inOrder: order.every((column, index) => column === index) };
  }
  throw new BadReplayFile(file.path, 1, 'the file is empty; a header is expected');
}
