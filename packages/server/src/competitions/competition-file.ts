/**
 * The file of a finished competition (D196): lines of JSON. The first says what the competition was, with its result and every entrant's
 * equity; then come the files of its simulations as D170 has them, the market first, the entries as they came in.
 */
import { createHash } from 'node:crypto';
import type { CompetitionPoint } from '@sandpit/core';
import { exportSimulation } from '../engine/export.js';
import { listName } from '../engine/rules-in-force.js';
import { linesOfFile, SimulationFileReader } from '../engine/simulation-file.js';
import type { FiledSimulation } from '../engine/simulation-file.js';
import type { KeptConfig } from '../engine/simulation-config.js';
import { verifyRecords } from '../engine/verify.js';
import type { JournalRecord } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { combinedHash } from './journal-hash.js';
import { rankingOf } from './leaderboard.js';
import type { LeaderboardRow, Scoring, Standing } from './leaderboard.js';
import type { CompetitionNote, CompetitionResult, EntryNote } from './notes.js';
import { settledStanding } from './running-competition.js';

const FORMAT = 1;
const DOLLAR = 10_000;

/** An entry as the file has it. */
interface FiledEntry {
  readonly entryId: string;
  readonly displayName: string;
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly status: string;
  /** At the start, each close, each full hour of a short competition, and the end; dollars. */
  readonly equity: readonly { readonly at: string; readonly equity: number }[];
}

interface CompetitionHeader {
  readonly type: 'competition';
  readonly format: typeof FORMAT;
  readonly competitionId: string;
  /** As it was created. */
  readonly competition: unknown;
  readonly scoring: Scoring;
  readonly minTrades: number;
  /** 128 bits, hexadecimal, and what was mixed in: what the synthetic path, draws and ids come from. */
  readonly draw: string;
  readonly seed?: string | number;
  readonly marketId: string;
  readonly entries: readonly FiledEntry[];
  readonly result: Pick<CompetitionResult, 'at' | 'rows' | 'journalHash'>;
}

/** The seed and the secret that follow from the draw of a competition: that of ids and, of the market, of the synthetic path; or of a mask. */
export function drawnFrom(
  draw: string,
  role: 'market' | 'entry' | 'mask',
  of: string | number,
): { readonly seed: number; readonly secret: string } {
  const digest = createHash('sha256')
    .update(JSON.stringify([draw, role, of]))
    .digest('hex');
  return { seed: Number.parseInt(digest.slice(0, 8), 16), secret: digest.slice(8, 40) };
}

/** The file of a competition, piece by piece. `pointsOf`: the equity that the simulation of an entry has noted. */
export async function* exportCompetition(
  store: Pick<Store, 'journal' | 'registry'>,
  note: CompetitionNote,
  result: CompetitionResult,
  entries: readonly EntryNote[],
  pointsOf: (entry: EntryNote) => Promise<readonly CompetitionPoint[]>,
): AsyncGenerator<string> {
  const { settings } = note;
  const filed: FiledEntry[] = [];
  for (const entry of entries) {
    const { id: entryId, displayName, simulationId, portfolioId } = entry;
    const status = result.rows.find((row) => row.entryId === entryId)?.status ?? 'WITHDRAWN';
    const equity = (await pointsOf(entry)).map((point) => ({
      at: new Date(point.at).toISOString(),
      equity: point.equity / DOLLAR,
    }));
    filed.push({ entryId, displayName, simulationId, portfolioId, status, equity });
  }
  const { at, rows, journalHash, records } = result;
  const header: CompetitionHeader = {
    type: 'competition',
    format: FORMAT,
    competitionId: note.id,
    competition: note.shown,
    scoring: settings.scoring,
    minTrades: settings.minTrades,
    draw: note.draw,
    ...(settings.seed !== undefined && { seed: settings.seed }),
    marketId: note.marketId,
    entries: filed,
    result: { at, rows, journalHash },
  };
  yield `${JSON.stringify(header)}\n`;
  for (const [id, upTo] of records) {
    const entry = store.registry.simulation(id);
    if (entry === undefined) throw new Error(`There is no simulation ${id}`);
    const config = JSON.parse(entry.config) as KeptConfig;
    yield* exportSimulation(store, { id, shownId: id, config, upTo });
  }
}

