/** Competitions under attack: dialects, other entries, crashes between two writes (D194, D195). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Alpaca } from 'alpaca-v4';
import { type OperationId, routeEntries } from '@sandpit/protocol';
import { verifyCompetition } from '../competitions/verify-competition.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { alpacaSender, keyPairOf } from '../testing/alpaca.js';
import { contest } from '../testing/competitions.js';
import {
  type Body,
  openPortfolio,
  orderBody,
  type Reply,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';
import { until, WebhookReceiver } from '../testing/webhook-receiver.js';
import { settingsFiled } from './translate/competitions.js';

let test: TestApp;
let organizer: TestClient;
const SETTINGS = { settings: { RATE_LIMIT_DEFAULT: '100000', WEBHOOK_ALLOW_PRIVATE: 'on' } };

beforeAll(async () => {
  test = await TestApp.open(SETTINGS);
  organizer = organizerOf(test);
});
afterAll(() => test.close());

const organizerOf = (app: TestApp): TestClient =>
  app.as({ tenantId: 'organizer', tier: 'ENTERPRISE', scope: 'trade read simulate admin' });

const publicContest = (rules: object = {}): Body => contest({ rules, visibility: 'PUBLIC' });

const enter = (app: TestApp, path: string, name: string, tenantId = `tenant of ${name}`): Promise<Reply> =>
  app.as({ tenantId }).post(`${path}/entries`, { displayName: name });

/** A started competition with an entry, as `/v1` and Alpaca's clients see it. */
async function started(rules: object = {}) {
  const { body } = await organizer.post('/v1/competitions', publicContest(rules));
  const path = `/v1/competitions/${body.competitionId as string}`;
  const market = test.withToken(body.token as string);
  await market.put('/v1/simulation/quotes', {
    quotes: ['AAA', 'BBB'].map((symbol) => ({ symbol, bid: 99.9, ask: 100, last: 100 })),
  });
  const entry = (await enter(test, path, 'Ann')).body as Record<string, string>;
  await organizer.post(`${path}/start`);
  const client = test.withToken(entry.token);
  const portfolioId = entry.portfolioId ?? '';
  const alpaca = alpacaSender(test, await keyPairOf(client, portfolioId));
  return { path, market, client, portfolioId, entryId: entry.entryId ?? '', alpaca };
}

const market = (symbol: string, qty: number, side = 'buy'): object => ({
  symbol,
  qty: String(qty),
  side,
  type: 'market',
  time_in_force: 'day',
});

