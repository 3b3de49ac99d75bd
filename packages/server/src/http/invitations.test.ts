/** Invitations over HTTP (D258): links, joins, the roster, and what must not work. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainName } from '../invitations/tenant-name.js';
import { contest } from '../testing/competitions.js';
import { holdAppends } from '../testing/hold-appends.js';
import { type Body, NOWHERE, orderBody, type Reply, TestApp, type TestClient } from '../testing/test-app.js';

const TEACHER = { tenantId: 'teacher', tier: 'PRO', scope: 'trade read simulate admin' } as const;
const CASH_PORTFOLIO = {
  portfolioType: 'CASH',
  accountType: 'INDIVIDUAL',
  brokerId: 'default',
  initialCash: 5000,
};

let test: TestApp;
let teacher: TestClient;
let visitor: TestClient;

beforeAll(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
  teacher = test.as(TEACHER);
  visitor = test.withToken(undefined);
  await test.as({ ...TEACHER, tenantId: 'operator' }).put('/v1/simulation/quotes', {
    quotes: [{ symbol: 'AAPL', bid: 99, ask: 100, last: 100 }],
  });
});
afterAll(() => test.close());

async function invite(more: object = {}, client = teacher): Promise<Body> {
  const created = await client.post('/v1/invitations', { name: 'Finance 101', ...more });
  expect(created.status, created.text).toBe(201);
  return created.body;
}

/** Joins in the next second, so that the rate of an invitation does not matter. */
async function join(
  { code }: Body,
  displayName = 'Ada',
  headers: Record<string, string> = {},
): Promise<Reply> {
  test.time.monotonicMs += 1000;
  return visitor.post('/v1/invitations/join', { code, displayName }, headers);
}

async function joined(invitation: Body, displayName = 'Ada'): Promise<Body> {
  const reply = await join(invitation, displayName);
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
}

const membersOf = async ({ invitationId }: Body, client = teacher): Promise<Body[]> =>
  (await client.get(`/v1/invitations/${invitationId as string}/members`)).body.data as Body[];

const memberPath = async (invitation: Body): Promise<string> =>
  `/v1/invitations/${invitation.invitationId as string}/members/${(await membersOf(invitation))[0].memberId as string}`;

const codeIn = ({ returnUrl }: Body): string => (returnUrl as string).split('/').at(-1) ?? '';
const codeOf = ({ body }: Reply): string => (body as { error: { code: string } }).error.code;
const market = (portfolioId: string, more: object = {}): object =>
  orderBody(portfolioId, {
    symbol: 'AAPL',
    orderType: 'MARKET',
    limitPrice: undefined,
    quantity: 10,
    ...more,
  });

