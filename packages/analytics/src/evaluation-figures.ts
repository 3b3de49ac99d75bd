/**
 * Figures of an evaluation from its cells (D210): scores, means clustered by scenario with their confidence, paired differences, pass rates and
 * the leaderboard. All arithmetic is in doubles, in the order of the cells.
 */
import { mean, sampleDeviation, sum } from './statistics.js';
import { tQuantile } from './student-t.js';

/** A field of a performance, nested names with dots; `tasksPassed`; or a weighted sum of these. */
export type ScoreRule = string | Readonly<Record<string, number>>;

/** A run of a scenario that has ended. */
export interface EvaluatedCell {
  readonly entrant: string;
  readonly scenario: string;
  readonly seed: string | number;
  readonly trial: number;
  readonly score: number;
  readonly isAbandoned: boolean;
  /** Absent or empty = the scenario has no tasks. */
  readonly tasks?: readonly { readonly passed: boolean }[];
  readonly requests: number;
  readonly wallSeconds: number;
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costUsd: number;
  };
}

/** Mean over clusters. Error and interval are absent for fewer than two clusters. */
export interface ClusteredMean {
  readonly mean: number;
  readonly stderr?: number;
  readonly ci95?: readonly [number, number];
}

export interface EntrantSummary extends ClusteredMean {
  readonly entrant: string;
  readonly cells: number;
  readonly abandoned: number;
  /** Share of passed tasks: mean over clusters of the cells that have tasks. */
  readonly tasksPassed?: number;
  /** By k, from "1": probability that at least one of k trials passes, and that all of them pass. */
  readonly passAt?: Readonly<Record<string, number>>;
  readonly passHat?: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly wallSeconds: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
}

