/**
 * The file that a simulation travels in (D170): one JSON object a line. A header with the configuration, the lists of rules that records
 * name, every record as the journal has it, and a trailer with the hash of the chain.
 *
 * `hash` of a line is the SHA-256, in hex, of the hash of the line before it followed by the line itself, without its end. The first line
 * follows an empty text. The trailer has the hash of the line before it.
 */
import { hash as hashOf } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { Instant, weeksMoved } from '@sandpit/core';
import type { MaskTerms } from '../feeds/mask.js';
import type { JournalRecord } from '../store/journal.js';
import { MOST_GENERATIONS } from './forks.js';
import { ImportRefused } from './import-refused.js';
import type { ForkTerms, KeptConfig } from './simulation-config.js';
import { ArrivingSettings } from './traveling-settings.js';

/** Grows when an older server would misread a file. */
const FORMAT = 2;

/** Characters of a line: far more than any record has. */
const LONGEST_LINE = 32 * 1024 * 1024;

const CHUNK_BYTES = 65_536;

/** A simulation as a file has it. */
export interface FiledSimulation {
  /** Its id in the exporting installation; `main` for a tenant's own simulation. */
  readonly simulationId: string;
  readonly config: KeptConfig;
}

/** The chain of a file's lines. */
export class LineChain {
  hash = '';

  take(line: string): void {
    this.hash = hashOf('sha256', this.hash + line);
  }
}

export const headerLine = ({ simulationId, config }: FiledSimulation): string =>
  JSON.stringify({ type: 'header', format: FORMAT, simulationId, config });

/** A list of the rules in force, by its digest. */
export const listLine = (digest: string, text: string): string =>
  JSON.stringify({ type: 'list', digest, text });

/** A setting of the simulation, by its name within it. */
export const settingLine = (name: string, value: string): string =>
  JSON.stringify({ type: 'setting', name, value });

export const recordLineOf = ({ seq, at, payload }: Omit<JournalRecord, 'simulationId'>): string =>
  `{"seq":${seq},"at":${at},${payload.slice(1)}`;

export const trailerLine = (records: number, hash: string): string =>
  JSON.stringify({ type: 'trailer', records, hash });

/** Parsed line of a file. */
export type FileLine =
  | { readonly type: 'header'; readonly simulation: FiledSimulation }
  | { readonly type: 'list'; readonly digest: string; readonly text: string }
  | { readonly type: 'setting'; readonly name: string; readonly value: string }
  | { readonly type: 'record'; readonly record: Omit<JournalRecord, 'simulationId'> }
  | { readonly type: 'trailer'; readonly records: number };

/** Reads the lines of one simulation in order, and checks that they are whole. Throws `ImportRefused`. */
export class SimulationFileReader {
  readonly #chain = new LineChain();
  readonly #settings = new ArrivingSettings();
  #records = 0;
  #at = -Infinity;
  #state: 'header' | 'records' | 'over' = 'header';

  /** Instant of the last record, ms; -Infinity when there is none. */
  get at(): number {
    return this.#at;
  }

