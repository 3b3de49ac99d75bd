import { allOf } from '../../store/fixtures.contract.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { verifyJournal } from '../../engine/recovery/verify.js';
import { MONDAY_TEN } from '../../testing/simulations.js';
import { openPortfolio, TestApp, type TestClient } from '../../testing/test-app.js';
import type { FakeSource } from './testing/fake-vendor.js';
import type { Vendor } from './testing/vendors.js';

/** The suite that every source passes runs with a vendor and its plan. */
export interface SourceCase<Fake extends FakeSource> extends Vendor<Fake> {
  /** Makes the fake refuse the plan of the key, and what the operator reads then; absent = the source has no such answer. */
  readonly withoutPlan?: { readonly prepare: (source: Fake) => void; readonly says: RegExp };
}

const WAIT = { timeout: 8000, interval: 10 };

export function sourceContract<Fake extends FakeSource>(sourceCase: SourceCase<Fake>): void {
  let source: Fake;
  let directory: string;
  let app: TestApp | undefined;
  let log = '';

  /** A server whose clock shows Monday, 10:00 New York, when it starts. */
  async function server(more: Record<string, string> = {}, isKnown = true): Promise<TestClient> {
    app = await TestApp.open({
      settings: {
        MARKET_FEED: 'live',
        DATA_DIR: directory,
        MARKET_CLOCK: 'scaled',
        CLOCK_SPEED: '1',
        CLOCK_START: new Date(MONDAY_TEN).toISOString(),
        ...sourceCase.settings(source, isKnown ? undefined : 'wrong-key'),
        ...more,
      },
      config: { feed: 'live', clock: 'scaled', speed: 1, start: MONDAY_TEN },
      log: pino({ level: 'info' }, { write: (line: string) => void (log += line) }),
      isAccessLogged: true,
    });
    return app.as();
  }
  const now = (): number => app?.simulations.market.now() ?? 0;
  const ready = async (client: TestClient) => (await client.get('/v1/ready')).body;
  const connected = async (client: TestClient): Promise<void> => {
    await vi.waitFor(async () => expect((await ready(client)).feed?.status).toBe('connected'), WAIT);
  };
  const subscribed = (...symbols: string[]) =>
    vi.waitFor(() => expect([...source.subscribed()]).toEqual(expect.arrayContaining(symbols)), WAIT);
  const bidOf = async (client: TestClient, symbol: string): Promise<unknown> =>
    (await client.get(`/v1/market-data/quote/${symbol}`)).body.bid;

  const portfolio = async (client: TestClient): Promise<string> =>
    (await openPortfolio(client, { portfolioType: 'CASH' })).portfolioId as string;
  const buy = (client: TestClient, portfolioId: string, more: object = {}) =>
    client.post('/v1/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 10,
      timeInForce: 'DAY',
      ...more,
    });
  const order = async (client: TestClient, orderId: string) =>
    (await client.get(`/v1/orders/${orderId}`)).body;

  describe(`${sourceCase.name}: the contract of live sources`, () => {
    beforeEach(async () => {
      log = '';
      directory = await mkdtemp(join(tmpdir(), 'sandpit-live-'));
      source = await sourceCase.start();
      for (const symbol of ['AAPL', 'MSFT', 'BRK.B'])
        source.setSnapshot({ symbol, atMs: MONDAY_TEN - 500, bid: 100, ask: 100.02 });
    });
    afterEach(async () => {
      await app?.close();
      app = undefined;
      await source.vendor.stop();
      await rm(directory, { recursive: true, force: true });
    });

    test('answers a first question with a snapshot, and the next ones from the stream', async () => {
      const client = await server();
      await connected(client);
      const { body, status } = await client.get('/v1/market-data/quote/AAPL');
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { symbol: 'AAPL', bid: 100, ask: 100.02 },
      });
      await subscribed('AAPL');
      source.quote({ symbol: 'AAPL', atMs: now(), bid: 100.11, ask: 100.13 });
      await vi.waitFor(async () => expect(await bidOf(client, 'AAPL')).toBe(100.11), WAIT);
      expect(await ready(client)).toMatchObject({
        status: 'ok',
        halts: sourceCase.halts,
        feed: { symbols: 1 },
      });
    });

    test('fills an order at a quote of the stream', async () => {
      const client = await server();
      await connected(client);
      const portfolioId = await portfolio(client);
      const { body } = await buy(client, portfolioId, { orderType: 'LIMIT', limitPrice: 99.5 });
      await subscribed('AAPL');
      source.quote({ symbol: 'AAPL', atMs: now(), bid: 99.4, ask: 99.6 });
      source.quote({ symbol: 'AAPL', atMs: now() + 1, bid: 99.3, ask: 99.45 });
      await vi.waitFor(
        async () =>
          expect(await order(client, body.orderId)).toMatchObject({ status: 'FILLED', averagePrice: 99.5 }),
        WAIT,
      );
      await app!.main.durable();
      const result = await verifyJournal(app!.store, app!.main.id);
      expect(result.problems).toEqual([]);
      expect(result.records).toBeGreaterThan(2);
    });

    test('knows class shares by their name of this house, and no symbol that the source does not list', async () => {
      const client = await server();
      await connected(client);
      expect(await bidOf(client, 'BRK.B')).toBe(100);
      expect((await client.get('/v1/market-data/quote/NOSUCH')).status).toBe(404);
      const unknown = await buy(client, await portfolio(client), { symbol: 'NOSUCH' });
      expect(unknown.body.error.code).toBe('UNKNOWN_SYMBOL');
    });

    test('ignores late, repeated and truncated messages', async () => {
      const client = await server();
      await connected(client);
      await bidOf(client, 'AAPL');
      await subscribed('AAPL');
      const at = now();
      source.quote({ symbol: 'AAPL', atMs: at, bid: 101, ask: 101.02 });
      source.quote({ symbol: 'AAPL', atMs: at, bid: 101, ask: 101.02 });
      source.quote({ symbol: 'AAPL', atMs: at - 60_000, bid: 90, ask: 90.02 });
      source.quote({ symbol: 'AAPL', atMs: at, bid: 105, ask: 104 });
      for (const connection of source.vendor.connections.keys()) connection.send('[{"T":"q","S":"AA');
      source.quote({ symbol: 'AAPL', atMs: at + 1, bid: 102, ask: 102.02 });
      await vi.waitFor(async () => expect(await bidOf(client, 'AAPL')).toBe(102), WAIT);
    });

    test('asks for everything again after the connection was lost, with a snapshot first', async () => {
      const client = await server();
      await connected(client);
      await bidOf(client, 'AAPL');
      await bidOf(client, 'MSFT');
      await subscribed('AAPL', 'MSFT');
      source.setSnapshot({ symbol: 'AAPL', atMs: now(), bid: 103, ask: 103.02 });
      source.vendor.cut();
      await vi.waitFor(async () => expect((await ready(client)).feed.status).toBe('reconnecting'), WAIT);
      await connected(client);
      await subscribed('AAPL', 'MSFT');
      await vi.waitFor(async () => expect(await bidOf(client, 'AAPL')).toBe(103), WAIT);
    });

    test('ages quotes while the source is away: an order waits, and fills when it is back', async () => {
      const client = await server({ QUOTE_MAX_AGE: '0.2' });
      await connected(client);
      const portfolioId = await portfolio(client);
      await bidOf(client, 'AAPL');
      await subscribed('AAPL');
      source.vendor.isDown = true;
      source.vendor.cut();
      await vi.waitFor(async () => expect((await ready(client)).feed.status).toBe('reconnecting'), WAIT);
      const lostAt = now();
      await vi.waitFor(() => expect(now() - lostAt).toBeGreaterThan(250), WAIT);
      const { body } = await buy(client, portfolioId);
      expect(await order(client, body.orderId)).toMatchObject({
        status: 'ACTIVE',
        waitingFor: expect.stringMatching(/^no data since 2026-01-05T10:/) as string,
      });
      source.setSnapshot({ symbol: 'AAPL', atMs: now(), bid: 104, ask: 104.02 });
      source.vendor.isDown = false;
      await vi.waitFor(
        async () =>
          expect(await order(client, body.orderId)).toMatchObject({ status: 'FILLED', averagePrice: 104.02 }),
        WAIT,
      );
    });

    test('refuses more symbols than the plan allows, and keeps those in use', async () => {
      const client = await server({ LIVE_MAX_SYMBOLS: '1' });
      await connected(client);
      expect(await bidOf(client, 'AAPL')).toBe(100);
      const { status, body } = await client.get('/v1/market-data/quote/MSFT');
      expect({ status, code: body.error.code, limit: body.error.limit }).toEqual({
        status: 503,
        code: 'MARKET_DATA_LIMIT',
        limit: 1,
      });
      // An order ranks higher than a question.
      const placed = await buy(client, await portfolio(client), {
        symbol: 'MSFT',
        orderType: 'LIMIT',
        limitPrice: 1,
      });
      expect(placed.status).toBe(201);
      await vi.waitFor(() => expect([...source.subscribed()]).toEqual(['MSFT']), WAIT);
    });

    test('a wrong key: stops, is healthy and not ready, gives the reason in one sentence, and never shows the key', async () => {
      const client = await server({}, false);
      await vi.waitFor(async () => expect((await client.get('/v1/ready')).status).toBe(503), WAIT);
      const { body, text } = await client.get('/v1/ready');
      expect(body.feed.status).toBe('refused');
      expect(body.reasons[0]).toMatch(sourceCase.refusal);
      expect((await client.get('/v1/health')).status).toBe(200);
      expect(text).not.toMatch(/wrong-key/);
      expect(log).not.toMatch(/wrong-key/);
      const { connections } = source.vendor;
      expect(connections.size).toBe(0);
    });

    if (sourceCase.withoutPlan !== undefined) {
      const { prepare, says } = sourceCase.withoutPlan;
      test('stops with a message if the plan lacks the feed', async () => {
        prepare(source);
        const client = await server();
        await client.get('/v1/market-data/quote/AAPL');
        await vi.waitFor(async () => expect((await ready(client)).feed.status).toBe('refused'), WAIT);
        expect((await ready(client)).reasons[0]).toMatch(says);
      });
    }

    test('keeps its keys out of logs, answers, metrics and the journal', async () => {
      const client = await server();
      await connected(client);
      const portfolioId = await portfolio(client);
      await buy(client, portfolioId);
      source.vendor.isDown = true;
      source.vendor.cut();
      await vi.waitFor(async () => expect((await ready(client)).feed.status).toBe('reconnecting'), WAIT);
      const answers = await Promise.all([
        client.get('/v1/ready'),
        client.get('/v1/health'),
        client.get('/v1/market-data/bars/AAPL?timeframe=1Min'),
        client.get('/v1/simulation/corporate-actions'),
        client.get('/metrics'),
      ]);
      const records = [
        ...(await allOf(app!.store.journal.read(app!.main.id, 0))),
        ...(await allOf(app!.store.journal.read('market', 0))),
      ];
      const everything = log + JSON.stringify(answers) + JSON.stringify(records);
      for (const secret of sourceCase.secrets) expect(everything).not.toContain(secret);
    });
  });
}
