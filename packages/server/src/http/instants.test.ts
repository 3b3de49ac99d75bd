/** Instants that a simulation's clock can show (D219), on every route that accepts one; durations of the clock. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPortfolio, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

const RANGE = 'must lie between 1970-01-01 and 2199-12-31';
const OUTSIDE = [
  '0000-01-01',
  '1969-12-31',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00+01:00',
  '2200-01-01',
  '2199-12-31T23:59:59.999-00:01',
  '9999-12-31T23:59:59Z',
];

const simulation = (more: object): Promise<{ status: number; body: { message: unknown; token: string } }> =>
  client.post('/v1/simulations', { feed: 'push', clock: 'manual', calendar: 'XNYS', ...more });

describe('D219: instants outside of 1970 to 2199', () => {
  it.each(OUTSIDE)(
    '%s: no simulation begins there, no clock moves there, no book is valued there',
    async (at) => {
      for (const more of [{}, { calendar: 'always-open' }, { clock: 'scaled' }, { feed: 'synthetic' }]) {
        const reply = await simulation({ start: at, ...more });
        expect([reply.status, reply.body.message]).toEqual([400, [`start ${RANGE}`]]);
      }
      const moved = await client.put('/v1/simulation/clock', { now: at });
      expect([moved.status, moved.body.message]).toEqual([400, [`now ${RANGE}`]]);
      const advanced = await client.post('/v1/simulation/clock/advance', { to: at });
      expect([advanced.status, advanced.body.message]).toEqual([400, [`to ${RANGE}`]]);
      const book = await client.post('/v1/margin/requirements', {
        marginType: 'REG_T',
        positions: [{ symbol: 'AAPL', quantity: 1 }],
        prices: { AAPL: 100 },
        asOf: at,
      });
      expect([book.status, book.body.message]).toEqual([400, [`asOf ${RANGE}`]]);
    },
  );

  it.each(['0000-01-01', '1969-12-31', '2200-01-01', '9999-12-31'])(
    '%s: no expiration, no ex-date, no day of the calendar',
    async (date) => {
      const chain = await client.get(`/v1/market-data/options/AAPL/chain?expiration=${date}`);
      expect([chain.status, chain.body.message]).toEqual([400, [`expiration ${RANGE}`]]);
      const days = await client.get(`/v1/market-data/calendar?from=${date}&to=${date}`);
      expect([days.status, days.body.message]).toEqual([400, [`from ${RANGE}`, `to ${RANGE}`]]);
      const listed = await client.put('/v1/simulation/instruments', {
        instruments: [
          { assetClass: 'OPTION', underlying: 'AAPL', optionType: 'CALL', strike: 100, expiration: date },
          { assetClass: 'FUTURE', symbol: 'ESZ26', lastTradeDate: date, firstNoticeDate: date },
        ],
      });
      expect([listed.status, listed.body.message]).toEqual([
        400,
        [
          `instruments.0.expiration ${RANGE}`,
          `instruments.1.lastTradeDate ${RANGE}`,
          `instruments.1.firstNoticeDate ${RANGE}`,
        ],
      ]);
      const announced = await client.post('/v1/simulation/corporate-actions', {
        actions: [{ type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: date, payDate: date, amountPerShare: 1 }],
      });
      expect([announced.status, announced.body.message]).toEqual([
        400,
        [`actions.0.exDate ${RANGE}`, `actions.0.payDate ${RANGE}`],
      ]);
    },
  );

  it('no quote is from before 1970', async () => {
    const reply = await pushQuote(client, { timestamp: '1969-12-31T23:59:59Z' });
    expect([reply.status, reply.body.message]).toEqual([
      400,
      ['quotes.0.timestamp must be epoch milliseconds or an ISO 8601 timestamp with a zone'],
    ]);
  });

  it('ranges of lists may be wider, and include every item', async () => {
    await pushQuote(client);
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    for (const range of [
      'from=0000-01-01&to=9999-12-31',
      'from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
    ]) {
      for (const list of ['activities', 'ledger', 'history?interval=1h'].map(
        (name) => `/v1/accounts/portfolios/${portfolioId}/${name}`,
      )) {
        const url = `${list}${list.includes('?') ? '&' : '?'}${range}`;
        expect([url, (await client.get(url)).status]).toEqual([url, 200]);
      }
      expect((await client.get(`/v1/orders?${range}`)).status).toBe(200);
      expect((await client.get(`/v1/market-data/bars/AAPL?${range}`)).status).toBe(200);
    }
    const all = await client.get(`/v1/accounts/portfolios/${portfolioId}/activities?to=9999-12-31`);
    const plain = await client.get(`/v1/accounts/portfolios/${portfolioId}/activities`);
    expect(all.body).toEqual(plain.body);
  });
});

describe('D219: the last day of a clock', () => {
  it.each(['XNYS', 'always-open'])(
    'a manual clock of %s reaches it and does not cross it',
    async (calendar) => {
      const { body } = await simulation({ start: '2199-12-20', calendar });
      const there = test.withToken(body.token);
      await pushQuote(there);
      await openPortfolio(there);
      expect(
        (await there.post('/v1/simulation/clock/advance', { to: '2199-12-31T23:59:59.999Z' })).status,
      ).toBe(200);
      for (const by of ['PT0.001S', 'P1D', 'P1M', 'P1Y', 'P10Y']) {
        const { status, body: answer } = await there.post('/v1/simulation/clock/advance', { by });
        expect([status, answer.message]).toEqual([400, ['by must not lead beyond 2199-12-31']]);
      }
      expect((await there.get('/v1/market-data/market-hours')).status).toBe(200);
      expect((await there.get('/v1/market-data/calendar?from=2199-12-01&to=2199-12-31')).status).toBe(200);
      const shown = await there.get('/v1/simulation/clock');
      expect(shown.body).toMatchObject({ now: '2199-12-31T23:59:59.999Z' });
    },
  );

  it('a scaled clock stops on the last day', async () => {
    const { body } = await simulation({ clock: 'scaled', speed: 1_000_000, start: '2199-12-31T23:59:00Z' });
    const there = test.withToken(body.token);
    await expect
      .poll(async () => (await there.get('/v1/simulation/clock')).body as unknown, { interval: 5 })
      .toMatchObject({ now: '2199-12-31T23:59:59.999Z' });
    await openPortfolio(there);
  });
});

describe('Durations of the clock', () => {
  const moved = async (start: string, by: string): Promise<unknown> => {
    const { body } = await simulation({ start, calendar: 'always-open' });
    const reply = await test.withToken(body.token).post('/v1/simulation/clock/advance', { by });
    return reply.status === 200 ? (reply.body as { now: string }).now : reply.body.message;
  };

  it.each([
    ['2026-01-05T15:00:00Z', 'P1M', '2026-02-05T15:00:00.000Z'],
    ['2026-01-31T15:00:00Z', 'P1M', '2026-02-28T15:00:00.000Z'],
    ['2028-02-29T15:00:00Z', 'P1Y', '2029-02-28T15:00:00.000Z'],
    // Ten in the morning in New York on either side of the change to daylight time.
    ['2026-02-20T15:00:00.123Z', 'P1M', '2026-03-20T14:00:00.123Z'],
    // The last evening of January in New York is February in UTC.
    ['2026-02-01T02:00:00Z', 'P1M', '2026-03-01T02:00:00.000Z'],
    ['2026-01-05T15:00:00Z', 'P1Y2M3DT4H5M6.007S', '2027-03-08T19:05:06.007Z'],
    ['2026-01-05T15:00:00Z', 'P1W', '2026-01-12T15:00:00.000Z'],
  ])('%s and %s is %s', async (start, by, expected) => {
    expect(await moved(start, by)).toBe(expected);
  });

  it.each(['P', 'PT', 'P1.5M', '1M', 'P1M1Y', 'P-1M', 'P1MT'])('%s is refused', async (by) => {
    expect(await moved('2026-01-05T15:00:00Z', by)).toEqual([
      'by must be an ISO 8601 duration such as PT1H30M, P1D or P1M',
    ]);
  });

  it('a duration of more than ten years is refused', async () => {
    expect(await moved('2026-01-05T15:00:00Z', 'P11Y')).toEqual([
      'by must be within ten years of the present of the simulation',
    ]);
  });
});

describe('Alpaca’s calendar', () => {
  it('ends on the last day of the supported period', async () => {
    const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
    const pair = await client.post(`/v1/accounts/portfolios/${portfolioId}/key-pairs`);
    const { keyId, secretKey } = pair.body as { keyId: string; secretKey: string };
    const calendar = async (query: string): Promise<readonly [number, number | undefined]> => {
      const reply = await test.app.inject({
        url: `/alpaca/v2/calendar?${query}`,
        headers: { 'apca-api-key-id': keyId, 'apca-api-secret-key': secretKey },
      });
      const days: unknown = reply.json();
      return [reply.statusCode, Array.isArray(days) ? days.length : undefined];
    };
    // A Tuesday, with the Monday before it.
    expect(await calendar('start=2199-12-30&end=2199-12-31')).toEqual([200, 2]);
    expect(await calendar('start=2199-12-30')).toEqual([200, 2]);
    expect(await calendar('start=2199-12-30&end=9999-12-31')).toEqual([200, 2]);
    for (const query of ['start=9999-12-30', 'start=2200-01-01', 'start=0001-01-01&end=0001-02-01'])
      expect([query, ...(await calendar(query))]).toEqual([query, 422, undefined]);
    expect(await calendar('end=9999-12-31')).toEqual([200, expect.any(Number)]);
  });
});

describe('A simulation that cannot be opened', () => {
  it('is listed as BROKEN, affects no other, and can be deleted', async () => {
    const simulationId = '22222222-2222-4222-8222-222222222222';
    const { body } = await simulation({ start: '2026-01-05' });
    const { simulationId: other } = body as unknown as { simulationId: string };
    const made = test.store.registry.simulation(other);
    const config = JSON.stringify({
      ...(JSON.parse(made?.config ?? '{}') as object),
      start: Date.parse('9999-12-31T23:59:59Z'),
    });
    await test.store.registry.createSimulation({
      id: simulationId,
      tenantId: 'tenant-1',
      config,
      createdAt: Date.now(),
    });
    test = await test.restart();
    client = test.as();
    const url = `/v1/simulations/${simulationId}`;
    const shown = await client.get(url);
    expect([shown.status, shown.body]).toEqual([
      200,
      expect.objectContaining({
        simulationId,
        status: 'BROKEN',
        reason: 'it begins at 253402300799000 ms, outside of 1970-01-01 to 2199-12-31',
      }),
    ]);
    expect((await test.as({ simulationId }).get('/v1/accounts')).status).toBe(503);
    const { data: simulations } = (await client.get('/v1/simulations')).body as {
      data: { simulationId: string; status?: string }[];
    };
    expect(simulations.map((one) => [one.simulationId, one.status])).toEqual(
      expect.arrayContaining([
        [other, undefined],
        [simulationId, 'BROKEN'],
      ]),
    );
    expect((await test.as({ simulationId: other }).get('/v1/accounts')).status).toBe(200);
    expect((await test.as({ tenantId: 'tenant-2' }).get(url)).status).toBe(404);
    expect((await client.delete(url)).status).toBe(200);
    expect((await client.get(url)).status).toBe(404);
  });
});
