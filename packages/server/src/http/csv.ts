/** Lists as CSV (D190): RFC 4180, UTF-8 without a byte order mark. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Slice } from '../engine/scheduling/slice.js';
import { beginStream, writeToStream } from './reply.js';

export type Cell = string | number | boolean | undefined;

/** Columns by their headings. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** Text that spreadsheets would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line with its line break. Numbers are written unchanged, text is guarded against being run as a formula. */
export function csvLine(cells: readonly Cell[]): string {
  let line = '';
  for (let i = 0; i < cells.length; i += 1) line += i === 0 ? cellText(cells[i]) : `,${cellText(cells[i])}`;
  return `${line}\r\n`;
}

/** True if a request accepts CSV instead of JSON. */
export const wantsCsv = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /(^|,)\s*text\/csv\b/i.test(headers.accept ?? '');

/** Characters sent at a time. */
const CHUNK_LENGTH = 65_536;

/** Lines sent to a client, at the speed at which it reads them. */
export class CsvStream {
  readonly #raw: ServerResponse;
  readonly #slice = new Slice();
  #text = '';

  constructor(request: FastifyRequest, reply: FastifyReply, headings: readonly string[]) {
    this.#raw = beginStream(request, reply, { 'content-type': 'text/csv; charset=utf-8' });
    // A client that hangs up is no fault of the server.
    this.#raw.on('error', () => undefined);
    this.#text = csvLine(headings);
  }

  /** True when the client has disconnected. */
  get isClosed(): boolean {
    return this.#raw.destroyed;
  }

  /** Writes lines; waits for the client, and yields the event loop. False when the client has disconnected. */
  async write(lines: string): Promise<boolean> {
    this.#text += lines;
    if (this.#text.length >= CHUNK_LENGTH) await this.#send();
    await this.#slice.breathe();
    return !this.isClosed;
  }

  async #send(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    await writeToStream(this.#raw, text);
  }

  end(): void {
    this.#raw.end(this.#text);
  }

  /** Breaks off, so that a client cannot mistake the received part for the whole list. */
  abort(): void {
    this.#raw.destroy();
  }
}

/** Sends loaded rows. */
export async function sendCsv<Row>(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  columns: Columns<Row>,
  rows: Iterable<Row>,
): Promise<undefined> {
  const stream = new CsvStream(request, reply, Object.keys(columns));
  const cells = Object.values(columns);
  for (const row of rows) {
    await stream.write(csvLine(cells.map((cell) => cell(row))));
    if (stream.isClosed) return undefined;
  }
  stream.end();
  return undefined;
}

/** Sends lines on. Resolves when more are wanted; with false when the client has disconnected. */
export type EmitLines = (lines: string) => Promise<boolean>;

/** Sends lines that are made elsewhere; the answer begins when there are some, or all are made. */
export async function sendCsvLines(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  headings: readonly string[],
  emitAll: (emit: EmitLines) => Promise<unknown>,
): Promise<undefined> {
  const begun: CsvStream[] = [];
  const begin = (): CsvStream => {
    const stream = begun[0] ?? new CsvStream(request, reply, headings);
    begun[0] = stream;
    return stream;
  };
  try {
    await emitAll((lines) => begin().write(lines));
    begin().end();
  } catch (error) {
    begun[0]?.abort();
    throw error;
  }
  return undefined;
}
