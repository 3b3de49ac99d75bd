import { describe, expect, it } from 'vitest';
import {
  clusteringOf,
  type EvaluatedCell,
  pairsOf,
  ranksOf,
  scoreOf,
  summariesOf,
} from './evaluation-figures.js';

/** t₀.₉₇₅ with two degrees of freedom. */
const T2 = 4.302652729911275;

function cell(
  entrant: string,
  scenario: string,
  score: number,
  more: Partial<EvaluatedCell> = {},
): EvaluatedCell {
  return {
    entrant,
    scenario,
    seed: 1,
    trial: 1,
    score,
    isAbandoned: false,
    requests: 10,
    wallSeconds: 2,
    ...more,
  };
}

/** Scores of an entrant: a list of trials for each scenario. */
const trialsOf = (entrant: string, scores: Readonly<Record<string, readonly number[]>>): EvaluatedCell[] =>
  Object.entries(scores).flatMap(([scenario, trials]) =>
    trials.map((score, index) => cell(entrant, scenario, score, { trial: index + 1 })),
  );

const A = trialsOf('a', { up: [1, 3], down: [0, 2], flat: [3, 3] });
const B = trialsOf('b', { up: [1, 1], down: [1, 1], flat: [1, 1] });

describe('scoreOf: the score of a cell', () => {
  const metrics = {
    timeWeightedReturn: 0.5,
    maxDrawdown: { fraction: -0.25, peakAt: '2026-01-05' },
    annualized: true,
  };
  const tasks = [{ passed: true }, { passed: false }, { passed: true }, { passed: true }];

  it('is a field of the performance, or a nested one', () => {
    expect(scoreOf('timeWeightedReturn', metrics, tasks)).toBe(0.5);
    expect(scoreOf('maxDrawdown.fraction', metrics, tasks)).toBe(-0.25);
  });

  it('counts an absent figure 0, and one that is no number', () => {
    for (const name of [
      'sharpe',
      'maxDrawdown.amount',
      'maxDrawdown.peakAt',
      'annualized',
      'toString',
      'sharpe.x',
    ])
      expect(scoreOf(name, metrics, tasks)).toBe(0);
  });

  it('is the share of passed tasks, 0 without tasks', () => {
    expect(scoreOf('tasksPassed', metrics, tasks)).toBe(0.75);
    expect(scoreOf('tasksPassed', metrics, [])).toBe(0);
    expect(scoreOf('tasksPassed', metrics, undefined)).toBe(0);
  });

  it('is a weighted sum', () => {
    // 2 × 0.5 + 4 × −0.25 + 1 × 0.75 + 3 × 0
    expect(
      scoreOf(
        { timeWeightedReturn: 2, 'maxDrawdown.fraction': 4, tasksPassed: 1, sharpe: 3 },
        metrics,
        tasks,
      ),
    ).toBe(0.75);
  });
});

