/** The thread that verifies a file before its records are entered, so that the event loop is not blocked. */
import { parentPort, workerData } from 'node:worker_threads';
import type { JournalRecord } from '../store/journal.js';
import { isKnownTenantLine } from './tenant-file.js';
import { listName } from './rules-in-force.js';
import { ImportRefused } from './import-refused.js';
import { linesOfFile, SimulationFileReader } from './simulation-file.js';
import type { KeptConfig } from './simulation-config.js';
import { lowerPriority } from '../store/lower-priority.js';
import { verifyRecords } from './verify.js';

/** Reports at most so often, ms. */
const REPORT_MS = 1000;

const FIELDS = ['command', 'quotes', 'market', 'events'];

export interface ImportThreadData {
  readonly path: string;
}

export type FromImportThread =
  | { readonly kind: 'alive' }
  /** `problem`: why the file cannot be imported; absent = it can. */
  | { readonly kind: 'done'; readonly problem?: string };

let reportedAt = performance.now();

function reportProgress(): void {
  if (performance.now() - reportedAt < REPORT_MS) return;
  reportedAt = performance.now();
  parentPort?.postMessage({ kind: 'alive' } satisfies FromImportThread);
}

/** Verifies every simulation of a file. Returns the problem of the first one that is not sound. */
async function problemOf(path: string): Promise<string | undefined> {
  const lines = linesOfFile(path);
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    if (isKnownTenantLine(next.value)) continue;
    const reader = new SimulationFileReader();
    const header = reader.read(next.value);
    if (header.type !== 'header') throw new ImportRefused('the first line is not a header');
    const problem = await problemOfSimulation(header.simulation.config, reader, lines);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function problemOfSimulation(
  config: KeptConfig,
  reader: SimulationFileReader,
  lines: Generator<string>,
): Promise<string | undefined> {
  const lists = new Map<string, string>();
  let seq = 0;
  function* records(): Generator<Omit<JournalRecord, 'simulationId'>> {
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      const line = reader.read(next.value);
      if (line.type === 'trailer') return;
      if (line.type === 'list') lists.set(listName(line.digest), line.text);
      if (line.type !== 'record') continue;
      seq = line.record.seq;
      requireCanonical(line.record);
      yield line.record;
      reportProgress();
    }
  }
  try {
    const { problems } = await verifyRecords(records(), { setting: (name) => lists.get(name) }, config);
    return problems[0];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return seq === 0 ? reason : `record ${seq}: ${reason}`;
  }
}

/** A record must be the text that this program writes, so that every later reader reads the same. */
function requireCanonical({ seq, payload }: Omit<JournalRecord, 'simulationId'>): void {
  const value = JSON.parse(payload) as object;
  if (JSON.stringify(value) !== payload || Object.keys(value).some((name) => !FIELDS.includes(name)))
    throw new ImportRefused(`record ${seq} is not in the form that it was exported in`);
}

async function verdict(path: string): Promise<FromImportThread> {
  try {
    const problem = await problemOf(path);
    return problem === undefined ? { kind: 'done' } : { kind: 'done', problem };
  } catch (error) {
    // The text of a system error contains a path of this machine.
    if (error instanceof Error && 'syscall' in error)
      return { kind: 'done', problem: 'the file of the import cannot be read: import it again' };
    return { kind: 'done', problem: error instanceof Error ? error.message : String(error) };
  }
}

lowerPriority();
parentPort?.postMessage(await verdict((workerData as ImportThreadData).path));
