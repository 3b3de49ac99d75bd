/** Evaluations over HTTP (D210): one server, small evaluations on synthetic markets. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { canonicalDigest } from '../evaluations/canonical-json.js';
import { verifyEvaluation } from '../evaluations/verify-evaluation.js';
import { openMemoryStore } from '../store/sqlite/memory-store.js';
import { type Body, orderBody, type Reply, TestApp, type TestClient } from '../testing/test-app.js';
import { evaluationReader } from './evaluation-reader.js';

let test: TestApp;
let owner: TestClient;

beforeAll(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
  owner = test.as({ tenantId: 'owner', tier: 'ENTERPRISE', scope: 'trade read simulate admin' });
});
afterAll(() => test.close());

const scenario = (more: { market?: object; rules?: object; [name: string]: unknown } = {}): Body => {
  const { market, rules, ...rest } = more;
  return {
    name: 'a day',
    market: {
      feed: 'synthetic',
      clock: 'manual',
      start: '2026-01-05T14:30:00Z',
      end: '2026-01-06T21:00:00Z',
      ...market,
    },
    rules: {
      initialCash: 100_000,
      portfolioType: 'CASH',
      brokerId: 'default',
      assetClasses: ['EQUITY'],
      symbols: ['AAPL', 'MSFT'],
      ...rules,
    },
    ...rest,
  };
};

const body = (more: Body = {}): Body => ({
  name: 'Agents',
  scenarios: [scenario()],
  score: 'timeWeightedReturn',
  ...more,
});

interface Run {
  readonly client: TestClient;
  readonly cell: Body;
  order(more?: object): Promise<Reply>;
}

async function create(more: Body = {}): Promise<{ readonly path: string; readonly created: Body }> {
  const created = await owner.post('/v1/evaluations', body(more));
  expect(created.status, created.text).toBe(201);
  return { path: `/v1/evaluations/${created.body.evaluationId as string}`, created: created.body };
}

async function enter(path: string, entrant = 'mia'): Promise<{ readonly entryId: string; runs: Run[] }> {
  const entered = await owner.post(`${path}/entries`, { entrant });
  expect(entered.status, entered.text).toBe(201);
  const runs = (entered.body.cells as Body[]).map((cell): Run => {
    const client = test.withToken(cell.token as string);
    return {
      client,
      cell,
      order: (order = {}) =>
        client.post(
          '/v1/orders',
          orderBody(cell.portfolioId as string, {
            symbol: 'AAPL',
            orderType: 'MARKET',
            limitPrice: undefined,
            quantity: 10,
            ...order,
          }),
        ),
    };
  });
  return { entryId: entered.body.entryId as string, runs };
}

const codeOf = ({ body: answer }: Reply): string => (answer as { error: { code: string } }).error.code;

/** The evaluation once all its cells have figures. */
async function done(path: string): Promise<Body> {
  return vi.waitUntil(
    async () => {
      const { body: evaluation } = await owner.get(path);
      const rows = evaluation.matrix as Body[];
      return rows.every(({ journalHash }) => journalHash !== undefined) ? evaluation : undefined;
    },
    { timeout: 10_000, interval: 10 },
  );
}

/** The answer of a list or an export that is not JSON. */
async function textOf(url: string, accept = 'application/json'): Promise<string> {
  const headers = { authorization: `Bearer ${owner.token ?? ''}`, accept };
  const { statusCode, body: text } = await test.app.inject({ method: 'GET', url, headers });
  expect(statusCode, text).toBe(200);
  return text;
}

