/** Scores, summaries, pairs and ranks of an evaluation, from the rows of its matrix (D210). */
import { createHash } from 'node:crypto';
import { clusteringOf, type EvaluatedCell, pairsOf, ranksOf, scoreOf, summariesOf } from '@sandpit/analytics';
import type {
  EvaluationRank,
  MatrixRow,
  PairedRow,
  ScoreRule,
  ShownEntry,
  SummaryRow,
  TaskResult,
} from './definition.js';

export const NOOP = 'baseline:noop';

/** Score of a cell by a rule. */
export const rowScore = (
  rule: ScoreRule,
  { metrics = {}, tasks }: Pick<MatrixRow, 'metrics' | 'tasks'>,
): number => scoreOf(rule, metrics, tasks);

/** Cells that have figures. */
const evaluatedIn = (rows: readonly MatrixRow[]): readonly EvaluatedCell[] =>
  rows.flatMap(({ metrics, score, status, calls, wallSeconds = 0, tasks, usage, ...row }) =>
    metrics === undefined || score === undefined
      ? []
      : [
          {
            entrant: row.entrant,
            scenario: row.scenario,
            seed: row.seed,
            trial: row.trial,
            score,
            isAbandoned: status === 'ABANDONED',
            ...(tasks !== undefined && { tasks }),
            requests: calls.requests,
            wallSeconds,
            ...(usage !== undefined && { usage }),
          },
        ],
  );

export interface EvaluationFigures {
  readonly summary: readonly SummaryRow[];
  readonly paired: readonly PairedRow[];
  readonly ranks: readonly EvaluationRank[];
}

/** Figures of all entrants with an ended cell. `scenarios`: number of scenarios of the definition. */
export function figuresOf(
  rows: readonly MatrixRow[],
  entries: readonly Pick<ShownEntry, 'entrant' | 'model' | 'version'>[],
  scenarios: number,
): EvaluationFigures {
  const cells = evaluatedIn(rows);
  const clustering = clusteringOf(scenarios);
  const summaries = summariesOf(cells, clustering);
  return {
    summary: summaries.map(({ entrant, ...figures }) => {
      const { model, version } = entries.find((entry) => entry.entrant === entrant) ?? {};
      return {
        entrant,
        ...(model !== undefined && { model }),
        ...(version !== undefined && { version }),
        ...figures,
      };
    }),
    paired: pairsOf(cells, clustering),
    ranks: ranksOf(summaries),
  };
}

/** Marks the tasks that doing nothing passes, in all rows of their scenario and seed. */
export function withTrivialTasks(rows: readonly MatrixRow[]): readonly MatrixRow[] {
  const placeOf = ({ scenario, seed }: MatrixRow): string => JSON.stringify([scenario, seed]);
  const passed = new Map(
    rows.flatMap((row) =>
      row.entrant === NOOP
        ? [[placeOf(row), new Set((row.tasks ?? []).filter((task) => task.passed).map(({ name }) => name))]]
        : [],
    ),
  );
  return rows.map((row) => {
    const trivial = passed.get(placeOf(row));
    if (row.tasks === undefined || trivial === undefined || trivial.size === 0) return row;
    const tasks = row.tasks.map(({ name, passed: isPassed, why }): TaskResult => ({
      name,
      passed: isPassed,
      ...(trivial.has(name) && { trivial: true }),
      ...(why !== undefined && { why }),
    }));
    return { ...row, tasks };
  });
}

/** SHA-256, in hex, over the hashes of the journals, a line each, in the order of the cells. */
export const resultHashOf = (journalHashes: readonly string[]): string =>
  createHash('sha256').update(journalHashes.join('\n')).digest('hex');
