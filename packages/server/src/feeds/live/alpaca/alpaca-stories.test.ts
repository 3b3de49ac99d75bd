import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { verifyJournal } from '../../../engine/recovery/verify.js';
import { MONDAY_TEN } from '../../../testing/simulations.js';
import { openPortfolio, orderBody, TestApp, type TestClient } from '../../../testing/test-app.js';
import { ALPACA_KEY, ALPACA_SECRET, FakeAlpaca } from '../testing/fake-alpaca.js';
import { haltFrom, quoteFrom, tradeFrom } from './messages.js';

const WAIT = { timeout: 8000, interval: 10 };
const CALL = 'AAPL260116C00100000';
let fake: FakeAlpaca;
let directory: string;
let app: TestApp;
let client: TestClient;

async function open(more: Record<string, string> = {}): Promise<void> {
  app = await TestApp.open({
    settings: {
      MARKET_FEED: 'live',
      DATA_DIR: directory,
      MARKET_CLOCK: 'scaled',
      CLOCK_SPEED: '1',
      CLOCK_START: new Date(MONDAY_TEN).toISOString(),
      LIVE_SOURCE: 'alpaca',
      LIVE_URL: fake.url,
      LIVE_OPTIONS_URL: fake.optionsUrl,
      LIVE_REST_URL: fake.origin,
      LIVE_ACCOUNT_URL: fake.origin,
      APCA_API_KEY_ID: ALPACA_KEY,
      APCA_API_SECRET_KEY: ALPACA_SECRET,
      ...more,
    },
    config: { feed: 'live', clock: 'scaled', speed: 1, start: MONDAY_TEN },
  });
  client = app.as();
  await vi.waitFor(
    async () => expect((await client.get('/v1/ready')).body.feed.status).toBe('connected'),
    WAIT,
  );
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandpit-alpaca-'));
  fake = await new FakeAlpaca().start();
  fake.setSnapshot({ symbol: 'AAPL', atMs: MONDAY_TEN - 500, bid: 100, ask: 100.02 });
});
afterEach(async () => {
  await app.close();
  await fake.stop();
  await rm(directory, { recursive: true, force: true });
});

const now = (): number => app.simulations.market.now();
const order = async (orderId: string) => (await client.get(`/v1/orders/${orderId}`)).body;
const subscribed = (symbol: string) =>
  vi.waitFor(() => expect([...fake.subscribed()]).toContain(symbol), WAIT);

it('Alpaca: a halt of the source stops an order, and the first quote after the resumption fills it', async () => {
  await open();
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH' });
  const { body } = await client.post('/v1/orders', orderBody(portfolioId, { limitPrice: 99 }));
  await subscribed('AAPL');
  fake.tell({
    T: 's',
    S: 'AAPL',
    sc: 'H',
    sm: 'Trading Halt',
    rc: 'T1',
    rm: 'News',
    t: new Date(now()).toISOString(),
    z: 'C',
  });
  await vi.waitFor(
    async () => expect((await order(body.orderId)).waitingFor).toBe('trading in AAPL is halted (T1)'),
    WAIT,
  );
  expect((await client.get('/v1/market-data/quote/AAPL')).body).toMatchObject({
    halted: true,
    haltReason: 'T1',
  });
  fake.quote({ symbol: 'AAPL', atMs: now(), bid: 90, ask: 90.02 });
  // Quotation only is not trading yet.
  fake.tell({ T: 's', S: 'AAPL', sc: 'Q', rc: 'T3', z: 'C' });
  await vi.waitFor(
    async () => expect((await client.get('/v1/market-data/quote/AAPL')).body.bid).toBe(90),
    WAIT,
  );
  expect(await order(body.orderId)).toMatchObject({ status: 'ACTIVE' });
  fake.tell({ T: 's', S: 'AAPL', sc: 'T', rc: 'R4', z: 'C' });
  await vi.waitFor(
    async () => expect((await client.get('/v1/simulation/halts')).body.data).toEqual([]),
    WAIT,
  );
  await vi.waitFor(async () => {
    fake.quote({ symbol: 'AAPL', atMs: now(), bid: 95, ask: 95.02 });
    expect(await order(body.orderId)).toMatchObject({ status: 'FILLED', averagePrice: 95.02 });
  }, WAIT);
  await app.main.durable();
  expect((await verifyJournal(app.store, app.main.id)).problems).toEqual([]);
});

