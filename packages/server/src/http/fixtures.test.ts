import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Body, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;

beforeEach(async () => {
  test = await TestApp.open();
});
afterEach(() => test.close());

const MARKETS = {
  push: { feed: 'push', clock: 'manual', calendar: 'XNYS', start: '2026-01-05T10:00:00-05:00', seed: 7 },
  synthetic: {
    feed: 'synthetic',
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T10:00:00-05:00',
    seed: 7,
  },
  'always-open': { feed: 'synthetic', clock: 'manual', start: '2026-01-05T10:00:00-05:00', seed: 7 },
} as const;

async function simulation(market: keyof typeof MARKETS): Promise<TestClient> {
  const { body } = await test.as().post('/v1/simulations', { name: market, ...MARKETS[market] });
  return test.withToken(String(body.token));
}

const all = async (client: TestClient, url: string): Promise<Body[]> => {
  const { body } = await client.get(`${url}${url.includes('?') ? '&' : '?'}limit=500`);
  return body.data as Body[];
};

describe('fixtures (D206)', () => {
  it('are listed with their positions', async () => {
    const { body } = await test.as().get('/v1/simulation/fixtures');
    expect((body.data as Body[]).map(({ name }) => name)).toEqual([
      'every-status',
      'active-trader',
      'options-desk',
      'retirement',
    ]);
  });

  it('has commands that a journal keeps as they are, for a tenant of any tier', async () => {
    const { body } = await test.as().post('/v1/simulations', MARKETS.push);
    await test.withToken(String(body.token)).post('/v1/simulation/fixtures', { name: 'retirement' });
    let text = '';
    for await (const record of test.store.journal.read(String(body.simulationId), 0))
      text += JSON.stringify(record);
    expect(text).toContain('OpenPortfolio');
    // An infinite number of accounts would be kept as `null`, and executed again as none.
    expect(text).not.toMatch(/proAccounts[\\":]+null/);
  });

  it.each(['every-status', 'active-trader', 'options-desk', 'retirement'])(
    '%s: can be filled where Fridays are holidays and options expire on Thursdays',
    async (name) => {
      for (const start of ['2026-11-23T10:00:00-05:00', '2026-03-02T10:00:00-05:00']) {
        const { body } = await test.as().post('/v1/simulations', { ...MARKETS.push, start });
        const answer = await test.withToken(String(body.token)).post('/v1/simulation/fixtures', { name });
        expect(answer.status, `${start} ${JSON.stringify(answer.body.message)}`).toBe(201);
      }
    },
  );

  it.each(['synthetic', 'always-open'] as const)(
    'options-desk: has strikes that the market lists, whatever its seed and dates (%s)',
    async (market) => {
      for (const [seed, start] of [
        [2, '2026-01-05T10:00:00-05:00'],
        [11, '2026-01-05T10:00:00-05:00'],
        [4, '2026-11-24T10:00:00-05:00'],
        [4, '2019-03-04T10:00:00-05:00'],
      ] as const) {
        const { body } = await test.as().post('/v1/simulations', { ...MARKETS[market], seed, start });
        const client = test.withToken(String(body.token));
        const answer = await client.post('/v1/simulation/fixtures', { name: 'options-desk' });
        expect(answer.status, `${seed} ${start} ${JSON.stringify(answer.body.message)}`).toBe(201);
      }
    },
  );

  it.each(['push', 'synthetic', 'always-open'] as const)(
    'every-status: has orders of every status, ends of every kind, and a margin call (%s)',
    async (market) => {
      const client = await simulation(market);
      const answer = await client.post('/v1/simulation/fixtures', { name: 'every-status' });
      expect(answer.body).toMatchObject({ name: 'every-status' });
      expect(answer.status).toBe(201);
      const orders = await all(client, '/v1/orders');
      const statuses = new Set(orders.map(({ status }) => status));
      expect([...statuses].sort()).toEqual(
        [
          'ACTIVE',
          'CANCELED',
          'CANCELING',
          'CREATED',
          'ERROR',
          'FILLED',
          'REJECTED',
          ...(market === 'always-open' ? [] : ['PENDING_MARKET_OPEN']),
        ].sort(),
      );
      const reasons = new Set(orders.flatMap(({ cancelReason }) => cancelReason ?? []));
      for (const reason of [
        'USER',
        ...(market === 'always-open' ? [] : ['EXPIRED']),
        'IOC_REMAINDER',
        'FOK_NOT_FILLABLE',
        'OCO',
        'MARGIN_CALL',
        'RESET',
        'INSTRUMENT_EXPIRED',
        'TRADING_HALTED',
        'SCRIPTED',
      ])
        expect(reasons, reason).toContain(reason);
      const portfolios = answer.body.portfolios as Body[];
      const named = (name: string): string =>
        String(portfolios.find((one) => one.name === name)?.portfolioId);
      const categories = new Set<unknown>();
      for (const { portfolioId } of portfolios)
        for (const { category } of await all(
          client,
          `/v1/accounts/portfolios/${String(portfolioId)}/activities`,
        ))
          categories.add(category);
      expect([...categories].sort()).toEqual([
        'CASH',
        'CORPORATE_ACTION',
        'EXECUTION',
        'MARGIN',
        'OPTION',
        'ORDER',
        'SETTLEMENT',
        'SYSTEM',
      ]);
      const calls = await all(client, `/v1/accounts/portfolios/${named('Called')}/margin-calls`);
      expect(new Set(calls.map(({ status }) => status))).toEqual(new Set(['OPEN']));
      const url = (name: string, what: string): string => `/v1/accounts/portfolios/${named(name)}/${what}`;
      expect((await client.get(url('Cash', 'options'))).body).toHaveLength(1);
      expect((await client.get(url('Margin', 'futures'))).body).toHaveLength(1);
    },
  );

  it.each(['active-trader', 'options-desk', 'retirement'] as const)(
    '%s: fills both markets alike',
    async (name) => {
      for (const market of ['push', 'synthetic'] as const) {
        const client = await simulation(market);
        const { status, body } = await client.post('/v1/simulation/fixtures', { name });
        expect(body, market).toMatchObject({ name });
        expect(status).toBe(201);
        const [portfolio] = body.portfolios as Body[];
        const detail = (await client.get(`/v1/accounts/portfolios/${String(portfolio?.portfolioId)}`)).body;
        expect(detail.longMarketValue).toBeGreaterThan(0);
      }
    },
  );

  it('create the same book for the same seed, with quotes in a pushed market', async () => {
    const [first, second] = [await simulation('push'), await simulation('push')];
    const books = [];
    for (const client of [first, second]) {
      const { body } = await client.post('/v1/simulation/fixtures', { name: 'active-trader' });
      const { portfolioId } = (body.portfolios as Body[])[0] ?? {};
      const detail = (await client.get(`/v1/accounts/portfolios/${String(portfolioId)}`)).body;
      books.push(detail);
      expect((await client.get('/v1/market-data/quote/AAPL')).status).toBe(200);
    }
    expect(books[0]).toEqual(books[1]);
  });

  it('are refused in main, in a filled simulation and under an unknown name', async () => {
    const refused = await test.as().post('/v1/simulation/fixtures', { name: 'retirement' });
    expect(refused.status).toBe(409);
    const client = await simulation('push');
    expect((await client.post('/v1/simulation/fixtures', { name: 'retirement' })).status).toBe(201);
    expect((await client.post('/v1/simulation/fixtures', { name: 'retirement' })).status).toBe(409);
    expect((await client.post('/v1/simulation/fixtures', { name: 'nothing' })).status).toBe(400);
  });
});
