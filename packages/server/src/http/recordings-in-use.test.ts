/** Recordings of contests that are not over (D209). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alpacaSender, keyPairOf } from '../testing/alpaca.js';
import { openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

const path = mkdtempSync(join(tmpdir(), 'sandpit-in-use-'));
writeFileSync(
  join(path, 'daily_bars.csv'),
  [
    'date,symbol,open,high,low,close,volume',
    ...['2013-03-01', '2013-03-04', '2013-03-05', '2013-03-06'].map(
      (date) => `${date},ZEBRA,10,11,9,10,1000`,
    ),
    '',
  ].join('\n'),
);

const REPLAY = { feed: 'replay', clock: 'manual', start: '2013-03-01T09:31:00-05:00' };
const CONTEST = {
  name: 'Cup',
  market: { ...REPLAY, end: '2013-03-05T16:00:00-05:00' },
  rules: { initialCash: 1000, portfolioType: 'MARGIN', brokerId: 'default', assetClasses: ['EQUITY'] },
  scoring: 'TOTAL_RETURN',
  entry: 'OPEN',
  visibility: 'PUBLIC',
};

let test: TestApp;
let organizer: TestClient;
beforeAll(async () => {
  test = await TestApp.open({ settings: { REPLAY_PATH: path } });
  organizer = test.as({ tenantId: 'organizer', tier: 'ENTERPRISE' });
}, 30_000);
afterAll(async () => {
  await test.close();
  rmSync(path, { recursive: true });
});

const outcomeOf = ({ status, body }: Awaited<ReturnType<TestClient['get']>>): [number, unknown] => [
  status,
  (body as { error?: { code?: unknown } }).error?.code,
];
const IN_USE = [403, 'RECORDING_IN_USE'];

const exportOf = async (client: TestClient, id: string): Promise<string> =>
  (
    await test.app.inject({
      method: 'GET',
      url: `/v1/simulations/${id}/export`,
      headers: { authorization: `Bearer ${client.token ?? ''}` },
    })
  ).body;

const importOf = (client: TestClient, payload: string) =>
  client.inject({
    method: 'POST',
    url: '/v1/simulations/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload,
  });

describe('a recording in use', () => {
  it('an entrant neither creates, imports, forks nor reads a simulation of the recording until the competition is over', async () => {
    const entrant = test.as({ tenantId: 'entrant', tier: 'ENTERPRISE' });
    const own = await entrant.post('/v1/simulations', REPLAY);
    const masked = await entrant.post('/v1/simulations', { ...REPLAY, mask: true });
    const other = await entrant.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const { simulationId, token } = own.body as Record<string, string>;
    const inside = test.withToken(token);
    const { portfolioId } = (await openPortfolio(inside)) as { portfolioId: string };
    const { keyId, secretKey } = await keyPairOf(inside, portfolioId);
    const { comparisonId } = (
      await entrant.post(`/v1/simulations/${simulationId ?? ''}/comparisons`, {
        variants: [{ name: 'same' }],
      })
    ).body as { comparisonId: string };
    const file = await exportOf(entrant, simulationId ?? '');
    const { body: cup } = await organizer.post('/v1/competitions', CONTEST);
    const entered = await entrant.post(`/v1/competitions/${cup.competitionId as string}/entries`, {
      displayName: 'Ann',
    });
    expect(entered.status, entered.text).toBe(201);

    const of = `/v1/simulations/${simulationId ?? ''}`;
    const refused = {
      create: () => entrant.post('/v1/simulations', REPLAY),
      createMasked: () => entrant.post('/v1/simulations', { ...REPLAY, mask: true }),
      createCompetition: () => entrant.post('/v1/competitions', { ...CONTEST, visibility: 'PRIVATE' }),
      import: () => importOf(entrant, file),
      fork: () => entrant.post(`${of}/forks`, {}),
      get: () => entrant.get(of),
      getMasked: () => entrant.get(`/v1/simulations/${masked.body.simulationId as string}/mask`),
      export: () => entrant.get(`${of}/export`),
      token: () => entrant.post(`${of}/token`, {}),
      snapshot: () => entrant.post(`${of}/snapshots`, {}),
      compare: () => entrant.post(`${of}/comparisons`, { variants: [{ name: 'same' }] }),
      compared: () => entrant.get(`/v1/comparisons/${comparisonId}`),
      step: () => entrant.post('/v1/simulations/step', { steps: [{ simulationId, advance: { by: 'P1D' } }] }),
      quote: () => inside.get('/v1/market-data/quote/ZEBRA'),
      bars: () => inside.get('/v1/market-data/bars/ZEBRA?timeframe=1Day'),
      clock: () => inside.get('/v1/simulation/clock'),
      advance: () => inside.post('/v1/simulation/clock/advance', { by: 'P1D' }),
      portfolio: () => inside.get(`/v1/accounts/portfolios/${portfolioId}`),
      unknownSymbol: () => inside.get('/v1/market-data/quote/NONE'),
    };
    for (const [name, call] of Object.entries(refused)) expect(outcomeOf(await call()), name).toEqual(IN_USE);
    const alpaca = await alpacaSender(test, { keyId, secretKey })('GET', '/v2/account');
    expect(alpaca.status).toBe(403);

    // The entry, other simulations and other tenants are not affected.
    const entry = test.withToken(entered.body.token as string);
    expect((await entry.get('/v1/market-data/instruments')).status).toBe(200);
    expect((await entrant.post('/v1/simulations', { feed: 'push', clock: 'manual' })).status).toBe(201);
    const pushed = test.withToken(other.body.token as string);
    expect((await pushed.get('/v1/market-data/instruments')).status).toBe(200);
    expect((await entrant.get(`/v1/competitions/${cup.competitionId as string}`)).status).toBe(200);
    expect((await entrant.get('/v1/simulations')).body.data).toHaveLength(4);
    const stranger = test.as({ tenantId: 'stranger', tier: 'ENTERPRISE' });
    expect((await stranger.post('/v1/simulations', REPLAY)).status).toBe(201);
    expect((await stranger.get(of)).status).toBe(404);
    expect((await organizer.post('/v1/simulations', REPLAY)).status).toBe(201);

    // One that the tenant can still remove; the others are available again after the competition.
    expect((await entrant.delete(`/v1/simulations/${masked.body.simulationId as string}`)).status).toBe(200);
    await organizer.delete(`/v1/competitions/${cup.competitionId as string}`);
    expect((await entrant.get(of)).status).toBe(200);
    expect((await inside.get('/v1/market-data/quote/ZEBRA')).status).toBe(200);
  });

  it('an entry that was withdrawn before the start, or is of the organizer, binds no tenant', async () => {
    const entrant = test.as({ tenantId: 'leaver', tier: 'ENTERPRISE' });
    const { body: cup } = await organizer.post('/v1/competitions', CONTEST);
    const entries = `/v1/competitions/${cup.competitionId as string}/entries`;
    await organizer.post(entries, { displayName: 'Host' });
    expect((await organizer.post('/v1/simulations', REPLAY)).status).toBe(201);
    const { body } = await entrant.post(entries, { displayName: 'Bob' });
    expect((await entrant.post('/v1/simulations', REPLAY)).status).toBe(403);
    expect((await entrant.delete(`${entries}/${body.entryId as string}`)).status).toBe(200);
    expect((await entrant.post('/v1/simulations', REPLAY)).status).toBe(201);
  });

  it('getClock: the token of an entry reads the clock of its market', async () => {
    const entrant = test.as({ tenantId: 'reader' });
    const { body: cup } = await organizer.post('/v1/competitions', CONTEST);
    const { body } = await entrant.post(`/v1/competitions/${cup.competitionId as string}/entries`, {
      displayName: 'Cat',
    });
    const entry = test.withToken(body.token as string);
    const clock = await entry.get('/v1/simulation/clock');
    expect([clock.status, clock.body.mode], clock.text).toEqual([200, 'manual']);
    const moved = await entry.post('/v1/simulation/clock/advance', { by: 'P1D' });
    expect(outcomeOf(moved)).toEqual([403, 'ENTRY_TOKEN']);
  });
});
