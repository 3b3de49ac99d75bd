import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  type Body,
  NOWHERE,
  openPortfolio,
  placeOrder,
  pushQuote,
  type Reply,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let stranger: TestClient;
const portfolios: string[] = [];
const SECOND = '22222222-2222-4222-8222-222222222222';

beforeAll(async () => {
  test = await TestApp.open();
  client = test.as();
  stranger = test.as({ tenantId: 'tenant-2' });
  for (const accountId of [ACCOUNT, ACCOUNT, SECOND])
    portfolios.push((await openPortfolio(client, { accountId })).portfolioId as string);
  await pushQuote(client);
});
afterAll(() => test.close());

/** Every page of a list by cursor; `between` happens after each of them. */
async function byCursor(
  path: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Body[]> {
  const all: Body[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const reply: Reply = await client.get(`${path}${path.includes('?') ? '&' : '?'}limit=3${more}`);
    if (reply.status !== 200) throw new Error(reply.text);
    all.push(...reply.body.data);
    cursor = reply.headers['x-next-cursor'];
    if (cursor !== undefined) await between();
  }
  return all;
}

describe('orders of a tenant (D148, D162)', () => {
  const orders: string[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 10; i += 1) {
      const portfolioId = portfolios[i % 3] ?? '';
      const { orderId } = await placeOrder(client, portfolioId, {
        clientOrderId: `mine-${Math.floor(i / 3)}`,
        limitPrice: i % 2 === 0 ? 100 : 90,
        quantity: 1,
      });
      orders.push(orderId as string);
    }
    await client.put(`/v1/orders/${orders[1] ?? ''}/cancel`);
  });
  const idsOf = (reply: Reply): string[] => reply.body.data.map(({ orderId }: Body) => orderId as string);
  const at = (...places: number[]): string[] => places.map((place) => orders[place] ?? '');

  it('are listed in full, newest first, across accounts', async () => {
    const reply = await client.get('/v1/orders?limit=4');
    expect(idsOf(reply)).toEqual(at(9, 8, 7, 6));
    expect(reply.body.data[0]).toMatchObject({
      assetClass: 'EQUITY',
      waitingFor: expect.any(String) as string,
    });
    expect(reply.body.pagination).toEqual({ page: 1, limit: 4, total: 10, totalPages: 3 });
    expect(idsOf(await client.get('/v1/orders?limit=4&page=3'))).toEqual(at(1, 0));
    expect((await stranger.get('/v1/orders')).body).toMatchObject({ data: [], pagination: { total: 0 } });
  });

  it.each([
    ['status=CANCELED', [1]],
    ['status=FILLED,CANCELED', [8, 6, 4, 2, 1, 0]],
    [`accountId=${SECOND}`, [8, 5, 2]],
    ['clientOrderId=mine-1', [5, 4, 3]],
    ['clientOrderId=mine-1&status=FILLED', [4]],
    ['clientOrderId=none', []],
    ['symbol=aapl&assetClass=EQUITY&status=FILLED', [8, 6, 4, 2, 0]],
    ['symbol=MSFT', []],
  ])('are found by %s', async (query, expected) => {
    const reply = await client.get(`/v1/orders?${query}`);
    expect(idsOf(reply)).toEqual(at(...expected));
    expect(reply.body.pagination.total).toBe(expected.length);
  });

  it('are found by portfolio, and by a portfolio of an account', async () => {
    const one = portfolios[0] ?? '';
    expect(idsOf(await client.get(`/v1/orders?portfolioId=${one}`))).toEqual(at(9, 6, 3, 0));
    expect(idsOf(await client.get(`/v1/orders?portfolioId=${one}&accountId=${ACCOUNT}`))).toHaveLength(4);
    expect(idsOf(await client.get(`/v1/orders?portfolioId=${one}&accountId=${SECOND}`))).toEqual([]);
    for (const query of [`portfolioId=${NOWHERE}`, `accountId=${NOWHERE}`])
      expect((await client.get(`/v1/orders?${query}`)).status).toBe(404);
    expect((await stranger.get(`/v1/orders?portfolioId=${one}`)).status).toBe(404);
  });

  it('are refused with an unknown status or an invalid cursor', async () => {
    const status = await client.get('/v1/orders?status=FILLED,BEST');
    expect([status.status, status.body.message[0]]).toEqual([
      400,
      expect.stringContaining('status must be one of CREATED') as string,
    ]);
    for (const cursor of ['x', 'n', 'nope', 'kMTIz', '!']) {
      const reply = await client.get(`/v1/orders?cursor=${cursor}`);
      expect([cursor, reply.status, reply.body.message]).toEqual([
        cursor,
        400,
        ['cursor must be an X-Next-Cursor of this list'],
      ]);
    }
  });
});

