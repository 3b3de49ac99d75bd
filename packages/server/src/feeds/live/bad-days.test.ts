import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LiveDay, WAIT } from './testing/live-day.js';
import { ALPACA, MASSIVE, TRADIER, type Vendor } from './testing/vendors.js';

const MARKET = { orderType: 'MARKET', limitPrice: undefined };
const MINUTE_MS = 60_000;

describe.each<Vendor>([ALPACA, MASSIVE, TRADIER])('$name: a bad day', (vendor) => {
  let day: LiveDay;
  let portfolioId: string;

  beforeAll(async () => {
    day = await LiveDay.open(vendor);
    await day.status('connected');
    portfolioId = await day.portfolio();
  });
  afterAll(() => day.close());

  it('accepts a one-sided quote and ignores impossible prices', async () => {
    await day.quoteOf('AAPL');
    await day.subscribed('AAPL');
    await day.quote({ symbol: 'AAPL', bid: 100.1, ask: 100.2, bidSize: 7, askSize: 3 });
    expect(await day.quoteOf('AAPL')).toMatchObject({ bid: 100.1, ask: 100.2, bidSize: 7, askSize: 3 });
    const before = day.feed.status().counts;
    await day.quote({ symbol: 'AAPL', bid: 105, ask: 104 });
    await day.quote({ symbol: 'AAPL', bid: -1, ask: 104 });
    await day.quote({ symbol: 'AAPL', bid: 100, ask: 1e9 });
    expect(await day.quoteOf('AAPL')).toMatchObject({ bid: 100.1, ask: 100.2 });
    const after = day.feed.status().counts;
    expect([after.crossed - before.crossed, after.malformed - before.malformed]).toEqual([1, 2]);
    await day.quote({ symbol: 'AAPL', bid: 0, ask: 100.3 });
    expect(await day.quoteOf('AAPL')).toMatchObject({ ask: 100.3 });
    expect(await day.quoteOf('AAPL')).not.toHaveProperty('bid');
    await day.quote({ symbol: 'AAPL', bid: 0, ask: 0 });
    const orderId = await day.place(portfolioId, MARKET);
    expect(await day.order(orderId)).toMatchObject({ status: 'ACTIVE' });
    // A locked market is none of these.
    await day.quote({ symbol: 'AAPL', bid: 100.25, ask: 100.25 });
    expect(await day.order(orderId)).toMatchObject({ status: 'FILLED', averagePrice: 100.25 });
  });

  it('continues after half a message, several in a frame, and garbage', async () => {
    const connections = [...day.fake.vendor.connections.keys()];
    for (const frame of [
      '[{"T":"q","S":"AA',
      '{"ev":"Q"',
      '[[[]]]',
      'null',
      '',
      '\n\n',
      '"text"',
      '[null, 3]',
    ])
      for (const connection of connections) connection.send(frame);
    await day.quote({ symbol: 'AAPL', bid: 101, ask: 101.02 }, { symbol: 'AAPL', bid: 101.01, ask: 101.03 });
    await vi.waitFor(async () => {
      await day.advance();
      expect(await day.quoteOf('AAPL')).toMatchObject({ bid: 101.01 });
    }, WAIT);
    expect(day.feed.status()).toMatchObject({ status: 'connected', counts: { reconnections: 0 } });
  });

  it('follows a source with a clock that is minutes slow or an hour fast', async () => {
    const slow = (): number => day.now - 3 * MINUTE_MS;
    day.fake.setSnapshot({ symbol: 'MSFT', atMs: slow(), bid: 200, ask: 200.02 });
    await day.quoteOf('MSFT');
    await day.subscribed('MSFT');
    await day.quote({ symbol: 'MSFT', bid: 201, ask: 201.02, atMs: slow() + 1 });
    const orderId = await day.place(portfolioId, { ...MARKET, symbol: 'MSFT' });
    // The age of a quote is that of its connection, not that of its stamp.
    expect(await day.order(orderId)).toMatchObject({ status: 'FILLED', averagePrice: 201.02 });
    const { ahead } = day.feed.status().counts;
    await day.quote({ symbol: 'MSFT', bid: 202, ask: 202.02, atMs: day.now + 60 * MINUTE_MS });
    await day.quote({ symbol: 'MSFT', bid: 203, ask: 203.02, atMs: day.now + 60 * MINUTE_MS });
    const quote = await day.quoteOf('MSFT');
    expect(quote.bid).toBe(203);
    expect(quote.timestamp).toBeLessThanOrEqual(day.now);
    expect(day.feed.status().counts.ahead).toBe(ahead + 2);
  });

  it('has no quote of a listed symbol without data, and refuses unlisted symbols', async () => {
    const listed = await day.client.get('/v1/market-data/quote/TSLA');
    const unknown = await day.client.get('/v1/market-data/quote/NOSUCH');
    expect(unknown.status).toBe(404);
    expect(listed.body.bid).toBeUndefined();
    const orderId = await day.place(portfolioId, { symbol: 'TSLA', limitPrice: 10, quantity: 1 });
    await day.subscribed('TSLA');
    await day.quote({ symbol: 'TSLA', bid: 9, ask: 9.5 });
    expect(await day.order(orderId)).toMatchObject({ status: 'FILLED' });
  });

  it('retries requests refused with 429, and uses the symbols of the source for class shares', async () => {
    const path = vendor.snapshotPath('BRK.B');
    day.fake.vendor.prepare(path, { status: 429, body: {}, headers: { 'retry-after': '0' } });
    await day.quoteOf('BRK.B');
    await day.advance();
    expect(await day.quoteOf('BRK.B')).toMatchObject({ symbol: 'BRK.B', bid: 100 });
    expect(day.fake.vendor.requests.filter((one) => one.includes(path)).length).toBeGreaterThan(1);
    await day.subscribed('BRK.B');
    await day.quote({ symbol: 'BRK.B', bid: 461.7, ask: 461.8 });
    expect(await day.quoteOf('BRK.B')).toMatchObject({ bid: 461.7 });
  });

  it('returns unadjusted bars of the REST service', async () => {
    const bars = [3, 2].map((minutes) => ({
      atMs: day.now - minutes * MINUTE_MS,
      o: 1,
      h: 3,
      l: 0.5,
      c: 2,
      v: 10,
    }));
    day.fake.vendor.toldBars.set(
      'MSFT',
      bars.map((bar) => ({ ...bar, atMs: Math.floor(bar.atMs / MINUTE_MS) * MINUTE_MS })),
    );
    const { body, text } = await day.client.get('/v1/market-data/bars/MSFT?timeframe=1Min&limit=10');
    expect(body.bars ?? body, text).toEqual(
      expect.arrayContaining([expect.objectContaining({ open: 1, high: 3, low: 0.5, close: 2, volume: 10 })]),
    );
    const asked = day.fake.vendor.requests.findLast((one) => one.includes('MSFT')) ?? '';
    expect(asked).toMatch(/adjustment=raw|adjusted=false|timesales/);
  });

  it('stops when its key expires in the middle of the day: orders wait, and the key stays secret', async () => {
    const orderId = await day.place(portfolioId, { limitPrice: 1 });
    day.fake.vendor.isExpired = true;
    day.fake.vendor.cut();
    await day.status('refused');
    await day.advance(2 * MINUTE_MS);
    const late = await day.place(portfolioId, MARKET);
    expect((await day.order(late)).waitingFor).toMatch(/^no data since/);
    expect(await day.order(orderId)).toMatchObject({ status: 'ACTIVE' });
    // Readiness is probed once a second.
    day.app.time.nowMs += 2000;
    const { status, body, text } = await day.client.get('/v1/ready');
    expect(status).toBe(503);
    expect(body.reasons[0]).toMatch(vendor.refusal);
    const metrics = await day.client.get('/metrics');
    const records = await day.journal();
    for (const secret of vendor.secrets)
      for (const written of [text, metrics.text, day.log, records]) expect(written).not.toContain(secret);
    expect((await day.verify()).problems).toEqual([]);
  });
});

