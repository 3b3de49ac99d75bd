/**
 * The file that a simulation travels in (D170, D233): one JSON object a line. A header with the configuration, the lists of rules that records
 * name, settings, every record as the journal has it, and a trailer with the hash of the chain.
 *
 * `hash` of a line is the SHA-256, in hex, of the hash of the line before it followed by the line itself, without its end. The first line
 * follows an empty text. The trailer has the hash of the line before it.
 *
 * Anybody can write a file: it is read in threads only, and nothing in it is looked up in this installation.
 */
import { hash as hashOf } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { RulesInForce } from '@sandpit/core';
import type { JournalRecord } from '../../store/journal.js';
import {
  closedObject,
  matching,
  objectIn,
  oneOf,
  requireFields,
  requirePlain,
  textIn,
  textUpTo,
  wholeNumber,
} from './file-fields.js';
import { FORMAT, simulationIn } from './file-header.js';
import type { FiledConfig, FiledSimulation } from './file-header.js';
import { ImportRefused } from './import-refused.js';
import { digestOfList } from '../configuration/rules-in-force.js';
import { ArrivingSettings } from './traveling-settings.js';
import type { ArrivedSetting } from './traveling-settings.js';

/** Bytes of a record, of all lists of one simulation, and of any other line. */
const LONGEST_RECORD = 8 * 1024 * 1024;
const LONGEST_LISTS = 16 * 1024 * 1024;
const LONGEST_LINE = 256 * 1024;
/** Lists of one simulation: two for each change of its rules. */
const MOST_LISTS = 2000;

const CHUNK_BYTES = 65_536;

/** The chain of a file's lines. */
export class LineChain {
  hash = '';

  take(line: string): void {
    this.hash = hashOf('sha256', this.hash + line);
  }
}

/** The header of a simulation. A fork names its parent, also where that is only known as the parent in an earlier file. */
export const headerLine = (simulationId: string, { importedFrom, fork, ...config }: ExportedConfig): string =>
  JSON.stringify({
    type: 'header',
    format: FORMAT,
    simulationId,
    config: {
      ...config,
      ...(fork !== undefined && { fork: { parentId: importedFrom, ...fork } }),
    },
  });

type ExportedConfig = FiledConfig & { readonly importedFrom?: string };

/** Beginning of the header of a simulation. */
export const HEADER = '{"type":"header",';
const RECORD = '{"seq":';
const LIST = '{"type":"list",';
/** Beginning of a record that names rules. */
const RULES_CHANGE = '{"command":{"type":"ChangeRules"';

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
  | { readonly type: 'setting' }
  | { readonly type: 'record'; readonly record: Omit<JournalRecord, 'simulationId'> }
  | { readonly type: 'trailer'; readonly settings: readonly ArrivedSetting[] };

const list = closedObject<{ type: string; digest: string; text: string }>({
  type: oneOf('list'),
  digest: matching(/^[0-9a-f]{64}$/),
  text: textUpTo(LONGEST_LISTS),
});

const setting = closedObject<{ type: string; name: string; value: string }>({
  type: oneOf('setting'),
  name: textUpTo(LONGEST_LINE),
  value: textUpTo(LONGEST_LINE),
});

const trailer = closedObject<{ type: string; records: number; hash: string }>({
  type: oneOf('trailer'),
  records: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  hash: textUpTo(64),
});

/** Reads the lines of one simulation in order, and checks that they are whole. Throws `ImportRefused`. */
export class SimulationFileReader {
  readonly #chain = new LineChain();
  readonly #settings = new ArrivingSettings();
  /** Lists that are in the file, and lists that its header and records name. */
  readonly #lists = new Map<string, number>();
  readonly #named = new Set<string>();
  #listed = 0;
  #simulation: FiledSimulation | undefined;
  #records = 0;
  #at = -Infinity;
  #isOver = false;

  /** Instant of the last record, ms; -Infinity when there is none. */
  get at(): number {
    return this.#at;
  }

  get records(): number {
    return this.#records;
  }

