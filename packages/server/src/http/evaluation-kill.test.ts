/** Evaluations whose server is killed in the middle (D210): the same results as without. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { killable } from '../testing/killable-store.js';
import { type Body, orderBody, TestApp, type TestClient } from '../testing/test-app.js';

const GRANT = { tenantId: 'owner', tier: 'ENTERPRISE' as const, scope: 'trade read simulate' };
const SETTINGS = { settings: { RATE_LIMIT_DEFAULT: '100000' } };
let first: TestApp;
beforeAll(async () => {
  first = await TestApp.open(SETTINGS);
});
afterAll(() => first.store.close());

const EVALUATION: Body = {
  name: 'Killed',
  scenarios: [
    {
      name: 'three days',
      market: {
        feed: 'synthetic',
        clock: 'manual',
        start: '2026-01-05T14:30:00Z',
        end: '2026-01-07T21:00:00Z',
      },
      rules: {
        initialCash: 100_000,
        portfolioType: 'MARGIN',
        brokerId: 'default',
        assetClasses: ['EQUITY'],
        symbols: ['AAPL', 'MSFT', 'SPY'],
      },
      tasks: [
        {
          name: 'hold ten',
          instructions: 'Hold ten shares of AAPL.',
          assert: [{ when: 'end', position: { symbol: 'AAPL', quantity: 10 } }],
        },
      ],
    },
  ],
  baselines: ['hold', 'random'],
  timeLimit: 'P1D',
  score: 'timeWeightedReturn',
};

/** The evaluation once every cell has figures. */
const done = (client: TestClient, path: string): Promise<Body> =>
  vi.waitUntil(
    async () => {
      const { body } = await client.get(path);
      const rows = body.matrix as Body[];
      return rows.length > 0 && rows.every(({ journalHash }) => journalHash !== undefined) ? body : undefined;
    },
    { timeout: 15_000, interval: 5 },
  );

/** Fields that must be equal with and without a kill. Ids, journal hashes (they contain ids), real times and counts of calls differ. */
const resultsOf = ({ matrix }: Body): Body[] =>
  (matrix as Body[]).map(({ entrant, score, metrics, tasks, finishedAt, reason }) => ({
    entrant,
    score,
    metrics,
    tasks,
    finishedAt,
    reason,
  }));

it('baselines: a kill at any write leaves the results that they have without it', async () => {
  const { store } = first;
  const owner = first.as(GRANT);
  const created = await owner.post('/v1/evaluations', EVALUATION);
  expect(created.status, created.text).toBe(201);
  const path = `/v1/evaluations/${created.body.evaluationId as string}`;
  const original = resultsOf(await done(owner, path));
  expect(original.map(({ entrant }) => entrant)).toEqual([
    'baseline:hold',
    'baseline:noop',
    'baseline:random',
  ]);
  await first.app.close();
  await first.simulations.close();
  const kills: readonly ((name: string, count: number) => boolean)[] = [
    ...[2, 9, 16, 22, 30].map((wanted) => (_: string, count: number) => count === wanted),
    // The note that a cell has ended, and the one with its figures.
    ...[1, 4].map((wanted) => {
      let seen = 0;
      return (name: string): boolean => name.startsWith('evaluation-cell/') && (seen += 1) > 3 + wanted;
    }),
  ];
  for (const isIt of kills) {
    const process = killable(store);
    const dying = await TestApp.open({ ...SETTINGS, store: process.store });
    const client = dying.as(GRANT);
    // Played again from the beginning, by the same draw.
    await client.put(path, { timeLimit: 'PT2H' });
    const killed = process.killAt(isIt);
    void client.put(path, { timeLimit: 'P1D' }).catch(() => undefined);
    await killed;
    const next = await TestApp.open({ ...SETTINGS, store });
    const again = next.as(GRANT);
    // The edit was not answered: it has happened or not.
    await again.put(path, { timeLimit: 'P1D' });
    expect(resultsOf(await done(again, path))).toEqual(original);
    await next.app.close();
    await next.simulations.close();
  }
}, 60_000);

it('an entrant: a kill in the middle of its run, at its end and while it is settled changes nothing', async () => {
  const { store } = await TestApp.open(SETTINGS);
  let app = await TestApp.open({ ...SETTINGS, store });
  const created = await app.as(GRANT).post('/v1/evaluations', EVALUATION);
  const path = `/v1/evaluations/${created.body.evaluationId as string}`;
  const enter = async (entrant: string): Promise<Body> => {
    const { body } = await app.as(GRANT).post(`${path}/entries`, { entrant });
    return (body.cells as Body[])[0];
  };
  /** Performs a step of the run; what was not answered is repeated after a start, with its key. */
  const play = async (
    cell: Body,
    kills: readonly ((name: string, count: number) => boolean)[],
  ): Promise<void> => {
    const order = (symbol: string): object =>
      orderBody(cell.portfolioId as string, {
        symbol,
        orderType: 'MARKET',
        limitPrice: undefined,
        quantity: 10,
      });
    const steps = [
      (client: TestClient) => client.post('/v1/orders', order('AAPL'), { 'idempotency-key': 'first' }),
      (client: TestClient) => client.post('/v1/simulation/clock/advance', { to: '2026-01-06T15:00:00Z' }),
      (client: TestClient) => client.post('/v1/orders', order('MSFT'), { 'idempotency-key': 'second' }),
      (client: TestClient) => client.post('/v1/simulation/clock/advance', { to: '2026-01-07T15:00:00Z' }),
      (client: TestClient) => client.post('/v1/evaluation/finish'),
    ];
    for (const [index, step] of steps.entries()) {
      const isIt = kills[index];
      if (isIt !== undefined) {
        await app.app.close();
        await app.simulations.close();
        const process = killable(store);
        const dying = await TestApp.open({ ...SETTINGS, store: process.store });
        const killed = process.killAt(isIt);
        void step(dying.withToken(cell.token as string)).catch(() => undefined);
        await killed;
        app = await TestApp.open({ ...SETTINGS, store });
      }
      const { status, text } = await step(app.withToken(cell.token as string));
      // A finish that was durable is not repeated.
      expect([200, 201, 409], text).toContain(status);
    }
  };
  const any = (): boolean => true;
  await play(await enter('spared'), []);
  await play(await enter('killed'), [any, any, any, any, any]);
  // After the end: at the note of the end, at the record that settles, at the note with the figures.
  const late = [1, 3].map((wanted) => (_: string, count: number) => count === wanted);
  for (const [index, isIt] of late.entries())
    await play(await enter(`killed late ${index}`), [
      ...Array.from({ length: 4 }, () => undefined as never),
      isIt,
    ]);
  const results = resultsOf(await done(app.as(GRANT), path)).filter(({ entrant }) =>
    /ed/.test(entrant as string),
  );
  expect(results).toHaveLength(4);
  const [spared, ...others] = results.toReversed().map(({ entrant: _, ...result }) => result);
  expect(spared.metrics.endEquity).not.toBe(100_000);
  for (const other of others) expect(other).toEqual(spared);
  await app.close();
}, 60_000);
