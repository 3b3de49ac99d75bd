/** Evaluations on a recording (D209, D210): masks of cells, warnings, tasks and imports in symbols of the recording. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { alpacaSender, keyPairOf } from '../testing/alpaca.js';
import { type Body, orderBody, TestApp, type TestClient } from '../testing/test-app.js';

/** Daily bars of two shares in March 2013. */
function recording(): string {
  const path = mkdtempSync(join(tmpdir(), 'sandpit-evaluation-'));
  let daily = 'date,symbol,open,high,low,close,volume\n';
  for (let day = 1; day <= 28; day += 1) {
    if ([0, 6].includes(new Date(Date.UTC(2013, 2, day)).getUTCDay())) continue;
    const date = `2013-03-${String(day).padStart(2, '0')}`;
    daily += `${date},YAKKA,20.10,20.40,19.90,20.20,100000\n`;
    daily += `${date},ZEBRA,${50 + day}.00,${50 + day}.50,${50 + day}.00,${50 + day}.25,250000\n`;
  }
  writeFileSync(join(path, 'daily_bars.csv'), daily);
  return path;
}

const path = recording();
let test: TestApp;
let owner: TestClient;

beforeAll(async () => {
  test = await TestApp.open({ settings: { REPLAY_PATH: path, RATE_LIMIT_DEFAULT: '100000' } });
  owner = test.as({ tenantId: 'owner', tier: 'ENTERPRISE', scope: 'trade read simulate' });
});
afterAll(async () => {
  await test.close();
  rmSync(path, { recursive: true });
});

const scenario = (name: string, market: object = {}, more: object = {}): Body => ({
  name,
  market: {
    feed: 'replay',
    clock: 'manual',
    start: '2013-03-11T10:00:00-04:00',
    end: '2013-03-15T16:00:00-04:00',
    replay: 'ZEBRA,YAKKA',
    ...market,
  },
  rules: {
    initialCash: 100_000,
    portfolioType: 'CASH',
    brokerId: 'default',
    assetClasses: ['EQUITY'],
    symbols: ['ZEBRA', 'YAKKA'],
  },
  ...more,
});

/** Tickers and dates of the recording. */
const OF_THE_RECORDING = /ZEBRA|YAKKA|2013-03/;

it('createEvaluation: warns of shared days and of recordings that are shown; unknown symbols are 400', async () => {
  const create = (...scenarios: Body[]) =>
    owner.post('/v1/evaluations', { name: 'Cup', scenarios, score: 'timeWeightedReturn' });
  const warned = await create(
    scenario('one'),
    scenario('two', { mask: false, start: '2013-03-15T10:00:00-04:00', end: '2013-03-20T16:00:00-04:00' }),
    scenario('three', { start: '2013-03-21T10:00:00-04:00', end: '2013-03-22T16:00:00-04:00' }),
  );
  expect(warned.body.warnings).toMatchObject([
    { code: 'OVERLAP', scenarios: ['one', 'two'] },
    { code: 'UNMASKED', scenarios: ['two'] },
    { code: 'FEW_SEEDS' },
  ]);
  const unknown = await create(scenario('one', { replay: 'NOBODY' }));
  expect(unknown.status, unknown.text).toBe(400);
});

it('cells: no answer shows a ticker or a date of the recording, and each cell has a mask of its own', async () => {
  const tasks = [
    {
      name: 'hold',
      instructions: 'Keep your first position.',
      assert: [
        { when: 'always', from: '2013-03-12', position: { symbol: 'ZEBRA', quantity: 10 } },
        { when: 'end', noPosition: { symbol: 'YAKKA' } },
      ],
    },
  ];
  const imported = { import: { positions: [{ symbol: 'ZEBRA', quantity: 10, price: 55 }] } };
  const created = await owner.post('/v1/evaluations', {
    name: 'Cup',
    scenarios: [scenario('one', {}, { tasks, fixture: imported })],
    trials: 2,
    baselines: ['hold'],
    score: 'tasksPassed',
  });
  expect(created.status, created.text).toBe(201);
  const at = `/v1/evaluations/${created.body.evaluationId as string}`;
  const entered = await owner.post(`${at}/entries`, { entrant: 'mia' });
  expect(entered.status, entered.text).toBe(201);
  const tickers: string[] = [];
  for (const { token, portfolioId } of entered.body.cells as { token: string; portfolioId: string }[]) {
    const client = test.withToken(token);
    const own = await client.get('/v1/evaluation');
    const symbols = own.body.rules.symbols as string[];
    tickers.push(symbols.join());
    const seen = [
      own,
      await client.get(`/v1/accounts/portfolios/${portfolioId}`),
      await client.get(`/v1/accounts/portfolios/${portfolioId}/equities`),
      await client.get(`/v1/accounts/portfolios/${portfolioId}/activities`),
      await client.get('/v1/instruments'),
      await client.get(`/v1/market-data/quote/${symbols[0] ?? ''}`),
      await client.post('/v1/orders', orderBody(portfolioId, { symbol: 'ZEBRA', quantity: 1 })),
      await client.get('/v1/market-data/quote/AAPL'),
      await client.post('/v1/simulation/clock/advance', { by: 'P30D' }),
      await client.get(`/v1/accounts/portfolios/${portfolioId}/performance`),
    ];
    for (const { text } of seen)
      expect(text.replace('"ZEBRA"', '').replace('symbol ZEBRA', '')).not.toMatch(OF_THE_RECORDING);
    expect(own.text).not.toMatch(OF_THE_RECORDING);
  }
  expect(new Set(tickers).size).toBe(2);
  const evaluation = await vi.waitUntil(
    async () => {
      const { body } = await owner.get(at);
      return (body.matrix as Body[]).every(({ journalHash }) => journalHash !== undefined) ? body : undefined;
    },
    { timeout: 20_000, interval: 20 },
  );
  const rows = evaluation.matrix as Body[];
  const mia = rows.filter(({ entrant }) => entrant === 'mia');
  expect(mia.map(({ tasks: results }) => results)).toEqual(
    mia.map(() => [{ name: 'hold', passed: true, trivial: true }]),
  );
  const hold = rows.find(({ entrant }) => entrant === 'baseline:hold');
  expect(hold?.calls.orders).toBe(2);
});

