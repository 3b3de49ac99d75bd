/** Whatever comes in through a dialect: refused in its own words or answered, never a 500, and never an error in the log. */
import { routeEntries } from '@sandpit/protocol';
import alpaca from '@sandpit/dialect-alpaca';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type AlpacaAccount, openAlpacaAccount } from '../../testing/alpaca.js';
import { type Body, NOWHERE, openPortfolio, placeOrder, pushQuote } from '../../testing/test-app.js';

let account: AlpacaAccount;
let orderId: string;
/** One that may be closed. */
let otherId: string;
const logged: string[] = [];

beforeAll(async () => {
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  account = await openAlpacaAccount({ settings: { RATE_LIMIT_DEFAULT: '1000000' }, log });
  await pushQuote(account.owner);
  ({ orderId } = (await placeOrder(account.owner, account.portfolioId, { limitPrice: 90 })) as {
    orderId: string;
  });
  ({ portfolioId: otherId } = (await openPortfolio(account.owner, { accountId: NOWHERE })) as {
    portfolioId: string;
  });
  logged.length = 0;
});
afterAll(async () => {
  await account.test.close();
});

const nasty = fc.constantFrom<unknown>(
  '',
  'AAPL',
  'aapl',
  'NOPE',
  '__proto__',
  'constructor',
  '../..',
  '%00',
  '1e400',
  '-0',
  '0.000000001',
  '99999999999999999999',
  'buy',
  'sell',
  'limit',
  'market',
  'stop',
  'trailing_stop',
  'day',
  'gtc',
  'bracket',
  'oto',
  'oco',
  'mleg',
  '1Min',
  '2026-01-05',
  '2026-13-45',
  '2026-01-05T10:00:00Z',
  'AAPL260116C00100000',
  'true',
  'True',
  'Mg|',
  'AAPL|MTA',
  null,
  true,
  0,
  -1,
  1,
  100,
  1e300,
  [],
  ['AAPL'],
  {},
  { limit_price: '110' },
  { stop_price: 90 },
);
const names = fc.constantFrom(
  'symbol',
  'qty',
  'notional',
  'side',
  'type',
  'time_in_force',
  'limit_price',
  'stop_price',
  'trail_price',
  'trail_percent',
  'order_class',
  'take_profit',
  'stop_loss',
  'client_order_id',
  'extended_hours',
  'position_intent',
  'legs',
  'symbols',
  'status',
  'after',
  'until',
  'limit',
  'direction',
  'nested',
  'start',
  'end',
  'timeframe',
  'page_token',
  'page_size',
  'activity_types',
  'underlying_symbols',
  'expiration_date',
  'name',
  'percentage',
  'no_shorting',
  'period',
  'markets',
  'date',
  'strike_price_gte',
  'before_order_id',
  'after_order_id',
  'cashflow_types',
  'pnl_reset',
  'root_symbol',
  'ppind',
  'time',
  'timezone',
  'date_type',
  'attributes',
  'ids',
  'updated_since',
);
const body = fc.oneof(
  fc.dictionary(names, nasty),
  nasty,
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
);
const query = fc.dictionary(
  names,
  nasty.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
);
const part = nasty.map((value) =>
  encodeURIComponent(typeof value === 'string' ? value || 'x' : JSON.stringify(value)),
);

it("Alpaca's, with a good key pair", async () => {
  const headers = { 'apca-api-key-id': account.keyId, 'apca-api-secret-key': account.secretKey };
  const params = fc.oneof(part, fc.constant(orderId));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...alpaca.routes.filter(({ path }) => path !== '/v2/events/trades')),
      params,
      query,
      body,
      async ({ method, path: url }, name, asked, payload) => {
        const path = url.replace('::', ':').replace(/\/:\w+/g, `/${name}`);
        const search = new URLSearchParams(asked).toString();
        const response = await account.test.app.inject({
          method,
          url: `/alpaca${path}?${search}`,
          headers: { ...headers, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
          ...(method !== 'GET' && { payload: JSON.stringify(payload) }),
        });
        expect(response.statusCode, response.body).not.toBe(500);
        if (response.statusCode < 400) return;
        const { code, message, statusCode } = response.json();
        expect([typeof code, typeof message, statusCode]).toEqual(['number', 'string', undefined]);
      },
    ),
    { numRuns: 200 },
  );
  expect(logged).toEqual([]);
});