describe('the Alpaca dialect of an entry', () => {
  it('trades its portfolio by the rules, which are refused in the words of Alpaca', async () => {
    const { alpaca, path } = await started({
      symbols: ['AAA'],
      shortSelling: false,
      maxPositionPercent: 20,
      maxOrdersPerMinute: 4,
      minPrice: 5,
    });
    const bought = await alpaca('POST', '/v2/orders', market('AAA', 10));
    expect(bought.status, JSON.stringify(bought.body)).toBe(200);
    expect((await alpaca('GET', '/v2/positions')).body).toHaveLength(1);
    for (const [order, message] of [
      [market('BBB', 1), 'The competition is about AAA'],
      [market('AAA', 300), 'A position of the competition is at most 20 percent of total equity'],
    ] as const) {
      const { status, body } = await alpaca('POST', '/v2/orders', order);
      expect([status, body]).toEqual([403, { code: 40310000, message }]);
    }
    const resting = await alpaca('POST', '/v2/orders', {
      ...market('AAA', 1),
      type: 'limit',
      limit_price: '50',
      time_in_force: 'gtc',
    });
    expect(resting.status).toBe(200);
    // Neither replacing nor canceling and placing again gets around a rule.
    const replaced = await alpaca('PATCH', `/v2/orders/${resting.body.id as string}`, { qty: '900' });
    expect(replaced.status).toBe(403);
    expect((await alpaca('DELETE', '/v2/positions/AAA?qty=5')).status).toBe(200);
    expect((await alpaca('DELETE', '/v2/positions/AAA')).status).toBe(200);
    const fifth = await alpaca('POST', '/v2/orders', market('AAA', 1));
    expect([fifth.status, fifth.body.message]).toEqual([403, 'The competition accepts 4 orders a minute']);
    expect((await alpaca('PATCH', '/v2/account/configurations', { no_shorting: true })).status).not.toBe(500);
    await organizer.post(`${path}/pause`);
    const paused = await alpaca('POST', '/v2/orders', market('AAA', 1));
    expect([paused.status, paused.body]).toEqual([
      422,
      { code: 42210000, message: 'The competition is paused' },
    ]);
  });

  it("lets Alpaca's own client trade, unchanged, with a key pair of the entry", async () => {
    const { client, portfolioId } = await started({ symbols: ['AAA'] });
    await test.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = test.app.server.address() as AddressInfo;
    const { keyId, secretKey } = await keyPairOf(client, portfolioId);
    const { trading } = new Alpaca({
      keyId,
      secret: secretKey,
      retry: false,
      rateLimit: false,
      fetchApi: (input, init) =>
        fetch(
          input.replace(/^https:\/\/(paper-api|data)\.alpaca\.markets/, `http://127.0.0.1:${port}/alpaca`),
          init,
        ),
    });
    expect((await trading.account.getAccount()).id).toBe(portfolioId);
    const bought = await trading.orders.market({ symbol: 'AAA', qty: 10, side: 'buy' });
    expect(await trading.orders.getOrderByOrderID({ orderId: bought.id ?? '' })).toMatchObject({
      status: 'filled',
      filledQty: '10',
    });
    await expect(trading.orders.market({ symbol: 'BBB', qty: 1, side: 'buy' })).rejects.toMatchObject({
      status: 403,
    });
    const closed = await trading.closeAllPositions({ cancelOrders: true });
    expect(closed.map(({ symbol, status }) => [symbol, status])).toEqual([['AAA', 200]]);
  });

  it('shows its key pairs to the entry only, without the secret, and refuses a revoked one', async () => {
    const { client, portfolioId, alpaca } = await started();
    const { keyId, secretKey } = await keyPairOf(client, portfolioId);
    const other = await started();
    expect((await other.client.get(`/v1/accounts/portfolios/${portfolioId}/key-pairs`)).status).toBe(404);
    expect((await other.client.post(`/v1/accounts/portfolios/${portfolioId}/key-pairs`)).status).toBe(404);
    expect((await organizer.get(`/v1/accounts/portfolios/${portfolioId}/key-pairs`)).status).toBe(404);
    const listed = (await client.get(`/v1/accounts/portfolios/${portfolioId}/key-pairs`)).body;
    expect(JSON.stringify(listed)).not.toContain(secretKey);
    expect((await alpaca('GET', '/v2/account')).status).toBe(200);
    await client.delete(`/v1/accounts/portfolios/${portfolioId}/key-pairs/${keyId}`);
    const revoked = alpacaSender(test, { keyId, secretKey });
    expect((await revoked('GET', '/v2/account')).status).toBe(401);
  });
});

