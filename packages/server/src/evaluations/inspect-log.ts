/** An entrant's cells as a log of Inspect, the evaluation framework: `EvalLog`, version 2, as its `read_eval_log` reads it. */
import { clusteredMean, clusteringOf } from '@sandpit/analytics';
import type { EvaluationDefinition, MatrixRow, ShownEntry, SummaryRow } from './definition.js';
import { instructionsOf } from './instructions.js';

/** Input of a log. */
export interface InspectedEntry {
  readonly evaluationId: string;
  readonly digest: string;
  readonly definition: EvaluationDefinition;
  readonly entry: Pick<ShownEntry, 'entryId' | 'entrant' | 'model' | 'version'>;
  /** Rows of this entrant. */
  readonly rows: readonly MatrixRow[];
  readonly summary: SummaryRow;
  /** Real time, ISO 8601. */
  readonly createdAt: string;
}

const SCORE = 'score';
const VERSION = 2;

interface Score {
  readonly value: number | 'C' | 'I';
  readonly explanation?: string;
}

/** Plain data of the log: one sample for each scenario and seed, one epoch for each trial. */
export function inspectLogOf(inspected: InspectedEntry): object {
  const { evaluationId, digest, definition, entry, rows, summary, createdAt } = inspected;
  const model = entry.model ?? entry.entrant;
  const samples = rows.map((row) => sampleOf(row, definition, model));
  const ids = [...new Set(samples.map(({ id }) => id))];
  const times = rows.flatMap(({ startedAt, endedAt }) => [startedAt ?? [], endedAt ?? []].flat()).toSorted();
  const usage = usageOf(summary);
  return {
    version: VERSION,
    status: 'success',
    eval: {
      eval_id: entry.entryId,
      run_id: evaluationId,
      created: createdAt,
      task: definition.name,
      task_id: digest,
      task_version: 0,
      task_args: {},
      dataset: { name: definition.name, samples: ids.length, sample_ids: ids, shuffled: false },
      model,
      model_args: {},
      config: { epochs: definition.trials ?? 1 },
      packages: {},
      metadata: {
        digest,
        entrant: entry.entrant,
        ...(entry.version !== undefined && { version: entry.version }),
      },
    },
    plan: { name: 'plan', steps: [], config: {} },
    results: {
      total_samples: samples.length,
      completed_samples: samples.length,
      scores: resultsOf(inspected, samples),
    },
    stats: {
      started_at: times[0] ?? createdAt,
      completed_at: times.at(-1) ?? createdAt,
      model_usage: usage === undefined ? {} : { [model]: usage },
    },
    samples,
  };
}

interface Sample {
  readonly id: string;
  readonly epoch: number;
  readonly scores: Readonly<Record<string, Score>>;
  readonly [field: string]: unknown;
}

function sampleOf(row: MatrixRow, { scenarios }: EvaluationDefinition, model: string): Sample {
  const { scenario, seed, trial, score, tasks = [], usage, metrics, journalHash } = row;
  const spent = usageOf(usage);
  return {
    id: `${scenario}/${seed}`,
    epoch: trial,
    input: instructionsOf(scenarios.find(({ name }) => name === scenario)) ?? '',
    target: tasks.map(({ name }) => name),
    messages: [],
    output: { model, choices: [] },
    scores: {
      [SCORE]: { value: score ?? 0 },
      ...Object.fromEntries(
        tasks.map(({ name, passed, why }) => [
          scoreName(name),
          { value: passed ? 'C' : 'I', ...(why !== undefined && { explanation: why.text }) } satisfies Score,
        ]),
      ),
    },
    metadata: { status: row.status, reason: row.reason, metrics, journalHash },
    store: {},
    events: [],
    model_usage: spent === undefined ? {} : { [model]: spent },
    attachments: {},
    ...(row.wallSeconds !== undefined && { total_time: row.wallSeconds }),
  };
}

/** Name of the score of a task; a task that is called like the score of the cell gets another one. */
const scoreName = (task: string): string => (task === SCORE ? `task ${SCORE}` : task);

interface Spent {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

function usageOf(spent: Spent | undefined): object | undefined {
  if (spent?.inputTokens === undefined) return undefined;
  const { inputTokens, outputTokens = 0 } = spent;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** Mean and standard error of the score, and of each task with 1 for a pass. */
function resultsOf({ definition, rows, summary }: InspectedEntry, samples: readonly Sample[]): object[] {
  const by = clusteringOf(definition.scenarios.length);
  const names = new Set(samples.flatMap(({ scores }) => Object.keys(scores)));
  return [...names].map((name) => {
    const values = samples.flatMap(({ scores }, index) => {
      const score = scores[name];
      const row = rows[index];
      if (score === undefined || row === undefined) return [];
      return [{ cluster: by === 'scenario' ? row.scenario : row.seed, value: score.value === 'C' ? 1 : 0 }];
    });
    const { mean, stderr } = name === SCORE ? summary : clusteredMean(values);
    return {
      name,
      scorer: name,
      params: {},
      scored_samples: values.length,
      metrics: {
        mean: { name: 'mean', value: mean, params: {} },
        ...(stderr !== undefined && { stderr: { name: 'stderr', value: stderr, params: {} } }),
      },
    };
  });
}