describe('a list that is read by cursor', () => {
  it.each([
    ['/v1/orders', 'orderId'],
    ['/v1/orders?status=FILLED', 'orderId'],
    [`/v1/orders/account/${ACCOUNT}`, 'orderId'],
    ['/v1/orders/portfolio/:portfolioId', 'orderId'],
    ['/v1/orders/filled/today', 'orderId'],
    ['/v1/accounts/portfolios/:portfolioId/activities', 'activityId'],
    ['/v1/accounts/portfolios/:portfolioId/activities?category=EXECUTION', 'activityId'],
    ['/v1/accounts/portfolios/:portfolioId/ledger', 'entryId'],
  ])('neither misses nor repeats existing rows: %s', async (template, key) => {
    const path = template.replace(':portfolioId', portfolios[0] ?? '');
    const before = (await client.get(`${path}${path.includes('?') ? '&' : '?'}limit=500`)).body
      .data as Body[];
    expect(before.length).toBeGreaterThan(3);
    const read = await byCursor(path, () => placeOrder(client, portfolios[0] ?? '', { quantity: 1 }));
    expect(read.map((item) => item[key] as string)).toEqual(before.map((item) => item[key] as string));
  });

  it.each([
    ['/v1/accounts', 'accountId', () => client.post('/v1/accounts', {})],
    ['/v1/portfolios', 'portfolioId', () => openPortfolio(client)],
    [
      '/v1/simulations',
      'simulationId',
      () => client.post('/v1/simulations', { feed: 'push', clock: 'manual' }),
    ],
  ])('of things that come and go: %s', async (path, key, more) => {
    for (let i = 0; i < 3; i += 1) await more();
    const before = (await client.get(`${path}?limit=500`)).body.data as Body[];
    const read = await byCursor(path, more);
    expect(read.map((item) => item[key] as string)).toEqual(before.map((item) => item[key] as string));
  });

  it('has no next cursor on its last page', async () => {
    const reply = await client.get('/v1/accounts?limit=500');
    expect(reply.headers).not.toHaveProperty('x-next-cursor');
    expect((await client.get('/v1/accounts?limit=1&page=2')).headers).toHaveProperty('x-next-cursor');
  });
});

describe('events between two instants (D148)', () => {
  it('is listed of activities and the ledger', async () => {
    const other = test.as({ tenantId: 'tenant-3' });
    const { body } = await other.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      calendar: 'always-open',
      start: '2026-01-05T10:00:00-05:00',
    });
    const mine = test.withToken(body.token as string);
    const { portfolioId } = await openPortfolio(mine);
    await pushQuote(mine);
    for (let i = 0; i < 3; i += 1) {
      await placeOrder(mine, portfolioId as string, { quantity: 1 });
      await mine.post('/v1/simulation/clock/advance', { by: 'P1D' });
    }
    for (const list of ['activities', 'ledger']) {
      const path = `/v1/accounts/portfolios/${portfolioId as string}/${list}`;
      const all = (await mine.get(`${path}?limit=500`)).body.data as Body[];
      const day = (await mine.get(`${path}?from=2026-01-06&to=2026-01-06`)).body;
      const expected = all.filter(
        ({ at }: Body) => at >= '2026-01-06T05:00:00.000Z' && at < '2026-01-07T05:00:00.000Z',
      );
      expect(expected.length).toBeGreaterThan(0);
      expect(expected.length).toBeLessThan(all.length);
      expect(day.data).toEqual(expected);
      expect(day.pagination.total).toBe(expected.length);
      const first = (await mine.get(`${path}?to=2026-01-06T00:00:00-05:00&limit=1`)).body;
      expect(first.data[0].at).toBe('2026-01-05T15:00:00.000Z');
      expect((await mine.get(`${path}?from=2027-01-01`)).body.data).toEqual([]);
    }
    const executions = `/v1/accounts/portfolios/${portfolioId as string}/activities?category=EXECUTION&from=2026-01-06&to=2026-01-06`;
    expect((await mine.get(executions)).body).toMatchObject({ pagination: { total: 1 } });
  });
});

