/** Reads and verifies files that arrive (D233), in a thread or in slices on the calling one. */
import { setImmediate as turn } from 'node:timers/promises';
import type { JournalRecord } from '../../store/journal.js';
import { isKnownTenantLine, TenantFileReader } from './tenant-file.js';
import type { FiledTenant } from './tenant-file.js';
import { isRecord } from './file-fields.js';
import type { FiledSimulation } from './file-header.js';
import { requireRecord } from './filed-record.js';
import { listName } from '../configuration/rules-in-force.js';
import { ImportRefused } from './import-refused.js';
import { HEADER, SimulationFileReader } from './simulation-file.js';
import type { Pace } from '../scheduling/slice.js';
import type { ArrivedSetting } from './traveling-settings.js';
import { verifyRecords } from '../recovery/verify.js';

/** Time that one file occupies the reading thread while others wait, ms. */
const TURN_MS = 10;
/** Characters of a message with entries. */
const CHARACTERS_AT_ONCE = 256 * 1024;

/** A question about a file that has arrived. */
export type AskedOfFile = { readonly path: string } & (
  | { readonly ask: 'file'; readonly isTenant: boolean }
  /** The next parts of the simulation with this ordinal, after this record. `isFirst`: from its beginning. */
  | { readonly ask: 'entries'; readonly section: number; readonly after: number; readonly isFirst: boolean }
  /** No more parts of this file are wanted. */
  | { readonly ask: 'end' }
);

/** A simulation of a file that was read. */
export interface ReadSimulation extends FiledSimulation {
  readonly records: number;
  /** Instant of the last record, simulated ms; -Infinity when there is none. */
  readonly at: number;
  /** Digests of its lists of rules, with their lengths in characters. */
  readonly lists: readonly (readonly [digest: string, length: number])[];
  /** For a replay: symbols that its rules list. */
  readonly symbols: readonly string[];
}

/** A file that is whole and has the form of an export. */
export interface ReadFile {
  readonly tenant?: FiledTenant;
  readonly simulations: readonly ReadSimulation[];
}

/** Parts of a simulation, to be stored in this order. */
export interface Entries {
  readonly lists: readonly (readonly [digest: string, text: string])[];
  readonly settings: readonly ArrivedSetting[];
  readonly records: readonly Omit<JournalRecord, 'simulationId'>[];
  readonly isLast: boolean;
}

/** The lines of a file that has arrived. */
export type LinesOf = (path: string) => Generator<string>;

/** Characters of a reason: the events of a record may be in it. */
const LONGEST_REASON = 2000;

/** The reason in an error, without paths of this machine. */
export function reasonOf(error: unknown): string {
  return wholeReasonOf(error).slice(0, LONGEST_REASON);
}

function wholeReasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('syscall' in error) return 'the file of the import cannot be read: import it again';
  if (error instanceof RangeError && error.message.startsWith('Maximum call stack'))
    return 'it is nested too deeply';
  // Errors of the language: a value is not of the type that this program writes.
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof ReferenceError
    ? 'it is not in the form that it was exported in'
    : error.message;
}

/** Reads a file in turns with the others. */
async function read(linesOf: LinesOf, path: string, isTenant: boolean): Promise<ReadFile> {
  const reader = isTenant ? new TenantFileReader() : new SimulationFileReader();
  const simulations: ReadSimulation[] = [];
  let current: SimulationFileReader | undefined;
  let filed: FiledSimulation | undefined;
  let symbols: readonly string[] = [];
  /** The line that is read, from 1. */
  let line = 1;
  let began = performance.now();
  try {
    for (const text of linesOf(path)) {
      const found = reader.read(text);
      if (found?.type === 'header') {
        current = reader instanceof TenantFileReader ? reader.simulation : reader;
        filed = found.simulation;
        symbols = [];
      }
      if (found?.type === 'list' && filed?.config.feed === 'replay')
        symbols = symbolsIn(found.text) ?? symbols;
      if (found?.type === 'trailer' && filed !== undefined && current !== undefined) {
        const { records, at, lists } = current;
        simulations.push({ ...filed, records, at, lists: [...lists], symbols });
      }
      if (performance.now() - began > TURN_MS) {
        await turn();
        began = performance.now();
      }
      line += 1;
    }
    if (line === 1) throw new ImportRefused('the file is empty');
    if (!reader.isOver) throw new ImportRefused('the file is cut short: its trailer is missing');
  } catch (error) {
    throw new ImportRefused(`line ${line}: ${reasonOf(error)}`);
  }
  return { simulations, ...(reader instanceof TenantFileReader && { tenant: reader.tenant }) };
}

const LONGEST_SYMBOL = 64;

/** The symbols in a list of instruments; undefined for a list of brokers. */
function symbolsIn(text: string): readonly string[] | undefined {
  const { instruments } = JSON.parse(text) as { readonly instruments?: unknown };
  if (!Array.isArray(instruments)) return undefined;
  return instruments.map((one: unknown) => {
    const { symbol } = isRecord(one) ? one : {};
    if (typeof symbol !== 'string' || symbol.length > LONGEST_SYMBOL)
      throw new ImportRefused('a list of instruments is not usable here');
    return symbol;
  });
}