/** Problems that the verification of an exported file finds. */
async function problemsOf(file: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sandpit-regimes-'));
  try {
    writeFileSync(join(folder, 'evaluation.ndjson'), file);
    const reader = evaluationReader(() => openMemoryStore({ standbyFrom }));
    return (await verifyEvaluation(join(folder, 'evaluation.ndjson'), reader)).problems.join('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const toEnd = (run: Run): Promise<Reply> => run.client.post('/v1/simulation/clock/advance', { by: 'P30D' });

describe('evaluations', () => {
  it('createEvaluation: answers with the digest of the canonical definition, cells and warnings', async () => {
    const { created, path } = await create({ trials: 2, scenarios: [scenario({ seeds: [1, 2] })] });
    expect(created).toMatchObject({ status: 'OPEN', cells: 4, warnings: [{ code: 'FEW_SEEDS' }] });
    const { name: _, ...measured } = body({ trials: 2, scenarios: [scenario({ seeds: [1, 2] })] });
    expect(created.digest).toBe(canonicalDigest(measured));
    const definition = await owner.get(`${path}/definition`);
    const again = await owner.post('/v1/evaluations', { ...definition.body, name: 'Elsewhere' });
    expect(again.body.digest).toBe(created.digest);
  });

  it.each([
    [{ scenarios: undefined }, 'scenarios must be an array, or suite must be given'],
    [{ suite: 'desk' }, 'suite must not be given together with scenarios'],
    [{ trials: 21 }, 'trials must be an integer from 1 to 20'],
    [{ timeLimit: 'P31D' }, 'timeLimit must be a positive ISO 8601 duration of at most P30D'],
    [{ score: 'luck' }, 'score must name figures of the performance or tasksPassed, which luck is not'],
    [
      { scenarios: [scenario({ market: { feed: 'push' } })] },
      'scenarios.0.market.feed must be synthetic or replay',
    ],
    [
      { scenarios: [scenario({ market: { clock: 'wall' } })] },
      'scenarios.0.market.clock must be manual or scaled',
    ],
    [
      { scenarios: [scenario({ market: { regime: 'calm' } })] },
      'scenarios.0.market.regime must be no-edge or an object',
    ],
    [
      { scenarios: [scenario({ market: { regime: { drift: 3, volatility: 0.2 } } })] },
      'scenarios.0.market.regime.drift must not be greater than 2',
    ],
    [
      { scenarios: [scenario({ market: { regime: 'no-edge', feed: 'replay' } })] },
      'scenarios.0.market.regime should not exist for replay feeds',
    ],
    [
      { scenarios: [scenario({ market: { regime: 'no-edge', end: '2029-01-06T21:00:00Z' } })] },
      'scenarios.0.market.end must be at most two years after start for a market with a regime',
    ],
    [
      {
        scenarios: [
          scenario({ market: { regime: 'no-edge' }, rules: { assetClasses: ['EQUITY', 'OPTION'] } }),
        ],
      },
      'scenarios.0.rules.assetClasses must be EQUITY alone for the regime no-edge',
    ],
    [
      { scenarios: [scenario({ rules: { brokerId: 'nobody' } })] },
      expect.stringMatching(/^scenarios\.0\.rules\.brokerId must be one of /) as string,
    ],
  ])('createEvaluation: refuses %j', async (more, message) => {
    const refused = await owner.post('/v1/evaluations', body(more as Body));
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.message).toContainEqual(message);
  });

  it('enterEvaluation: gives a token that trades and moves the clock of its cell, and nothing else', async () => {
    const { path, created } = await create();
    const { runs } = await enter(path);
    const [run] = runs as [Run];
    const own = await run.client.get('/v1/evaluation');
    expect(own.body).toMatchObject({ status: 'RUNNING', end: '2026-01-06T21:00:00.000Z' });
    expect((await run.order()).status).toBe(201);
    expect((await run.client.get('/v1/simulation/clock')).status).toBe(200);
    const refused = [
      await run.client.put('/v1/simulation/clock', { now: '2026-01-05T15:00:00Z' }),
      await run.client.get('/v1/simulations'),
      await run.client.get(`/v1/simulations/${run.cell.simulationId as string}`),
      await run.client.get(`/v1/simulations/${run.cell.simulationId as string}/export`),
      await run.client.post(`/v1/simulations/${run.cell.simulationId as string}/forks`, {}),
      await run.client.get('/v1/evaluations'),
      await run.client.get(path),
      await run.client.get(`${path}/leaderboard`),
      await run.client.get('/v1/competitions'),
      await run.client.post('/v1/simulation/step', { quotes: [] }),
      await run.client.post('/v1/simulation/faults', { match: {}, fault: { status: 500 } }),
      await run.client.get('/v1/webhooks'),
      await run.client.post('/v1/accounts', { name: 'x', accountType: 'INDIVIDUAL' }),
    ];
    expect(refused.map((one) => [one.status, codeOf(one)])).toEqual(refused.map(() => [403, 'ENTRY_TOKEN']));
    const texts = [own, ...refused].map(({ text }) => text).join('');
    for (const hidden of [created.evaluationId as string, 'a day', 'mia', 'trial', 'seed'])
      expect(texts).not.toContain(hidden);
    const step = await run.client.post('/v1/simulation/step', { advance: { by: 'PT1H' } });
    expect(step.body.now).toBe('2026-01-05T15:30:00.000Z');
    const row = (await owner.get(path)).body.matrix[0];
    expect(row.calls).toMatchObject({ orders: 1, refused: 0, steps: 1 });
    // The owner's simulations do not have it.
    const listed = await owner.get('/v1/simulations');
    expect(JSON.stringify(listed.body)).not.toContain(run.cell.simulationId);
    const early = await owner.get(`/v1/simulations/${run.cell.simulationId as string}/export`);
    expect([early.status, codeOf(early)]).toEqual([409, 'EVALUATION_NOT_FINISHED']);
    const stepped = await owner.post('/v1/simulations/step', {
      steps: [{ simulationId: run.cell.simulationId, advance: { by: 'PT1H' } }],
    });
    expect(stepped.body.results[0].error).toBeDefined();
  });

  it('advanceClock: stops at the end, which ends the run with reason END; reads go on', async () => {
    const { path } = await create();
    const { runs } = await enter(path);
    const [run] = runs as [Run];
    await run.order();
    expect((await toEnd(run)).body.now).toBe('2026-01-06T21:00:00.000Z');
    const closed = [await run.order(), await toEnd(run), await run.client.post('/v1/evaluation/finish')];
    expect(closed.map((one) => [one.status, codeOf(one)])).toEqual(
      closed.map(() => [409, 'EVALUATION_NOT_RUNNING']),
    );
    expect((await run.client.get('/v1/evaluation')).body).toMatchObject({ status: 'DONE' });
    const evaluation = await done(path);
    const [row] = evaluation.matrix as [Body];
    expect(evaluation.status).toBe('DONE');
    expect(row).toMatchObject({
      status: 'DONE',
      reason: 'END',
      finishedAt: '2026-01-06T21:00:00.000Z',
      metrics: { from: '2026-01-05T14:30:00.000Z', to: '2026-01-06T21:00:00.000Z', startEquity: 100_000 },
    });
    expect(row.score).toBe(row.metrics.timeWeightedReturn);
    const board = await owner.get(`${path}/leaderboard`);
    expect(board.body.rows).toMatchObject([{ rank: 1, entrant: 'mia', score: row.score, cells: 1 }]);
    expect(board.body.resultHash).toBe(
      createHash('sha256')
        .update(row.journalHash as string)
        .digest('hex'),
    );
  });

  it('a scaled clock: stands until the first request, and ends the run at the end of the market', async () => {
    const market = { clock: 'scaled', speed: 10_000, end: '2026-01-05T15:30:00Z' };
    const { path } = await create({ scenarios: [scenario({ market })] });
    const { runs } = await enter(path);
    const [run] = runs as [Run];
    expect((await owner.get(path)).body.matrix[0]).toMatchObject({ status: 'OPEN' });
    expect((await run.client.get('/v1/evaluation')).status).toBe(200);
    const [row] = (await done(path)).matrix as [Body];
    expect(row).toMatchObject({ reason: 'END', finishedAt: '2026-01-05T15:30:00.000Z' });
    expect((await run.client.post('/v1/simulation/clock/advance', { by: 'PT1H' })).status).toBe(409);
  });

  it('regimes: decide the market of a cell, equal for all entrants, and are verified', async () => {
    const regimes = ['no-edge', { drift: 1, volatility: 0.5, jumps: { perYear: 50, size: 0.1 }, gap: 0.02 }];
    const { path } = await create({
      scenarios: regimes.map((regime, index) => scenario({ name: `market ${index}`, market: { regime } })),
    });
    const priceOf = async ({ client }: Run): Promise<number> =>
      (await client.get('/v1/market-data/quote/AAPL')).body.price as number;
    const first = await enter(path);
    const second = await enter(path, 'noah');
    const begun = await Promise.all(first.runs.map(priceOf));
    // Every symbol begins at its base price: AAPL at 228.40.
    for (const price of begun) expect(Math.abs(price - 228.4)).toBeLessThan(0.05);
    for (const { client } of [...first.runs, ...second.runs])
      await client.post('/v1/simulation/clock/advance', { by: 'PT20H' });
    const moved = await Promise.all(first.runs.map(priceOf));
    expect(await Promise.all(second.runs.map(priceOf))).toEqual(moved);
    expect(moved[0]).not.toBe(moved[1]);
    expect((await first.runs[0]?.client.get('/v1/evaluation'))?.text).not.toMatch(/regime|no-edge/);
    for (const run of [...first.runs, ...second.runs]) await run.client.post('/v1/evaluation/finish');
    await done(path);
    const file = await textOf(`${path}/export`);
    expect(await problemsOf(file)).toBe('');
    const other = file.replace('"regime":"no-edge"', '"regime":{"drift":0,"volatility":0.1}');
    expect(await problemsOf(other)).toContain('market.regime is not that of the journal');
  });

  it('ephemeral: cells are in memory alone, and the evaluation ends with the process', async () => {
    const { path, created } = await create({ ephemeral: true });
    const { runs } = await enter(path);
    await toEnd(runs[0] as Run);
    expect((await done(path)).status).toBe('DONE');
    const file = await textOf(`/v1/evaluations/${created.evaluationId as string}/export`);
    expect(file).toContain('"type":"trailer"');
  });

  it('fixtures: fill each cell before its run, with account ids of its own; figures begin where they end', async () => {
    const filled = scenario({ market: { end: '2026-03-31T20:00:00Z' }, fixture: 'options-desk' });
    const { path } = await create({ scenarios: [filled], trials: 2 });
    const { runs } = await enter(path);
    const accounts = await Promise.all(
      runs.map(async ({ client }) => (await client.get('/v1/accounts')).body.data[0].accountId as string),
    );
    expect(new Set(accounts).size).toBe(2);
    const [run] = runs as [Run];
    const { now } = (await run.client.get('/v1/evaluation')).body as { now: string };
    await toEnd(run);
    await toEnd(run);
    await toEnd(run);
    await (runs[1] as Run).client.post('/v1/evaluation/finish');
    const rows = (await done(path)).matrix as Body[];
    expect(rows.map(({ metrics }) => metrics.from)).toEqual([now, now]);
    expect(rows[0]?.calls.orders).toBe(0);
    const early = await create({ scenarios: [scenario({ fixture: 'active-trader' })] });
    const refused = await owner.post(`${early.path}/entries`, { entrant: 'mia' });
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'Scenario a day: its fixture leads beyond market.end',
    ]);
    expect((await owner.get(early.path)).body).toMatchObject({ status: 'OPEN', matrix: [] });
  });

  it('concurrent requests: one of two equal entries is accepted; a deleted evaluation leaves nothing', async () => {
    const { path } = await create({
      baselines: ['hold', 'noop'],
      scenarios: [scenario({ seeds: [1, 2, 3] })],
    });
    const both = await Promise.all(
      ['mia', 'MIA'].map((entrant) => owner.post(`${path}/entries`, { entrant })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    const [entered] = both.filter(({ status }) => status === 201) as [Reply];
    const { token } = entered.body.cells[0] as { token: string };
    expect((await owner.delete(path)).status).toBe(200);
    expect((await owner.get(path)).status).toBe(404);
    expect((await test.withToken(token).get('/v1/evaluation')).status).toBe(401);
    const other = await create({ baselines: ['noop'] });
    const edits = await Promise.all([2, 3].map((trials) => owner.put(other.path, { trials })));
    expect(edits.map(({ status }) => status)).toEqual([200, 200]);
    const { matrix, cells } = await done(other.path);
    expect([matrix.length, cells]).toEqual([1, 3]);
  });

  it('finishCell: cancels open orders and carries positions to the end', async () => {
    const { path } = await create();
    const { runs } = await enter(path);
    const [run] = runs as [Run];
    await run.order();
    const resting = await run.order({ orderType: 'LIMIT', limitPrice: 1, timeInForce: 'GTC' });
    await run.client.post('/v1/simulation/clock/advance', { by: 'PT1H' });
    const finished = await run.client.post('/v1/evaluation/finish');
    expect(finished.body).toMatchObject({ status: 'DONE' });
    const order = await run.client.get(`/v1/orders/${resting.body.orderId as string}`);
    expect(order.body.status).toBe('CANCELED');
    const [row] = (await done(path)).matrix as [Body];
    expect(row).toMatchObject({ reason: 'FINISH', finishedAt: '2026-01-05T15:30:00.000Z' });
    const held = await run.client.get(`/v1/accounts/portfolios/${run.cell.portfolioId as string}/equities`);
    expect(held.body.data ?? held.body).toHaveLength(1);
    expect(row.metrics.to).toBe('2026-01-06T21:00:00.000Z');
  });

  it('limits: requests, real time and a withdrawal abandon a cell', async () => {
    const { path } = await create({
      callLimit: 2,
      scenarios: [scenario({ seeds: [1, 2, 3] })],
      timeLimit: 'PT1H',
    });
    const { runs, entryId } = await enter(path);
    const [calls, time] = runs as [Run, Run];
    expect((await calls.client.get('/v1/evaluation')).body.callsLeft).toBe(1);
    expect((await calls.order()).status).toBe(201);
    expect(codeOf(await calls.order())).toBe('EVALUATION_NOT_RUNNING');
    expect((await calls.client.get('/v1/evaluation')).body).toMatchObject({
      status: 'ABANDONED',
      callsLeft: 0,
    });
    await time.client.get('/v1/evaluation');
    test.time.nowMs += 3_600_000;
    await owner.delete(`${path}/entries/${entryId}`);
    const evaluation = await done(path);
    expect((evaluation.matrix as Body[]).map(({ status, reason }) => [status, reason])).toEqual([
      ['ABANDONED', 'CALL_LIMIT'],
      ['ABANDONED', 'TIME_LIMIT'],
      ['ABANDONED', 'WITHDRAWN'],
    ]);
    expect(evaluation.summary).toMatchObject([{ entrant: 'mia', cells: 3, abandoned: 3 }]);
  });

  it('markets: are equal for entrants and trials of a seed, and differ between seeds and evaluations', async () => {
    const shape = { trials: 2, scenarios: [scenario({ seeds: [1, 2] })] };
    const { path } = await create(shape);
    const prices = async ({ client }: Run): Promise<unknown> => {
      const quote = await client.get('/v1/market-data/quote/AAPL');
      return [quote.body.bid, quote.body.ask, quote.body.last];
    };
    const of = async (one: string, entrant: string): Promise<unknown[]> => {
      const { runs } = await enter(one, entrant);
      for (const run of runs) await run.client.post('/v1/simulation/clock/advance', { by: 'PT5H' });
      return Promise.all(runs.map(prices));
    };
    const [first, second, third] = (await of(path, 'mia')) as [unknown, unknown, unknown];
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
    expect((await of(path, 'bob'))[0]).toEqual(first);
    const other = await create(shape);
    expect((await of(other.path, 'mia'))[0]).not.toEqual(first);
  });

  it('enterEvaluation: an entrant enters once; names of baselines are reserved; an entry fixes the definition', async () => {
    const { path } = await create();
    expect((await owner.put(path, { trials: 2 })).body).toMatchObject({ cells: 2, status: 'OPEN' });
    await enter(path);
    expect((await owner.post(`${path}/entries`, { entrant: 'MIA' })).status).toBe(409);
    const reserved = await owner.post(`${path}/entries`, { entrant: 'Baseline:hold' });
    expect(reserved.body.message).toEqual(['entrant must not begin with baseline:']);
    const late = await owner.put(path, { trials: 1 });
    expect([late.status, codeOf(late)]).toEqual([409, 'EVALUATION_STARTED']);
  });

  it('baselines: hold and noop are played over the whole market', async () => {
    const { path } = await create({ baselines: ['hold', 'random', 'noop'] });
    const evaluation = await done(path);
    const rows = evaluation.matrix as Body[];
    expect(rows.map(({ entrant, reason }) => [entrant, reason])).toEqual([
      ['baseline:hold', 'END'],
      ['baseline:noop', 'END'],
      ['baseline:random', 'END'],
    ]);
    const [hold, noop, random] = rows as [Body, Body, Body];
    expect(hold.calls.orders).toBe(2);
    expect(hold.metrics.pnl).not.toBe(0);
    expect(noop.score).toBe(0);
    expect(Number(random.calls.orders) + Number(random.calls.refused)).toBeLessThanOrEqual(2);
    expect(evaluation.status).toBe('OPEN');
    expect(evaluation.paired).toHaveLength(3);
  });

  it('tasks: are graded, and one that doing nothing passes is trivial in every row', async () => {
    const tasks = [
      {
        name: 'buy',
        instructions: 'Hold ten shares of AAPL.',
        assert: [{ when: 'end', position: { symbol: 'AAPL', quantity: 10 } }],
      },
      { name: 'rest', instructions: 'Keep cash.', assert: [{ when: 'end', cash: { min: 0 } }] },
    ];
    const { path } = await create({
      scenarios: [scenario({ tasks, instructions: 'Be careful.' })],
      score: 'tasksPassed',
      reveal: true,
    });
    const { runs } = await enter(path);
    const [run] = runs as [Run];
    expect((await run.client.get('/v1/evaluation')).body.instructions).toBe(
      'Be careful.\n\nHold ten shares of AAPL.\n\nKeep cash.',
    );
    await run.order();
    await toEnd(run);
    const { matrix, summary } = await done(path);
    const [noop, mia] = matrix as [Body, Body];
    expect(mia.tasks).toEqual([
      { name: 'buy', passed: true },
      { name: 'rest', passed: true, trivial: true },
    ]);
    expect(noop.tasks).toMatchObject([
      { name: 'buy', passed: false, why: { assertion: 0 } },
      { trivial: true },
    ]);
    expect(mia.score).toBe(1);
    expect(summary).toMatchObject([{ tasksPassed: 0.5 }, { tasksPassed: 1, passAt: { 1: 1 } }]);
    expect((await run.client.get('/v1/evaluation')).body.tasks).toHaveLength(2);
  });

  it('reportUsage: adds up', async () => {
    const { path } = await create();
    const { runs } = await enter(path);
    const [run] = runs as [Run];
    await run.client.post('/v1/evaluation/usage', { inputTokens: 10, costUsd: 0.1 });
    const usage = await run.client.post('/v1/evaluation/usage', {
      inputTokens: 5,
      costUsd: 0.2,
      transcript: 'hi',
    });
    expect(usage.body).toEqual({ inputTokens: 15, outputTokens: 0, costUsd: 0.3, transcripts: 1 });
    expect((await owner.get(path)).body.matrix[0].usage).toEqual(usage.body);
  });

  it('getEvaluationMatrix: has pages, CSV with a line a cell, and lines of JSON', async () => {
    const { path } = await create({ baselines: ['hold'], scenarios: [scenario({ seeds: [1, 2] })] });
    await done(path);
    const page = await owner.get(`${path}/matrix?limit=1`);
    expect(page.body).toMatchObject({ data: [{ seed: 1 }], pagination: { total: 2 } });
    const csv = await textOf(`${path}/matrix`, 'text/csv');
    const [heading = '', ...lines] = csv.trim().split('\r\n');
    expect(heading).toContain('metrics.maxDrawdown.fraction');
    expect(lines).toHaveLength(2);
    const json = await textOf(`${path}/matrix`, 'application/x-ndjson');
    expect(
      json
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).seed),
    ).toEqual([1, 2]);
  });

  it('exportEvaluation: has the draw, the rows and the journals once all cells have ended', async () => {
    const { path } = await create();
    const { runs } = await enter(path);
    const early = await owner.get(`${path}/export`);
    expect([early.status, codeOf(early)]).toEqual([409, 'EVALUATION_NOT_FINISHED']);
    await toEnd(runs[0] as Run);
    await done(path);
    const file = await textOf(`${path}/export`);
    const lines = file
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({
      type: 'evaluation',
      format: 2,
      draw: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
    });
    expect(lines[1]).toMatchObject({ type: 'row', entrant: 'mia' });
    expect(lines.at(-1)).toMatchObject({ type: 'trailer', hash: lines[1]?.journalHash as string });
    expect(file).not.toContain((runs[0] as Run).cell.token);
    const log = JSON.parse(await textOf(`${path}/export?format=inspect&entrant=mia`));
    expect(log).toMatchObject({ version: 2, samples: [{ id: 'a day/1', epoch: 1 }] });
  });

  it('a restart: continues runs with their counts, and completes those that have ended', async () => {
    const other = await TestApp.open();
    const grant = { tenantId: 'owner', tier: 'ENTERPRISE' as const, scope: 'trade read simulate' };
    const first = other.as(grant);
    const { evaluationId } = (await first.post('/v1/evaluations', body({ callLimit: 10 }))).body;
    const path = `/v1/evaluations/${evaluationId as string}`;
    const { cells } = (await first.post(`${path}/entries`, { entrant: 'mia' })).body;
    const { token } = cells[0] as { token: string };
    await other.withToken(token).get('/v1/evaluation');
    await other.withToken(token).post('/v1/simulation/clock/advance', { by: 'PT1H' });
    const again = await other.restart();
    again.time.nowMs = other.time.nowMs;
    const own = await again.withToken(token).get('/v1/evaluation');
    expect(own.body).toMatchObject({ now: '2026-01-05T15:30:00.000Z', status: 'RUNNING', callsLeft: 7 });
    await again.withToken(token).post('/v1/simulation/clock/advance', { by: 'P30D' });
    const third = await again.restart();
    await vi.waitUntil(
      async () => (await third.as(grant).get(path)).body.matrix[0].journalHash !== undefined,
      { timeout: 10_000, interval: 10 },
    );
    const { matrix, status } = (await third.as(grant).get(path)).body;
    expect([status, matrix[0].reason, matrix[0].calls.requests]).toEqual(['DONE', 'END', 4]);
    await third.as(grant).delete(path);
    expect((await third.withToken(token).get('/v1/evaluation')).status).toBe(401);
    await third.close();
  });

  it('every route: answers 404 to other tenants; a public leaderboard needs no token', async () => {
    const { path } = await create({ visibility: 'PUBLIC', baselines: ['noop'] });
    const { entryId } = await enter(path);
    const other = test.as({ tenantId: 'other', tier: 'ENTERPRISE', scope: 'trade read simulate admin' });
    const replies = [
      await other.get(path),
      await other.put(path, { trials: 2 }),
      await other.delete(path),
      await other.get(`${path}/definition`),
      await other.post(`${path}/entries`, { entrant: 'spy' }),
      await other.get(`${path}/entries`),
      await other.delete(`${path}/entries/${entryId}`),
      await other.get(`${path}/matrix`),
      await other.get(`${path}/export`),
    ];
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
    expect((await other.get('/v1/evaluations')).body.data).toEqual([]);
    const board = await test.withToken(undefined).get(`${path}/leaderboard`);
    expect(board.status).toBe(200);
    expect(board.text).not.toContain('portfolioId');
    const hidden = await create();
    expect((await test.withToken(undefined).get(`${hidden.path}/leaderboard`)).status).toBe(404);
    const plain = test.as({ tenantId: 'plain', tier: 'ENTERPRISE', scope: 'trade read simulate' });
    expect(codeOf(await plain.post('/v1/evaluations', body({ visibility: 'PUBLIC' })))).toBe(
      'INSUFFICIENT_SCOPE',
    );
    expect((await owner.get('/v1/evaluation')).status).toBe(404);
  });
});
