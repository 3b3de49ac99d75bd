/** Lists as CSV (D190): RFC 4180, UTF-8 without a byte order mark. */
import { once } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { beginStream } from './reply.js';

export type Cell = string | number | boolean | undefined;

/** Columns by their headings. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Text that spreadsheets would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line with its end. Numbers are written as they are, only text is guarded against being run as a formula. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join(',')}\r\n`;

/** Whether a request asks for CSV in place of JSON. */
export const wantsCsv = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /(^|,)\s*text\/csv\b/i.test(headers.accept ?? '');

const LINES_AT_ONCE = 500;

/** Sends rows as they are read, no faster than they are taken. */
export async function sendCsv<Row>(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  columns: Columns<Row>,
  rows: Iterable<Row>,
): Promise<undefined> {
  const raw = beginStream(request, reply, { 'content-type': 'text/csv; charset=utf-8' });
  const cells = Object.values(columns);
  let text = csvLine(Object.keys(columns));
  let lines = 0;
  for (const row of rows) {
    text += csvLine(cells.map((cell) => cell(row)));
    lines += 1;
    if (lines % LINES_AT_ONCE !== 0) continue;
    if (!raw.write(text) && !raw.destroyed) await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
    text = '';
    if (raw.destroyed) return undefined;
  }
  raw.end(text);
  return undefined;
}
