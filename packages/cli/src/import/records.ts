/** The records of a CSV file, whatever its compression, with the number of each one's line. */
import { createReadStream, statSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse';
import { UnusableFile } from './unusable-file.js';

export interface FileRecord {
  readonly cells: readonly string[];
  readonly line: number;
}

/** Beginnings of files of other formats. */
const FORMATS: readonly (readonly [string, string])[] = [
  ['504b0304', 'a zip archive: unpack it'],
  ['50415231', 'in Parquet: export it as CSV'],
  ['28b52ffd', 'packed by zstd: unpack it (zstd -d)'],
  ['fd377a58', 'packed by xz: unpack it'],
  ['425a68', 'packed by bzip2: unpack it'],
  ['44424e', 'in DBN: export it as CSV'],
  ['d0cf11e0', 'a spreadsheet: save it as CSV'],
  ['fffe', 'in UTF-16: save it as UTF-8'],
  ['feff', 'in UTF-16: save it as UTF-8'],
];
const GZIP = '1f8b';
const PROLOG_BYTES = 64 * 1024;
const LONGEST_RECORD = 64 * 1024;

/**
 * Opens a file; `delimiterOf` chooses the character between cells by the first line that is not empty. Throws `UnusableFile`, also while
 * records are read.
 */
export async function* recordsOf(
  path: string,
  delimiterOf: (firstLine: string) => string,
  onProgress: (bytes: number) => void,
): AsyncGenerator<FileRecord> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new UnusableFile(path, 'there is no such file');
  if (!stats.isFile())
    throw new UnusableFile(path, 'not a file but a pipe or a device: write its content to a file first');
  let line = 0;
  try {
    const bytes = await unpacked(path, onProgress);
    const first = await bytes.next();
    const prolog = first.done === true ? undefined : first.value;
    const text = prolog?.toString('utf8').replace(/^\uFEFF/, '') ?? '';
    const firstLine = text.split(/\r\n|\n|\r/).find((each) => each.trim() !== '' && !each.startsWith('#'));
    if (prolog === undefined || firstLine === undefined) throw new UnusableFile(path, 'it is empty');
    if (/^\s*(?:[{[]|<!doctype|<html)/i.test(firstLine))
      throw new UnusableFile(
        path,
        'it is JSON or a web page, perhaps an error of the vendor: export it as CSV',
      );
    if (prolog.includes(0)) throw new UnusableFile(path, 'not a text but a binary file: export it as CSV');
    const parser = parse({
      bom: true,
      comment: '#',
      comment_no_infix: true,
      delimiter: delimiterOf(firstLine),
      info: true,
      max_record_size: LONGEST_RECORD,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    });
    const whole = Readable.from(chained(prolog, bytes), { objectMode: false });
    pipeline(whole, parser, () => undefined);
    for await (const each of parser as AsyncIterable<{
      readonly record: string[];
      readonly info: { readonly lines: number };
    }>) {
      line = each.info.lines;
      yield { cells: each.record, line };
    }
  } catch (error) {
    if (error instanceof UnusableFile) throw error;
    throw new UnusableFile(path, problemOf(error as Error, line));
  }
}

function problemOf(error: Error, line: number): string {
  const { message, code = '' } = error as NodeJS.ErrnoException;
  // The parser is ahead of the records that have been read.
  const at = `line ${/\bline (\d+)/.exec(message)?.[1] ?? line + 1}`;
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `${at}: a record of more than ${LONGEST_RECORD} characters; its quotes do not close, or this is not CSV`;
  if (code.includes('QUOTE'))
    return `${at}: a quote that does not open or close a cell; write "" for a quote inside one`;
  if (code.startsWith('Z_'))
    return `${at}: cannot be unpacked from here on (${message}); the file is cut or damaged, copy it again`;
  return `${at}: cannot be read from here on (${message})`;
}

/** The bytes of a file, those of its first 64 KiB at once; gzip is recognized by its content. */
async function unpacked(path: string, onProgress: (bytes: number) => void): Promise<AsyncGenerator<Buffer>> {
  const file = createReadStream(path, { highWaterMark: PROLOG_BYTES });
  let read = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of file as AsyncIterable<Buffer>) {
      onProgress((read += chunk.length));
      yield chunk;
    }
  };
  const bytes = counted();
  const first = await bytes.next();
  const head: Buffer = first.done === true ? Buffer.alloc(0) : first.value;
  const magic = head.subarray(0, 4).toString('hex');
  const other = FORMATS.find(([start]) => magic.startsWith(start));
  if (other !== undefined) throw new UnusableFile(path, `it is ${other[1]}`);
  if (!magic.startsWith(GZIP)) return first.done === true ? bytes : chained(head, bytes);
  const gunzip = createGunzip({ chunkSize: PROLOG_BYTES });
  pipeline(Readable.from(chained(head, bytes), { objectMode: false }), gunzip, () => undefined);
  return (async function* () {
    yield* gunzip as AsyncIterable<Buffer>;
  })();
}

async function* chained(first: Buffer, others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}
