/**
 * The file of a finished competition (D196): lines of JSON. The first describes the competition, with its result and every entrant's
 * equity; the files of its simulations (D170) follow, the market first, the entries in order of entry.
 */
import { createHash } from 'node:crypto';
import type { CompetitionPoint } from '@sandpit/core';
import { exportSimulation } from '../engine/transfers/export.js';
import type { KeptConfig } from '../engine/configuration/simulation-config.js';
import type { Store } from '../store/store.js';
import type { Scoring } from './leaderboard.js';
import type { CompetitionNote, EarlierResult, EntryNote } from './notes.js';

/** Grows when an older server would misread a file. */
export const FORMAT = 1;
const DOLLAR = 10_000;

/** An entry in the header of a file. */
export interface FiledEntry {
  readonly entryId: string;
  readonly displayName: string;
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly status: string;
  /** At the start, each close, each full hour of a short competition, and the end; dollars. */
  readonly equity: readonly { readonly at: string; readonly equity: number }[];
}

/** The first line of a file. */
export interface CompetitionHeader {
  readonly type: 'competition';
  readonly format: typeof FORMAT;
  readonly competitionId: string;
  /** The settings, as the competition was created. */
  readonly competition: unknown;
  readonly scoring: Scoring;
  readonly minTrades: number;
  /** Secret of 128 bits, hexadecimal, and the seed: the source of the synthetic path, draws and ids. */
  readonly draw: string;
  readonly seed?: string | number;
  readonly marketId: string;
  readonly entries: readonly FiledEntry[];
  readonly result: Pick<EarlierResult, 'at' | 'rows' | 'journalHash'>;
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

/** Equity as the header has it. */
export const filedEquity = (points: readonly CompetitionPoint[]): FiledEntry['equity'] =>
  points.map(({ at, equity }) => ({ at: new Date(at).toISOString(), equity: equity / DOLLAR }));

/** The file of a competition, piece by piece. `pointsOf`: the equity that the simulation of an entry has noted. */
export async function* exportCompetition(
  store: Pick<Store, 'journal' | 'registry'>,
  note: CompetitionNote,
  result: EarlierResult,
  entries: readonly EntryNote[],
  pointsOf: (entry: EntryNote) => Promise<readonly CompetitionPoint[]>,
): AsyncGenerator<string> {
  const { settings } = note;
  const filed: FiledEntry[] = [];
  for (const entry of entries) {
    const { id: entryId, displayName, simulationId, portfolioId } = entry;
    const status = result.rows.find((row) => row.entryId === entryId)?.status ?? 'WITHDRAWN';
    const equity = filedEquity(await pointsOf(entry));
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
