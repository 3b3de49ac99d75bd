/** Forks and comparisons over spin-offs and mergers (D171, D173, D208). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Body, openPortfolio, type Reply, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let owner: TestClient;

beforeAll(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
  owner = test.as({ tier: 'ENTERPRISE' });
});
afterAll(() => test.close());

const CALL = 'XYZ260220C00025000';

interface Sim {
  readonly id: string;
  readonly client: TestClient;
}

const simOf = ({ status, body, text }: Reply): Sim => {
  expect(status, text).toBe(201);
  return { id: body.simulationId as string, client: test.withToken(body.token as string) };
};
const fork = async ({ id }: Sim): Promise<Sim> => simOf(await owner.post(`/v1/simulations/${id}/forks`, {}));

async function quote({ client }: Sim, prices: Readonly<Record<string, number>>): Promise<void> {
  const quotes = Object.entries(prices).map(([symbol, price]) => ({
    symbol,
    bid: price,
    ask: price,
    last: price,
  }));
  expect((await client.put('/v1/simulation/quotes', { quotes })).status).toBe(200);
}

async function order({ client }: Sim, portfolioId: string, symbol: string, quantity: number): Promise<void> {
  const { status, text } = await client.post('/v1/orders', {
    portfolioId,
    symbol,
    assetClass: symbol === CALL ? 'OPTION' : 'EQUITY',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity,
    timeInForce: 'DAY',
  });
  expect(status, text).toBe(201);
}

/**
 * 1,001 XYZ over a spin-off of one SPUN for three on 2026-01-06, which leaves 2/3 of a share, and a merger for half an ACQ and 10.00 a share
 * on 2026-01-07.
 */
async function bought(): Promise<Sim & { readonly portfolioId: string }> {
  const sim = simOf(
    await owner.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
      seed: 7,
    }),
  );
  const { portfolioId } = await openPortfolio(sim.client, { initialCash: 100_000 });
  await quote(sim, { XYZ: 30, ACQ: 40, [CALL]: 6 });
  await order(sim, portfolioId as string, 'XYZ', 1001);
  await order(sim, portfolioId as string, CALL, 1);
  const actions = [
    {
      type: 'SPIN_OFF',
      symbol: 'XYZ',
      newSymbol: 'SPUN',
      exDate: '2026-01-06',
      ratio: { new: 1, old: 3 },
      basisPercent: 20,
    },
    {
      type: 'MERGER',
      symbol: 'XYZ',
      newSymbol: 'ACQ',
      exDate: '2026-01-07',
      ratio: 0.5,
      cashPerShare: 10,
    },
  ];
  expect((await sim.client.post('/v1/simulation/corporate-actions', { actions })).status).toBe(201);
  return { ...sim, portfolioId: portfolioId as string };
}

const advanceTo = async ({ client }: Sim, day: string): Promise<void> => {
  const { status, text } = await client.post('/v1/simulation/clock/advance', { to: `${day}T10:00:00-05:00` });
  expect(status, text).toBe(200);
};
const spinOff = async (sim: Sim): Promise<void> => {
  await advanceTo(sim, '2026-01-06');
  await quote(sim, { XYZ: 24.5, SPUN: 17, ACQ: 41 });
};
const merge = async (sim: Sim): Promise<void> => {
  await advanceTo(sim, '2026-01-07');
  await quote(sim, { ACQ: 42 });
  await advanceTo(sim, '2026-01-09');
};

async function told({ client }: Sim, portfolioId: string): Promise<readonly Body[]> {
  const at = `/v1/accounts/portfolios/${portfolioId}`;
  const lists = ['activities?limit=200', 'ledger?limit=200', 'tax-lots', 'trades', 'realized-gains'];
  const paths = [
    at,
    ...['equities', 'options', 'settlements', 'performance', ...lists].map((list) => `${at}/${list}`),
    `/v1/orders/portfolio/${portfolioId}?limit=200`,
    '/v1/simulation/corporate-actions',
  ];
  return Promise.all(
    paths.map(async (path) => {
      const { status, body } = await client.get(path);
      expect(status, path).toBe(200);
      // Ids of activities count the records of a simulation, which start with its own.
      const { data } = body as { data?: Body[] };
      if (!path.includes('activities') || data === undefined) return body;
      return { ...body, data: data.map(({ activityId: _, ...row }) => row) };
    }),
  );
}

it('forks from before and after a spin-off take the path of their parent', async () => {
  const parent = await bought();
  const before = await fork(parent);
  await spinOff(parent);
  const after = await fork(parent);
  expect(await told(after, parent.portfolioId)).toEqual(await told(parent, parent.portfolioId));
  await spinOff(before);
  for (const sim of [parent, before, after]) await merge(sim);
  const path = await told(parent, parent.portfolioId);
  const held = (path[1] as unknown as Body[]).map(({ symbol, settledQuantity }) => [symbol, settledQuantity]);
  // 1,001 / 3 = 333.67 and 1,001 x 0.5 = 500.5.
  expect(held).toEqual([
    ['ACQ', 500],
    ['SPUN', 333],
  ]);
  expect(await told(before, parent.portfolioId)).toEqual(path);
  expect(await told(after, parent.portfolioId)).toEqual(path);
});

it('a comparison over a spin-off and a merger differs between brokers by their charges alone', async () => {
  const sim = await bought();
  await spinOff(sim);
  await merge(sim);
  const started = await owner.post(`/v1/simulations/${sim.id}/comparisons`, { variants: 'all-brokers' });
  expect(started.status, started.text).toBe(202);
  let reply: Reply;
  do reply = await owner.get(`/v1/comparisons/${started.body.comparisonId as string}?wait=30`);
  while (['QUEUED', 'RUNNING'].includes(reply.body.status as string));
  const { base, variants, baseMatches } = reply.body;
  expect(baseMatches, reply.text).toBe(true);
  const chargesOf = ({ commissions, regulatoryFees }: Body): number =>
    (commissions as number) + (regulatoryFees as number);
  expect(new Set((variants as Body[]).map(chargesOf)).size).toBeGreaterThan(1);
  for (const row of variants as Body[]) {
    expect(row, row.name).toMatchObject({ status: 'DONE', orders: { rejected: 0, filled: 2 } });
    expect(row.difference, row.name).toBeCloseTo(chargesOf(base) - chargesOf(row), 6);
  }
});