describe('portfolios of a tenant', () => {
  it('are summaries; closed ones only on request', async () => {
    const closed = (await openPortfolio(client, { accountId: SECOND })).portfolioId as string;
    await client.delete(`/v1/accounts/portfolios/${closed}`);
    const open = (await client.get('/v1/portfolios?limit=500')).body.data as Body[];
    expect(open.map(({ portfolioId }) => portfolioId as string)).toEqual(expect.arrayContaining(portfolios));
    expect(open.some(({ portfolioId }) => portfolioId === closed)).toBe(false);
    expect(Object.keys(open[0]).sort()).toEqual(
      [
        'accountId',
        'accountType',
        'brokerId',
        'portfolioId',
        'portfolioType',
        'settledCash',
        'totalEquity',
      ].sort(),
    );
    const gone = (await client.get('/v1/portfolios?status=CLOSED')).body.data as Body[];
    expect(gone).toMatchObject([{ portfolioId: closed, status: 'CLOSED' }]);
    const all = (await client.get(`/v1/portfolios?status=ALL&accountId=${SECOND}`)).body.data as Body[];
    expect(all.map(({ portfolioId }) => portfolioId as string)).toEqual([closed, portfolios[2]]);
    expect((await stranger.get('/v1/portfolios?status=ALL')).body.data).toEqual([]);
    expect((await client.get('/v1/portfolios?status=GONE')).status).toBe(400);
  });
});

describe('broker configurations', () => {
  it('are listed completely, with every field in which they differ', async () => {
    const { body } = await client.get('/v1/brokers');
    expect(body.data).toHaveLength(22);
    expect(body.data[0]).toEqual({
      brokerId: 'default',
      name: 'Default',
      equityCommission: { perOrder: 0, perUnit: 0 },
      optionCommission: { perOrder: 0, perUnit: 0.5 },
      futureCommission: { perOrder: 0, perUnit: 0 },
      passesRegulatoryFees: false,
      orderTypes: ['MARKET', 'LIMIT', 'STOP', 'STOP_LIMIT', 'TRAILING_STOP', 'TRAILING_STOP_LIMIT'],
      timesInForce: ['DAY', 'GTC', 'IOC', 'FOK', 'GTD'],
      auctionOrders: true,
      sessions: ['REGULAR', 'EXTENDED'],
      fractionalShares: true,
      shortSelling: true,
      futures: true,
      optionLevel: 4,
      spreadsInCashAccounts: true,
      queuesWhenClosed: true,
      marginInterestTiers: [{ from: 0, rateAnnual: 0.06 }],
      houseMaintenanceLong: 0.25,
      houseMaintenanceShort: 0.3,
      dayTradingLeverage: false,
      liquidation: 'WHEN_DUE',
    });
    expect(body.data[3].equityCommission).toEqual({ perOrder: 0, perUnit: 0.003 });
    expect(body.data[9].dayTradeRegime).toBe('LEGACY_PDT');
  });
});

describe('another token for a simulation (D146)', () => {
  it('is issued to its owner only, and is valid in the simulation', async () => {
    const { body } = await client.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const path = `/v1/simulations/${body.simulationId as string}/token`;
    const reply = await client.post(path);
    expect([reply.status, reply.body.simulationId]).toEqual([201, body.simulationId]);
    const inside = test.withToken(reply.body.token as string);
    const { portfolioId } = await openPortfolio(inside);
    expect((await test.withToken(body.token as string).get('/v1/portfolios')).body.data).toMatchObject([
      { portfolioId },
    ]);
    expect((await stranger.post(path)).status).toBe(404);
    const main = await inside.post('/v1/simulations/main/token');
    expect([main.status, main.body.simulationId]).toEqual([201, 'main']);
    const seen = await test.withToken(main.body.token as string).get('/v1/portfolios');
    expect(seen.body).toEqual((await client.get('/v1/portfolios')).body);
  });

  it('is issued again, not stored, for the same Idempotency-Key', async () => {
    const { body } = await client.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const path = `/v1/simulations/${body.simulationId as string}/token`;
    const first = await client.post(path, undefined, { 'idempotency-key': 'again' });
    const second = await client.post(path, undefined, { 'idempotency-key': 'again' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.token).not.toBe(first.body.token);
  });
});