describe('createInvitation', () => {
  it('answers with a link, a code of 130 bits, and the defaults', async () => {
    const { body } = await teacher.post(
      '/v1/invitations',
      { name: 'Finance 101', portfolio: CASH_PORTFOLIO },
      { host: 'school.example:8080' },
    );
    expect(body).toMatchObject({
      name: 'Finance 101',
      tier: 'PRO',
      portfolio: CASH_PORTFOLIO,
      capacity: 100,
      members: 0,
      status: 'OPEN',
    });
    expect(body.code).toMatch(/^[2-9a-z]{26}$/);
    expect(body.url).toBe(`http://school.example:8080/join/${body.code as string}`);
    expect(body.expiresAt).toBeUndefined();
  });

  it('requires the scope admin, a token of main, and refuses agents', async () => {
    const plain = test.as({ ...TEACHER, scope: 'trade read simulate' });
    const refused = await plain.post('/v1/invitations', { name: 'x' });
    expect([refused.status, codeOf(refused)]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect((await plain.get('/v1/invitations')).status).toBe(403);
    const made = await teacher.post('/v1/simulations', { feed: 'push', clock: 'manual' });
    const inside = test.withToken(made.body.token as string);
    expect((await inside.post('/v1/invitations', { name: 'x' })).status).toBe(403);
    const agent = await teacher.post('/v1/auth/agent-token', { level: 'control' });
    expect(agent.status, agent.text).toBe(201);
    expect((await test.withToken(agent.body.token as string).get('/v1/invitations')).status).toBe(403);
  });

  it('refuses a tier above that of the token', async () => {
    const refused = await teacher.post('/v1/invitations', { name: 'x', tier: 'ENTERPRISE' });
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: 'FEATURE_NOT_AVAILABLE', currentTier: 'PRO', requiredTier: 'ENTERPRISE' },
    ]);
    expect((await invite({ tier: 'BASIC' })).tier).toBe('BASIC');
  });

  it.each([
    ['no name', { name: undefined }],
    ['a name without a letter', { name: '!!!' }],
    ['a name of 81 characters', { name: 'x'.repeat(81) }],
    ['capacity 0', { capacity: 0 }],
    ['capacity 1.5', { capacity: 1.5 }],
    ['a past expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt without a zone', { expiresAt: '2099-01-01T00:00:00' }],
    [
      'a fixture beside a simulation',
      { fixture: 'retirement', simulation: { feed: 'push', clock: 'manual' } },
    ],
    ['a portfolio beside a competition', { competitionId: NOWHERE, portfolio: CASH_PORTFOLIO }],
    ['an unknown broker', { portfolio: { ...CASH_PORTFOLIO, brokerId: 'nobody' } }],
    ['an IRA with margin', { portfolio: { ...CASH_PORTFOLIO, portfolioType: 'MARGIN', accountType: 'IRA' } }],
    [
      'a wall clock with a start',
      { simulation: { feed: 'push', clock: 'wall', start: '2026-01-05T14:30:00Z' } },
    ],
    ['a recording without the symbol', { simulation: { feed: 'replay', clock: 'manual', replay: 'NONE' } }],
    ['a lifetime of zero', { simulation: { feed: 'push', clock: 'manual', ttl: 'PT0S' } }],
    ['an unknown fixture', { fixture: 'nothing' }],
    ['an unknown field', { password: 'x' }],
  ])('%s: 400, and no invitation', async (_, more) => {
    const client = test.as({ ...TEACHER, tenantId: 'teacher of mistakes' });
    const refused = await client.post('/v1/invitations', { name: 'x', ...more });
    expect(refused.status, refused.text).toBe(400);
    expect((await client.get('/v1/invitations')).body.data).toEqual([]);
    expect((await client.get('/v1/simulations')).body.data).toEqual([]);
  });

  it('tries portfolio and simulation without leaving anything behind', async () => {
    const client = test.as({ ...TEACHER, tenantId: 'teacher of trials' });
    await invite({ portfolio: CASH_PORTFOLIO }, client);
    await invite({ fixture: 'retirement' }, client);
    await invite({ simulation: { feed: 'synthetic', clock: 'manual' } }, client);
    expect((await client.get('/v1/simulations')).body.data).toEqual([]);
    expect((await client.get('/v1/accounts')).body.data).toEqual([]);
  });

  it('repeats its answer for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one link' };
    const first = await teacher.post('/v1/invitations', { name: 'Once' }, headers);
    const again = await teacher.post('/v1/invitations', { name: 'Once' }, headers);
    expect(again.body).toEqual(first.body);
  });

  it('allows 100 invitations of a tenant; a deleted one does not count', async () => {
    const client = test.as({ ...TEACHER, tenantId: 'teacher of many' });
    let last: Body;
    for (let count = 0; count < 100; count += 1) last = await invite({}, client);
    expect((await client.post('/v1/invitations', { name: 'x' })).status).toBe(409);
    await client.delete(`/v1/invitations/${last.invitationId as string}`);
    await invite({}, client);
  });
});