  /** The lists of rules so far, with their lengths in characters. */
  get lists(): ReadonlyMap<string, number> {
    return this.#lists;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The hash of the chain so far. */
  get hash(): string {
    return this.#chain.hash;
  }

  read(line: string): FileLine {
    if (this.#isOver) throw new ImportRefused('lines follow the trailer');
    const isRecord = line.startsWith(RECORD);
    if (this.#simulation === undefined && isRecord) throw new ImportRefused('the first line is not a header');
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
    requirePlain(line, `record ${seq}`);
    this.#records = seq;
    this.#at = Number(at);
    this.#settings.record(seq, this.#at);
    const payload = `{${line.slice(head.length)}`;
    if (payload.startsWith(RULES_CHANGE)) this.#name(rulesOf(payload));
    return { seq, at: this.#at, payload };
  }

  #other(line: string): FileLine {
    const fields = objectIn(line);
    const { type } = fields;
    if (this.#simulation === undefined) {
      if (!line.startsWith(HEADER)) throw new ImportRefused('the first line is not a header');
      this.#simulation = simulationIn(fields);
      const { rules, fork } = this.#simulation.config;
      this.#name(rules);
      this.#name(fork?.origin.rules);
      return { type: 'header', simulation: this.#simulation };
    }
    switch (type) {
      case 'list':
        return { type, ...this.#list(fields) };
      case 'setting':
        if (this.#records > 0) throw new ImportRefused('a setting stands behind a record');
        requireFields(fields, setting, 'a setting');
        this.#settings.take(textIn(fields, 'name'), textIn(fields, 'value'));
        return { type };
      case 'trailer':
        requireFields(fields, trailer, 'the trailer');
        if (fields.records !== this.#records || fields.hash !== this.#chain.hash)
          throw new ImportRefused('the lines do not match the hash of the trailer: the file is damaged');
        this.#end(this.#simulation);
        return { type, settings: this.#settings.all };
      default:
        throw new ImportRefused('a line is neither a record nor anything else that an export has');
    }
  }

  #list(fields: Readonly<Record<string, unknown>>): { readonly digest: string; readonly text: string } {
    requireFields(fields, list, 'a list');
    const [digest, text] = [textIn(fields, 'digest'), textIn(fields, 'text')];
    if (digestOfList(text) !== digest) throw new ImportRefused(`the list ${digest} has another digest`);
    if (this.#lists.has(digest)) throw new ImportRefused(`the list ${digest} is there twice`);
    this.#lists.set(digest, text.length);
    requirePlain(text, `the list ${digest}`);
    this.#listed += text.length;
    if (this.#lists.size > MOST_LISTS)
      throw new ImportRefused(
        `a simulation has at most ${MOST_LISTS.toLocaleString('en-US')} lists of rules`,
      );
    if (this.#listed > LONGEST_LISTS)
      throw new ImportRefused('the lists of rules have more than 16 MiB together');
    return { digest, text };
  }

  #name(rules: Partial<RulesInForce> | undefined): void {
    for (const digest of [rules?.brokers, rules?.instruments])
      if (digest !== undefined) this.#named.add(digest);
  }

  /** Checks what refers to the records. */
  #end({ config: { fork } }: FiledSimulation): void {
    const unnamed = [...this.#lists.keys()].find((digest) => !this.#named.has(digest));
    if (unnamed !== undefined) throw new ImportRefused(`no record of the file names the list ${unnamed}`);
    this.#settings.end(this.#records);
    if (fork !== undefined && fork.sequence >= this.#records)
      throw new ImportRefused('the records of the fork or of its ancestors are missing');
    this.#isOver = true;
  }
}

/** The rules that a change of the rules names. */
function rulesOf(payload: string): Partial<RulesInForce> | undefined {
  try {
    return (JSON.parse(payload) as { readonly command: { readonly rules?: RulesInForce } }).command.rules;
  } catch {
    throw new ImportRefused('a line is not JSON');
  }
}

/** Most bytes of a line that begins like this. */
function mostBytesOf(start: string): number {
  if (start.startsWith(RECORD)) return LONGEST_RECORD;
  return start.startsWith(LIST) ? LONGEST_LISTS : LONGEST_LINE;
}

const NEW_LINE = 10;

/**
 * The lines of a file, in constant memory. Throws `ImportRefused` for a line that is too long. `mostOfFirst`: most bytes of the first line, if
 * it is not one of a simulation.
 */
export function* linesOfFile(path: string, mostOfFirst?: number): Generator<string> {
  yield* linesIn(chunksOf(path), mostOfFirst);
}

function* chunksOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const read = chunk.subarray(0, readSync(file, chunk));
      if (read.length === 0) return;
      yield read;
    }
  } finally {
    closeSync(file);
  }
}

/** The same of a file in memory. */
export function* linesIn(chunks: Iterable<Buffer>, mostOfFirst?: number): Generator<string> {
  let pieces: Buffer[] = [];
  let length = 0;
  let most = mostOfFirst;
  const add = (piece: Buffer): void => {
    pieces.push(piece);
    length += piece.length;
    if (length <= LONGEST_LINE) return;
    // The first piece may be a single byte; the second is a whole chunk.
    most ??= mostBytesOf(Buffer.concat(pieces.slice(0, 2)).toString('latin1', 0, LIST.length));
    if (length > most) throw new ImportRefused(`a line has more than ${most} bytes`);
  };
  const whole = (): string => {
    const line = Buffer.concat(pieces, length).toString('utf8');
    pieces = [];
    length = 0;
    most = undefined;
    return line;
  };
  for (const read of chunks) {
    let begin = 0;
    for (let end = read.indexOf(NEW_LINE); end !== -1; end = read.indexOf(NEW_LINE, begin)) {
      add(read.subarray(begin, end));
      yield whole();
      begin = end + 1;
    }
    if (begin < read.length) add(read.subarray(begin));
  }
  if (length > 0) yield whole();
}