it('Alpaca: a circuit breaker sent for each symbol halts the whole market once', async () => {
  await open();
  for (const symbol of ['AAPL', 'MSFT']) fake.tell({ T: 's', S: symbol, sc: 'H', rc: 'MWC1', z: 'C' });
  await vi.waitFor(
    async () =>
      expect((await client.get('/v1/simulation/halts')).body.data).toMatchObject([
        { symbol: '*', reason: 'MWC1' },
      ]),
    WAIT,
  );
});

it('Alpaca: options arrive in MessagePack, are listed on request, and are marked as indicative', async () => {
  fake.optionSnapshots.set(CALL, {
    symbol: CALL,
    atMs: MONDAY_TEN - 100,
    bid: 2,
    ask: 2.1,
    bidSize: 5,
    askSize: 7,
  });
  await open();
  await client.get('/v1/market-data/quote/AAPL');
  expect((await client.get('/v1/market-data/options/AAPL/expirations')).body.expirations ?? []).toEqual([
    '2026-01-16',
  ]);
  const { body } = await client.get('/v1/market-data/options/AAPL/chain?expiration=2026-01-16');
  expect(body.contracts).toMatchObject([{ optionSymbol: CALL, bid: 2, ask: 2.1, askSize: 7 }]);
  expect((await client.get(`/v1/market-data/quote/${CALL}`)).body).toMatchObject({
    bid: 2,
    indicative: true,
  });
  await vi.waitFor(async () => {
    fake.option({ symbol: CALL, atMs: now(), bid: 2.2, ask: 2.3 });
    expect((await client.get(`/v1/market-data/quote/${CALL}`)).body.bid).toBe(2.2);
  }, WAIT);
});

it('Alpaca: dividends and splits of the source are announced, others are listed as not supported', async () => {
  fake.actions = {
    cash_dividends: [
      { symbol: 'AAPL', rate: 0.25, ex_date: '2026-01-09', payable_date: '2026-01-15', special: false },
    ],
    forward_splits: [{ symbol: 'AAPL', new_rate: 4, old_rate: 1, ex_date: '2026-02-02' }],
    spin_offs: [{ source_symbol: 'AAPL', new_symbol: 'NEW', ex_date: '2026-03-02' }],
  };
  await open();
  await client.get('/v1/market-data/quote/AAPL');
  await vi.waitFor(async () => {
    const { body } = await client.get('/v1/simulation/corporate-actions');
    expect(body.actions).toMatchObject([
      { type: 'CASH_DIVIDEND', amountPerShare: 0.25 },
      { type: 'SPLIT', ratio: { new: 4, old: 1 } },
    ]);
    expect(body.unsupported).toEqual([{ symbol: 'AAPL', type: 'spin_offs', exDate: '2026-03-02' }]);
  }, WAIT);
});

it('Alpaca: special and stock dividends, new names, mergers and removals of the source are announced', async () => {
  const of = { symbol: 'AAPL', process_date: '2026-01-09' };
  const merger = { acquiree_symbol: 'AAPL', acquirer_symbol: 'T', acquirer_rate: 1.437, acquiree_rate: 1 };
  fake.actions = {
    cash_dividends: [{ symbol: 'AAPL', rate: 15, ex_date: '2026-01-09', special: true }],
    stock_dividends: [{ symbol: 'AAPL', rate: 0.1, ex_date: '2026-01-12' }],
    stock_and_cash_mergers: [{ ...merger, cash_rate: 53.75, effective_date: '2026-01-14' }],
    // A second action of that kind on one day, and one without its rate, are left out alone.
    worthless_removals: [{ ...of, process_date: '2026-01-14' }],
    stock_mergers: [{ ...merger, acquirer_rate: undefined, effective_date: '2026-01-20' }],
  };
  await open();
  await client.get('/v1/market-data/quote/AAPL');
  await vi.waitFor(async () => {
    const { body } = await client.get('/v1/simulation/corporate-actions');
    expect(body.actions).toMatchObject([
      { type: 'SPECIAL_DIVIDEND', cashPerShare: 15 },
      { type: 'STOCK_DIVIDEND', rate: 0.1 },
      { type: 'MERGER', newSymbol: 'T', ratio: 1.437, cashPerShare: 53.75 },
    ]);
    expect(body.unsupported).toEqual([{ symbol: 'AAPL', type: 'stock_mergers', exDate: '2026-01-20' }]);
  }, WAIT);
});

