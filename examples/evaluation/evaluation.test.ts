import { expect, it } from 'vitest';
import { sandbox } from '@sandpit/client/testing';
import { evaluate, reportOf } from './evaluation.js';

it('evaluation: two strategies, an agent with tools and a baseline play five weeks, and the report has them', async () => {
  await using server = await sandbox({ server: true });
  const result = await evaluate(server.client);
  expect(result.status).toBe('DONE');
  expect(result.summary.map(({ entrant, cells }) => [entrant, cells]).sort()).toEqual([
    ['baseline:hold', 5],
    ['momentum', 5],
    ['reversal', 5],
    ['tools', 5],
  ]);
  const played = result.matrix.filter(({ entrant }) => entrant === 'tools');
  expect(played.map(({ reason, calls }) => [reason, calls.orders >= 1, calls.steps >= 4])).toEqual(
    played.map(() => ['FINISH', true, true]),
  );
  for (const { stderr, ci95 } of result.summary) {
    expect(stderr).toBeGreaterThan(0);
    expect(ci95).toHaveLength(2);
  }
  expect(result.paired).toHaveLength(6);
  for (const { cells, wins, losses, ties } of result.paired)
    expect([cells, wins + losses + ties]).toEqual([5, 5]);
  const report = reportOf(result);
  expect(report).toContain('| momentum | 5 |');
  expect(
    report.split('\n').filter((line) => /^\| (momentum|reversal|tools|baseline:hold) \| \d \| /.test(line)),
  ).toHaveLength(20 + 4);
}, 60_000);