export interface PairedDifference extends ClusteredMean {
  readonly a: string;
  readonly b: string;
  readonly cells: number;
  /** Cells in which `a` scored more than `b`, less, and the same. */
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export interface EntrantRank extends Pick<
  EntrantSummary,
  'entrant' | 'stderr' | 'ci95' | 'cells' | 'abandoned' | 'tasksPassed' | 'costUsd' | 'requests'
> {
  readonly rank: number;
  readonly score: number;
}

const CONFIDENCE = 0.95;
const TASKS_PASSED = 'tasksPassed';
const BASELINE = 'baseline:';

/** Score of a cell. Figures that are absent count 0. */
export function scoreOf(
  rule: ScoreRule,
  metrics: Readonly<Record<string, unknown>>,
  tasks: EvaluatedCell['tasks'],
): number {
  const figure = (name: string): number =>
    name === TASKS_PASSED ? (shareOf(tasks) ?? 0) : (numberAt(metrics, name) ?? 0);
  if (typeof rule === 'string') return figure(rule);
  return sum(Object.entries(rule).map(([name, weight]) => weight * figure(name)));
}

/** The number at a name with dots; undefined if there is none. */
function numberAt(metrics: unknown, name: string): number | undefined {
  let value = metrics;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Share of tasks that passed. */
function shareOf(tasks: EvaluatedCell['tasks'] = []): number | undefined {
  return tasks.length === 0 ? undefined : tasks.filter(({ passed }) => passed).length / tasks.length;
}

/** Cells of one scenario; with a single scenario, of one seed. */
export type Clustering = 'scenario' | 'seed';

export const clusteringOf = (scenarios: number): Clustering => (scenarios > 1 ? 'scenario' : 'seed');

const clusterOf = (
  { scenario, seed }: Pick<EvaluatedCell, 'scenario' | 'seed'>,
  by: Clustering,
): string | number => (by === 'scenario' ? scenario : seed);

/** Mean of the means of clusters, in the order of their first values. */
export function clusteredMean(
  values: readonly { readonly cluster: string | number; readonly value: number }[],
): ClusteredMean {
  const clusters = new Map<string | number, number[]>();
  for (const { cluster, value } of values) {
    const known = clusters.get(cluster);
    if (known === undefined) clusters.set(cluster, [value]);
    else known.push(value);
  }
  const means = [...clusters.values()].map(mean);
  if (means.length === 0) return { mean: 0 };
  const center = mean(means);
  if (means.length < 2) return { mean: center };
  const stderr = sampleDeviation(means) / Math.sqrt(means.length);
  const reach = tQuantile(CONFIDENCE, means.length - 1) * stderr;
  return { mean: center, stderr, ci95: [center - reach, center + reach] };
}

/** Figures of each entrant, in the order of their first cells. */
export function summariesOf(cells: readonly EvaluatedCell[], by: Clustering): readonly EntrantSummary[] {
  return [...byEntrant(cells)].map(([entrant, own]) => summaryOf(entrant, own, by));
}

function byEntrant(cells: readonly EvaluatedCell[]): ReadonlyMap<string, readonly EvaluatedCell[]> {
  const entrants = new Map<string, EvaluatedCell[]>();
  for (const cell of cells) {
    const known = entrants.get(cell.entrant);
    if (known === undefined) entrants.set(cell.entrant, [cell]);
    else known.push(cell);
  }
  return entrants;
}

function summaryOf(entrant: string, cells: readonly EvaluatedCell[], by: Clustering): EntrantSummary {
  const clustered = (valueOf: (cell: EvaluatedCell) => number | undefined): ClusteredMean =>
    clusteredMean(
      cells.flatMap((cell) => {
        const value = valueOf(cell);
        return value === undefined ? [] : [{ cluster: clusterOf(cell, by), value }];
      }),
    );
  const graded = cells.filter(({ tasks = [] }) => tasks.length > 0);
  const usages = cells.flatMap(({ usage }) => usage ?? []);
  return {
    entrant,
    cells: cells.length,
    abandoned: cells.filter(({ isAbandoned }) => isAbandoned).length,
    ...clustered(({ score }) => score),
    ...(graded.length > 0 && {
      tasksPassed: clustered(({ tasks }) => shareOf(tasks)).mean,
      ...passRatesOf(graded),
    }),
    requests: sum(cells.map(({ requests }) => requests)),
    wallSeconds: sum(cells.map(({ wallSeconds }) => wallSeconds)),
    ...(usages.length > 0 && {
      inputTokens: sum(usages.map(({ inputTokens }) => inputTokens)),
      outputTokens: sum(usages.map(({ outputTokens }) => outputTokens)),
      costUsd: sum(usages.map(({ costUsd }) => costUsd)),
    }),
  };
}

/** Pass rates over the trials of each scenario and seed. A cell passes if all its tasks do. */
function passRatesOf(cells: readonly EvaluatedCell[]): Pick<EntrantSummary, 'passAt' | 'passHat'> {
  const groups = new Map<string, boolean[]>();
  for (const { scenario, seed, tasks = [] } of cells) {
    const group = JSON.stringify([scenario, seed]);
    const passed = tasks.every((task) => task.passed);
    groups.set(group, [...(groups.get(group) ?? []), passed]);
  }
  const trials = [...groups.values()];
  const most = Math.min(...trials.map(({ length }) => length));
  const ks = Array.from({ length: most }, (_, index) => index + 1);
  const rate = (of: (n: number, c: number, k: number) => number): Readonly<Record<string, number>> =>
    Object.fromEntries(
      ks.map((k) => [
        String(k),
        mean(trials.map((passed) => of(passed.length, passed.filter(Boolean).length, k))),
      ]),
    );
  return {
    passAt: rate((n, c, k) => 1 - drawsOf(n - c, n, k)),
    passHat: rate((n, c, k) => drawsOf(c, n, k)),
  };
}

/** C(of, k) / C(all, k): probability that k trials drawn from `all` are among these `of`. */
function drawsOf(of: number, all: number, k: number): number {
  let probability = 1;
  for (let drawn = 0; drawn < k; drawn += 1) probability *= Math.max(of - drawn, 0) / (all - drawn);
  return probability;
}

/** Differences of each two entrants, cell by cell, in the order of their first cells. The single trial of a baseline is compared with each trial. */
export function pairsOf(cells: readonly EvaluatedCell[], by: Clustering): readonly PairedDifference[] {
  const entrants = [...byEntrant(cells)];
  return entrants.flatMap(([a, own], index) =>
    entrants.slice(index + 1).map(([b, others]) => pairOf(a, own, b, others, by)),
  );
}

function pairOf(
  a: string,
  own: readonly EvaluatedCell[],
  b: string,
  others: readonly EvaluatedCell[],
  by: Clustering,
): PairedDifference {
  const isSingle = a.startsWith(BASELINE) || b.startsWith(BASELINE);
  const keyOf = ({ scenario, seed, trial }: EvaluatedCell): string =>
    JSON.stringify(isSingle ? [scenario, seed] : [scenario, seed, trial]);
  const isTurned = a.startsWith(BASELINE);
  const [more, fewer] = isTurned ? [others, own] : [own, others];
  const against = new Map(fewer.map((cell) => [keyOf(cell), cell]));
  const differences = more.flatMap((cell) => {
    const other = against.get(keyOf(cell));
    if (other === undefined) return [];
    const value = isTurned ? other.score - cell.score : cell.score - other.score;
    return [{ cluster: clusterOf(cell, by), value }];
  });
  const count = (isCounted: (value: number) => boolean): number =>
    differences.filter(({ value }) => isCounted(value)).length;
  return {
    a,
    b,
    cells: differences.length,
    ...clusteredMean(differences),
    wins: count((value) => value > 0),
    losses: count((value) => value < 0),
    ties: count((value) => value === 0),
  };
}

/** Entrants by mean score, the best first. Equal means share a rank: 1, 2, 2, 4. */
export function ranksOf(summaries: readonly EntrantSummary[]): readonly EntrantRank[] {
  const sorted = summaries.toSorted((a, b) => b.mean - a.mean);
  return sorted.map(({ entrant, mean: score, stderr, ci95, ...summary }) => {
    const { cells, abandoned, tasksPassed, costUsd, requests } = summary;
    return {
      rank: sorted.findIndex((other) => other.mean === score) + 1,
      entrant,
      score,
      ...(stderr !== undefined && { stderr }),
      ...(ci95 !== undefined && { ci95 }),
      cells,
      abandoned,
      ...(tasksPassed !== undefined && { tasksPassed }),
      ...(costUsd !== undefined && { costUsd }),
      requests,
    };
  });
}
