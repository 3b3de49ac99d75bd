import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { Instant, TradingDate } from '@sandpit/core';
import type { Calendar } from '@sandpit/core';
import { tickRowOf } from '../tick-file.js';
import type { TickRow } from '../tick-file.js';
import { hourOf } from './recorder.js';

const NAME = /^ticks_(\d{4}-\d{2}-\d{2}_\d{2})\.csv(?:\.gz)?$/;
const HOUR_MS = 3_600_000;
const CHUNK_BYTES = 64 * 1024;
/** A binary search in a file ends with a span that is read anyway. */
const SEARCHED_BYTES = 16 * 1024;
const NEWLINE = 10;

/** The hours of a recording, `2026-01-05_10`, oldest first. */
export async function recordedHours(directory: string): Promise<readonly string[]> {
  const hours = new Set<string>();
  for (const name of await readdir(directory)) {
    const hour = NAME.exec(name)?.[1];
    if (hour !== undefined) hours.add(hour);
  }
  return [...hours].sort();
}

/**
 * True when a recording that is being written covers an instant: it has a tick at or before it, and no hour of the regular session is missing
 * around it.
 */
export async function covers(directory: string, calendar: Calendar, at: Instant): Promise<boolean> {
  const hours = await recordedHours(directory);
  const hour = hourOf(at);
  const [first] = hours;
  if (first === undefined || first > hour) return false;
  if (first === hour) {
    const reader = new RecordingReader(directory, first);
    const row = await reader.peek();
    await reader.close();
    return row !== undefined && row.received <= at;
  }
  if (hours.includes(hour)) return true;
  const before = hours.findLast((one) => one < hour) ?? first;
  return !sessionHours(calendar, before.slice(0, 10), hour.slice(0, 10)).some(
    (one) => one > before && one <= hour,
  );
}

/** The hours of New York that lie in the regular sessions from one date to another. */
function sessionHours(calendar: Calendar, from: string, to: string): readonly string[] {
  const hours: string[] = [];
  const last = TradingDate.parse(to);
  for (let date = TradingDate.parse(from); date !== undefined && last !== undefined && date <= last;) {
    const day = calendar.tradingDay(date);
    if (day !== undefined)
      for (let at = day.regularOpen; at < day.regularClose; at = Instant.plusMs(at, HOUR_MS))
        hours.push(hourOf(at));
    date = TradingDate.plusDays(date, 1);
  }
  return hours;
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * A place in a recording that is being written. The last hour grows and hours are packed while it reads. A line that cannot be read is
 * passed over: a crash may have cut it.
 */
export class RecordingReader {
  readonly #directory: string;
  #hour: string;
  /** Unpacked bytes of the hour that have been read: whole lines. */
  #offset = 0;
  #rows: readonly TickRow[] = [];
  #index = 0;
  /** Unread part of a compressed hour. */
  #packed: AsyncGenerator<Buffer, undefined> | undefined;

  /** Begins with the hour of an instant, or the first one after it. */
  constructor(directory: string, from: Instant | string) {
    this.#directory = directory;
    this.#hour = typeof from === 'string' ? from : hourOf(from);
  }

  /** The next row, which stays the next one until `skip`; undefined at the present end of the recording. */
  async peek(): Promise<TickRow | undefined> {
    while (this.#index >= this.#rows.length) {
      // Listed before the rest of the hour is read: an hour that another one follows is complete.
      const hours = await recordedHours(this.#directory);
      const hour = hours.find((one) => one >= this.#hour);
      if (hour === undefined) return undefined;
      if (hour !== this.#hour) await this.#begin(hour);
      const bytes = await this.#read();
      if (bytes !== undefined) {
        this.#offset += bytes.length;
        this.#rows = rowsOf(bytes);
        this.#index = 0;
        continue;
      }
      const later = hours.find((one) => one > this.#hour);
      if (later === undefined) return undefined;
      await this.#begin(later);
    }
    return this.#rows[this.#index];
  }

  /** The hour of the row that `peek` has returned. */
  get hour(): string {
    return this.#hour;
  }

  /** Steps over the row that `peek` has returned. */
  skip(): void {
    this.#index += 1;
  }

  /** Steps over all rows up to an instant. */
  async skipTo(at: Instant): Promise<void> {
    if (this.#offset === 0) await this.#search(at);
    for (let row = await this.peek(); row !== undefined && row.received <= at; row = await this.peek())
      this.skip();
  }

  /** Lets go of the open file. The place stays. */
  async close(): Promise<void> {
    const packed = this.#packed;
    this.#packed = undefined;
    await packed?.return(undefined);
  }

  get #path(): string {
    return join(this.#directory, `ticks_${this.#hour}.csv`);
  }

  async #begin(hour: string): Promise<void> {
    await this.close();
    this.#hour = hour;
    this.#offset = 0;
  }

  /** The next whole lines of the hour; undefined = there are none. */
  async #read(): Promise<Buffer | undefined> {
    if (this.#packed === undefined) {
      let file: FileHandle;
      try {
        file = await open(this.#path);
      } catch (error) {
        if (!isMissing(error)) throw error;
        // The hour has been compressed in the meantime.
        return this.#readPacked();
      }
      try {
        return await linesAt(file, this.#offset);
      } finally {
        await file.close();
      }
    }
    return this.#readPacked();
  }

  async #readPacked(): Promise<Buffer | undefined> {
    this.#packed ??= unpackedLines(`${this.#path}.gz`, this.#offset);
    const { value } = await this.#packed.next();
    return value;
  }

  /** Sets the offset of an unpacked hour close before the first row after an instant. */
  async #search(at: Instant): Promise<void> {
    let file: FileHandle;
    try {
      file = await open(this.#path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return;
    }
    try {
      let low = 0;
      let high = (await file.stat()).size;
      while (high - low > SEARCHED_BYTES) {
        const middle = (low + high) >> 1;
        const bytes = await linesAt(file, middle);
        const start = (bytes?.indexOf(NEWLINE) ?? -1) + 1;
        const row = bytes === undefined || start === 0 ? undefined : rowsOf(bytes.subarray(start))[0];
        if (row !== undefined && row.received <= at) low = middle + start;
        else high = middle;
      }
      this.#offset = low;
    } finally {
      await file.close();
    }
  }
}

/** Complete lines from a position on, at most a chunk; undefined = none. */
async function linesAt(file: FileHandle, offset: number): Promise<Buffer | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, offset);
  const end = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE) + 1;
  return end === 0 ? undefined : buffer.subarray(0, end);
}

/** The lines of a packed file behind so many unpacked bytes, chunk by chunk. */
async function* unpackedLines(path: string, offset: number): AsyncGenerator<Buffer, undefined> {
  const file = createReadStream(path);
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => unpacked.destroy(error));
  file.pipe(unpacked);
  let passed = 0;
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      const skipped = Math.min(chunk.length, Math.max(0, offset - passed));
      passed += chunk.length;
      const bytes = Buffer.concat([rest, chunk.subarray(skipped)]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      rest = Buffer.from(bytes.subarray(end));
      if (end > 0) yield bytes.subarray(0, end);
    }
  } finally {
    file.destroy();
    unpacked.destroy();
  }
  return undefined;
}

/** The rows of whole lines; the header is none. */
function rowsOf(lines: Buffer): TickRow[] {
  const rows: TickRow[] = [];
  for (const line of lines.toString('utf8').split('\n')) {
    const row = tickRowOf(line.split(','));
    if (typeof row !== 'string') rows.push(row);
  }
  return rows;
}