  get records(): number {
    return this.#records;
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** The hash of the chain so far. */
  get hash(): string {
    return this.#chain.hash;
  }

  read(line: string): FileLine {
    if (this.#state === 'over') throw new ImportRefused('lines follow the trailer');
    const isRecord = line.startsWith('{"seq":');
    if (this.#state === 'header' && isRecord) throw new ImportRefused('the first line is not a header');
    const read: FileLine = isRecord ? { type: 'record', record: this.#record(line) } : this.#other(line);
    if (read.type !== 'trailer') this.#chain.take(line);
    return read;
  }

  #record(line: string): Omit<JournalRecord, 'simulationId'> {
    const seq = this.#records + 1;
    const [head = '', given, at] = /^\{"seq":(\d{1,16}),"at":(-?\d{1,16}),(?="command":)/.exec(line) ?? [];
    if (given === undefined) throw new ImportRefused('a record is not in the form that it was exported in');
    if (Number(given) !== seq) throw new ImportRefused(`record ${given} stands where record ${seq} belongs`);
    if (Number(at) < this.#at) throw new ImportRefused(`record ${seq} is before the record before it`);
    this.#records = seq;
    this.#at = Number(at);
    return { seq, at: this.#at, payload: `{${line.slice(head.length)}` };
  }

  #other(line: string): FileLine {
    const fields = objectIn(line);
    const { type } = fields;
    if (this.#state === 'header') {
      if (type !== 'header') throw new ImportRefused('the first line is not a header');
      this.#state = 'records';
      return { type, simulation: simulationIn(fields) };
    }
    switch (type) {
      case 'list':
        return { type, digest: textIn(fields, 'digest'), text: textIn(fields, 'text') };
      case 'setting':
        if (this.#records > 0) throw new ImportRefused('a setting stands behind a record');
        return { type, ...this.#settings.take(textIn(fields, 'name'), textIn(fields, 'value')) };
      case 'trailer':
        if (fields.records !== this.#records || fields.hash !== this.#chain.hash)
          throw new ImportRefused('the lines do not match the hash of the trailer: the file is damaged');
        this.#settings.end(this.#records);
        this.#state = 'over';
        return { type, records: this.#records };
      default:
        throw new ImportRefused('a line is neither a record nor anything else that an export has');
    }
  }
}

export function objectIn(line: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ImportRefused('a line is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ImportRefused('a line is not a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

export function textIn(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new ImportRefused(`${name} of a line is not a text`);
  return value;
}

const FEEDS: ReadonlySet<unknown> = new Set<KeptConfig['feed']>(['synthetic', 'replay', 'push']);
const CLOCKS: ReadonlySet<unknown> = new Set<KeptConfig['clock']>(['wall', 'manual', 'scaled']);
const EARLY: ReadonlySet<unknown> = new Set<KeptConfig['earlyAssignment']>([undefined, 'DIVIDENDS', 'MODEL']);
const CALENDARS: ReadonlySet<unknown> = new Set<KeptConfig['calendar']>(['XNYS', 'always-open']);

function simulationIn(fields: Readonly<Record<string, unknown>>): FiledSimulation {
  const { format } = fields;
  if (format !== FORMAT) {
    const is = typeof format === 'number' && format > FORMAT ? 'of a newer version' : 'not of a known format';
    throw new ImportRefused(`the file is ${is} (this server knows format ${FORMAT})`);
  }
  const config = fields.config as Partial<KeptConfig> | null | undefined;
  const wrong = config === null || config === undefined ? 'config' : wrongFieldOf(config);
  if (wrong !== undefined) throw new ImportRefused(`${wrong} of the header is not usable here`);
  return { simulationId: textIn(fields, 'simulationId'), config: config as KeptConfig };
}

const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;

const LONGEST_NAME = 1000;
const LONGEST_MS = 8.64e15;
const FASTEST = 1_000_000;

/** The first field of a configuration that no simulation here could have. */
function wrongFieldOf(config: Partial<KeptConfig>): string | undefined {
  const { name, feed, clock, calendar, start, speed, seed, idSecret, replay, earlyAssignment, rules } =
    config;
  const { ttl, pathSeed, reseeded, fork, mask } = config;
  const symbols = replay?.symbols;
  const isRight: Readonly<Record<string, boolean>> = {
    name: name === undefined || (typeof name === 'string' && name.length <= LONGEST_NAME),
    feed: FEEDS.has(feed),
    clock: CLOCKS.has(clock),
    calendar: CALENDARS.has(calendar) || isMovedCalendar(calendar, mask),
    mask: mask === undefined || isMask(mask),
    start: isWhole(start, Instant.first, Instant.last),
    speed: typeof speed === 'number' && speed >= 0 && speed <= FASTEST,
    seed: isSeed(seed),
    idSecret: isSecret(idSecret),
    replay:
      replay === undefined ||
      ((symbols === undefined ||
        (Array.isArray(symbols) && symbols.every((symbol) => typeof symbol === 'string'))) &&
        (replay.from === undefined || isWhole(replay.from, -LONGEST_MS, LONGEST_MS))),
    earlyAssignment: EARLY.has(earlyAssignment),
    rules: hasLists(rules),
    ttl: ttl === undefined,
    pathSeed: pathSeed === undefined || isSeed(pathSeed),
    reseeded:
      reseeded === undefined ||
      (isShortList(reseeded) &&
        reseeded.every((one) => isWhole(one.after, -LONGEST_MS, LONGEST_MS) && isSeed(one.seed))),
    fork: fork === undefined || isFork(fork),
  };
  return Object.keys(isRight).find((field) => isRight[field] === false);
}

/** The calendar of a mask that moves dates. */
const isMovedCalendar = (calendar: unknown, mask: Partial<MaskTerms> | undefined): boolean =>
  typeof calendar === 'string' && weeksMoved(calendar) > 0 && weeksMoved(calendar) === mask?.weeks;

const MOST_WEEKS = 9999;

function isMask(mask: Partial<MaskTerms> | null): boolean {
  if (typeof mask !== 'object' || mask === null) return false;
  const { key, weeks, symbols, prices } = mask;
  return (
    key !== undefined &&
    isSecret(key) &&
    isWhole(weeks, 0, MOST_WEEKS) &&
    typeof symbols === 'boolean' &&
    typeof prices === 'boolean'
  );
}

const isSeed = (seed: unknown): boolean => isWhole(seed, 0, 2 ** 32 - 1);

const isSecret = (secret: unknown): boolean =>
  secret === undefined || (typeof secret === 'string' && /^[0-9a-f]{32}$/.test(secret));

const hasLists = (rules: Partial<KeptConfig['rules']> | null | undefined): boolean =>
  typeof rules?.brokers === 'string' && typeof rules.instruments === 'string';

/** Generations are counted: no list of theirs is longer. */
const isShortList = (list: unknown): list is readonly Record<string, unknown>[] =>
  Array.isArray(list) &&
  list.length <= MOST_GENERATIONS &&
  list.every((one) => typeof one === 'object' && one !== null);

function isFork(fork: Partial<ForkTerms> | null): boolean {
  if (typeof fork !== 'object' || fork === null) return false;
  const { parentId, sequence, depth, seed, tags, stretches } = fork;
  const origin: Partial<ForkTerms['origin']> | null | undefined = fork.origin;
  const { start, seed: firstSeed, idSecret, rules } = origin ?? {};
  return (
    typeof parentId === 'string' &&
    parentId.length <= LONGEST_NAME &&
    isWhole(sequence, 0, Number.MAX_SAFE_INTEGER) &&
    isWhole(depth, 1, MOST_GENERATIONS) &&
    (seed === undefined || isSeed(seed)) &&
    isWhole(start, Instant.first, Instant.last) &&
    isSeed(firstSeed) &&
    isSecret(idSecret) &&
    hasLists(rules) &&
    isShortList(tags) &&
    tags.every(
      ({ after, tag }) =>
        isWhole(after, 0, Number.MAX_SAFE_INTEGER) && typeof tag === 'string' && /^[0-9a-f]{1,32}$/.test(tag),
    ) &&
    isShortList(stretches) &&
    stretches.every(
      ({ upTo, feed, clock, marketSeq }) =>
        isWhole(upTo, 0, Number.MAX_SAFE_INTEGER) &&
        FEEDS.has(feed) &&
        CLOCKS.has(clock) &&
        (marketSeq === undefined || isWhole(marketSeq, 0, Number.MAX_SAFE_INTEGER)),
    )
  );
}

/** Splits text that arrives in pieces into lines. Throws `ImportRefused` for a line that is too long. */
export class LineCutter {
  readonly #decoder = new StringDecoder('utf8');
  /** Pieces of the current line, which has not ended. */
  #pieces: string[] = [];
  #length = 0;

  *cut(chunk: Uint8Array): Generator<string> {
    const text = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    let begin = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', begin)) {
      yield this.#whole(text.slice(begin, end));
      begin = end + 1;
    }
    if (begin === text.length) return;
    this.#pieces.push(text.slice(begin));
    this.#length += text.length - begin;
    if (this.#length > LONGEST_LINE) throw new ImportRefused('a line is too long');
  }

  #whole(last: string): string {
    if (this.#pieces.length === 0) return last;
    const line = this.#pieces.join('') + last;
    this.#pieces = [];
    this.#length = 0;
    return line;
  }

  /** The last line, if the text does not end with a line break. */
  end(): string | undefined {
    const rest = this.#whole(this.#decoder.end());
    return rest === '' ? undefined : rest;
  }
}

/** The lines of a file, in constant memory. */
export function* linesOfFile(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const cutter = new LineCutter();
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const length = readSync(file, chunk);
      if (length === 0) break;
      yield* cutter.cut(chunk.subarray(0, length));
    }
    const last = cutter.end();
    if (last !== undefined) yield last;
  } finally {
    closeSync(file);
  }
}
