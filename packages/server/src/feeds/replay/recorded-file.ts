import { basename } from 'node:path';
import { BadReplayFile } from './bad-replay-file.js';
import { FILE_START, lineBatches } from './csv-lines.js';
import type { FilePosition } from './csv-lines.js';

export type FileKind = 'daily' | 'trades' | 'quotes' | 'actions';

/** The columns a file of that kind must have; it may have others, in any order. */
const COLUMNS = {
  daily: ['date', 'symbol', 'open', 'high', 'low', 'close', 'volume'],
  trades: ['ts', 'symbol', 'open', 'high', 'low', 'close', 'volume'],
  quotes: [
    ...['ts', 'symbol', 'bid_open', 'bid_high', 'bid_low', 'bid_close', 'bid_size'],
    ...['ask_open', 'ask_high', 'ask_low', 'ask_close', 'ask_size'],
  ],
  actions: ['ex_date', 'symbol', 'type', 'split_new_for_old', 'cash_per_share'],
} as const satisfies Record<FileKind, readonly string[]>;

export interface RecordedFile {
  readonly path: string;
  readonly kind: FileKind;
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

/** What a file name says it holds; `undefined` where the name is none of ours. */
export function kindOf(path: string): FileKind | undefined {
  const stem = basename(path).replace(/\.gz$/, '');
  if (stem === 'daily_bars.csv') return 'daily';
  if (stem === 'corporate_actions.csv') return 'actions';
  if (stem.endsWith('_trades.csv')) return 'trades';
  if (stem.endsWith('_quotes.csv')) return 'quotes';
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
  /** Where our columns are. */
  readonly order: readonly number[];
  /** They come first and as we name them: nothing to rearrange. */
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
    return { width: names.length, order, inOrder: order.every((column, index) => column === index) };
  }
  throw new BadReplayFile(file.path, 1, 'the file is empty; a header is expected');
}