describe('summariesOf: figures of an entrant', () => {
  it('averages the means of scenarios, with the error of these means', () => {
    const [summary] = summariesOf(A, 'scenario');
    // Means 2, 1 and 3: mean 2, deviation 1, error 1/√3.
    expect(summary).toMatchObject({
      entrant: 'a',
      cells: 6,
      abandoned: 0,
      mean: 2,
      requests: 60,
      wallSeconds: 12,
    });
    expect(summary?.stderr).toBeCloseTo(1 / Math.sqrt(3), 12);
    expect(summary?.ci95?.[0]).toBeCloseTo(2 - T2 / Math.sqrt(3), 9);
    expect(summary?.ci95?.[1]).toBeCloseTo(2 + T2 / Math.sqrt(3), 9);
  });

  it('gives scenarios of different sizes the same weight', () => {
    const [summary] = summariesOf(trialsOf('a', { up: [4, 4, 4], down: [0] }), 'scenario');
    expect(summary?.mean).toBe(2);
  });

  it('clusters by seed where there is one scenario', () => {
    expect(clusteringOf(1)).toBe('seed');
    expect(clusteringOf(2)).toBe('scenario');
    const cells = [1, 2, 3].flatMap((seed) => [
      cell('a', 'up', seed, { seed }),
      cell('a', 'up', seed, { seed, trial: 2 }),
    ]);
    const [summary] = summariesOf(cells, 'seed');
    expect(summary?.mean).toBe(2);
    expect(summary?.stderr).toBeCloseTo(1 / Math.sqrt(3), 12);
  });

  it('has no error and no interval for a single cluster', () => {
    const [summary] = summariesOf(trialsOf('a', { up: [1, 3] }), 'scenario');
    expect(summary).toMatchObject({ mean: 2 });
    expect(summary).not.toHaveProperty('stderr');
    expect(summary).not.toHaveProperty('ci95');
    expect(summary).not.toHaveProperty('passAt');
  });

  it('counts abandoned cells in the mean and adds up usage', () => {
    const usage = { inputTokens: 100, outputTokens: 10, costUsd: 0.5 };
    const [summary] = summariesOf(
      [cell('a', 'up', 4, { usage }), cell('a', 'down', 0, { isAbandoned: true, usage })],
      'scenario',
    );
    expect(summary).toMatchObject({
      cells: 2,
      abandoned: 1,
      mean: 2,
      inputTokens: 200,
      outputTokens: 20,
      costUsd: 1,
    });
  });

  it('has the pass rates of k trials', () => {
    const tasks = (passed: boolean) => [{ passed: true }, { passed }];
    const trials = (scenario: string, ...passed: readonly boolean[]): EvaluatedCell[] =>
      passed.map((one, index) => cell('a', scenario, 0, { trial: index + 1, tasks: tasks(one) }));
    const [summary] = summariesOf(
      [...trials('up', true, false, true), ...trials('down', false, false, false)],
      'scenario',
    );
    // Up, c = 2 of n = 3: at least one of k passes 2/3, 1, 1; all of k pass 2/3, 1/3, 0. Down: 0.
    expect(summary?.passAt?.['1']).toBeCloseTo(1 / 3, 12);
    expect(summary?.passAt).toMatchObject({ '2': 0.5, '3': 0.5 });
    expect(summary?.passHat?.['1']).toBeCloseTo(1 / 3, 12);
    expect(summary?.passHat?.['2']).toBeCloseTo(1 / 6, 12);
    expect(summary?.passHat?.['3']).toBe(0);
    // Shares 1, 1/2 and 1 of up; three times 1/2 of down.
    expect(summary?.tasksPassed).toBeCloseTo((5 / 6 + 1 / 2) / 2, 12);
  });

  it('leaves scenarios without tasks out of the pass rates', () => {
    const [summary] = summariesOf(
      [cell('a', 'up', 0, { tasks: [{ passed: true }] }), cell('a', 'down', 0)],
      'scenario',
    );
    expect(summary).toMatchObject({ tasksPassed: 1, passAt: { '1': 1 }, passHat: { '1': 1 } });
  });
});

describe('pairsOf: two entrants cell by cell', () => {
  it('averages the differences by cluster', () => {
    const [pair, ...more] = pairsOf([...A, ...B], 'scenario');
    // Differences 0, 2; −1, 1; 2, 2: means 1, 0 and 2.
    expect(pair).toMatchObject({ a: 'a', b: 'b', cells: 6, mean: 1, wins: 4, losses: 1, ties: 1 });
    expect(pair?.stderr).toBeCloseTo(1 / Math.sqrt(3), 12);
    expect(pair?.ci95?.[1]).toBeCloseTo(1 + T2 / Math.sqrt(3), 9);
    expect(more).toEqual([]);
  });

  it('sets the one trial of a baseline against each trial, in either order', () => {
    const noop = trialsOf('baseline:noop', { up: [2], down: [0], flat: [0] });
    expect(pairsOf([...A, ...noop], 'scenario')[0]).toMatchObject({
      a: 'a',
      b: 'baseline:noop',
      cells: 6,
      // −1, 1; 0, 2; 3, 3
      mean: 4 / 3,
      wins: 4,
      losses: 1,
      ties: 1,
    });
    expect(pairsOf([...noop, ...A], 'scenario')[0]).toMatchObject({
      a: 'baseline:noop',
      mean: -4 / 3,
      wins: 1,
      losses: 4,
      ties: 1,
    });
  });

  it('has each two of several entrants once', () => {
    const pairs = pairsOf([...A, ...B, ...trialsOf('c', { up: [1, 1] })], 'scenario');
    expect(pairs.map(({ a, b, cells }) => [a, b, cells])).toEqual([
      ['a', 'b', 6],
      ['a', 'c', 2],
      ['b', 'c', 2],
    ]);
  });

  it('keeps numeric and text seeds apart', () => {
    const pairs = pairsOf([cell('a', 'up', 1, { seed: 1 }), cell('b', 'up', 1, { seed: '1' })], 'seed');
    expect(pairs[0]).toMatchObject({ cells: 0, mean: 0, wins: 0, losses: 0, ties: 0 });
  });
});

describe('ranksOf: the leaderboard', () => {
  it('ranks by mean and lets ties share a rank', () => {
    const summaries = summariesOf(
      [cell('w', 'up', 1), cell('x', 'up', 2), cell('y', 'up', 2), cell('z', 'up', 3)],
      'scenario',
    );
    expect(ranksOf(summaries).map(({ rank, entrant, score }) => [rank, entrant, score])).toEqual([
      [1, 'z', 3],
      [2, 'x', 2],
      [2, 'y', 2],
      [4, 'w', 1],
    ]);
  });
});