/** Contents of the file of a competition. */
export interface CompetitionVerdict {
  readonly header: CompetitionHeader;
  /** The ranking that follows from the journals, by the scoring that was asked for. */
  readonly rows: readonly LeaderboardRow[];
  readonly records: number;
  /** Empty = the result is what the journals say. */
  readonly problems: readonly string[];
}

/**
 * Recomputes the result of a competition from its file: executes every journal again, ranks the entries by what comes of it, and compares
 * that, the hashes and the equity with what the file says. `scoring`: another one for the ranking that is returned.
 */
export async function verifyCompetition(path: string, scoring?: Scoring): Promise<CompetitionVerdict> {
  const lines = linesOfFile(path);
  const header = headerIn(lines.next().value as string | undefined);
  const problems: string[] = [];
  const hashes: string[] = [];
  const standings: Standing[] = [];
  const entries = new Map(header.entries.map((entry) => [entry.simulationId, entry]));
  let records = 0;
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const reader = new SimulationFileReader();
    const first = reader.read(next.value);
    if (first.type !== 'header') throw new Error('a simulation of the file has no header');
    const { simulationId, config } = first.simulation;
    const { problems: found, state } = await verifyRecords(
      recordsOf(reader, lines),
      { setting: (name) => lists(reader).get(name) },
      config,
    );
    problems.push(...found.map((text) => `${simulationId}: ${text}`));
    if (!reader.isOver) throw new Error('the file is cut short');
    records += reader.records;
    hashes.push(reader.hash);
    const entry = entries.get(simulationId);
    problems.push(...drawProblems(header, first.simulation, entry));
    if (entry === undefined) continue;
    const { competition } = state;
    if (competition === undefined) {
      problems.push(`${simulationId}: it took part in no competition`);
      continue;
    }
    const equity = competition.points.map(({ at, equity: units }) => ({
      at: new Date(at).toISOString(),
      equity: units / DOLLAR,
    }));
    if (JSON.stringify(equity) !== JSON.stringify(entry.equity))
      problems.push(`${entry.displayName}: the equity is not that of the journal`);
    standings.push(settledStanding({ id: entry.entryId, displayName: entry.displayName }, competition));
  }
  if (combinedHash(hashes) !== header.result.journalHash)
    problems.push('the hash of the journals is not that of the result');
  const ranked = rankingOf(standings, header.scoring, header.minTrades);
  if (JSON.stringify(ranked) !== JSON.stringify(header.result.rows))
    problems.push('the leaderboard is not what follows from the journals');
  const rows = scoring === undefined ? ranked : rankingOf(standings, scoring, header.minTrades);
  return { header, rows, records, problems };
}

function headerIn(line: string | undefined): CompetitionHeader {
  const header = JSON.parse(line ?? 'null') as Partial<CompetitionHeader> | null;
  if (header?.type !== 'competition') throw new Error('the file is not the export of a competition');
  if (header.format !== FORMAT) throw new Error('the file was written by a later version');
  return header as CompetitionHeader;
}

/** Lists of rules that a reader has come across. */
const LISTS = new WeakMap<SimulationFileReader, Map<string, string>>();
function lists(reader: SimulationFileReader): Map<string, string> {
  const known = LISTS.get(reader) ?? new Map<string, string>();
  LISTS.set(reader, known);
  return known;
}

function* recordsOf(
  reader: SimulationFileReader,
  lines: Generator<string>,
): Generator<Omit<JournalRecord, 'simulationId'>> {
  for (let next = lines.next(); next.done !== true; next = lines.next()) {
    const line = reader.read(next.value);
    if (line.type === 'trailer') return;
    if (line.type === 'list') lists(reader).set(listName(line.digest), line.text);
    if (line.type === 'record') yield line.record;
  }
}

/** True when seeds and ids come from the draw. */
function drawProblems(
  { draw, seed = '', marketId }: CompetitionHeader,
  { simulationId, config }: FiledSimulation,
  entry: FiledEntry | undefined,
): readonly string[] {
  if (entry === undefined && simulationId !== marketId)
    return [`${simulationId}: it is neither the market nor an entry`];
  const drawn =
    entry === undefined ? drawnFrom(draw, 'market', seed) : drawnFrom(draw, 'entry', entry.entryId);
  const path = drawnFrom(draw, 'market', seed).secret;
  const isDrawn = config.seed === drawn.seed && config.idSecret === drawn.secret && config.draw === path;
  return isDrawn ? [] : [`${simulationId}: its seed does not follow from the draw of the competition`];
}
