/** Results of an evaluation: figures, the exported file, its verification, and the log for Inspect (D210, D211). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { DESK } from '../evaluations/desk.js';
import { verifyEvaluation } from '../evaluations/verify-evaluation.js';
import { openMemoryStore } from '../store/sqlite/memory-store.js';
import { DESK_SCRIPTS, type DeskScript, DeskTrader } from '../testing/desk-scripts.js';
import { type Body, TestApp, type TestClient } from '../testing/test-app.js';
import { evaluationReader } from './evaluation-reader.js';
import { evaluationDigest } from './translate/evaluations.js';

const PLAYED = ['carry nothing overnight', 'realize the loss'];

let test: TestApp;
let owner: TestClient;
let folder: string;
let path: string;
let shown: Body;
/** Lines of the exported file. */
let lines: readonly string[];

const wrongOf = (name: string): DeskScript =>
  DESK_SCRIPTS[name]?.wrong[0]?.script ?? (() => Promise.reject(new Error('no script')));
const solutionOf = (name: string): DeskScript =>
  DESK_SCRIPTS[name]?.solution ?? (() => Promise.reject(new Error('no script')));

async function enter(entrant: string, scriptOf: (scenario: string) => DeskScript): Promise<void> {
  const entered = await owner.post(`${path}/entries`, { entrant, model: 'm-1' });
  expect(entered.status, entered.text).toBe(201);
  for (const { scenario, token, portfolioId } of entered.body.cells as Body[]) {
    const client = test.withToken(token as string);
    await scriptOf(scenario as string)(new DeskTrader(client, portfolioId as string));
    const usage = { inputTokens: 100, outputTokens: 10, costUsd: 0.25 };
    expect((await client.post('/v1/evaluation/usage', usage)).status).toBe(200);
    const finished = await client.post('/v1/evaluation/finish');
    expect(finished.status, finished.text).toBe(200);
  }
}

/** The body of an export. */
async function exported(query = ''): Promise<string> {
  const { statusCode, body } = await test.app.inject({
    method: 'GET',
    url: `${path}/export${query}`,
    headers: { authorization: `Bearer ${owner.token ?? ''}` },
  });
  expect(statusCode, body).toBe(200);
  return body;
}

beforeAll(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
  owner = test.as({ tenantId: 'owner', tier: 'ENTERPRISE' });
  folder = mkdtempSync(join(tmpdir(), 'sandpit-evaluation-'));
  const created = await owner.post('/v1/evaluations', {
    name: 'Two tasks',
    scenarios: DESK.scenarios.filter(({ name }) => PLAYED.includes(name)),
    score: { tasksPassed: 1, timeWeightedReturn: 1 },
  });
  expect(created.status, created.text).toBe(201);
  path = `/v1/evaluations/${String(created.body.evaluationId)}`;
  await enter('solver', solutionOf);
  await enter('loser', wrongOf);
  await vi.waitFor(
    async () => expect((await owner.get(path)).body).toMatchObject({ status: 'DONE' }),
    10_000,
  );
  shown = (await owner.get(path)).body;
  lines = (await exported()).trimEnd().split('\n');
}, 30_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await test.close();
});

const reader = evaluationReader(() => openMemoryStore({ standbyFrom }));

async function verified(text: readonly string[], score?: string): ReturnType<typeof verifyEvaluation> {
  const file = join(folder, 'evaluation.ndjson');
  writeFileSync(file, `${text.join('\n')}\n`);
  return verifyEvaluation(file, reader, score);
}

const rowOf = (entrant: string, scenario: string): Body =>
  (shown.matrix as Body[]).find((row) => row.entrant === entrant && row.scenario === scenario);

describe('getEvaluation: the results of tasks', () => {
  it('has the task of each cell, and why it failed', () => {
    for (const name of PLAYED) {
      expect(rowOf('solver', name).tasks).toEqual([{ name, passed: true }]);
      expect(rowOf('loser', name).tasks).toMatchObject([
        { name, passed: false, why: { assertion: DESK_SCRIPTS[name]?.wrong[0]?.assertion } },
      ]);
      expect(rowOf('baseline:noop', name).tasks).toMatchObject([{ name, passed: false }]);
    }
  });

  it('scores, sums up and pairs', () => {
    const { summary, paired }: { summary: Body[]; paired: Body[] } = shown;
    const of = (entrant: string): Body => summary.find((row) => row.entrant === entrant);
    expect(of('solver')).toMatchObject({
      cells: 2,
      tasksPassed: 1,
      passAt: { '1': 1 },
      passHat: { '1': 1 },
      model: 'm-1',
      inputTokens: 200,
      costUsd: 0.5,
    });
    expect(of('loser')).toMatchObject({ cells: 2, tasksPassed: 0, passAt: { '1': 0 } });
    const pair = paired.find(({ a, b }) => [a, b].sort().join() === 'loser,solver');
    const { score: one } = rowOf('solver', PLAYED[0] ?? '');
    const { score: other } = rowOf('loser', PLAYED[0] ?? '');
    expect(pair).toMatchObject({ cells: 2, [pair.a === 'solver' ? 'wins' : 'losses']: 2, ties: 0 });
    expect(one - other).toBeGreaterThan(0.5);
  });
});