it("Paper Invest's, with a good token", async () => {
  const { app } = account.test;
  const authorization = `Bearer ${account.test.token()}`;
  const ours = routeEntries.filter(
    ([, route]) => route.method !== 'GET' && !route.path.includes('/simulation'),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ours), body, async ([, { method, path }], payload) => {
      const response = await app.inject({
        method,
        url: `/paperinvest${path.replace(/:portfolioId/, otherId).replace(/:\w+/g, orderId)}`,
        headers: { authorization, 'content-type': 'application/json' },
        payload: JSON.stringify(payload),
      });
      expect(response.statusCode, response.body).not.toBe(500);
    }),
    { numRuns: 100 },
  );
  expect(logged).toEqual([]);
});

it.each([
  ['/v2/account', {}, 401, 40110000],
  ['/v2/account', { 'apca-api-key-id': 'PK', 'apca-api-secret-key': 'x' }, 401, 40110000],
  ['/v2/account', { authorization: 'Basic !!!' }, 401, 40110000],
  ['/v2/nothing', {}, 404, 40410000],
] as const)('strangers are answered in the dialect: %s %j', async (path, headers, status, code) => {
  const response = await account.test.app.inject({ url: `/alpaca${path}`, headers });
  expect([response.statusCode, response.json().code]).toEqual([status, code]);
});

it('a body that is no JSON, or too long', async () => {
  const headers = {
    'apca-api-key-id': account.keyId,
    'apca-api-secret-key': account.secretKey,
    'content-type': 'application/json',
  };
  for (const [payload, status] of [
    ['{', 400],
    [`"${'x'.repeat(1_100_000)}"`, 413],
  ] as const) {
    const response = await account.test.app.inject({
      method: 'POST',
      url: '/alpaca/v2/orders',
      headers,
      payload,
    });
    expect(response.statusCode).toBe(status);
    expect(typeof response.json().code).toBe('number');
  }
});

it.each(['%ff', '%zz'])('a URL that cannot be decoded is an unknown one: %s', async (part) => {
  const { app } = account.test;
  const headers = { 'apca-api-key-id': account.keyId, 'apca-api-secret-key': account.secretKey };
  const url = `/alpaca/v2/orders/${part}`;
  const named = { url: `/v2/orders/${part}`, headers: { ...headers, host: 'paper-api.alpaca.markets' } };
  for (const request of [{ url, headers }, { url }, named]) {
    const { statusCode, json } = await app.inject(request);
    expect([statusCode, json()]).toEqual([404, { code: 40410000, message: 'endpoint not found' }]);
  }
});

it('messages of any kind on the stream', async () => {
  const url = `${account.url.replace(/^http/, 'ws')}/stream`;
  for (const message of [
    '',
    '{',
    '[]',
    'null',
    '{"action":"listen"}',
    '{"action":"auth","key":{},"secret":[]}',
    '\u0001',
  ]) {
    const socket = new WebSocket(url);
    const answer = new Promise<string>((resolve) => {
      socket.on('message', (data: Buffer) => resolve(data.toString()));
    });
    await new Promise((resolve) => socket.on('open', resolve));
    socket.send(message);
    expect(JSON.parse(await answer)).toMatchObject({
      stream: 'authorization',
      data: { status: 'unauthorized' },
    });
    socket.terminate();
  }
  const nowhere = new WebSocket(`${url}/nowhere`);
  const [error] = await new Promise<unknown[]>((resolve) =>
    nowhere.on('error', (...failure) => resolve(failure)),
  );
  expect(String(error)).toContain('404');
  expect(logged).toEqual([]);
});

it('a revoked key pair is refused', async () => {
  const { owner, portfolioId, test } = account;
  const path = `/v1/accounts/portfolios/${portfolioId}/key-pairs`;
  const made = (await owner.post(path)).body;
  const listed = await owner.get(path);
  expect(listed.body.map((pair: Body) => pair.keyId)).toContain(made.keyId);
  expect(listed.text).not.toContain(made.secretKey);
  const headers = { 'apca-api-key-id': made.keyId, 'apca-api-secret-key': made.secretKey };
  const ask = async () => (await test.app.inject({ url: '/alpaca/v2/account', headers })).statusCode;
  expect(await ask()).toBe(200);
  const socket = new WebSocket(`${account.url.replace(/^http/, 'ws')}/stream`);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  await new Promise((resolve) => socket.on('open', resolve));
  socket.send(JSON.stringify({ action: 'auth', key: made.keyId, secret: made.secretKey }));
  await new Promise((resolve) => socket.on('message', resolve));
  expect((await owner.delete(`${path}/${made.keyId}`)).body).toEqual({
    keyId: made.keyId,
    status: 'REVOKED',
  });
  expect(await ask()).toBe(401);
  expect(await closed).toBe(1008);
  expect((await test.as({ tenantId: 'other' }).post(path)).status).toBe(404);
});
