import type { Tier } from '@sandpit/core';
import type { CompetitionSettings } from '../competitions/notes.js';
import type { Registry } from '../store/registry.js';
import type {
  EndReason,
  EvaluationDefinition,
  MatrixRow,
  Seed,
  ShownScenario,
  TaskResult,
  Usage,
} from './definition.js';

/** Something that the reader of the figures should know. */
export interface EvaluationWarning {
  readonly code: 'OVERLAP' | 'UNMASKED' | 'FEW_SEEDS';
  readonly message: string;
  readonly scenarios?: readonly string[];
}

/** An evaluation whose body is valid. */
export interface EvaluationTerms {
  readonly definition: EvaluationDefinition;
  /** Market and rules of each scenario, in the order of the definition. */
  readonly settings: readonly CompetitionSettings[];
  readonly digest: string;
  /** Digest of the files of the recording, if a scenario replays it. */
  readonly recording?: string;
  readonly warnings: readonly EvaluationWarning[];
  readonly timeLimitMs: number;
}

/**
 * An evaluation in the registry: its definition, its tenant, its draw and, in notes of their own, names of entrants and states of runs. The
 * journal of its cell has the entries, phases, withdrawals and the result.
 */
export interface EvaluationNote extends EvaluationTerms {
  readonly id: string;
  /** The tenant that created it. */
  readonly owner: string;
  readonly tier: Tier;
  readonly createdAt: number;
  /** 128 bits, hexadecimal: the origin of paths, latencies, ids and masks. Shown in the export only. */
  readonly draw: string;
  /** The cell of the evaluation, as its exported file calls it; absent = an earlier version created it, and it gets one when it is used. */
  readonly cellId?: string;
  /** Repeats the result in the cell, and the number of entries that it is of. */
  readonly settled?: { readonly entries: number; readonly resultHash: string };
  /** Its deletion has begun. */
  readonly isDeleted?: true;
}

/** An entrant, or a baseline. */
export interface EvaluationEntryNote {
  readonly id: string;
  readonly evaluationId: string;
  /** From 1, in the order of entering; 0 while its runs are created. */
  readonly number: number;
  readonly entrant: string;
  readonly model?: string;
  readonly version?: string;
  readonly createdAt: number;
  readonly isWithdrawn?: true;
}

/** Figures of a cell that has been walked to its end. */
export interface CellResult {
  readonly metrics: NonNullable<MatrixRow['metrics']>;
  readonly tasks?: readonly Omit<TaskResult, 'trivial'>[];
  readonly journalHash: string;
  /** The last record that belongs to the result. */
  readonly last: number;
}

/** A cell. Its id is that of its simulation. Real times and simulated ones are in ms. */
export interface CellNote {
  readonly id: string;
  readonly evaluationId: string;
  readonly entryId: string;
  /** Place of its scenario in the definition. */
  readonly scenario: number;
  readonly seed: Seed;
  readonly trial: number;
  readonly portfolioId: string;
  /** Simulated time from which figures count; absent = the opening of the portfolio. */
  readonly from?: number;
  /** Simulated time of the end, as the cell shows it. */
  readonly end: number;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly reason?: EndReason;
  /** Simulated time at which the entrant stopped. */
  readonly finishedAt?: number;
  readonly calls: MatrixRow['calls'];
  readonly usage?: Usage;
  readonly result?: CellResult;
}

/** Place of a cell's note in the registry. */
export type CellKey = Pick<CellNote, 'id' | 'evaluationId'>;

export const EVALUATIONS = 'evaluation/';
const ENTRIES = 'evaluation-entry/';
const CELLS = 'evaluation-cell/';

export const evaluationName = (id: string): string => `${EVALUATIONS}${id}`;
export const entriesOf = (evaluationId: string): string => `${ENTRIES}${evaluationId}/`;
export const cellsOf = (evaluationId: string): string => `${CELLS}${evaluationId}/`;
export const entryName = ({ evaluationId, id }: Pick<EvaluationEntryNote, 'evaluationId' | 'id'>): string =>
  `${entriesOf(evaluationId)}${id}`;
export const cellName = ({ evaluationId, id }: CellKey): string => `${cellsOf(evaluationId)}${id}`;

/** The evaluation that a setting is of; undefined = it is another setting. */
export const evaluationOf = (name: string): string | undefined =>
  [EVALUATIONS, ENTRIES, CELLS].flatMap((prefix) =>
    name.startsWith(prefix) ? (name.slice(prefix.length).split('/')[0] ?? []) : [],
  )[0];

export const seedsOf = ({ seeds = [1] }: Pick<ShownScenario, 'seeds'>): readonly Seed[] => seeds;

/** Deletes all notes of the evaluations of a tenant. Its simulations stay. */
export async function eraseEvaluations(registry: Registry, tenantId: string): Promise<void> {
  for (const [name, text] of registry.settings(EVALUATIONS)) {
    const { id, owner } = JSON.parse(text) as EvaluationNote;
    if (owner !== tenantId) continue;
    for (const prefix of [cellsOf(id), entriesOf(id)])
      for (const [noted] of registry.settings(prefix)) await registry.deleteSetting(noted);
    await registry.deleteSetting(name);
  }
}