/** Rules that admission enforces, with the operations that would break them. */
const HELD_AT_THE_DOOR: Readonly<Record<string, readonly OperationId[]>> = {
  'an entry has one portfolio and one account': [
    ...(['createAccount', 'updateAccount', 'freezeAccount', 'unfreezeAccount', 'deleteAccount'] as const),
    ...(['createPortfolio', 'closePortfolio', 'fillFixture', 'listFixtures'] as const),
  ],
  resets: ['resetPortfolio'],
  'deposits, transfers and imported positions': ['transferCash', 'importPositions'],
  'broker and margin terms': ['switchBroker', 'upgradeMargin'],
  'names of portfolios': ['updatePortfolio'],
  'the clock': ['setClock', 'advanceClock', 'stepSimulation', 'stepSimulations'],
  'quotes, instruments, halts and corporate actions': [
    ...(['pushQuotes', 'putInstruments', 'haltTrading', 'listHalts', 'liftHalt'] as const),
    ...(['addCorporateActions', 'listCorporateActions', 'withdrawCorporateAction'] as const),
  ],
  'alerts on prices': ['createAlert', 'listAlerts', 'getAlert', 'updateAlert', 'deleteAlert'],
  'scripted outcomes and faults': [
    ...(['createOutcome', 'listOutcomes', 'deleteOutcome', 'deleteOutcomes'] as const),
    ...(['createFault', 'listFaults', 'deleteFault', 'deleteFaults'] as const),
  ],
  'simulations, forks, snapshots, exports and comparisons': [
    ...(['createSimulation', 'listSimulations', 'getSimulation', 'deleteSimulation'] as const),
    ...(['createSimulationToken', 'getSimulationMask', 'exportSimulation', 'importSimulation'] as const),
    ...(['takeSnapshot', 'listSnapshots', 'deleteSnapshot', 'forkSimulation'] as const),
    ...(['createComparison', 'getComparison', 'cancelComparison'] as const),
  ],
  'other entries and the competition itself': [
    ...(['createCompetition', 'updateCompetition', 'cancelCompetition', 'startCompetition'] as const),
    ...(['pauseCompetition', 'finishCompetition', 'exportCompetition', 'enterCompetition'] as const),
    ...(['listEntries', 'createEntryToken', 'disqualifyEntry', 'withdrawEntry'] as const),
  ],
  evaluations: [
    ...(['createEvaluation', 'updateEvaluation', 'deleteEvaluation', 'exportEvaluation'] as const),
    ...(['enterEvaluation', 'withdrawEvaluationEntry', 'finishCell', 'reportUsage'] as const),
  ],
  'the server and other tokens': [
    ...(['getCluster', 'getServer', 'updateServerLimits', 'createAgentToken'] as const),
    ...(['createWebhook', 'listWebhooks', 'getWebhook'] as const),
    ...(['createInvitation', 'listInvitations', 'deleteInvitation', 'listMembers'] as const),
    ...(['createMemberToken', 'createMemberLink', 'resetMember', 'deleteMember'] as const),
    ...(['updateWebhook', 'deleteWebhook', 'rotateWebhookSecret', 'testWebhook'] as const),
    ...(['listWebhookDeliveries', 'redeliverWebhook'] as const),
  ],
};

describe('everything but trading and reading is 403 for the token of an entry (D195)', () => {
  const SOME_ID = '00000000-0000-4000-8000-000000000000';
  let entry: Awaited<ReturnType<typeof started>>;
  let attempt: (id: OperationId) => Promise<Reply>;

  beforeAll(async () => {
    entry = await started();
    const { accountId } = (await entry.client.get('/v1/accounts')).body.data[0] as { accountId: string };
    const ids: Readonly<Record<string, string>> = {
      accountId,
      portfolioId: entry.portfolioId,
      competitionId: entry.path.split('/').at(-1) ?? '',
      entryId: entry.entryId,
    };
    const byId = new Map(routeEntries);
    attempt = (id) => {
      const { method, path, body } = byId.get(id)!;
      const url = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? SOME_ID);
      return entry.client.inject({ method, url, ...(body !== undefined && { payload: {} }) });
    };
  });

  it.each(Object.entries(HELD_AT_THE_DOOR))('%s', async (_, operations) => {
    for (const id of operations) {
      const { status, body } = await attempt(id);
      expect([status, body.error?.code], id).toEqual([403, 'ENTRY_TOKEN']);
    }
  });

  it('leaves trading its portfolio, reading, and reading the market', () => {
    const held = new Set(Object.values(HELD_AT_THE_DOOR).flat());
    const left = routeEntries.filter(([id, { auth }]) => auth !== 'none' && !held.has(id));
    const changing = left.filter(([, { scope }]) => scope !== 'read').map(([id]) => id);
    expect(changing.toSorted()).toEqual([
      'cancelAccountOrders',
      'cancelOrder',
      'createKeyPair',
      'createOrder',
      'createOrders',
      'doNotExerciseOption',
      'exerciseOption',
      'getClock',
      'revokeKeyPair',
      'updateOrder',
    ]);
  });
});