/** Answers questions about files. `linesOf`: the lines of one. */
export class FileReading {
  readonly #linesOf: LinesOf;
  /** Files whose entries are being handed over, by their paths. */
  readonly #underWay = new Map<string, Generator<Entries>>();

  constructor(linesOf: LinesOf) {
    this.#linesOf = linesOf;
  }

  /** Rejects with `ImportRefused`, or with an error whose `reasonOf` is the reason. */
  async answer(asked: AskedOfFile): Promise<ReadFile | Entries> {
    switch (asked.ask) {
      case 'file':
        return read(this.#linesOf, asked.path, asked.isTenant);
      case 'entries':
        return this.#nextEntries(asked);
      case 'end':
        this.#underWay.get(asked.path)?.return(undefined);
        this.#underWay.delete(asked.path);
        return NO_MORE;
    }
  }

  #nextEntries({ path, section, after, isFirst }: Extract<AskedOfFile, { ask: 'entries' }>): Entries {
    const entries =
      (isFirst ? undefined : this.#underWay.get(path)) ?? entriesOf(this.#linesOf, path, section, after);
    this.#underWay.set(path, entries);
    const next = entries.next();
    const found = next.done === true ? NO_MORE : next.value;
    if (found.isLast) this.#underWay.delete(path);
    return found;
  }
}

/** Why a file cannot be imported; undefined = it can. `pace`: yields between records. */
export async function problemOfFile(linesOf: LinesOf, path: string, pace: Pace): Promise<string | undefined> {
  try {
    return await problemOf(linesOf(path), pace);
  } catch (error) {
    return reasonOf(error);
  }
}

/** Verifies every simulation of a file. Returns the problem of the first one that is not sound. */
async function problemOf(lines: Generator<string>, pace: Pace): Promise<string | undefined> {
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    if (isKnownTenantLine(next.value)) continue;
    const reader = new SimulationFileReader();
    const header = reader.read(next.value);
    if (header.type !== 'header') throw new ImportRefused('the first line is not a header');
    const problem = await problemOfSimulation(header.simulation, reader, lines, pace);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function problemOfSimulation(
  simulation: FiledSimulation,
  reader: SimulationFileReader,
  lines: Generator<string>,
  pace: Pace,
): Promise<string | undefined> {
  const lists = new Map<string, string>();
  let seq = 0;
  async function* records(): AsyncGenerator<Omit<JournalRecord, 'simulationId'>> {
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      const line = reader.read(next.value);
      if (line.type === 'trailer') return;
      if (line.type === 'list') lists.set(listName(line.digest), line.text);
      if (line.type !== 'record') continue;
      seq = line.record.seq;
      requireRecord(line.record, simulation);
      yield line.record;
      await pace.breathe();
    }
  }
  try {
    const { problems } = await verifyRecords(
      records(),
      { setting: (name) => lists.get(name) },
      simulation.config,
    );
    return problems[0]?.slice(0, LONGEST_REASON);
  } catch (error) {
    const reason = reasonOf(error);
    return seq === 0 ? reason : `record ${seq}: ${reason}`;
  }
}

/** The entries of the simulation with this ordinal, without records up to `after`. */
function* entriesOf(linesOf: LinesOf, path: string, section: number, after: number): Generator<Entries> {
  let lists: (readonly [string, string])[] = [];
  let records: Omit<JournalRecord, 'simulationId'>[] = [];
  let characters = 0;
  for (const line of sectionOf(linesOf, path, section)) {
    if (line.type === 'list') lists.push([line.digest, line.text]);
    if (line.type === 'record' && line.record.seq > after) {
      records.push(line.record);
      characters += line.record.payload.length;
    }
    const isLast = line.type === 'trailer';
    if (!isLast && characters < CHARACTERS_AT_ONCE) continue;
    yield { lists, records, settings: isLast ? line.settings : [], isLast };
    lists = [];
    records = [];
    characters = 0;
  }
}

/** The lines of one simulation of a file: of the first, or of the one with this ordinal. */
function* sectionOf(
  linesOf: LinesOf,
  path: string,
  section: number,
): Generator<ReturnType<SimulationFileReader['read']>> {
  let reader: SimulationFileReader | undefined;
  let ordinal = 0;
  for (const line of linesOf(path)) {
    if (reader === undefined) {
      if (!line.startsWith(HEADER)) continue;
      reader = new SimulationFileReader();
    }
    const found = reader.read(line);
    if (ordinal === section) yield found;
    if (found.type !== 'trailer') continue;
    if (ordinal === section) return;
    ordinal += 1;
    reader = undefined;
  }
}

const NO_MORE: Entries = { lists: [], settings: [], records: [], isLast: true };