describe('joinInvitation', () => {
  it('makes a tenant with an account and a portfolio in main, and a token that trades it for 30 days', async () => {
    const invitation = await invite({ portfolio: CASH_PORTFOLIO });
    const reply = await join(invitation, 'Ada Lovelace');
    const {
      token = '',
      tenantId,
      accountId,
      portfolioId = '',
      returnUrl,
      ...rest
    } = reply.body as Record<string, string>;
    expect(rest).toEqual({});
    expect(tenantId).toMatch(/^ada-lovelace-[a-z0-9]{5}$/);
    expect(returnUrl).toMatch(/^http:\/\/.+\/return\/sp_[\w-]{43}$/);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    expect(claims).toMatchObject({ sub: tenantId, tier: 'PRO', scope: 'trade read' });
    expect(claims.exp - claims.iat).toBe(30 * 86_400);
    const cookie = String(reply.headers['set-cookie']);
    expect(cookie).toContain(
      `sandpit-session=${token}; Path=/dashboard; Max-Age=2592000; HttpOnly; SameSite=Strict`,
    );
    const ada = test.withToken(token);
    const account = await ada.get(`/v1/accounts/${accountId}`);
    expect(account.body.name).toBe('Ada Lovelace');
    const portfolio = await ada.get(`/v1/accounts/portfolios/${portfolioId}`);
    expect(portfolio.body).toMatchObject({ accountId, totalEquity: 5000, portfolioType: 'CASH' });
    expect((await ada.post('/v1/orders', market(portfolioId))).status).toBe(201);
    expect((await ada.get('/v1/invitations')).status).toBe(403);
  });

  it('with a simulation: in a created simulation that the token names, whose clock it moves', async () => {
    const invitation = await invite({
      simulation: { feed: 'synthetic', clock: 'manual', start: '2026-01-05T14:30:00Z', name: 'The crash' },
      portfolio: CASH_PORTFOLIO,
    });
    const member = await joined(invitation);
    const ada = test.withToken(member.token as string);
    const own = await ada.get(`/v1/simulations/${member.simulationId as string}`);
    expect(own.body).toMatchObject({ name: 'The crash', clock: 'manual' });
    expect((await ada.get(`/v1/accounts/portfolios/${member.portfolioId as string}`)).body.totalEquity).toBe(
      5000,
    );
    expect((await ada.post('/v1/simulation/clock/advance', { by: 'PT1H' })).status).toBe(200);
    const [row] = await membersOf(invitation);
    expect(row).toMatchObject({ equity: 5000, return: 0, orders: 0, portfolioId: member.portfolioId });
  });

  it('with a fixture: in a simulation filled with the book', async () => {
    const invitation = await invite({ fixture: 'active-trader' });
    const member = await joined(invitation);
    const ada = test.withToken(member.token as string);
    expect((await ada.get('/v1/orders')).body.data.length).toBeGreaterThan(10);
    const [row] = await membersOf(invitation);
    const portfolio = await ada.get(`/v1/accounts/portfolios/${member.portfolioId as string}`);
    expect(row).toMatchObject({ equity: portfolio.body.totalEquity });
    expect(row.orders).toBeGreaterThan(10);
  });

  it('with a competition: an entry, without the join code', async () => {
    const created = await teacher.post('/v1/competitions', contest({ entry: 'CODE' }));
    const { competitionId } = created.body;
    const invitation = await invite({ competitionId });
    const member = await joined(invitation, 'Ada');
    expect(member.entryId).toBeDefined();
    const ada = test.withToken(member.token as string);
    const own = await ada.get('/v1/competitions/entry');
    expect(own.body).toMatchObject({
      entryId: member.entryId,
      displayName: 'Ada',
      portfolioId: member.portfolioId,
    });
    expect((await ada.get(`/v1/accounts/${member.accountId as string}`)).status).toBe(200);
    const taken = await join(invitation, 'ADA');
    expect(taken.status).toBe(409);
    expect(await membersOf(invitation)).toMatchObject([
      { displayName: 'Ada', equity: 100_000, return: 0, orders: 0, tenantId: member.tenantId },
    ]);
    // The refused one has left no tenant.
    expect(test.store.registry.tenants().filter(({ name }) => name.startsWith('ada-')).length).toBe(
      (await allMembers()).filter(({ tenantId }) => (tenantId as string).startsWith('ada-')).length,
    );
    const path = await memberPath(invitation);
    expect((await teacher.post(`${path}/reset`)).status).toBe(409);
    expect((await teacher.delete(path)).status).toBe(200);
    expect((await ada.get('/v1/competitions/entry')).status).toBe(401);
    await teacher.post(`/v1/competitions/${competitionId as string}/start`, {});
    await teacher.delete(`/v1/competitions/${competitionId as string}`);
    const over = await join(invitation, 'Late');
    expect([over.status, codeOf(over)]).toEqual([409, 'COMPETITION_NOT_RUNNING']);
  });

  it('with a competition of another tenant, or one that is over: no invitation', async () => {
    const other = test.as({ ...TEACHER, tenantId: 'other teacher' });
    const theirs = await other.post('/v1/competitions', contest({ visibility: 'PUBLIC' }));
    const { competitionId } = theirs.body;
    expect((await teacher.post('/v1/invitations', { name: 'x', competitionId })).status).toBe(404);
    await other.delete(`/v1/competitions/${competitionId as string}`);
    const over = await other.post('/v1/invitations', { name: 'x', competitionId });
    expect([over.status, codeOf(over)]).toEqual([409, 'COMPETITION_NOT_RUNNING']);
  });

  it('the same name twice makes two members', async () => {
    const invitation = await invite();
    const [one, two] = [await joined(invitation, 'Ada'), await joined(invitation, 'Ada')];
    expect(one.tenantId).not.toBe(two.tenantId);
    expect(await membersOf(invitation)).toHaveLength(2);
  });

  it('with an Idempotency-Key: one member, a new token and link for the repetition', async () => {
    const invitation = await invite({ capacity: 1 });
    const headers = { 'idempotency-key': '5b0c7d3e-join' };
    const first = await join(invitation, 'Ada', headers);
    const again = await join(invitation, 'Ada', headers);
    expect(again.status, again.text).toBe(201);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toMatchObject({ tenantId: first.body.tenantId, portfolioId: first.body.portfolioId });
    expect(await membersOf(invitation)).toHaveLength(1);
    // The first answer may have been lost, with its link.
    expect((await visitor.post('/v1/invitations/return', { code: codeIn(first.body) })).status).toBe(404);
    expect((await visitor.post('/v1/invitations/return', { code: codeIn(again.body) })).status).toBe(201);
    expect((await join(invitation, 'Bob', headers)).status).toBe(422);
    expect((await join(invitation, 'Ada', { 'idempotency-key': 'a b' })).status).toBe(400);
    test.time.nowMs += 86_400_001;
    const later = await join(invitation, 'Ada', headers);
    test.time.nowMs -= 86_400_001;
    expect([later.status, codeOf(later)]).toEqual([409, 'INVITATION_FULL']);
  });

  it('two at once for the last place: one joins', async () => {
    const invitation = await invite({ capacity: 1 });
    const both = await Promise.all(
      ['Ada', 'Bob'].map((displayName) =>
        visitor.post('/v1/invitations/join', { code: invitation.code as string, displayName }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(await membersOf(invitation)).toHaveLength(1);
    expect((await teacher.get('/v1/invitations?status=FULL')).body.data).toMatchObject([
      { invitationId: invitation.invitationId, members: 1 },
      {},
    ]);
  });

  it('two at once with one Idempotency-Key: one member', async () => {
    const invitation = await invite();
    const body = { code: invitation.code as string, displayName: 'Ada' };
    const release = holdAppends(test.store);
    const [first, second] = [1, 2].map(() =>
      visitor.post('/v1/invitations/join', body, { 'idempotency-key': 'twice' }),
    );
    // The portfolio of the first member is not durable yet.
    expect((await second)?.status).toBe(409);
    release();
    expect((await first)?.status).toBe(201);
    expect(await membersOf(invitation)).toHaveLength(1);
  });

  it('expired, deleted, guessed: no member', async () => {
    const invitation = await invite({ expiresAt: new Date(test.time.nowMs + 60_000).toISOString() });
    await joined(invitation);
    test.time.nowMs += 60_000;
    const late = await join(invitation, 'Bob');
    expect([late.status, codeOf(late)]).toEqual([409, 'INVITATION_EXPIRED']);
    expect((await teacher.get('/v1/invitations?status=EXPIRED')).body.data).toHaveLength(1);
    const path = `/v1/invitations/${invitation.invitationId as string}`;
    expect((await teacher.delete(path)).status).toBe(200);
    expect((await teacher.delete(path)).status).toBe(404);
    expect((await join(invitation, 'Bob')).status).toBe(404);
    // Its members stay.
    expect(await membersOf(invitation)).toHaveLength(1);
    const deleted = await teacher.get('/v1/invitations?status=DELETED');
    expect(deleted.body.data).toMatchObject([{ invitationId: invitation.invitationId, status: 'DELETED' }]);
    await teacher.delete(await memberPath(invitation));
    expect((await teacher.get(`${path}/members`)).status).toBe(404);
    expect((await teacher.get('/v1/invitations?status=DELETED')).body.data).toEqual([]);
  });

  it.each([
    ['no name', {}],
    ['an empty name', { displayName: '' }],
    ['41 characters', { displayName: 'x'.repeat(41) }],
    ['no letter and no digit', { displayName: '?!' }],
    ['an invisible name', { displayName: '\u200b\u2060' }],
    ['a blank before', { displayName: ' Ada' }],
    ['a line break', { displayName: 'Ada\nBob' }],
    ['a right-to-left override', { displayName: 'Ada\u202e' }],
    ['a number', { displayName: 7 }],
    ['a list', { displayName: ['Ada'] }],
    ['a further field', { displayName: 'Ada', tier: 'ENTERPRISE' }],
    ['__proto__', JSON.parse('{"displayName":"Ada","__proto__":{"tier":"PRO"}}') as object],
  ])('%s: 400', async (_, body) => {
    const { code } = await invite();
    expect((await visitor.post('/v1/invitations/join', { code, ...body })).status).toBe(400);
  });

  it('names of markup, of other scripts and of commands are names', async () => {
    const invitation = await invite();
    for (const name of [
      '<img src=x onerror=alert(1)>',
      '陳大文',
      '=HYPERLINK("x")',
      'Zoë Łukasz',
      "'; DROP TABLE--1",
    ])
      await joined(invitation, name);
    const rows = await membersOf(invitation);
    expect(rows.map(({ tenantId }) => (tenantId as string).replace(/-.{5}$/, ''))).toEqual([
      'img-src-x-onerror-al',
      'member',
      'hyperlink-x',
      'zoe-lukasz',
      'drop-table-1',
    ]);
    const csv = await test.app.inject({
      method: 'GET',
      url: `/v1/invitations/${invitation.invitationId as string}/members`,
      headers: { authorization: `Bearer ${String(teacher.token)}`, accept: 'text/csv' },
    });
    expect(csv.body.split('\r\n')[0]).toBe(
      'memberId,displayName,tenantId,portfolioId,equity,return,orders,joinedAt,lastSeenAt',
    );
    expect(csv.body).toContain(`"'=HYPERLINK(""x"")"`);
  });

  it('20 wrong codes a minute from an address, then 429; right ones are not counted', async () => {
    const app = await TestApp.open();
    const stranger = app.withToken(undefined);
    const wrong = (): Promise<Reply> =>
      stranger.post('/v1/invitations/join', { code: 'wrong', displayName: 'Eve' });
    const own = await invite({}, app.as(TEACHER));
    for (let count = 0; count < 19; count += 1) expect((await wrong()).status).toBe(404);
    expect((await stranger.post('/v1/invitations/return', { code: 'wrong' })).status).toBe(404);
    const refused = await wrong();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect((await stranger.post('/v1/invitations/return', { code: 'wrong' })).status).toBe(429);
    const right = await stranger.post('/v1/invitations/join', {
      code: own.code as string,
      displayName: 'Ada',
    });
    expect(right.status).toBe(201);
    app.time.monotonicMs += 60_000;
    expect((await wrong()).status).toBe(404);
    await app.close();
  });

  it('10 joins a second of an invitation, then 429', async () => {
    const invitation = await invite();
    test.time.monotonicMs += 1000;
    const body = { code: invitation.code as string, displayName: 'Ada' };
    const all = await Promise.all(
      Array.from({ length: 12 }, () => visitor.post('/v1/invitations/join', body)),
    );
    expect(all.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(2);
    expect((await join(invitation)).status).toBe(201);
  });

  it('MAX_MEMBERS of a tenant, over all its invitations', async () => {
    const app = await TestApp.open({ settings: { MAX_MEMBERS: '2' } });
    const own = app.as(TEACHER);
    const [one, two] = [await invite({}, own), await invite({}, own)];
    const enter = ({ code }: Body): Promise<Reply> =>
      app.withToken(undefined).post('/v1/invitations/join', { code, displayName: 'Ada' });
    expect((await enter(one)).status).toBe(201);
    expect((await enter(two)).status).toBe(201);
    const full = await enter(two);
    expect([full.status, codeOf(full)]).toEqual([409, 'INVITATION_FULL']);
    const other = await invite({}, app.as({ ...TEACHER, tenantId: 'other' }));
    expect((await enter(other)).status).toBe(201);
    await app.close();
  });

  it('plainName: lower-case letters, digits and hyphens, at most 20', () => {
    expect(plainName('Ada Lovelace')).toBe('ada-lovelace');
    expect(plainName('  Ünïcödé  ')).toBe('unicode');
    expect(plainName('ａｄａ７')).toBe('ada7');
    expect(plainName('a-very-long-name-of-a-student')).toBe('a-very-long-name-of');
    expect(plainName('日本')).toBe('member');
  });
});

describe('a class of 30', () => {
  it('joins by one link, trades, and is on the roster with its figures', async () => {
    const invitation = await invite({ capacity: 30, portfolio: CASH_PORTFOLIO });
    const names = Array.from({ length: 30 }, (_, index) => `Student ${index + 1}`);
    const members: Body[] = [];
    for (const name of names) members.push(await joined(invitation, name));
    expect((await join(invitation, 'Student 31')).status).toBe(409);
    for (const [index, { token, portfolioId }] of members.entries())
      if (index % 3 === 0)
        expect(
          (await test.withToken(token as string).post('/v1/orders', market(portfolioId as string))).status,
        ).toBe(201);
    await test.as({ ...TEACHER, tenantId: 'operator' }).put('/v1/simulation/quotes', {
      quotes: [{ symbol: 'AAPL', bid: 110, ask: 111, last: 110 }],
    });
    const first = await teacher.get(`/v1/invitations/${invitation.invitationId as string}/members?limit=20`);
    const second = await teacher.get(
      `/v1/invitations/${invitation.invitationId as string}/members?limit=20&page=2`,
    );
    const rows = [...first.body.data, ...second.body.data] as Body[];
    expect(rows.map(({ displayName }) => displayName as string)).toEqual(names);
    for (const [index, row] of rows.entries()) {
      const traded = index % 3 === 0;
      // Bought at 100, marked at 110, the commission of the default broker is 0.
      expect(row).toMatchObject({
        tenantId: members[index].tenantId,
        portfolioId: members[index].portfolioId,
        orders: traded ? 1 : 0,
      });
      expect(row.equity).toBeCloseTo(traded ? 5100 : 5000, 0);
      expect(row.return).toBeCloseTo(traded ? 0.02 : 0, 3);
    }
    // Members never see each other.
    const [ada, bob] = members;
    const view = test.withToken(ada.token as string);
    expect((await view.get(`/v1/accounts/portfolios/${bob.portfolioId as string}`)).status).toBe(404);
    expect((await view.get('/v1/accounts')).body.data).toHaveLength(1);
    await test.as({ ...TEACHER, tenantId: 'operator' }).put('/v1/simulation/quotes', {
      quotes: [{ symbol: 'AAPL', bid: 99, ask: 100, last: 100 }],
    });
  });
});

describe('the roster', () => {
  it('another tenant reads, resets and deletes nothing of it', async () => {
    const invitation = await invite();
    await joined(invitation);
    const path = await memberPath(invitation);
    const other = test.as({ ...TEACHER, tenantId: 'other teacher' });
    expect((await other.get(`/v1/invitations/${invitation.invitationId as string}/members`)).status).toBe(
      404,
    );
    expect((await other.delete(`/v1/invitations/${invitation.invitationId as string}`)).status).toBe(404);
    expect((await other.post(`${path}/token`)).status).toBe(404);
    expect((await other.post(`${path}/link`)).status).toBe(404);
    expect((await other.post(`${path}/reset`)).status).toBe(404);
    expect((await other.delete(path)).status).toBe(404);
    // Nor by its own invitation.
    const own = await invite({}, other);
    const mixed = path.replace(invitation.invitationId as string, own.invitationId as string);
    expect((await other.post(`${mixed}/token`)).status).toBe(404);
    expect((await other.delete(mixed)).status).toBe(404);
    expect(await membersOf(invitation)).toHaveLength(1);
  });

  it('lastSeenAt: the last request with a token of the member, not one of the inviter', async () => {
    const invitation = await invite();
    const member = await joined(invitation);
    const [before] = await membersOf(invitation);
    expect(before.lastSeenAt).toBe(before.joinedAt);
    test.time.nowMs += 5000;
    const viewing = await teacher.post(`${await memberPath(invitation)}/token`);
    await test.withToken(viewing.body.token as string).get('/v1/accounts');
    expect((await membersOf(invitation))[0].lastSeenAt).toBe(before.joinedAt);
    await test.withToken(member.token as string).get('/v1/accounts');
    const seenAt = new Date(test.time.nowMs).toISOString();
    expect((await membersOf(invitation))[0].lastSeenAt).toBe(seenAt);
    // After a restart too.
    test = await test.restart({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
    teacher = test.as(TEACHER);
    visitor = test.withToken(undefined);
    expect((await membersOf(invitation))[0].lastSeenAt).toBe(seenAt);
    expect((await test.withToken(member.token as string).get('/v1/accounts')).status).toBe(200);
  });

  it('createMemberToken: reads for an hour, trades nothing, is in the audit log', async () => {
    const invitation = await invite();
    const member = await joined(invitation);
    const path = await memberPath(invitation);
    const { status, body } = await teacher.post(`${path}/token`);
    expect([status, body]).toMatchObject([
      201,
      { tenantId: member.tenantId, portfolioId: member.portfolioId, tokenType: 'Bearer', expiresIn: 3600 },
    ]);
    const view = test.withToken(body.token as string);
    expect((await view.get(`/v1/accounts/portfolios/${member.portfolioId as string}`)).status).toBe(200);
    const order = await view.post('/v1/orders', market(member.portfolioId as string));
    expect([order.status, codeOf(order)]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    // It ends with the member.
    await teacher.delete(path);
    expect((await view.get('/v1/accounts')).status).toBe(401);
  });

  it('createMemberLink: the old link ends, with the sessions that it opened', async () => {
    const invitation = await invite();
    const member = await joined(invitation);
    const path = await memberPath(invitation);
    const back = (code: string): Promise<Reply> => visitor.post('/v1/invitations/return', { code });
    const old = await back(codeIn(member));
    expect(old.body).toMatchObject({ tenantId: member.tenantId, portfolioId: member.portfolioId });
    expect(old.body.returnUrl).toBeUndefined();
    const session = test.withToken(old.body.token as string);
    expect((await session.get('/v1/accounts')).body.data).toHaveLength(1);
    const { status, body } = await teacher.post(`${path}/link`);
    expect(status).toBe(201);
    expect((await back(codeIn(member))).status).toBe(404);
    expect((await session.get('/v1/accounts')).status).toBe(401);
    expect((await test.withToken(member.token as string).get('/v1/accounts')).status).toBe(200);
    expect((await back(codeIn(body))).status).toBe(201);
    // The code is no API key with rights.
    const exchanged = await visitor.post('/v1/auth/token', { apiKey: codeIn(body) });
    const rightless = test.withToken(exchanged.body.token as string);
    expect((await rightless.get('/v1/accounts')).status).toBe(403);
  });

  it('resetMember: restores the initial cash', async () => {
    const invitation = await invite({ portfolio: CASH_PORTFOLIO });
    const member = await joined(invitation);
    const ada = test.withToken(member.token as string);
    await ada.post('/v1/orders', market(member.portfolioId as string));
    const path = await memberPath(invitation);
    const { status, body } = await teacher.post(`${path}/reset`);
    expect([status, body]).toMatchObject([200, { equity: 5000, return: 0, orders: 1 }]);
    const positions = await ada.get(`/v1/accounts/portfolios/${member.portfolioId as string}/equities`);
    expect(positions.body).toEqual([]);
  });

  it('deleteMember: tokens end at once, everything of the tenant is erased, and the place is free', async () => {
    const invitation = await invite({ capacity: 1 });
    const member = await joined(invitation);
    const path = await memberPath(invitation);
    expect((await teacher.delete(path)).status).toBe(200);
    expect((await teacher.delete(path)).status).toBe(404);
    expect((await test.withToken(member.token as string).get('/v1/accounts')).status).toBe(401);
    expect((await visitor.post('/v1/invitations/return', { code: codeIn(member) })).status).toBe(404);
    const { registry } = test.store;
    expect(registry.tenant(member.tenantId as string)).toBeUndefined();
    expect(registry.simulations(member.tenantId as string)).toEqual([]);
    expect(registry.apiKeys(member.tenantId as string)).toEqual([]);
    await joined(invitation, 'Bob');
  });

  it('a portfolio that its member has closed: no equity, the member stays', async () => {
    const invitation = await invite({ portfolio: CASH_PORTFOLIO });
    const member = await joined(invitation);
    const ada = test.withToken(member.token as string);
    expect((await ada.delete(`/v1/accounts/portfolios/${member.portfolioId as string}`)).status).toBe(200);
    const [row] = await membersOf(invitation);
    expect(row).toMatchObject({ equity: 0, orders: 0 });
  });

  it('a simulation that its member has deleted: a member without figures', async () => {
    const invitation = await invite({ simulation: { feed: 'push', clock: 'manual' } });
    const member = await joined(invitation);
    const ada = test.withToken(member.token as string);
    expect((await ada.delete(`/v1/simulations/${member.simulationId as string}`)).status).toBe(200);
    const [row] = await membersOf(invitation);
    expect(row.equity).toBeUndefined();
    expect((await teacher.post(`${await memberPath(invitation)}/reset`)).status).toBe(404);
  });
});

describe('erasure and restarts', () => {
  it('the inviter is erased: its links end, its members stay', async () => {
    const leaving = test.as({ ...TEACHER, tenantId: 'leaving' });
    const invitation = await invite({}, leaving);
    const member = await joined(invitation);
    await test.app.eraseTenant('leaving');
    expect((await join(invitation, 'Bob')).status).toBe(404);
    expect((await test.withToken(member.token as string).get('/v1/accounts')).body.data).toHaveLength(1);
    expect((await leaving.get('/v1/invitations')).body.data).toEqual([]);
    expect(test.store.registry.settings('invitation').filter(([, text]) => text.includes('leaving'))).toEqual(
      [],
    );
  });

  it('a member’s tenant is erased by the operator: it leaves the roster', async () => {
    const invitation = await invite();
    const member = await joined(invitation);
    test.access.forgetTenant(member.tenantId as string);
    await test.app.eraseTenant(member.tenantId as string);
    expect(await membersOf(invitation)).toEqual([]);
    expect((await visitor.post('/v1/invitations/return', { code: codeIn(member) })).status).toBe(404);
  });

  it('a join that a crash interrupted is removed at the next start, and takes no place', async () => {
    const invitation = await invite({ capacity: 1 });
    const member = await joined(invitation);
    const { registry } = test.store;
    const [name = '', text = '{}'] =
      registry.settings('invitation-member/').find(([, one]) => one.includes(member.tenantId as string)) ??
      [];
    const { portfolioId: _, ...half } = JSON.parse(text);
    await registry.saveSetting(name, JSON.stringify(half));
    test = await test.restart({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
    teacher = test.as(TEACHER);
    visitor = test.withToken(undefined);
    await expect.poll(() => test.store.registry.tenant(member.tenantId as string)).toBeUndefined();
    await expect.poll(async () => (await join(invitation, 'Bob')).status).toBe(201);
    expect(await membersOf(invitation)).toMatchObject([{ displayName: 'Bob' }]);
  });

  it('a half-made member never takes another tenant with it', async () => {
    const invitation = await invite();
    const member = await joined(invitation);
    const { registry } = test.store;
    const [name = '', text = '{}'] =
      registry.settings('invitation-member/').find(([, one]) => one.includes(member.tenantId as string)) ??
      [];
    const { portfolioId: _, ...half } = JSON.parse(text);
    // Its draw lost against a tenant of the same id.
    await registry.saveSetting(name, JSON.stringify({ ...half, joinedAt: 1 }));
    test = await test.restart({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
    teacher = test.as(TEACHER);
    visitor = test.withToken(undefined);
    await expect.poll(() => test.store.registry.setting(name)).toBeUndefined();
    expect(test.store.registry.tenant(member.tenantId as string)).toBeDefined();
  });
});

async function allMembers(): Promise<Body[]> {
  const all = (await teacher.get('/v1/invitations?limit=500')).body.data as Body[];
  return (await Promise.all(all.map((one) => membersOf(one)))).flat();
}
