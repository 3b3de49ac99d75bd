import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  fstatSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Instant, isDividend, newSymbolOf, Price, splitOf, wholeRatio } from '@sandpit/core';
import type { CorporateAction } from '@sandpit/core';
import { TICK_COLUMNS } from '../tick-file.js';
import { TickLines } from './tick-lines.js';
import type { Tick } from './tick-tape.js';

/** Recorded ticks are written to disk at this interval (D185). */
const WRITE_EVERY_MS = 1000;
const HEADER = `${TICK_COLUMNS.join(',')}\n`;
const NAME = /^ticks_(\d{4}-\d{2}-\d{2}_\d{2})\.csv$/;
const TAIL_BYTES = 64 * 1024;
const HOUR_MS = 3_600_000;
const RESUMED_WITHIN_MS = 60_000;

const NEW_YORK_HOUR = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  hourCycle: 'h23',
});

/** Format that `replay` reads; columns as in docs/how-to/own-market-data.md. */
export const ACTIONS_FILE = 'corporate_actions.csv';
const ACTIONS_HEADER =
  'ex_date,symbol,type,split_new_for_old,cash_per_share,declared,new_symbol,basis_percent,pay_date';

/** The line of an action in a recording. */
export function actionLine(action: CorporateAction): string {
  const { exDate, symbol, type } = action;
  const split = splitOf(action)?.ratio;
  const given = 'ratio' in action ? wholeRatio(action.ratio) : undefined;
  const ratio = split ?? given;
  const cash = isDividend(action)
    ? action.amountPerShare
    : 'cashPerShare' in action
      ? action.cashPerShare
      : undefined;
  return [
    exDate,
    symbol,
    type.toLowerCase(),
    ratio === undefined ? '' : `${ratio.new}:${ratio.old}`,
    cash === undefined ? '' : Price.format(cash),
    '',
    newSymbolOf(action) ?? '',
    action.type === 'SPIN_OFF' ? action.basisPercent : '',
    'payDate' in action ? (action.payDate ?? '') : '',
  ].join(',');
}

/** The line after which quotes of all symbols age, from `aliveAt` on. */
const allAge = (seq: number, received: number, aliveAt: number): string =>
  [seq, received, aliveAt, '*', 'G', '', '', '', '', '', '', ''].join(',');

/** Bytes written: all of them. */
function writeAll(file: number, bytes: Buffer): number {
  for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from);
  return bytes.length;
}

/** `2026-01-05_10`: the hour of New York that a file is for. */
export const hourOf = (at: Instant): string => NEW_YORK_HOUR.format(at).replace(', ', '_');

/**
 * Writes the ticks of a live feed to one file an hour. Ticks of the last second are in memory; a crash loses them, and may truncate the
 * last line, which the next start removes. Finished files are compressed.
 */
export class TickRecorder {
  readonly directory: string;
  readonly #note: (text: string) => void;
  readonly #lines = new TickLines();
  /** Seq and instant of the first tick of `#lines`. */
  #firstSeq = 0;
  #firstReceived: Instant = Instant.earliest;
  #path = '';
  #file: number | undefined;
  /** Bytes of the file that are whole lines; undefined before the first write to it. */
  #size: number | undefined;
  /** Instant of the last tick that was written. */
  #written: Instant = Instant.earliest;
  /** Since the epoch. */
  #hour = -1;
  #seqAtStart = 0;
  #receivedAtStart: Instant = Instant.earliest;
  #isFailing = false;
  /** The file has ticks that a loss of power can lose. */
  #isUnsynced = false;
  #packing: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  /** Symbols whose quotes are not aging: they begin to when the recording ends. */
  readonly #living = new Map<string, Tick>();
  #latest: Instant = Instant.earliest;
  #latestSeq = 0;

  constructor(directory: string, note: (text: string) => void) {
    this.directory = directory;
    this.#note = note;
    mkdirSync(directory, { recursive: true });
    this.#repair();
    this.#timer = setInterval(() => this.save(), WRITE_EVERY_MS).unref();
  }

  /** The running number of the last tick that is there already. */
  get seq(): number {
    return this.#seqAtStart;
  }

  /**
   * Time of the last recorded tick when it is less than a minute ahead of `now`: a clock that resumes after a crash may be a little behind.
   */
  lastReceived(now: Instant): Instant {
    const last = this.#receivedAtStart;
    return last > now && last - now < RESUMED_WITHIN_MS ? last : Instant.earliest;
  }

  /** Adds corporate actions to those of the recording, so that a replay has them on their dates. */
  noteActions(actions: readonly CorporateAction[]): void {
    const path = join(this.directory, ACTIONS_FILE);
    try {
      const known = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [ACTIONS_HEADER];
      const lines = new Set(known);
      for (const action of actions) lines.add(actionLine(action));
      if (lines.size === known.length && existsSync(path)) return;
      writeFileSync(`${path}.new`, `${[...lines].join('\n')}\n`);
      renameSync(`${path}.new`, path);
    } catch (error) {
      this.#note(`Corporate actions cannot be recorded: ${(error as Error).message}`);
    }
  }

