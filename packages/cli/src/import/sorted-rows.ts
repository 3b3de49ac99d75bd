/** Sorts rows of any number in constant memory: sorted runs in files, merged when they are read. */
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

export interface SortedRow {
  /** Start of a minute in ms, or a day's midnight UTC. */
  readonly at: number;
  readonly symbol: string;
  /** Decides between rows of the same symbol and time. */
  readonly order: number;
  readonly line: number;
  readonly values: string;
}

const ROWS_IN_MEMORY = 100_000;
const CHUNK_BYTES = 128 * 1024;
let runs = 0;

export class SortedRows {
  readonly #directory: string;
  #latest: SortedRow[] = [];
  readonly #files: string[] = [];
  size = 0;

  /** `directory`: where runs are written; the caller removes it in the end. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  add(row: SortedRow): void {
    this.size += 1;
    if (this.#latest.push(row) >= ROWS_IN_MEMORY) this.#spill();
  }

  /** All rows by time, symbol, order and line; once. */
  *rows(): Generator<SortedRow> {
    const heads = [...this.#files.map(rowsIn), this.#latest.sort(compare)[Symbol.iterator]()].map((rows) => ({
      rows,
      row: rows.next().value as SortedRow | undefined,
    }));
    this.#latest = [];
    for (;;) {
      let least: (typeof heads)[number] | undefined;
      for (const head of heads)
        if (head.row !== undefined && (least?.row === undefined || compare(head.row, least.row) < 0))
          least = head;
      if (least?.row === undefined) break;
      yield least.row;
      least.row = least.rows.next().value as SortedRow | undefined;
    }
    for (const file of this.#files) rmSync(file);
  }

  #spill(): void {
    const path = join(this.#directory, `rows-${(runs += 1)}`);
    const file = new Lines(path);
    for (const { at, symbol, order, line, values } of this.#latest.sort(compare))
      file.put(`${at}\t${symbol}\t${order}\t${line}\t${values}`);
    file.close();
    this.#files.push(path);
    this.#latest = [];
  }
}

function compare(a: SortedRow, b: SortedRow): number {
  if (a.at !== b.at) return a.at - b.at;
  if (a.symbol !== b.symbol) return a.symbol < b.symbol ? -1 : 1;
  return a.order - b.order || a.line - b.line;
}

function* rowsIn(path: string): Generator<SortedRow> {
  for (const text of linesIn(path)) {
    const [at = '', symbol = '', order = '', line = '', values = ''] = text.split('\t');
    yield { at: Number(at), symbol, order: Number(order), line: Number(line), values };
  }
}

/** The lines of a text file, a chunk of it in memory. */
export function* linesIn(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, read))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(file);
  }
}

/** A text file that is written line by line. */
export class Lines {
  readonly #file: number;
  #waiting: string[] = [];
  count = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  put(line: string): void {
    this.count += 1;
    if (this.#waiting.push(line) >= 1000) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    if (this.#waiting.length > 0) writeSync(this.#file, `${this.#waiting.join('\n')}\n`);
    this.#waiting = [];
  }
}
