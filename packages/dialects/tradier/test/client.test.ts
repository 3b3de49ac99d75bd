/** The published npm client, unmodified: it reaches this server under the name of the service's own host. */
import { globalAgent } from 'node:https';
import { createRequire } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { createSecureContext, createServer, type SecureContext, type Server } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestAuthority } from '../../../server/src/testing/certificates.js';
import { openTradierAccount, type TradierAccount } from './account.js';

type Result = Record<string, never> & { id?: number };
type Client = Record<string, (...args: unknown[]) => Promise<Result>>;
const Tradier = createRequire(import.meta.url)('tradier-api') as new (
  token: string,
  endpoint?: string,
) => Client;

let opened: TradierAccount;
let client: Client;
let front: Server;
const createConnection = globalAgent.createConnection.bind(globalAgent);
const before = Object.getOwnPropertyDescriptor(globalAgent, 'createConnection');

/** Ends TLS under the name of any host, and passes what comes on. */
async function openFront(port: number, authority: TestAuthority): Promise<Server> {
  const contexts = new Map<string, SecureContext>();
  const server = createServer(
    {
      SNICallback: (name, done) => {
        const context = contexts.get(name) ?? createSecureContext(authority.issue(name));
        contexts.set(name, context);
        done(null, context);
      },
    },
    (socket) => {
      const inner = connect(port, '127.0.0.1');
      socket.pipe(inner).pipe(socket);
      for (const one of [socket, inner]) one.on('error', () => one.destroy());
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

beforeAll(async () => {
  opened = await openTradierAccount({ config: { feed: 'synthetic' } });
  const authority = new TestAuthority('Tradier client test');
  front = await openFront((opened.test.app.server.address() as AddressInfo).port, authority);
  const { port } = front.address() as AddressInfo;
  globalAgent.createConnection = (options, done) =>
    createConnection(
      { ...options, host: '127.0.0.1', port, ca: authority.cert, servername: String(options.host) },
      done,
    );
  client = new Tradier(opened.token, 'sandbox');
});

afterAll(async () => {
  if (before === undefined) Reflect.deleteProperty(globalAgent, 'createConnection');
  else Object.defineProperty(globalAgent, 'createConnection', before);
  front.close();
  await opened.test.close();
});

const call = async (name: string, ...args: unknown[]): Promise<Record<string, never>> => {
  const method = client[name];
  if (method === undefined) throw new Error(`The client has no ${name}`);
  return method.apply(client, args);
};

it('user and account methods', async () => {
  const { account } = opened;
  expect((await call('getProfile'))['account']).toMatchObject({ account_number: account });
  expect(await call('getBalances')).toMatchObject({ account: { account_number: account } });
  expect(await call('getAccountBalances', account)).toMatchObject({ total_equity: 100_000 });
  for (const name of ['Positions', 'Gainloss', 'Orders']) {
    expect(await call(`getAccount${name}`, account), name).toBe('null');
    expect(await call(`get${name}`), name).toMatchObject({ account: { [name.toLowerCase()]: 'null' } });
  }
  expect(await call('getHistory')).toMatchObject({ account: { history: { total_events: 1 } } });
  expect(await call('getAccountHistory', account)).toMatchObject({ event: { type: 'journal' } });
});

it('trading methods', async () => {
  const { account } = opened;
  const order = {
    class: 'equity',
    symbol: 'AAPL',
    side: 'buy',
    quantity: 5,
    type: 'limit',
    price: 10,
    duration: 'day',
  };
  const { id } = await call('createOrder', account, order);
  expect(await call('getAccountOrder', account, id)).toMatchObject({ status: 'open', price: 10 });
  expect(await call('changeOrder', account, id, { price: 11 })).toMatchObject({ id, status: 'ok' });
  expect(await call('getAccountOrders', account)).toMatchObject({ order: { id, price: 11 } });
  expect(await call('cancelOrder', account, id)).toMatchObject({ id, status: 'ok' });
  expect(
    await call(
      'previewOrder',
      account,
      new URLSearchParams({ ...order, quantity: '5', price: '10' }).toString(),
    ),
  ).toMatchObject({
    result: true,
  });
  await call('createOrder', account, { ...order, type: 'market' });
  expect(await call('getAccountPositions', account)).toMatchObject({
    position: { symbol: 'AAPL', quantity: 5 },
  });
});

it('market data methods', async () => {
  expect(await call('getQuote', 'AAPL')).toMatchObject({ symbol: 'AAPL' });
  expect(await call('getQuote', ['AAPL', 'MSFT'])).toHaveLength(2);
  const dates = (await call('getOptionExpirations', 'AAPL'))['date'] as unknown as string[];
  expect((await call('getOptionStrikes', 'AAPL', dates[0]))['strike']).not.toHaveLength(0);
  expect((await call('getOptionChains', 'AAPL', dates[0]))['option']).not.toHaveLength(0);
  expect((await call('getPriceHistory', 'AAPL', 'daily', '2025-12-01', '2025-12-31'))['day']).toHaveLength(
    22,
  );
  expect(
    (await call('getTimesales', 'AAPL', '15min', '2026-01-05 09:30', '2026-01-05 09:59', 'open'))['data'],
  ).toHaveLength(2);
  expect(await call('getClock')).toMatchObject({ state: 'open' });
  expect(await call('getCalendar', undefined, 2026)).toMatchObject({ year: 2026, month: 1 });
  expect(await call('search', 'apple')).toMatchObject({ security: { symbol: 'AAPL' } });
  expect(await call('lookup', 'AAPL')).toMatchObject({ security: { symbol: 'AAPL' } });
});

it('fundamentals, watchlists and streaming sessions', async () => {
  for (const name of [
    'Company',
    'Calendars',
    'Dividends',
    'CorporateActions',
    'Ratios',
    'Financials',
    'Statistics',
  ])
    expect(await call(`get${name}`, 'AAPL'), name).toBeUndefined();
  expect(await call('createWatchlist', 'Tech', ['AAPL', 'MSFT'])).toMatchObject({ id: 'tech' });
  expect(await call('addSymbols', 'tech', ['AMD'])).toMatchObject({ id: 'tech' });
  expect(await call('removeSymbols', 'tech', 'AMD')).toMatchObject({ id: 'tech' });
  expect(await call('updateWatchlist', 'tech', 'Tech 2', ['AAPL'])).toMatchObject({ name: 'Tech 2' });
  expect(await call('getWatchlist', 'tech')).toMatchObject({ items: { item: { symbol: 'AAPL' } } });
  expect(await call('getWatchlists')).toMatchObject({ watchlist: { id: 'tech' } });
  expect(await call('deleteWatchlist', 'tech')).toBe('null');
  expect((await call('createSession'))['data']).toMatchObject({
    stream: { url: 'https://stream.tradier.com/v1/markets/events' },
  });
});