describe('entries under attack', () => {
  it('a name with markup is shown unchanged, and one of control characters or direction marks is refused', async () => {
    const { path } = await started();
    const markup = '<img src=x onerror=alert(1)>';
    expect((await enter(test, path, markup)).status).toBe(201);
    const { body, headers } = await test.withToken(undefined).get(`${path}/leaderboard`);
    expect(headers['content-type']).toContain('application/json');
    expect((body.rows as Body[]).map(({ displayName }) => displayName as string)).toContain(markup);
    for (const name of ['', '   ', 'a\u0000b', '\u202Eevil', 'x'.repeat(41), '\u200B', 'ann', 'ＡＮＮ'])
      expect(
        (await enter(test, path, name, `tenant ${name.length} ${name}`)).status,
        JSON.stringify(name),
      ).not.toBe(201);
  });

  it('two simultaneous entries of a tenant become one', async () => {
    const { path } = await started();
    const both = await Promise.all(['Bea', 'Cea', 'Dea'].map((name) => enter(test, path, name, 'eager')));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  it('an organizer cannot change rules, market or scoring after the first entry, or trade for an entrant', async () => {
    const { path, portfolioId, market: driver, client } = await started({ maxPositionPercent: 50 });
    for (const change of [
      { rules: { ...contest().rules, maxPositionPercent: 1 } },
      { market: { ...contest().market, end: '2026-01-07T21:00:00Z' } },
      { scoring: 'SHARPE' },
      { name: 'Other' },
    ]) {
      const { status, body } = await organizer.put(path, change);
      expect([status, body.error.code], JSON.stringify(change)).toEqual([409, 'COMPETITION_STARTED']);
    }
    const order = orderBody(portfolioId, { symbol: 'AAA', quantity: 1 });
    expect((await organizer.post('/v1/orders', order)).status).toBe(404);
    expect((await driver.post('/v1/orders', order)).status).toBe(403);
    // The market's token moves the clock, and nothing but forward.
    expect((await driver.put('/v1/simulation/clock', { now: '2026-01-05T10:00:00Z' })).status).not.toBe(200);
    expect((await client.post('/v1/orders', order)).status).toBe(201);
  });
});

describe('webhooks of the organizer', () => {
  it('createWebhook: an endpoint for all simulations receives no event of an entry', async () => {
    const receiver = await WebhookReceiver.open();
    const { client, portfolioId } = await started();
    const created = await organizer.post('/v1/webhooks', { url: receiver.url, simulationId: '*' });
    expect(created.status, created.text).toBe(201);
    const order = orderBody(portfolioId, { symbol: 'AAA', quantity: 1 });
    expect((await client.post('/v1/orders', order)).status).toBe(201);
    // Events of a simulation of the organizer come later, and arrive.
    const own = await organizer.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const owner = test.withToken(own.body.token as string);
    const { portfolioId: other } = await openPortfolio(owner);
    await owner.post(`/v1/accounts/portfolios/${other as string}/transfers`, { amount: 100 });
    await until(() => receiver.types.includes('transfer.booked'));
    expect(new Set(receiver.events.map(({ data }) => data.simulationId))).toEqual(
      new Set([own.body.simulationId]),
    );
    await organizer.delete(`/v1/webhooks/${created.body.webhookId as string}`);
    await receiver.close();
  });
});

describe('erasure of a tenant', () => {
  it('removes the competitions that it organizes, and it and its names from the entries of others', async () => {
    const leaver = test.as({ tenantId: 'leaver', tier: 'ENTERPRISE', scope: 'trade read simulate admin' });
    const { body: own } = await leaver.post('/v1/competitions', publicContest());
    const path = `/v1/competitions/${own.competitionId as string}`;
    const entry = (await enter(test, path, 'Ann')).body as Record<string, string>;
    expect((await leaver.post(`${path}/start`)).status).toBe(200);
    const other = await started();
    const left = (await enter(test, other.path, 'Leo', 'leaver')).body as Record<string, string>;

    await test.app.eraseTenant('leaver');
    const ann = test.as({ tenantId: 'tenant of Ann' });
    expect((await ann.get(path)).status).toBe(404);
    expect((await ann.post(`${path}/entries/${entry.entryId ?? ''}/token`)).status).toBe(404);
    expect(JSON.stringify(test.store.registry.settings('competition'))).not.toMatch(/leaver/);
    expect(test.store.registry.simulations('leaver')).toEqual([]);
    // A later tenant of this name does not get the entry.
    const token = await leaver.post(`${other.path}/entries/${left.entryId ?? ''}/token`);
    expect(token.status).toBe(404);
    const { rows } = (await organizer.get(`${other.path}/leaderboard`)).body as { rows: Body[] };
    const names = ['Ann', 'erased entrant'];
    expect(rows.map(({ displayName }) => displayName as string).sort()).toEqual(names);
    // Nor do later boards, the result, its file and the simulation of the entry name it.
    expect((await organizer.post(`${other.path}/finish`)).status).toBe(200);
    await test.app.eraseTenant('tenant of Ann');
    const told = await Promise.all(
      ['leaderboard', 'leaderboard/curves', 'entries', 'export'].map((part) =>
        test.app.inject({
          url: `${other.path}/${part}`,
          headers: { authorization: `Bearer ${organizer.token ?? ''}` },
        }),
      ),
    );
    for (const { statusCode, body } of told) {
      expect(statusCode).toBe(200);
      expect(body).toContain('erased entrant');
      expect(body).not.toMatch(/"Leo"|"Ann"/);
    }
    expect((await organizer.get(`/v1/simulations/${left.simulationId ?? ''}`)).body.name).toBe(
      'erased entrant',
    );
    const file = join(mkdtempSync(join(tmpdir(), 'sandpit-erased-')), 'cup.ndjson');
    writeFileSync(file, told[3]?.body ?? '');
    expect((await verifyCompetition(file, settingsFiled)).problems).toEqual([]);
    rmSync(dirname(file), { recursive: true });
  });

  it('ends its key pairs: a later tenant of its name has the same portfolio ids', async () => {
    const open = async (): Promise<string> => {
      const leaver = test.as({ tenantId: 'leaver of keys' });
      const account = { accountId: '11111111-1111-4111-8111-111111111111' };
      return ((await openPortfolio(leaver, account)) as { portfolioId: string }).portfolioId;
    };
    const portfolioId = await open();
    const send = alpacaSender(test, await keyPairOf(test.as({ tenantId: 'leaver of keys' }), portfolioId));
    expect((await send('GET', '/v2/account')).status).toBe(200);
    await test.app.eraseTenant('leaver of keys');
    expect(await open()).toBe(portfolioId);
    expect((await send('GET', '/v2/account')).status).toBe(401);
  });
});

describe('crashes', () => {
  const cells = (app: TestApp): string[] =>
    app.store.registry
      .simulations()
      .filter(({ config }) => config.includes('"role":"ENTRY"'))
      .map(({ id }) => id);

  it('withdrawEntry: the simulation of an entry withdrawn before the start is deleted at the next start', async () => {
    let app = await TestApp.open(SETTINGS);
    const { body } = await organizerOf(app).post('/v1/competitions', publicContest());
    const path = `/v1/competitions/${body.competitionId as string}`;
    expect((await enter(app, path, 'Ann')).status).toBe(201);
    expect((await enter(app, path, 'Bea')).status).toBe(201);
    // One that is withdrawn before the start keeps its place in the list, and no simulation.
    const withdrawn = await enter(app, path, 'Cea');
    await app.as({ tenantId: 'tenant of Cea' }).delete(`${path}/entries/${withdrawn.body.entryId as string}`);
    app = await app.restart(SETTINGS);
    await vi.waitFor(() => expect(cells(app)).toHaveLength(2));
    const listed = (await organizerOf(app).get(`${path}/entries`)).body.data as Body[];
    expect(listed.map(({ displayName, status }) => `${displayName as string} ${status as string}`)).toEqual([
      'Ann ACTIVE',
      'Bea ACTIVE',
      'Cea WITHDRAWN',
    ]);
    await app.close();
  });

  it('pauseCompetition: goes on with simulations that the store dropped from memory', async () => {
    const { path, client, entryId } = await started();
    const { simulationId } = (await organizer.get(path)).body as { simulationId: string };
    const entries = (await organizer.get(`${path}/entries`)).body.data as Body[];
    test.simulations.directory.dropLost(
      entries.find((entry) => entry.entryId === entryId)?.simulationId as string,
    );
    expect((await organizer.get(`${path}/leaderboard`)).body.rows).toMatchObject([{ status: 'ACTIVE' }]);
    test.simulations.directory.dropLost(simulationId);
    await vi.waitFor(async () => expect((await client.get('/v1/orders')).status).toBe(200));
    expect((await organizer.post(`${path}/pause`)).body).toMatchObject({ paused: true });
    expect((await organizer.post(`${path}/finish`)).body).toMatchObject({ status: 'FINISHED' });
  });
});
