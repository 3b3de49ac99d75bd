import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyPairOf } from '../../../server/src/testing/alpaca.js';
import { openPortfolio } from '../../../server/src/testing/test-app.js';
import { openTradierAccount, pushQuote, type TradierAccount, tradierSender } from './account.js';

let opened: TradierAccount;
let at: string;

beforeAll(async () => {
  opened = await openTradierAccount({}, { portfolioType: 'CASH' });
  at = `/v1/accounts/${opened.account}`;
  await pushQuote(opened.owner);
  await pushQuote(opened.owner, { symbol: 'BRK.B' });
});

afterAll(() => opened.test.close());

const get = async (url: string, headers?: Record<string, string>) =>
  opened.send('GET', url, undefined, headers);
const buy = async (symbol: string, side = 'buy', quantity = 10): Promise<void> => {
  const form = { class: 'equity', symbol, side, quantity, type: 'market', duration: 'day' };
  const { text } = await opened.send('POST', `${at}/orders`, form);
  expect(text).toContain('"status":"ok"');
};

it('an empty account: lists are the text null, in JSON and in XML', async () => {
  expect((await get(`${at}/positions`)).text).toBe('{"positions":"null"}');
  expect((await get(`${at}/orders`)).text).toBe('{"orders":"null"}');
  expect((await get(`${at}/gainloss`)).text).toBe('{"gainloss":"null"}');
  const xml = await get(`${at}/positions`, { accept: 'application/xml' });
  expect(xml.text).toBe('<?xml version="1.0" encoding="UTF-8"?>\n<positions>null</positions>');
});

it.each([
  ['application/json', 'json'],
  ['application/json, text/plain, */*', 'json'],
  ['text/html;q=0.9, application/json;q=0.1', 'json'],
  ['application/xml', 'xml'],
  ['*/*', 'xml'],
  ['', 'xml'],
])('Accept %s is answered with %s', async (accept, type) => {
  const { headers, text } = await get('/v1/user/profile', { accept });
  expect(headers['content-type']).toBe(
    type === 'json' ? 'application/json; charset=utf-8' : 'application/xml; charset=utf-8',
  );
  expect(text.startsWith(type === 'json' ? '{' : '<?xml')).toBe(true);
});

it('one position is an object, several are a list; class shares have a slash', async () => {
  await buy('AAPL');
  const one = (await get(`${at}/positions`)).body.positions.position;
  expect(one).toMatchObject({ symbol: 'AAPL', quantity: 10, cost_basis: 1000 });
  expect(Number.isInteger(one.id)).toBe(true);
  await buy('BRK/B');
  const several = (await get(`${at}/positions`)).body.positions.position as { symbol: string }[];
  expect(several.map(({ symbol }) => symbol)).toEqual(['AAPL', 'BRK/B']);
  const { text } = await get(`${at}/positions`, { accept: 'text/xml' });
  expect(text.match(/<position>/g)).toHaveLength(2);
  expect(text).toContain('<symbol>BRK/B</symbol>');
});

it('balances agree with the portfolio, and have the part of their account type', async () => {
  const { body } = await get(`${at}/balances`);
  const portfolio = (await opened.owner.get(`/v1/accounts/portfolios/${opened.portfolioId}`)).body;
  expect(body.balances).toMatchObject({
    account_number: 'VA00000001',
    account_type: 'cash',
    total_equity: portfolio.totalEquity,
    total_cash: 98_000,
    long_market_value: 2000,
    market_value: 2000,
    stock_long_value: 2000,
    open_pl: 0,
    pending_orders_count: 0,
    cash: { cash_available: 98_000, sweep: 0 },
  });
  expect(body.balances).not.toHaveProperty('margin');
  expect(body.balances).not.toHaveProperty('pdt');
});

it('a sale is in gains and losses and in the history, newest first, by page, type and symbol', async () => {
  await pushQuote(opened.owner, { bid: 110, ask: 110.1, last: 110 });
  await buy('AAPL', 'sell');
  const closed = (await get(`${at}/gainloss`)).body.gainloss.closed_position;
  expect(closed).toMatchObject({
    symbol: 'AAPL',
    quantity: 10,
    cost: 1000,
    gain_loss: closed.proceeds - 1000,
    term: 0,
  });
  const { history } = (await get(`${at}/history?limit=2`)).body;
  expect(history).toMatchObject({ page: 1, total_pages: 2, total_events: 4 });
  expect(history.event[0]).toMatchObject({
    type: 'trade',
    amount: 1100,
    trade: { quantity: -10, price: 110, symbol: 'AAPL' },
  });
  const first = (await get(`${at}/history?type=journal`)).body.history.event;
  expect(first).toMatchObject({ type: 'journal', amount: 100_000, journal: { quantity: 0 } });
  expect((await get(`${at}/history?symbol=BRK/B`)).body.history.total_events).toBe(1);
  expect((await get(`${at}/history?type=dividend`)).body.history).toBe('null');
  expect((await get(`${at}/history?start=2030-01-01`)).body.history).toBe('null');
  for (const query of ['limit=0', 'page=x', 'type=gift', 'start=yesterday', 'color=red'])
    expect((await get(`${at}/history?${query}`)).text, query).toMatch(/^Invalid parameter, \w+: /);
  const balances = (await get(`${at}/balances`)).body.balances;
  expect(balances.close_pl).toBeCloseTo(closed.gain_loss, 2);
});

