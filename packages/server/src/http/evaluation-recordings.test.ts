/** Evaluations on a recording (D209, D210): masks of cells, warnings, tasks and imports in symbols of the recording. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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