it('Alpaca: an untradable symbol is listed and cannot be ordered', async () => {
  fake.assets = [{ symbol: 'AAPL' }, { symbol: 'OLD', tradable: false }];
  await open();
  expect((await client.get('/v1/market-data/instruments?symbol=OLD')).body.data).toMatchObject([
    { tradable: false },
  ]);
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH' });
  const { body } = await client.post('/v1/orders', orderBody(portfolioId, { symbol: 'OLD' }));
  expect(body.error.code).toBe('INSTRUMENT_NOT_TRADABLE');
});

it('Alpaca: a symbol limit that the source enforces is detected and adopted', async () => {
  fake.symbolLimit = 2;
  for (const symbol of ['MSFT', 'TSLA']) fake.setSnapshot({ symbol, atMs: MONDAY_TEN, bid: 1, ask: 2 });
  await open();
  for (const symbol of ['AAPL', 'MSFT']) {
    await client.get(`/v1/market-data/quote/${symbol}`);
    await subscribed(symbol);
  }
  await client.get('/v1/market-data/quote/TSLA');
  await vi.waitFor(async () => expect((await client.get('/v1/ready')).body.feed.limit).toBe(2), WAIT);
  expect((await client.get('/v1/market-data/quote/F')).body.error).toEqual({
    code: 'MARKET_DATA_LIMIT',
    limit: 2,
  });
});

it('Alpaca: a second server with the same key continues to retry instead of giving up', async () => {
  await open();
  const other = await TestApp.open({
    ...{ settings: { ...secondServer() } },
    config: { feed: 'live', clock: 'scaled', speed: 1, start: MONDAY_TEN },
  });
  await vi.waitFor(
    async () =>
      expect((await other.as().get('/v1/ready')).body.feed).toMatchObject({
        status: 'reconnecting',
        reason: expect.stringContaining('another connection') as string,
      }),
    WAIT,
  );
  await other.close();
});

const secondServer = (): Record<string, string> => ({
  MARKET_FEED: 'live',
  DATA_DIR: directory,
  MARKET_CLOCK: 'scaled',
  CLOCK_SPEED: '1',
  CLOCK_START: new Date(MONDAY_TEN).toISOString(),
  LIVE_SOURCE: 'alpaca',
  LIVE_URL: fake.url,
  LIVE_OPTIONS: 'none',
  LIVE_REST_URL: fake.origin,
  LIVE_ACCOUNT_URL: fake.origin,
  APCA_API_KEY_ID: ALPACA_KEY,
  APCA_API_SECRET_KEY: ALPACA_SECRET,
});

it('Alpaca: parses messages in the documented formats', async () => {
  await open();
  const quote = { S: 'AAPL', bp: 1, bs: 2, ap: 3, as: 4, c: ['R'], z: 'C' };
  expect(quoteFrom({ ...quote, t: '2025-10-31T15:00:00.123456789Z' })).toMatchObject({
    bidSize: 200,
    askSize: 400,
  });
  expect(quoteFrom({ ...quote, t: '2025-11-04T15:00:00.123456789Z' })).toMatchObject({
    bidSize: 2,
    stampMs: Date.parse('2025-11-04T15:00:00.123Z'),
  });
  const trade = { S: 'AAPL', i: 5, x: 'Q', p: 10, s: 1, t: '2026-01-05T15:00:00Z', z: 'C' };
  expect(tradeFrom({ ...trade, c: ['@'] })).toMatchObject({ updatesLast: true, id: '5' });
  expect(tradeFrom({ ...trade, c: ['@', 'Q'] })).toMatchObject({ updatesLast: false, official: 'OPEN' });
  expect(tradeFrom({ ...trade, c: ['@', 'T', 'I'] })).toMatchObject({ updatesLast: false });
  expect(haltFrom({ S: 'F', sc: '2', rc: 'M', z: 'A' })).toEqual({ symbol: 'F', reason: 'LUDP' });
  expect(haltFrom({ S: 'F', sc: '3', rc: '', z: 'A' })).toEqual({ symbol: 'F', resumes: true });
  expect(haltFrom({ S: 'F', sc: 'E', rc: '', z: 'A' })).toBeUndefined();
});