it('cells: dialects and repeated keys tell an entrant nothing of the recording, of other cells, or after its end', async () => {
  const created = await owner.post('/v1/evaluations', {
    name: 'Doors',
    scenarios: [scenario('secret scenario', {}, { seeds: ['secret seed'] })],
    trials: 2,
    score: 'timeWeightedReturn',
  });
  const at = `/v1/evaluations/${created.body.evaluationId as string}`;
  const { body: entered } = await owner.post(`${at}/entries`, { entrant: 'secret entrant' });
  const [first, second] = entered.cells as { token: string; portfolioId: string; simulationId: string }[];
  if (first === undefined || second === undefined) throw new Error('there are no two cells');
  const buy = async ({ token, portfolioId }: typeof first): Promise<number> => {
    const client = test.withToken(token);
    const { rules } = (await client.get('/v1/evaluation')).body as { rules: { symbols: string[] } };
    const order = { symbol: rules.symbols[0], orderType: 'MARKET', limitPrice: undefined, quantity: 1 };
    const { status } = await client.post('/v1/orders', orderBody(portfolioId, order), {
      'idempotency-key': 'one',
    });
    return status;
  };
  // A key that another cell has used is free.
  expect([await buy(first), await buy(second)]).toEqual([201, 201]);
  const client = test.withToken(first.token);
  // The true ticker of a masked recording gets the same refusal as an unknown symbol.
  const [real, invented] = await Promise.all(
    ['ZEBRA', 'QQQQQ'].map(async (symbol) => [
      (await client.post('/v1/orders', orderBody(first.portfolioId, { symbol }))).text.replaceAll(symbol, ''),
      (await client.get(`/v1/market-data/quote/${symbol}`)).text,
      (await client.get(`/v1/market-data/bars/${symbol}?timeframe=1Day`)).text,
    ]),
  );
  expect(real).toEqual(invented);
  const send = alpacaSender(test, await keyPairOf(client, first.portfolioId));
  const seen = await Promise.all(
    ['/v2/account', '/v2/assets', '/v2/orders?status=all', '/v2/positions', '/v2/clock'].map(async (path) =>
      JSON.stringify((await send('GET', path)).body),
    ),
  );
  const counted = ((await owner.get(at)).body.matrix as Body[])[0].calls.requests as number;
  expect(counted).toBeGreaterThanOrEqual(8 + seen.length);
  for (const hidden of [
    'secret',
    second.simulationId,
    second.portfolioId,
    created.body.evaluationId as string,
  ])
    expect(seen.join()).not.toContain(hidden);
  expect(seen.join()).not.toMatch(OF_THE_RECORDING);
  await client.post('/v1/evaluation/finish');
  const late = await send('POST', '/v2/orders', {
    symbol: 'ANY',
    qty: '1',
    side: 'buy',
    type: 'market',
    time_in_force: 'day',
  });
  expect(late.status).toBe(422);
});

it('tools: a cell has those of its run, and none that create, push or fork', async () => {
  const created = await owner.post('/v1/evaluations', {
    name: 'Tools',
    scenarios: [scenario('one', {}, { instructions: 'Earn something.' })],
    score: 'timeWeightedReturn',
  });
  const entered = await owner.post(`/v1/evaluations/${created.body.evaluationId as string}/entries`, {
    entrant: 'mia',
  });
  const { token } = (entered.body.cells as { token: string }[])[0] as { token: string };
  const ask = async (by: string, method: string, params: object = {}): Promise<Body> => {
    const { body: text } = await test.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { authorization: `Bearer ${by}`, accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method, params },
    });
    const body = JSON.parse(text);
    return body.result ?? body.error;
  };
  const namesFor = async (by: string): Promise<string[]> =>
    ((await ask(by, 'tools/list')).tools as Body[]).map(({ name }) => name as string);
  const names = await namesFor(token);
  expect(names.filter((name) => name === 'advance')).toHaveLength(1);
  expect(names).toEqual(expect.arrayContaining(['get_run', 'finish_run', 'report_usage', 'place_order']));
  for (const name of ['create_simulation', 'fork', 'update_market', 'script'])
    expect(names).not.toContain(name);
  expect(await namesFor(owner.token ?? '')).not.toContain('get_run');
  const call = async (name: string, given: object = {}): Promise<Body> =>
    (await ask(token, 'tools/call', { name, arguments: given })).structuredContent;
  expect((await call('get_run')).result).toMatchObject({
    instructions: 'Earn something.',
    status: 'RUNNING',
  });
  expect((await call('update_market', { quotes: [] })).error).toBeDefined();
  expect((await call('advance', { by: 'PT1H', speed: 9 })).error.statusCode).toBe(400);
  expect((await call('advance', { by: 'P30D' })).result.now).toBe((await call('get_run')).result.end);
  expect((await call('finish_run')).error.code).toBe('EVALUATION_NOT_RUNNING');
});
