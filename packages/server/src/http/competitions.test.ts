/** Competitions over HTTP (D194–D196): one server, many small contests. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  executeFile,
  headerProblems,
  UNVERIFIED,
  verifyCompetition,
} from '../competitions/verify-competition.js';
import { verifyJournal } from '../engine/recovery/verify.js';
import { contest } from '../testing/competitions.js';
import { type Body, orderBody, type Reply, TestApp, type TestClient } from '../testing/test-app.js';
import { settingsFiled } from './translate/competitions.js';

let test: TestApp;
let organizer: TestClient;

beforeAll(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
  organizer = test.as({ tenantId: 'organizer', tier: 'ENTERPRISE', scope: 'trade read simulate admin' });
});
afterAll(() => test.close());

interface Contest {
  readonly id: string;
  readonly path: string;
  readonly created: Body;
  readonly market: TestClient;
}

async function open(more: Body = {}): Promise<Contest> {
  const created = await organizer.post('/v1/competitions', contest(more));
  expect(created.status, created.text).toBe(201);
  const id = created.body.competitionId as string;
  const market = test.withToken(created.body.token as string);
  if (created.body.market.feed === 'push') await quote(market, 'AAA', 99.9, 100);
  return { id, path: `/v1/competitions/${id}`, created: created.body, market };
}

const quote = (market: TestClient, symbol: string, bid: number, ask: number): Promise<Reply> =>
  market.put('/v1/simulation/quotes', { quotes: [{ symbol, bid, ask, last: bid }] });

interface Entrant {
  readonly client: TestClient;
  readonly entryId: string;
  readonly portfolioId: string;
  readonly simulationId: string;
  order(more?: object): Promise<Reply>;
}

async function enter({ path }: Contest, name: string, more: object = {}): Promise<Entrant> {
  const entered = await test
    .as({ tenantId: `tenant of ${name}` })
    .post(`${path}/entries`, { displayName: name, ...more });
  expect(entered.status, entered.text).toBe(201);
  const { entryId, portfolioId, simulationId, token } = entered.body as Record<string, string>;
  const client = test.withToken(token);
  return {
    client,
    entryId: entryId ?? '',
    portfolioId: portfolioId ?? '',
    simulationId: simulationId ?? '',
    order: (order = {}) =>
      client.post(
        '/v1/orders',
        orderBody(portfolioId ?? '', {
          symbol: 'AAA',
          orderType: 'MARKET',
          limitPrice: undefined,
          quantity: 10,
          ...order,
        }),
      ),
  };
}

const advance = ({ market }: Contest, by: string): Promise<Reply> =>
  market.post('/v1/simulation/clock/advance', { by });

const codeOf = ({ body }: Reply): string => (body as { error: { code: string } }).error.code;
const rowsOf = async ({ path }: Contest): Promise<Body[]> =>
  (await organizer.get(`${path}/leaderboard`)).body.rows as Body[];

describe('competitions', () => {
  it('createCompetition: creates an OPEN competition, and requires admin for a public one', async () => {
    const { created } = await open({ entry: 'CODE' });
    expect(created).toMatchObject({ status: 'OPEN', isOrganizer: true, entries: 0, paused: false });
    expect(created.joinCode).toMatch(/^[A-Z2-9]{10}$/);
    const plain = test.as({ tenantId: 'plain', tier: 'ENTERPRISE', scope: 'trade read simulate' });
    const refused = await plain.post('/v1/competitions', contest({ visibility: 'PUBLIC' }));
    expect([refused.status, codeOf(refused)]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    const bad = await organizer.post(
      '/v1/competitions',
      contest({ market: { end: '2026-01-05T14:30:00Z' } }),
    );
    expect(bad.body.message).toEqual(['market.end must be after start']);
    const broker = await organizer.post('/v1/competitions', contest({ rules: { brokerId: 'nobody' } }));
    expect(broker.status).toBe(400);
  });

  it('getOwnEntry: answers with the competition, the name and the rank to the token of an entry alone', async () => {
    const cup = await open({ name: 'Spring cup', rules: { minTrades: 0 } });
    await organizer.post(`${cup.path}/start`, {});
    const ada = await enter(cup, 'Ada');
    const bob = await enter(cup, 'Bob');
    expect((await bob.order()).status).toBe(201);
    // Bob has paid the spread.
    await quote(cup.market, 'AAA', 89.9, 90);
    const own = await bob.client.get('/v1/competitions/entry');
    expect([own.status, own.body]).toMatchObject([
      200,
      {
        entryId: bob.entryId,
        competitionId: cup.id,
        displayName: 'Bob',
        portfolioId: bob.portfolioId,
        simulationId: bob.simulationId,
        status: 'ACTIVE',
        rank: 2,
        competition: { competitionId: cup.id, name: 'Spring cup', status: 'RUNNING', isOrganizer: false },
      },
    ]);
    expect(own.body.competition.simulationId).toBeUndefined();
    expect((await ada.client.get('/v1/competitions/entry')).body).toMatchObject({
      displayName: 'Ada',
      rank: 1,
    });
    expect((await test.as({ tenantId: 'tenant of Bob' }).get('/v1/competitions/entry')).status).toBe(404);
    expect((await organizer.get('/v1/competitions/entry')).status).toBe(404);
    expect((await cup.market.get('/v1/competitions/entry')).status).toBe(403);
    expect((await test.withToken(undefined).get('/v1/competitions/entry')).status).toBe(401);
    await organizer.put(`${cup.path}/entries/${bob.entryId}`, {
      status: 'DISQUALIFIED',
      reason: 'two accounts',
    });
    const out = await bob.client.get('/v1/competitions/entry');
    expect(out.body).toMatchObject({ status: 'DISQUALIFIED', reason: 'two accounts', rank: 2 });
  });

  it('getCompetition: answers 404 to other tenants, unless the competition is public', async () => {
    const { path } = await open();
    const stranger = test.as({
      tenantId: 'stranger',
      tier: 'ENTERPRISE',
      scope: 'trade read simulate admin',
    });
    for (const client of [stranger, test.withToken(undefined)]) {
      expect((await client.get(path)).status).toBe(404);
      expect((await client.get(`${path}/leaderboard`)).status).toBe(404);
    }
    for (const action of ['start', 'pause', 'finish'])
      expect((await stranger.post(`${path}/${action}`)).status).toBe(404);
    expect((await stranger.put(path, { scoring: 'CALMAR' })).status).toBe(404);
    expect((await stranger.delete(path)).status).toBe(404);
    const shown = await open({ visibility: 'PUBLIC' });
    const visitor = test.withToken(undefined);
    const seen = await visitor.get(shown.path);
    expect(seen.body).toMatchObject({ isOrganizer: false, status: 'OPEN' });
    expect(seen.body).not.toHaveProperty('joinCode');
    expect(seen.body).not.toHaveProperty('simulationId');
    expect((await visitor.get(`${shown.path}/leaderboard`)).body.rows).toEqual([]);
    const listed = (await visitor.get('/v1/competitions')).body.data as Body[];
    expect(listed.map(({ competitionId }) => competitionId as string)).toEqual([shown.id]);
  });

  it('updateCompetition: edits until the first entry, then keeps market, rules and scoring', async () => {
    const one = await open();
    const edit = await organizer.put(one.path, { scoring: 'CALMAR', name: 'Cup of cups' });
    expect(edit.body).toMatchObject({ scoring: 'CALMAR', name: 'Cup of cups' });
    const other = await open();
    await enter(other, 'First');
    const refused = await organizer.put(other.path, {
      rules: { ...contest().rules, maxPositionPercent: 10 },
    });
    expect([refused.status, codeOf(refused)]).toEqual([409, 'COMPETITION_STARTED']);
    expect((await organizer.put(other.path, { capacity: 5 })).body).toMatchObject({ capacity: 5 });
    const start = new Date(Date.now() + 86_400_000).toISOString();
    const end = new Date(Date.now() + 2 * 86_400_000).toISOString();
    const onWall = await open({ market: { feed: 'synthetic', clock: 'wall', start, end } });
    await enter(onWall, 'First');
    const { name: _, ...same } = contest({
      market: { feed: 'synthetic', clock: 'wall', start, end },
    });
    const kept = await organizer.put(onWall.path, { ...same, capacity: 6 });
    expect([kept.status, kept.body.capacity]).toEqual([200, 6]);
  });

  it('enterCompetition: asks for the code, and holds capacity, names and entries of a tenant', async () => {
    const cup = await open({ entry: 'CODE', capacity: 2 });
    const ann = test.as({ tenantId: 'ann' });
    const wrong = await ann.post(`${cup.path}/entries`, { displayName: 'Ann', joinCode: 'wrong' });
    expect([wrong.status, codeOf(wrong)]).toEqual([403, 'JOIN_CODE']);
    const { joinCode } = cup.created as { joinCode: string };
    await enter(cup, 'Ann', { joinCode });
    const again = await test
      .as({ tenantId: 'tenant of Ann' })
      .post(`${cup.path}/entries`, { displayName: 'Ann 2', joinCode });
    expect([again.status, codeOf(again)]).toEqual([409, 'ALREADY_ENTERED']);
    const sameName = await test
      .as({ tenantId: 'bea' })
      .post(`${cup.path}/entries`, { displayName: 'ＡＮＮ', joinCode });
    expect(sameName.status).toBe(409);
    const filled = await test
      .as({ tenantId: 'bea' })
      .post(`${cup.path}/entries`, { displayName: 'A\u3164nn\u2800', joinCode });
    expect([filled.status, filled.body.message]).toEqual([
      409,
      'Another entry of the competition has this displayName',
    ]);
    await enter(cup, 'Bea', { joinCode });
    const full = await test
      .as({ tenantId: 'cy' })
      .post(`${cup.path}/entries`, { displayName: 'Cy', joinCode });
    expect([full.status, codeOf(full)]).toEqual([409, 'COMPETITION_FULL']);
    // Blank names, signs alone, and one that looks like another (D237).
    const blank = ['\u2800', '\u3164', '\uFFA0\u115F', '!!!', '★'];
    for (const displayName of ['', ' x', 'a'.repeat(41), 'a\u202Eb', 'a\u200Bb', 'a\nb', ...blank])
      expect((await ann.post(`${cup.path}/entries`, { displayName })).status, displayName).toBe(400);
  });

  it('accepts orders while it runs, and answers 409 before and after', async () => {
    const cup = await open();
    const ann = await enter(cup, 'Ann');
    const early = await ann.order();
    expect([early.status, codeOf(early)]).toEqual([409, 'COMPETITION_NOT_RUNNING']);
    expect((await organizer.post(`${cup.path}/start`)).body).toMatchObject({ status: 'RUNNING' });
    expect((await ann.order()).status).toBe(201);
    await organizer.post(`${cup.path}/pause`);
    expect(codeOf(await ann.order())).toBe('COMPETITION_NOT_RUNNING');
    await organizer.post(`${cup.path}/start`);
    const finished = await organizer.post(`${cup.path}/finish`);
    expect(finished.body).toMatchObject({ status: 'FINISHED' });
    expect(finished.body.journalHash).toMatch(/^[0-9a-f]{64}$/);
    const late = await ann.order();
    expect([late.status, codeOf(late)]).toEqual([409, 'COMPETITION_NOT_RUNNING']);
  });

  it('ends at the end of its clock, with positions marked to market', async () => {
    const cup = await open();
    const ann = await enter(cup, 'Ann');
    const bea = await enter(cup, 'Bea');
    await organizer.post(`${cup.path}/start`);
    await ann.order({ quantity: 100 });
    await bea.order({ positionIntent: 'SELL_TO_OPEN', quantity: 100 });
    await quote(cup.market, 'AAA', 109.9, 110);
    await cup.market.post('/v1/simulation/clock/advance', { to: '2026-01-06T22:00:00Z' });
    const board = (await organizer.get(`${cup.path}/leaderboard`)).body;
    expect(board).toMatchObject({ status: 'FINISHED', at: '2026-01-06T21:00:00.000Z' });
    // 100 bought at 100.00, sold short at 99.90; both marked at the middle or last, 109.90.
    const rows = board.rows as Body[];
    expect(rows.map(({ displayName, rank }) => [displayName, rank])).toEqual([
      ['Ann', 1],
      ['Bea', 2],
    ]);
    expect(rows[0].return).toBeGreaterThan(0.009);
    expect(rows[1].return).toBeLessThan(-0.009);
    expect(rows[0].trades).toBe(1);
  });

  it('enforces its rules for orders, and allows closing orders', async () => {
    const cup = await open({
      rules: {
        maxPositionPercent: 50,
        maxOrdersPerMinute: 3,
        minPrice: 5,
        symbols: ['AAA', 'BBB'],
        shortSelling: false,
      },
    });
    await quote(cup.market, 'BBB', 3.9, 4);
    await quote(cup.market, 'CCC', 9, 9.1);
    const ann = await enter(cup, 'Ann');
    await organizer.post(`${cup.path}/start`);
    const ruleOf = async (order: object): Promise<string> => {
      const reply = await ann.order(order);
      expect([reply.status, codeOf(reply)]).toEqual([403, 'COMPETITION_RULE']);
      return (reply.body as { error: { rule: string } }).error.rule;
    };
    expect(await ruleOf({ quantity: 501 })).toBe('maxPositionPercent');
    // Resting orders count at their worst.
    expect((await ann.order({ orderType: 'LIMIT', limitPrice: 90, quantity: 300 })).status).toBe(201);
    expect(await ruleOf({ orderType: 'LIMIT', limitPrice: 90, quantity: 300 })).toBe('maxPositionPercent');
    expect(await ruleOf({ symbol: 'BBB' })).toBe('minPrice');
    expect(await ruleOf({ symbol: 'CCC' })).toBe('symbols');
    expect(await ruleOf({ positionIntent: 'SELL_TO_OPEN' })).toBe('shortSelling');
    expect((await ann.order()).status).toBe(201);
    expect((await ann.order({ positionIntent: 'SELL_TO_CLOSE', quantity: 1 })).status).toBe(201);
    expect(await ruleOf({})).toBe('maxOrdersPerMinute');
    await advance(cup, 'PT1M');
    expect((await ann.order()).status).toBe(201);
  });

  it('enforces its rules in the Paper Invest dialect and for tools', async () => {
    const cup = await open({ rules: { symbols: ['BBB'] } });
    const ann = await enter(cup, 'Ann');
    await organizer.post(`${cup.path}/start`);
    const order = orderBody(ann.portfolioId, { symbol: 'AAA', quantity: 1 });
    const paper = await ann.client.post('/paperinvest/v1/orders', order);
    expect(codeOf(paper)).toBe('COMPETITION_RULE');
    const { accountId } = (await ann.client.get('/v1/accounts')).body.data[0] as { accountId: string };
    const { portfolioId: _, ...orderData } = order as { portfolioId: string };
    const batch = await ann.client.post('/v1/orders/batch', { accountIds: [accountId], orderData });
    expect(JSON.stringify(batch.body)).toContain('COMPETITION_RULE');
    const tool = async (name: string, args: object): Promise<string> => {
      const { body } = await test.app.inject({
        method: 'POST',
        url: '/mcp',
        headers: {
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${ann.client.token ?? ''}`,
        },
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      });
      return body;
    };
    const placed = await tool('place_order', order);
    expect(placed).toContain('COMPETITION_RULE');
    expect(await tool('list_accounts', {})).toContain(accountId);
    for (const forbidden of ['reset_portfolio', 'create_simulation'])
      expect(await tool(forbidden, { portfolioId: ann.portfolioId, by: 'PT1M' }), forbidden).toContain(
        '"isError":true',
      );
  });

  it('an entry token trades its portfolio and reads; everything else is 403', async () => {
    const cup = await open();
    const ann = await enter(cup, 'Ann');
    const bea = await enter(cup, 'Bea');
    const other = await test.as({ tenantId: 'organizer' }).post('/v1/accounts', {});
    for (const [method, path, body] of [
      ['POST', '/v1/simulations', { feed: 'push', clock: 'manual' }],
      ['GET', '/v1/simulations', undefined],
      ['POST', `/v1/accounts/portfolios/${ann.portfolioId}/reset`, {}],
      ['POST', `/v1/accounts/portfolios/${ann.portfolioId}/import`, { cash: 1 }],
      ['PUT', `/v1/accounts/portfolios/${ann.portfolioId}/broker`, { brokerId: 'default' }],
      ['POST', '/v1/accounts/portfolios', {}],
      ['POST', '/v1/accounts', {}],
      ['POST', '/v1/simulation/step', {}],
      ['POST', '/v1/simulation/halts', { symbol: 'AAA', reason: 'T1' }],
      ['POST', '/v1/simulation/outcomes', { match: {}, outcome: {} }],
      ['POST', '/v1/webhooks', { url: 'https://example.com' }],
      ['POST', '/v1/auth/agent-token', { level: 'full' }],
      ['POST', '/v1/competitions', contest()],
      ['POST', `${cup.path}/entries`, { displayName: 'Ann again' }],
      ['POST', `${cup.path}/start`, undefined],
      ['PUT', `${cup.path}/entries/${bea.entryId}`, { status: 'DISQUALIFIED' }],
      ['DELETE', `${cup.path}/entries/${bea.entryId}`, undefined],
      ['POST', `${cup.path}/entries/${bea.entryId}/token`, undefined],
    ] as const) {
      const reply = await ann.client.inject({
        method,
        url: path,
        ...(body !== undefined && { payload: body }),
      });
      expect([reply.status, codeOf(reply)], `${method} ${path}`).toEqual([403, 'ENTRY_TOKEN']);
    }
    expect((await ann.client.get(`/v1/accounts/portfolios/${bea.portfolioId}`)).status).toBe(404);
    const accounts = (await ann.client.get('/v1/accounts')).body.data as Body[];
    expect(accounts).toHaveLength(1);
    expect(JSON.stringify(accounts)).not.toContain(other.body.accountId as string);
    expect((await ann.client.get('/v1/market-data/quote/AAA')).body).toMatchObject({ ask: 100 });
    expect((await ann.client.get(`${cup.path}/leaderboard`)).status).toBe(200);
  });

  it('the organizer cannot list, fork, export, step or compare simulations of entries before the end', async () => {
    const cup = await open();
    const ann = await enter(cup, 'Ann');
    await organizer.post(`${cup.path}/start`);
    await ann.order();
    const marketId = cup.created.simulationId as string;
    expect(JSON.stringify((await organizer.get('/v1/simulations')).body)).not.toContain(marketId);
    for (const id of [ann.simulationId, marketId]) {
      for (const [method, path, body] of [
        ['POST', `/v1/simulations/${id}/forks`, {}],
        ['POST', `/v1/simulations/${id}/snapshots`, {}],
        ['POST', `/v1/simulations/${id}/comparisons`, { variants: 'all-brokers' }],
        ['GET', `/v1/simulations/${id}/export`, undefined],
        ['DELETE', `/v1/simulations/${id}`, undefined],
      ] as const) {
        const reply = await organizer.inject({
          method,
          url: path,
          ...(body !== undefined && { payload: body }),
        });
        expect([reply.status, codeOf(reply)], `${method} ${path}`).toEqual([409, 'COMPETITION_NOT_FINISHED']);
      }
      const step = await organizer.post('/v1/simulations/step', { steps: [{ simulationId: id }] });
      expect(JSON.stringify(step.body)).toContain('409');
    }
    expect((await organizer.post(`/v1/simulations/${ann.simulationId}/token`)).status).toBe(409);
    await organizer.post(`${cup.path}/finish`);
    const fork = await organizer.post(`/v1/simulations/${ann.simulationId}/forks`, {});
    expect(fork.status, fork.text).toBe(201);
    const there = test.withToken(fork.body.token as string);
    const order = orderBody(ann.portfolioId, { symbol: 'AAA', quantity: 1 });
    expect((await there.post('/v1/orders', order)).status).toBe(201);
    const file = await test.app.inject({
      method: 'GET',
      url: `/v1/simulations/${ann.simulationId}/export`,
      headers: { authorization: `Bearer ${organizer.token ?? ''}` },
    });
    expect(file.statusCode).toBe(200);
  });

  it('eliminates an entry that loses too much, closes it out, and ranks it last', async () => {
    const cup = await open({ rules: { maxDailyLossPercent: 5 } });
    const ann = await enter(cup, 'Ann');
    await enter(cup, 'Bea');
    await organizer.post(`${cup.path}/start`);
    await ann.order({ quantity: 500 });
    await ann.order({ orderType: 'LIMIT', limitPrice: 50, quantity: 10 });
    await quote(cup.market, 'AAA', 91, 91.1);
    // 500 × 9.00 = 4,500 lost, 4.5 %: within the rule.
    await advance(cup, 'PT1M');
    expect((await rowsOf(cup)).map(({ status }) => status as string)).toEqual(['ACTIVE', 'ACTIVE']);
    await quote(cup.market, 'AAA', 89, 89.1);
    await advance(cup, 'PT1M');
    const [first, last] = await rowsOf(cup);
    expect([first.displayName, last.displayName, last.status, last.rank]).toEqual([
      'Bea',
      'Ann',
      'ELIMINATED',
      2,
    ]);
    // Sold at the bid: 100,000 − 500 × 11.00.
    expect(last.totalEquity).toBe(94_500);
    expect((await ann.client.get(`/v1/accounts/portfolios/${ann.portfolioId}/equities`)).body).toEqual([]);
    const orders = (await ann.client.get('/v1/orders')).body.data as Body[];
    expect(orders.map(({ status, cancelReason, origin }) => [status, cancelReason ?? origin])).toEqual([
      ['FILLED', 'COMPETITION'],
      ['CANCELED', 'COMPETITION'],
      ['FILLED', undefined],
    ]);
    const refused = await ann.order();
    expect(refused.body.error).toMatchObject({ code: 'COMPETITION_RULE', rule: 'maxDailyLossPercent' });
  });

  it('measures the drawdown from the highest equity, including equity at executions', async () => {
    const cup = await open({ rules: { trailingDrawdownPercent: 10 } });
    const ann = await enter(cup, 'Ann');
    await organizer.post(`${cup.path}/start`);
    await ann.order({ quantity: 500 });
    await quote(cup.market, 'AAA', 120, 120.1);
    await advance(cup, 'PT1M');
    // The high is 110,000; 98,500 is 10.45 % below it, and above what it began with less 10 %.
    await quote(cup.market, 'AAA', 97, 97.1);
    await ann.order({ quantity: 1, positionIntent: 'SELL_TO_CLOSE' });
    const [row] = await rowsOf(cup);
    expect([row.status, row.totalEquity]).toEqual(['ELIMINATED', 98_500]);
  });

  it('an eliminated entry waits for the market to be closed out', async () => {
    const cup = await open({ rules: { maxDailyLossPercent: 5 } });
    const ann = await enter(cup, 'Ann');
    await organizer.post(`${cup.path}/start`);
    await ann.order({ quantity: 500 });
    await cup.market.post('/v1/simulation/halts', { symbol: 'AAA', reason: 'T1' });
    await quote(cup.market, 'AAA', 80, 80.1);
    await advance(cup, 'PT1M');
    expect((await rowsOf(cup))[0].status).toBe('ELIMINATED');
    const held = () => ann.client.get(`/v1/accounts/portfolios/${ann.portfolioId}/equities`);
    expect((await held()).body).toHaveLength(1);
    await cup.market.delete('/v1/simulation/halts/AAA');
    await quote(cup.market, 'AAA', 85, 85.1);
    await advance(cup, 'PT1M');
    expect((await held()).body).toEqual([]);
    expect((await rowsOf(cup))[0].totalEquity).toBe(92_500);
  });

  it('withdrawEntry and disqualifyEntry: end the orders of an entry and rank it behind the others', async () => {
    const cup = await open();
    const ann = await enter(cup, 'Ann');
    const bea = await enter(cup, 'Bea');
    await enter(cup, 'Cy');
    await organizer.post(`${cup.path}/start`);
    await ann.order({ orderType: 'LIMIT', limitPrice: 90 });
    const out = await organizer.put(`${cup.path}/entries/${ann.entryId}`, {
      status: 'DISQUALIFIED',
      reason: 'two names',
    });
    expect(out.body).toMatchObject({ status: 'DISQUALIFIED', reason: 'two names' });
    expect(codeOf(await ann.order())).toBe('COMPETITION_NOT_RUNNING');
    // An entry that is disqualified stays so.
    const withdrawn = await test
      .as({ tenantId: 'tenant of Ann' })
      .delete(`${cup.path}/entries/${ann.entryId}`);
    expect(withdrawn.body).toMatchObject({ status: 'DISQUALIFIED', reason: 'two names' });
    const orders = (await ann.client.get('/v1/orders')).body.data as Body[];
    expect(orders[0]).toMatchObject({ status: 'CANCELED', cancelReason: 'COMPETITION' });
    expect(
      (await test.as({ tenantId: 'tenant of Cy' }).delete(`${cup.path}/entries/${bea.entryId}`)).status,
    ).toBe(404);
    await test.as({ tenantId: 'tenant of Bea' }).delete(`${cup.path}/entries/${bea.entryId}`);
    expect((await rowsOf(cup)).map(({ displayName, rank, status }) => [displayName, rank, status])).toEqual([
      ['Cy', 1, 'ACTIVE'],
      ['Bea', 2, 'WITHDRAWN'],
      ['Ann', 3, 'DISQUALIFIED'],
    ]);
    const again = await test
      .as({ tenantId: 'tenant of Bea' })
      .post(`${cup.path}/entries`, { displayName: 'Bea 2' });
    expect(codeOf(again)).toBe('ALREADY_ENTERED');
  });

  it('an entry that is withdrawn before the start frees its place', async () => {
    const cup = await open({ capacity: 1 });
    const ann = await enter(cup, 'Ann');
    await test.as({ tenantId: 'tenant of Ann' }).delete(`${cup.path}/entries/${ann.entryId}`);
    await enter(cup, 'Bea');
    expect(await rowsOf(cup)).toHaveLength(1);
  });

  it('createEntryToken: issues another token to the tenant of the entry only', async () => {
    const cup = await open();
    const ann = await enter(cup, 'Ann');
    const path = `${cup.path}/entries/${ann.entryId}/token`;
    const again = await test.as({ tenantId: 'tenant of Ann' }).post(path);
    expect(again.status).toBe(201);
    const client = test.withToken(again.body.token as string);
    expect((await client.get(`/v1/accounts/portfolios/${ann.portfolioId}`)).status).toBe(200);
    expect((await organizer.post(path)).status).toBe(404);
    expect((await test.as({ tenantId: 'stranger' }).post(path)).status).toBe(404);
  });

  it('the token of the market reads the clock, and cannot open an account or step', async () => {
    const cup = await open();
    const id = cup.created.simulationId as string;
    const more = test.withToken((await organizer.post(`/v1/simulations/${id}/token`)).body.token as string);
    expect((await more.post('/v1/accounts', {})).status).toBe(403);
    expect((await more.post('/v1/simulation/step', {})).status).toBe(403);
    expect((await more.get('/v1/simulation/clock')).status).toBe(200);
  });

  it('verify repeats the decisions of every simulation of a competition', async () => {
    const cup = await open({
      rules: { maxDailyLossPercent: 5, maxPositionPercent: 60, maxOrdersPerMinute: 2 },
    });
    const ann = await enter(cup, 'Ann');
    await organizer.post(`${cup.path}/start`);
    await ann.order({ quantity: 500 });
    await ann.order({ orderType: 'LIMIT', limitPrice: 90, quantity: 5 });
    await quote(cup.market, 'AAA', 80, 80.1);
    await advance(cup, 'P1D');
    await organizer.post(`${cup.path}/finish`);
    for (const id of [ann.simulationId, cup.created.simulationId as string]) {
      const { problems, records } = await verifyJournal(test.store, id);
      expect(problems).toEqual([]);
      expect(records).toBeGreaterThan(2);
    }
  });

  const exported = async ({ path }: Contest): Promise<string> => {
    const { body } = await test.app.inject({
      method: 'GET',
      url: `${path}/export`,
      headers: { authorization: `Bearer ${organizer.token ?? ''}` },
    });
    return body;
  };

  it('exportCompetition: the result follows from the file, and verify finds a change of any field of its first line', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-competition-'));
    try {
      const cup = await open({
        market: { feed: 'synthetic', seed: 'spring', luld: false },
        rules: {
          maxDailyLossPercent: 1,
          trailingDrawdownPercent: 1,
          maxPositionPercent: 60,
          maxOrdersPerMinute: 9,
          minPrice: 1,
          symbols: ['AAPL', 'MSFT', 'TSLA'],
          optionLevel: 1,
          shortSelling: true,
          latencyProfile: 'COLOCATED',
          fillModel: 'quote',
          entriesPerTenant: 2,
          minTrades: 1,
        },
        scoring: 'SHARPE',
      });
      const ann = await enter(cup, 'Ann');
      const bea = await enter(cup, 'Bea');
      expect((await organizer.get(`${cup.path}/export`)).body.error.code).toBe('COMPETITION_NOT_FINISHED');
      // An edit that changes no rule leaves the rules as they were written.
      const { fillModel: _, ...rules } = cup.created.rules;
      expect((await organizer.put(cup.path, { rules, capacity: 7 })).status).toBe(200);
      await organizer.post(`${cup.path}/start`);
      await ann.order({ symbol: 'AAPL', quantity: 200 });
      await bea.order({ symbol: 'TSLA', quantity: 100 });
      await advance(cup, 'PT45M');
      await ann.order({ symbol: 'MSFT', quantity: 1, orderType: 'LIMIT', limitPrice: 1 });
      await cup.market.post('/v1/simulation/clock/advance', { to: '2026-01-07T00:00:00Z' });
      const board = (await organizer.get(`${cup.path}/leaderboard`)).body;
      expect(board.status).toBe('FINISHED');
      const file = join(directory, 'cup.ndjson');
      const text = await exported(cup);
      writeFileSync(file, text);
      const verdict = await verifyCompetition(file, settingsFiled);
      expect(verdict.problems).toEqual([]);
      expect(verdict.rows).toEqual(board.rows);
      expect(verdict.header.result.journalHash).toBe(board.journalHash);
      // The start, six full hours and a close of each of two sessions.
      expect(verdict.header.entries[0]?.equity).toHaveLength(15);
      expect((await verifyCompetition(file, settingsFiled, 'CALMAR')).rows).toHaveLength(2);

      const executed = await executeFile(file);
      const undetected = changesOf(executed.header).filter(
        ([, header]) =>
          headerProblems({ ...executed, header: header as typeof executed.header }, settingsFiled).length ===
          0,
      );
      // `type` and `format` are checked before anything is executed.
      const paths = undetected.map(([path]) => path).filter((path) => path.includes('.'));
      expect(paths.toSorted()).toEqual(UNVERIFIED.map((field) => `competition.${field}`).toSorted());

      const richer = text.replace('"initialCash":100000', '"initialCash":200000');
      writeFileSync(file, richer);
      expect((await verifyCompetition(file, settingsFiled)).problems).toEqual([
        'market, rules and scoring are not those that the journals were begun with',
        'rules.initialCash is not that of the journals',
      ]);
      const cut = text.slice(0, text.lastIndexOf('{"type":"header"'));
      writeFileSync(file, cut);
      expect((await verifyCompetition(file, settingsFiled)).problems).toContain(
        'entries are not the simulations of the file',
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

/** Copies of a value with one leaf changed each, with the path of the leaf. Of lists, the first element alone. */
function changesOf(value: unknown): readonly (readonly [path: string, changed: unknown])[] {
  if (typeof value !== 'object' || value === null) return [['', otherThan(value)]];
  const parts = Object.entries(value).slice(0, Array.isArray(value) ? 1 : undefined);
  return parts.flatMap(([name, part]) =>
    changesOf(part).map(([path, changed]) => {
      const copy: unknown = Array.isArray(value)
        ? [changed, ...value.slice(1)]
        : { ...value, [name]: changed };
      return [path === '' ? name : `${name}.${path}`, copy] as const;
    }),
  );
}

function otherThan(leaf: unknown): unknown {
  if (typeof leaf === 'number') return leaf + 1;
  if (typeof leaf === 'boolean') return !leaf;
  const text = String(leaf);
  const moved = new Date(Date.parse(text) + 60_000);
  return text.endsWith('Z') && !Number.isNaN(moved.getTime()) ? moved.toISOString() : `${text}x`;
}