it('two simulations with more symbols than the plan: refuses the second one and keeps the symbols of the first', async () => {
  const day = await LiveDay.open(ALPACA, { settings: { LIVE_MAX_SYMBOLS: '1' } });
  await day.status('connected');
  const created = await day.client.post('/v1/simulations', { feed: 'live', clock: 'wall' });
  expect(created.status, created.text).toBe(201);
  const other = day.app.withToken(created.body.token as string);
  // The clock of this market is a day of the past.
  const { body: clock } = await other.get('/v1/simulation/clock');
  expect(clock).toMatchObject({ now: new Date(day.now).toISOString() });
  const { body: account } = await other.post('/v1/accounts/portfolios', {
    accountId: '11111111-1111-4111-8111-111111111111',
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
  });
  const first = await day.place(await day.portfolio(), { limitPrice: 1 });
  const msft = { ...account, symbol: 'MSFT' };
  const order = {
    portfolioId: msft.portfolioId as string,
    symbol: 'MSFT',
    assetClass: 'EQUITY',
    orderType: 'LIMIT',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    timeInForce: 'DAY',
    limitPrice: 1,
  };
  await day.subscribed('AAPL');
  const refused = await other.post('/v1/orders', order);
  expect({ status: refused.status, error: refused.body.error }).toMatchObject({
    status: 503,
    error: { code: 'MARKET_DATA_LIMIT', limit: 1 },
  });
  // A question does not remove symbols of the first one either.
  expect((await other.get('/v1/market-data/quote/MSFT')).status).toBe(503);
  expect([...day.fake.subscribed()]).toEqual(['AAPL']);
  await day.quote({ symbol: 'AAPL', bid: 0.9, ask: 0.95 });
  expect(await day.order(first)).toMatchObject({ status: 'FILLED' });
  await day.close();
});