it('a token sees all accounts of its simulation, a key pair its own', async () => {
  const second = await openPortfolio(opened.owner);
  const profile = (await get('/v1/user/profile')).body.profile;
  expect(profile.account.map((one: { account_number: string }) => one.account_number)).toEqual([
    'VA00000001',
    'VA00000002',
  ]);
  const all = (await get('/v1/user/balances')).body.accounts.account as { balances: object }[];
  expect(all).toHaveLength(2);
  for (const name of ['positions', 'history', 'gainloss', 'orders'])
    expect((await get(`/v1/user/${name}`)).body.accounts.account[1].account_number).toBe('VA00000002');
  const { keyId, secretKey } = await keyPairOf(opened.owner, second.portfolioId as string);
  const pair = tradierSender(opened.test, `${keyId}.${secretKey}`);
  expect((await pair('GET', '/v1/user/profile')).body.profile.account.account_number).toBe('VA00000002');
  expect((await pair('GET', '/v1/accounts/VA00000002/balances')).status).toBe(200);
  expect((await pair('GET', `${at}/balances`)).text).toBe('Unauthorized Account: VA00000001');
});

it('a token that is wrong, missing or revoked is 401 in the form that clients look for', async () => {
  for (const token of [undefined, 'x', 'a.b.c', 'PKAAAA.secret', `${opened.token}x`]) {
    const send = tradierSender(opened.test, token);
    const json = await send('GET', '/v1/user/profile');
    expect([json.status, json.body.fault.faultstring]).toEqual([401, 'Invalid Access Token']);
    const text = await send('GET', '/v1/user/profile', undefined, { accept: '*/*' });
    expect([text.status, text.text]).toEqual([401, 'Invalid Access Token']);
  }
});

it('answers say how many requests are left', async () => {
  const { headers } = await get('/v1/markets/clock');
  const [allowed, used, available] = ['allowed', 'used', 'available'].map((name) =>
    Number(headers[`x-ratelimit-${name}`]),
  );
  expect((used ?? 0) + (available ?? 0)).toBe(allowed);
  expect(Number(headers['x-ratelimit-expiry'])).toBeGreaterThan(opened.test.time.nowMs);
});

it('watchlists: made, read, changed and deleted, in the shapes of one and several', async () => {
  const made = await opened.send('POST', '/v1/watchlists', { name: 'Big & <Bold>', symbols: 'AAPL,BRK/B' });
  expect(made.body.watchlist).toMatchObject({ name: 'Big & <Bold>', id: 'big-bold-' });
  const url = `/v1/watchlists/${made.body.watchlist.id as string}`;
  const xml = await get(url, { accept: '*/*' });
  expect(xml.text).toContain('<name>Big &amp; &lt;Bold&gt;</name>');
  expect((await opened.send('DELETE', `${url}/symbols/AAPL`)).body.watchlist.items.item).toMatchObject({
    symbol: 'BRK/B',
  });
  expect(
    (await opened.send('PUT', url, { name: 'Big', symbols: 'AAPL' })).body.watchlist.items.item.symbol,
  ).toBe('AAPL');
  expect((await opened.send('POST', `${url}/symbols`, { symbols: 'NOSUCH' })).text).toContain(
    'NOSUCH not found',
  );
  const other = tradierSender(opened.test, opened.test.token({ tenantId: 'tenant-2' }));
  expect((await other('GET', url)).status).toBe(404);
  expect((await other('GET', '/v1/watchlists')).body.watchlists).toBe('null');
  expect((await opened.send('DELETE', url)).body.watchlists).toBe('null');
});

it('cash of a merger is in the history, whose sum is the cash', async () => {
  await pushQuote(opened.owner, { symbol: 'ATVI' });
  await buy('ATVI');
  const action = { type: 'MERGER', symbol: 'ATVI', exDate: '2026-01-07', cashPerShare: 95 };
  expect((await opened.owner.post('/v1/simulation/corporate-actions', { actions: [action] })).status).toBe(
    201,
  );
  await opened.owner.post('/v1/simulation/clock/advance', { by: 'P4D' });
  const { event } = (await get(`${at}/history?limit=100`)).body.history as {
    event: readonly { type: string; amount: number }[];
  };
  expect(event[0]).toMatchObject({ type: 'adjustment', amount: 950 });
  const { total_cash: total } = (await get(`${at}/balances`)).body.balances;
  expect(event.reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(total, 2);
});