  add(tick: Tick): void {
    // New York is whole hours from UTC.
    const hour = Math.floor(tick.received / HOUR_MS);
    if (hour !== this.#hour) this.#begin(hour, hourOf(tick.received));
    if (this.#lines.length === 0) {
      this.#firstSeq = tick.seq;
      this.#firstReceived = tick.received;
    }
    this.#lines.add(tick);
    this.#latest = tick.received;
    this.#latestSeq = tick.seq;
    if (tick.quote?.freshUntil === Instant.last) this.#living.set(tick.symbol, tick);
    else if (tick.quote !== undefined) this.#living.delete(tick.symbol);
  }

  /** Writes the remaining ticks, and a mark from which quotes age. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const { symbol, quote } of this.#living.values())
      if (quote !== undefined)
        this.#lines.add({
          seq: (this.#latestSeq += 1),
          received: this.#latest,
          symbol,
          kind: 'G',
          quote: { ...quote, freshUntil: this.#latest },
        });
    this.#living.clear();
    // The hour may continue after the next start.
    this.#end();
    await this.#packing;
  }

  #begin(hour: number, named: string): void {
    this.#end();
    this.#hour = hour;
    const name = `ticks_${named}.csv`;
    this.#path = join(this.directory, name);
    try {
      // Files of other hours are finished.
      for (const other of readdirSync(this.directory))
        if (NAME.test(other) && other !== name) this.#pack(join(this.directory, other));
    } catch (error) {
      this.#note(`Recordings cannot be packed: ${(error as Error).message}`);
    }
  }

  /**
   * Writes the ticks received by now. A disk that is full does not stop the market: ticks that cannot be written are dropped, the operator
   * receives a note, and quotes of the recording age from the last tick before the loss. `isSynced`: false = only readers need them now.
   */
  save(isSynced = true): void {
    if (this.#lines.length === 0 && !(isSynced && this.#isUnsynced)) return;
    try {
      if (this.#lines.length > 0) this.#write();
      this.#isUnsynced = true;
      if (isSynced && this.#file !== undefined) fdatasyncSync(this.#file);
      this.#isUnsynced = !isSynced;
      if (this.#isFailing) this.#note('The recording is written again');
      this.#isFailing = false;
      this.#written = this.#latest;
    } catch (error) {
      if (!this.#isFailing)
        this.#note(`The recording cannot be written, and ticks are lost: ${(error as Error).message}`);
      this.#isFailing = true;
      this.#close();
    }
    this.#lines.clear();
  }

  #write(): void {
    if (this.#file === undefined) {
      this.#file = openSync(this.#path, 'a');
      const { size } = fstatSync(this.#file);
      // A failed write may have left a partial line.
      if (this.#size !== undefined && size > this.#size) ftruncateSync(this.#file, this.#size);
      else this.#size = size;
    }
    const file = this.#file;
    const size = this.#size ?? 0;
    let head = size === 0 ? HEADER : '';
    if (this.#isFailing) {
      // The number of a lost tick, which no other line has.
      const { earliest } = Instant;
      const aliveAt = this.#written === earliest ? this.#firstReceived : this.#written;
      head += `${allAge(this.#firstSeq - 1, this.#firstReceived, aliveAt)}\n`;
    }
    const written =
      (head === '' ? 0 : writeAll(file, Buffer.from(head))) + writeAll(file, this.#lines.view());
    this.#size = size + written;
  }

  #end(): void {
    this.save();
    this.#close();
    this.#size = undefined;
  }

  #close(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch (error) {
      this.#note(`A recording could not be closed: ${(error as Error).message}`);
    }
  }

  #pack(path: string): void {
    this.#packing = this.#packing
      .then(async () => {
        await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}.gz.new`));
        await rename(`${path}.gz.new`, `${path}.gz`);
        await rm(path);
      })
      .catch((error: unknown) => this.#note(`A recording could not be packed: ${(error as Error).message}`));
  }

  /** Repairs a file after a crash: removes its incomplete line, and marks its last quotes as aging from there. */
  #repair(): void {
    for (const name of readdirSync(this.directory)) {
      if (!NAME.test(name)) continue;
      const path = join(this.directory, name);
      if (existsSync(`${path}.gz`)) {
        // A crash between compression and removal left the file.
        rmSync(path);
        continue;
      }
      const file = openSync(path, 'r+');
      try {
        const { size } = fstatSync(file);
        const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
        readSync(file, tail, 0, tail.length, size - tail.length);
        const end = tail.lastIndexOf(10) + 1;
        if (end < tail.length) ftruncateSync(file, size - tail.length + end);
        const lines = tail.subarray(0, end).toString('utf8').trimEnd().split('\n');
        const [seq = '', received = ''] = (lines.at(-1) ?? '').split(',');
        if (/^\d+$/.test(seq)) {
          this.#seqAtStart = Math.max(this.#seqAtStart, Number(seq) + 1);
          this.#receivedAtStart = Instant.max(this.#receivedAtStart, Instant.ofMs(Number(received)));
          const mark = allAge(Number(seq) + 1, Number(received), Number(received));
          writeSync(file, `${mark}\n`, size - tail.length + end);
        }
      } finally {
        closeSync(file);
      }
    }
  }
}