it('Massive: halts of Nasdaq listings stop orders, and silence stops them in other listings', async () => {
  const day = await LiveDay.open(MASSIVE);
  await day.status('connected');
  const portfolioId = await day.portfolio();
  const halted = await day.place(portfolioId, { limitPrice: 99 });
  await day.quoteOf('BRK.B');
  await day.subscribed('AAPL', 'BRK.B');
  day.fake.luld('AAPL', 17);
  await vi.waitFor(async () => {
    await day.advance();
    expect((await day.order(halted)).waitingFor).toMatch(/^trading in AAPL is halted \(LUDP\)/);
  }, WAIT);
  await day.quote({ symbol: 'AAPL', bid: 98, ask: 98.02 });
  expect(await day.order(halted)).toMatchObject({ status: 'ACTIVE' });
  day.fake.luld('AAPL', 18);
  await vi.waitFor(async () => {
    await day.advance();
    expect((await day.client.get('/v1/simulation/halts')).body.data).toEqual([]);
  }, WAIT);
  await day.quote({ symbol: 'AAPL', bid: 97, ask: 97.02 });
  expect(await day.order(halted)).toMatchObject({ status: 'FILLED', averagePrice: 97.02 });
  // Fifteen minutes without a change.
  await day.advance(15 * MINUTE_MS);
  const silent = await day.place(portfolioId, { ...MARKET, symbol: 'BRK.B' });
  expect((await day.order(silent)).waitingFor).toMatch(/^no data since/);
  const told = await day.place(portfolioId, MARKET);
  expect(await day.order(told)).toMatchObject({ status: 'FILLED' });
  await day.quote({ symbol: 'BRK.B', bid: 101, ask: 101.02 });
  expect(await day.order(silent)).toMatchObject({ status: 'FILLED', averagePrice: 101.02 });
  expect((await day.verify()).problems).toEqual([]);
  await day.close();
});

it.each<Vendor>([ALPACA, MASSIVE, TRADIER])(
  '$name: on a delayed plan the clock is 15 minutes behind, and quotes are marked as delayed',
  async (vendor) => {
    const day = await LiveDay.open(vendor, {
      at: Date.now(),
      clock: 'wall',
      settings: { LIVE_PLAN: vendor.delayedPlan },
    });
    await day.status('connected');
    expect(Math.abs(Date.now() - 900_000 - day.now)).toBeLessThan(5000);
    expect(await day.quoteOf('AAPL')).toMatchObject({ bid: 100, delayed: true });
    expect((await day.ready()).feed.delayedBy).toBe(900);
    await day.close();
  },
);