describe('sandpit eval verify: the exported file', () => {
  it('follows from its journals', async () => {
    const { problems, ranks, records } = await verified(lines);
    expect(problems).toEqual([]);
    expect(ranks[0]).toMatchObject({ rank: 1, entrant: 'solver' });
    expect(records).toBeGreaterThan(20);
  });

  it('ranks by another score', async () => {
    const { ranks, problems } = await verified(lines, 'maxDrawdown.fraction');
    expect(problems).toEqual([]);
    expect(ranks.map(({ score }) => score)).toEqual(
      ranks.map(({ score }) => score).toSorted((a, b) => b - a),
    );
  });

  function changedLine(text: string | undefined, change: (line: Body) => unknown): string {
    const line: Body = JSON.parse(text ?? '');
    change(line);
    return JSON.stringify(line);
  }
  const rowLine = (entrant: string): number =>
    lines.findIndex((line) => line.startsWith('{"type":"row"') && line.includes(`"entrant":"${entrant}"`));

  it('names every field of the rows that was changed', async () => {
    const changes: readonly (readonly [entrant: string, change: (row: Body) => unknown])[] = [
      ['solver', (row) => (row.score = 77)],
      ['solver', (row) => (row.metrics.endEquity = 77)],
      ['loser', (row) => (row.tasks = [{ name: row.tasks[0].name, passed: true }])],
      ['loser', (row) => (row.journalHash = '0'.repeat(64))],
      ['baseline:noop', (row) => (row.entrant = 'solver')],
    ];
    const text = [...lines];
    for (const [entrant, change] of changes) {
      const number = rowLine(entrant);
      text[number] = changedLine(text[number], change);
    }
    const problems = (await verified(text)).problems.join('\n');
    for (const problem of [
      /solver.*score is not that of the journal/,
      /solver.*metrics\.endEquity is not that of the journal/,
      /loser.*task .* is not that of the journal/,
      /loser.*journalHash is not that of the journal/,
      /noop.*entrant is not that of the journal/,
    ])
      expect(problems).toMatch(problem);
  });

  it('names every field of the first line that was changed', async () => {
    const text = [...lines];
    text[0] = changedLine(text[0], (head) => {
      head.summary[0].mean = 77;
      head.paired[0].wins = 77;
      head.resultHash = '0'.repeat(64);
      head.draw = '0'.repeat(32);
      head.definition.scenarios[0].rules.initialCash = 77;
    });
    const problems = (await verified(text)).problems.join('\n');
    for (const problem of [
      /summary of .*: mean does not follow from the rows/,
      /the pairs do not follow from the rows/,
      /resultHash is not that of the journals/,
      /its seed does not follow from the draw/,
      /digest is not that of the definition/,
      /rules\.initialCash is not that of the journal/,
    ])
      expect(problems).toMatch(problem);
  });

  it('names another definition, even with its own digest, and missing cells', async () => {
    const text = [...lines];
    text[0] = changedLine(text[0], (head) => {
      head.definition.scenarios[0].tasks[0].assert = [{ when: 'end', cash: { min: 0 } }];
      head.digest = evaluationDigest(head.definition, undefined);
      head.entries[0].cells.pop();
    });
    const problems = (await verified(text)).problems.join('\n');
    expect(problems).toContain('its journal was begun with another definition');
    expect(problems).toContain('its cells are not one for each scenario, seed and trial');
  });

  it('refuses a journal that was changed, and a file that was cut', async () => {
    const record = lines.findIndex((line) => line.startsWith('{"seq":') && line.includes('OrderAccepted'));
    const other = lines.map((line, index) =>
      index === record ? line.replace('"quantity":', '"quantity":1') : line,
    );
    await expect(verified(other)).rejects.toThrow(/damaged|hash/);
    await expect(verified(lines.slice(0, -1))).rejects.toThrow('cut short');
    const simulations = lines.flatMap((line, index) => (line.startsWith('{"type":"header"') ? [index] : []));
    const { problems } = await verified(lines.slice(0, simulations.at(-1)));
    expect(problems.join('\n')).toContain('the file is cut short');
    await expect(verified(lines.slice(1))).rejects.toThrow('not the export of an evaluation');
  });
});

