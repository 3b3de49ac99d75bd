/**
 * The cell of an evaluation (D231): a simulation without a market and without portfolios, whose clock stands. Its journal has the terms, the
 * entries, the phases, withdrawals and the result.
 */
import { createHash } from 'node:crypto';
import { Instant } from '@sandpit/core';
import type { Command } from '@sandpit/core';
import type { SimulationConfig, WantedSimulation } from '../engine/configuration/simulation-config.js';
import { beginningDigest } from '../engine/recovery/first-records.js';
import { Slice } from '../engine/scheduling/slice.js';
import type { Store } from '../store/store.js';
import { drawOfEvaluation } from './draw.js';
import type { CellNote, EvaluationNote } from './notes.js';

/** A note that names its cell. */
export type NoteWithCell = EvaluationNote & { readonly cellId: string };

/** Configuration of the cell of an evaluation. */
export function evaluationConfig({
  id,
  cellId,
  draw,
  definition,
  settings,
}: NoteWithCell): WantedSimulation & Pick<SimulationConfig, 'idSecret'> {
  const { seed, secret } = drawOfEvaluation(draw, cellId);
  return {
    feed: 'push',
    clock: 'manual',
    calendar: 'XNYS',
    start: Math.min(...settings.map(({ startsAt }) => startsAt)),
    speed: 0,
    seed,
    idSecret: secret,
    ...(definition.ephemeral === true && { ephemeral: true as const }),
    competition: { id, role: 'EVALUATION' },
  };
}

/** The first command of the cell of an evaluation. */
export const evaluationBeginning = ({ digest, settings }: EvaluationNote): Command => ({
  type: 'BeginCompetition',
  terms: {
    startsAt: Instant.ofMs(Math.min(...settings.map(({ startsAt }) => startsAt))),
    endsAt: Instant.ofMs(Math.max(...settings.map(({ endsAt }) => endsAt))),
    isEvaluation: true,
    isOpenEnded: true,
    settingsHash: digest,
    rules: { assetClasses: [] },
  },
  phase: 'OPEN',
});

/** A run of an entry with the digest of its first records. */
export interface DigestedRun {
  readonly cellId: string;
  readonly digest: string;
}

/** SHA-256, in hex, over the runs of an entry, a line each, by scenario, seed and trial. */
export const digestOfRuns = (runs: readonly DigestedRun[]): string =>
  createHash('sha256')
    .update(runs.map(({ cellId, digest }) => `${cellId} ${digest}\n`).join(''))
    .digest('hex');

/** The same from the journals. */
export async function digestOfEntry(
  { journal }: Pick<Store, 'journal'>,
  cells: readonly Pick<CellNote, 'id'>[],
): Promise<string> {
  const slice = new Slice();
  const runs: DigestedRun[] = [];
  for (const { id: cellId } of cells) {
    runs.push({ cellId, digest: await beginningDigest(journal.read(cellId, 0), 'CompetitionBegun') });
    await slice.breathe();
  }
  return digestOfRuns(runs);
}