describe('exportEvaluation: the log for Inspect', () => {
  it('has a sample for each scenario and seed, with the score and each task', async () => {
    const log: Body = JSON.parse(await exported('?format=inspect&entrant=loser'));
    expect(log).toMatchObject({ version: 2, status: 'success', eval: { model: 'm-1' } });
    expect(log.eval.metadata).toMatchObject({ digest: shown.digest });
    expect(log.samples.map(({ id, epoch }: Body) => [id, epoch])).toEqual(
      PLAYED.map((name) => [`${name}/1`, 1]),
    );
    const [sample] = log.samples as Body[];
    expect(sample.target).toEqual([PLAYED[0]]);
    expect(sample.input).toContain('Buy at least 10 shares of AAPL');
    expect(sample.scores.score.value).toBe(rowOf('loser', PLAYED[0] ?? '').score);
    expect(sample.scores[PLAYED[0] ?? '']).toMatchObject({
      value: 'I',
      explanation: expect.stringContaining('AAPL'),
    });
    const [score] = log.results.scores as Body[];
    const own = (shown.summary as Body[]).find(({ entrant }) => entrant === 'loser');
    expect(score).toMatchObject({
      name: 'score',
      metrics: { mean: { value: own.mean }, stderr: { value: own.stderr } },
    });
    expect(log.stats.model_usage['m-1']).toMatchObject({
      input_tokens: 200,
      output_tokens: 20,
      total_tokens: 220,
    });
  });
});

describe('sandpit eval verify: a masked recording', () => {
  it('grades by the symbols and instants of the recording', async () => {
    const replay = await TestApp.open({
      settings: { REPLAY_PATH: 'samples/equities', RATE_LIMIT_DEFAULT: '100000' },
    });
    try {
      const by = replay.as({ tenantId: 'owner', tier: 'ENTERPRISE' });
      const created = await by.post('/v1/evaluations', {
        name: 'Masked',
        scenarios: [
          {
            name: 'january',
            market: {
              feed: 'replay',
              replay: 'AAPL,MSFT',
              clock: 'manual',
              start: '2012-01-03T14:30:00Z',
              end: '2012-01-06T21:00:00Z',
            },
            rules: {
              initialCash: 100_000,
              portfolioType: 'CASH',
              brokerId: 'default',
              assetClasses: ['EQUITY'],
              symbols: ['AAPL'],
            },
            tasks: [
              {
                name: 'ten',
                instructions: 'Buy ten shares.',
                assert: [
                  { when: 'end', until: '2012-01-04T21:00:00Z', position: { symbol: 'AAPL', quantity: 10 } },
                  { when: 'end', position: { symbol: 'AAPL', quantity: 11 } },
                ],
              },
            ],
          },
        ],
        score: 'timeWeightedReturn',
      });
      expect(created.status, created.text).toBe(201);
      path = `/v1/evaluations/${String(created.body.evaluationId)}`;
      const entered = await by.post(`${path}/entries`, { entrant: 'buyer' });
      const [{ token, portfolioId }] = entered.body.cells as [Body];
      const client = replay.withToken(token as string);
      const own = await client.get('/v1/evaluation');
      const [ticker] = own.body.rules.symbols as [string];
      expect(ticker).not.toBe('AAPL');
      await client.post('/v1/simulation/clock/advance', { by: 'PT2H' });
      await new DeskTrader(client, portfolioId as string).order('BUY_TO_OPEN', 10, ticker, {
        assetClass: 'EQUITY',
      });
      await client.post('/v1/evaluation/finish');
      await vi.waitFor(
        async () => expect((await by.get(path)).body).toMatchObject({ status: 'DONE' }),
        10_000,
      );
      const { matrix } = (await by.get(path)).body as { matrix: Body[] };
      expect(matrix.find(({ entrant }) => entrant === 'buyer').tasks).toMatchObject([
        {
          passed: false,
          why: {
            assertion: 1,
            at: '2012-01-06T21:00:00.000Z',
            got: 10,
            text: 'At 2012-01-06T21:00:00.000Z the position in AAPL was 10; expected exactly 11.',
          },
        },
      ]);
      const { body } = await replay.app.inject({
        method: 'GET',
        url: `${path}/export`,
        headers: { authorization: `Bearer ${by.token ?? ''}` },
      });
      expect((await verified(body.trimEnd().split('\n'))).problems).toEqual([]);
    } finally {
      await replay.close();
    }
  });
});
